/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <numa.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#include "pw_bitmap.h"
#include "pw_pages.h"

#define FRAME_BYTES 4096
#define HUGE_BYTES (2 << 20)
#define IOVA UINT64_C(0x700000000)

/* ---- strategies ---- */

static const struct pw_strategy presets[] = {
	{"order0", 0, PW_HOME_CACHE, PW_REUSE_NONE},
	{"order3", 3, PW_HOME_BUDDY, PW_REUSE_NONE},
	{"cached", 3, PW_HOME_CACHE, PW_REUSE_NONE},
	{"reuse", 3, PW_HOME_BUDDY, PW_REUSE_RESET},
	{"flip", 1, PW_HOME_BUDDY, PW_REUSE_FLIP},
	{"page_pool", 0, PW_HOME_RING, PW_REUSE_NONE},
};

static void
check_strategy(const char *text, struct pw_strategy expected)
{
	struct pw_strategy strategy;

	assert_int_equal(pw_strategy_parse(text, &strategy), 0);
	assert_string_equal(strategy.name, expected.name);
	assert_int_equal(strategy.page_order, expected.page_order);
	assert_int_equal(strategy.home, expected.home);
	assert_int_equal(strategy.reuse, expected.reuse);
	assert_int_equal(pw_strategy_page_bytes(&strategy), 4096 << expected.page_order);
}

static void
strategies_parse(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RTE_DIM(presets); i++) {
		check_strategy(presets[i].name, presets[i]);
		for (unsigned order = 0; order <= PW_PAGE_ORDER_MAX; order++) {
			struct pw_strategy expected = presets[i];
			char suffix[] = {':', (char)('0' + order), '\0'};

			strcat(expected.name, suffix);
			expected.page_order = order;
			check_strategy(expected.name, expected);
		}
	}
}

static void
no_strategy_is_the_default_one(void **state)
{
	struct pw_strategy strategy;

	(void)state;
	assert_int_equal(pw_strategy_parse(PW_STRATEGY_DEFAULT, &strategy), 0);
	check_strategy(NULL, strategy);
	check_strategy("", strategy);
}

static void
wrong_strategies_are_refused(void **state)
{
	static const char *const wrong[] = {"bogus", "order", "order00", "reuse:", "reuse:a",
		"reuse:10", "reuse:09", "reuse:3:3", "reuse::3", ":", ":0", "reuse:-1", "reuse:+1",
		"reuse: 1", "Reuse", "reuse ", " reuse",
		"a name that is much longer than the room for one in the struct"};
	struct pw_strategy strategy, before;

	(void)state;
	memset(&strategy, 0x5a, sizeof(strategy));
	before = strategy;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		assert_int_equal(pw_strategy_parse(wrong[i], &strategy), -EINVAL);
	assert_memory_equal(&strategy, &before, sizeof(before));
}

static void
strategies_are_listed(void **state)
{
	struct pw_strategy strategy;
	char list[256], cut[sizeof(list) + 2];
	const char *name, *help;
	unsigned i;

	(void)state;
	assert_ptr_equal(pw_strategy_list(list, sizeof(list)), list);
	assert_true(strlen(list) < sizeof(list) - 1); /* so nothing was cut */
	for (i = 0; (help = pw_strategy_help(i, &name)) != NULL; i++) {
		assert_int_not_equal(help[0], '\0');
		assert_non_null(strstr(list, name));
		assert_int_equal(pw_strategy_parse(name, &strategy), 0);
	}
	assert_int_equal(i, RTE_DIM(presets));

	for (size_t size = 0; size <= sizeof(list); size++) {
		memset(cut, 'x', sizeof(cut));
		pw_strategy_list(cut, size);
		assert_int_equal(cut[size], 'x');
		if (size > 0) {
			assert_int_equal(strnlen(cut, size), RTE_MIN(size - 1, strlen(list)));
			assert_memory_equal(cut, list, strlen(cut));
		}
	}
}

/* ---- bitmap: beside an array with a byte a bit ---- */

static const uint32_t bitmap_bits[] = {1, 63, 64, 65, 4096, 4097, 300000};

static void
check_first(const struct pw_bitmap *map, const char *bits, uint32_t nb_bits)
{
	const char *first = memchr(bits, 1, nb_bits);

	assert_int_equal(pw_bitmap_first(map), first == NULL ? PW_BITMAP_NONE : first - bits);
}

static void
check_bits(const struct pw_bitmap *map, const char *bits, uint32_t nb_bits)
{
	for (uint32_t i = 0; i < nb_bits; i++)
		if (pw_bitmap_test(map, i) != bits[i])
			fail_msg("bit %u of %u", i, nb_bits);
	check_first(map, bits, nb_bits);
}

/* Set and clear bits at random, and the lowest ones, as the buddy allocator does. */
static void
walk_bitmap(struct pw_bitmap *map, char *bits, uint32_t nb_bits, unsigned steps, uint64_t *seed)
{
	for (unsigned step = 0; step < steps; step++) {
		uint32_t first = pw_bitmap_first(map);
		uint32_t i = pw_test_random(seed, nb_bits);

		if (first != PW_BITMAP_NONE && pw_test_random(seed, 2) == 0)
			i = first;
		/* In turns mostly setting and mostly clearing, so that it gets full and empty. */
		bits[i] = pw_test_random(seed, 8) < (step / 1024 % 2 == 0 ? 7 : 1);
		if (bits[i])
			pw_bitmap_set(map, i);
		else
			pw_bitmap_clear(map, i);
		assert_int_equal(pw_bitmap_test(map, i), bits[i]);
		check_first(map, bits, nb_bits);
	}
}

static void
bitmap_is_as_an_array(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bitmap_bits); i++) {
		uint32_t nb_bits = bitmap_bits[i];
		char *bits = calloc(nb_bits, 1);
		struct pw_bitmap map = {0};

		assert_int_equal(pw_bitmap_first(&map), PW_BITMAP_NONE);
		assert_int_equal(pw_bitmap_resize(&map, nb_bits, SOCKET_ID_ANY), 0);
		check_bits(&map, bits, nb_bits);
		walk_bitmap(&map, bits, nb_bits, 20000, &seed);
		check_bits(&map, bits, nb_bits);
		for (uint32_t first; (first = pw_bitmap_first(&map)) != PW_BITMAP_NONE;) {
			assert_true(bits[first]);
			bits[first] = 0;
			pw_bitmap_clear(&map, first);
		}
		check_bits(&map, bits, nb_bits);
		pw_bitmap_free(&map);
		free(bits);
	}
	pw_test_memory_equal(before);
}

static void
bitmap_keeps_its_bits_as_it_grows(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	uint64_t seed = pw_test_seed();
	uint32_t max = bitmap_bits[RTE_DIM(bitmap_bits) - 1];
	char *bits = calloc(max, 1);
	struct pw_bitmap map = {0};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bitmap_bits); i++) {
		uint32_t nb_bits = bitmap_bits[i];

		assert_int_equal(pw_bitmap_resize(&map, nb_bits, SOCKET_ID_ANY), 0);
		check_bits(&map, bits, nb_bits);
		walk_bitmap(&map, bits, nb_bits, 1000, &seed);
		bits[nb_bits - 1] = 1;
		pw_bitmap_set(&map, nb_bits - 1);
		pw_test_fail_alloc(0);
		assert_int_equal(pw_bitmap_resize(&map, 2 * nb_bits, SOCKET_ID_ANY), -ENOMEM);
		check_bits(&map, bits, nb_bits);
	}
	assert_int_equal(pw_bitmap_resize(&map, UINT32_MAX, SOCKET_ID_ANY), -ENOMEM);
	check_bits(&map, bits, max);
	pw_bitmap_free(&map);
	assert_int_equal(pw_bitmap_first(&map), PW_BITMAP_NONE);
	free(bits);
	pw_test_memory_equal(before);
}

/* ---- arena ---- */

static struct pw_arena *
make_arena(unsigned min_order, unsigned max_order)
{
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY,
		.min_order = min_order,
		.max_order = max_order,
		.page_priv_bytes = sizeof(size_t)};
	struct pw_arena *arena = pw_arena_create(&params);

	assert_non_null(arena);
	return arena;
}

static struct pw_arena_stats
stats_of(struct pw_arena *arena)
{
	struct pw_arena_stats stats;

	pw_arena_get_stats(arena, &stats);
	return stats;
}

static void
free_pages_equal(struct pw_arena *arena, struct pw_arena_stats expected)
{
	for (unsigned order = 0; order <= PW_PAGE_ORDER_MAX; order++)
		assert_int_equal(stats_of(arena).free_pages[order], expected.free_pages[order]);
}

static void
wrong_arenas_are_refused(void **state)
{
	static const struct pw_arena_params wrong[] = {
		{.max_order = PW_PAGE_ORDER_MAX + 1},
		{.max_order = UINT32_MAX},
		{.min_order = UINT32_MAX, .max_order = UINT32_MAX},
		{.min_order = 4, .max_order = 3},
		{.min_order = UINT32_MAX, .max_order = 3},
		{.socket_id = -2, .max_order = 3},
	};
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		rte_errno = 0;
		assert_null(pw_arena_create(&wrong[i]));
		assert_int_equal(rte_errno, EINVAL);
	}
	pw_arena_destroy(NULL);
	pw_test_memory_equal(before);
}

static void
an_empty_arena_gives_nothing(void **state)
{
	struct pw_arena *arena = make_arena(2, 5);
	static const struct {
		unsigned order;
		int error;
	} wrong[] = {{0, EINVAL}, {1, EINVAL}, {2, ENOMEM}, {5, ENOMEM}, {6, EINVAL},
		{UINT32_MAX, EINVAL}};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		rte_errno = 0;
		assert_null(pw_page_alloc(arena, wrong[i].order));
		assert_int_equal(rte_errno, wrong[i].error);
	}
	assert_int_equal(stats_of(arena).page_failures, 2);
	assert_null(pw_page_at(arena, 0));
	assert_null(pw_page_of(arena, arena));
	assert_int_equal(pw_arena_fragment(arena, 2), 0);
	pw_arena_defragment(arena);
	assert_int_equal(pw_arena_get_params(arena)->min_order, 2);
	assert_int_equal(pw_arena_get_params(arena)->max_order, 5);
	pw_arena_destroy(arena);
}

static void
wrong_reservations_change_nothing(void **state)
{
	static const struct {
		const char *name;
		size_t len_bytes;
		int rc;
	} wrong[] = {
		{"pages_none", 0, -EINVAL},
		{"pages_taken", 1, -EEXIST},
		{"pages_name_of_32_characters_----", 1, -ENAMETOOLONG},
		{"pages_16_GiB", (size_t)16 << 30, -ENOMEM},
		{"pages_16_TiB", (size_t)16 << 40, -ENOMEM},
		{"pages_all", SIZE_MAX, -EINVAL},
	};
	struct pw_test_memory start = pw_test_memory(), before;
	struct pw_arena *arena = make_arena(0, 3);
	struct pw_arena_stats stats, now;

	(void)state;
	assert_int_equal(pw_arena_reserve(arena, "pages_taken", 1), 0);
	assert_int_equal(pw_arena_reserve(arena, "pages_name_of_31_characters_---", 32769), 0);
	stats = stats_of(arena);
	assert_int_equal(stats.bytes, 3 * 32768); /* rounded up */
	before = pw_test_memory();
	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		assert_int_equal(
			pw_arena_reserve(arena, wrong[i].name, wrong[i].len_bytes), wrong[i].rc);
	now = stats_of(arena);
	assert_memory_equal(&now, &stats, sizeof(stats));
	pw_test_memory_equal(before);
	pw_arena_destroy(arena);
	pw_test_memory_equal(start);
}

static void
ten_times_the_memory_is_refused_at_once(void **state)
{
	struct rte_malloc_socket_stats heap;
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_test_memory before = pw_test_memory();
	uint64_t start = rte_get_tsc_cycles();

	(void)state;
	assert_int_equal(rte_malloc_get_socket_stats(0, &heap), 0);
	assert_int_equal(
		pw_arena_reserve(arena, "pages_much", 10 * heap.heap_totalsz_bytes), -ENOMEM);
	assert_true(rte_get_tsc_cycles() - start < 2 * rte_get_tsc_hz());
	pw_test_memory_equal(before);
	pw_arena_destroy(arena);
}

static void
reserved_pages_have_their_addresses(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_page *page;

	(void)state;
	assert_int_equal(pw_arena_reserve(arena, "pages_iova", 4 * HUGE_BYTES), 0);
	assert_int_equal(stats_of(arena).free_pages[9], 4);
	for (unsigned i = 0; (page = pw_page_alloc(arena, i % 10)) != NULL; i++) {
		assert_true(rte_is_aligned(page->addr, pw_page_bytes(page)));
		assert_int_equal(page->iova, rte_mem_virt2iova(page->addr));
		memset(page->addr, 1, pw_page_bytes(page));
	}
	pw_arena_destroy(arena);
	pw_test_memory_equal(before);
}

/* Lent memory: bytes of a buffer that begins at a multiple of 2 MiB. */
struct loan {
	size_t offset_bytes;
	size_t len_bytes;
};

static char *
lend_buffer(size_t len_bytes)
{
	char *buffer = aligned_alloc(HUGE_BYTES, RTE_ALIGN_CEIL(len_bytes, HUGE_BYTES));

	assert_non_null(buffer);
	return buffer;
}

/* So that a test knows how much of a short page there is. */
static bool
note_len(struct pw_page *page, size_t len_bytes, void *ctx)
{
	(void)ctx;
	assert_false(page->flags & (PW_PAGE_FREE | PW_PAGE_HELD));
	*(size_t *)pw_page_priv(page) = len_bytes;
	return true;
}

static int
adopt(struct pw_arena *arena, char *buffer, struct loan loan)
{
	return pw_arena_adopt(arena, buffer + loan.offset_bytes, IOVA + loan.offset_bytes,
		loan.len_bytes, note_len, NULL);
}

static size_t
page_len(const struct pw_arena *arena, struct pw_page *page)
{
	return page->order > pw_arena_get_params(arena)->min_order ? pw_page_bytes(page)
								   : *(size_t *)pw_page_priv(page);
}

/* What is given out lies at a multiple of its size; if anything is missing, then it is short. */
static void
check_page(const struct pw_arena *arena, struct pw_page *page, unsigned order, char *buffer)
{
	size_t full = (size_t)4096 << order, len = page_len(arena, page);
	char *begin = RTE_PTR_ALIGN_FLOOR(page->addr, full);

	assert_int_equal(page->order, order);
	assert_in_range(len, 1, full);
	assert_true(page->addr + len <= begin + full);
	assert_int_equal((page->flags & PW_PAGE_SHORT) != 0, len < full);
	assert_int_equal(page->flags & (PW_PAGE_HELD | PW_PAGE_FREE), PW_PAGE_HELD);
	assert_int_equal(page->iova, IOVA + (size_t)(page->addr - buffer));
	assert_ptr_equal(pw_page_at(arena, page->index), page);
	assert_ptr_equal(pw_page_of(arena, page->addr), page);
	assert_ptr_equal(pw_page_of(arena, page->addr + len / 2), page);
	assert_ptr_equal(pw_page_of(arena, page->addr + len - 1), page);
}

/* Take all pages, largest first: together they are the memory, each byte of it once. */
static size_t
take_all(struct pw_arena *arena, char *buffer)
{
	const struct pw_arena_params *params = pw_arena_get_params(arena);
	struct pw_page *page;
	size_t sum = 0;

	for (unsigned order = params->max_order + 1; order-- > params->min_order;)
		while ((page = pw_page_alloc(arena, order)) != NULL) {
			check_page(arena, page, order, buffer);
			for (size_t i = 0; i < page_len(arena, page); i++)
				page->addr[i]++;
			sum += page_len(arena, page);
		}
	assert_int_equal(sum, stats_of(arena).bytes);
	assert_int_equal(sum, stats_of(arena).bytes_held);
	return sum;
}

static void
give_all(struct pw_page *page, void *ctx)
{
	struct pw_page ***next = ctx;

	*(*next)++ = page;
}

static void
free_all(struct pw_arena *arena)
{
	struct pw_page **held = calloc(stats_of(arena).pages_held + 1, sizeof(*held)), **end = held;

	pw_arena_walk_held(arena, give_all, &end);
	assert_int_equal(end - held, stats_of(arena).pages_held);
	while (end > held)
		pw_page_free(arena, *--end);
	assert_int_equal(stats_of(arena).pages_held, 0);
	assert_int_equal(stats_of(arena).bytes_held, 0);
	free(held);
}

static void
check_loan(char *buffer, struct loan loan, unsigned min_order, unsigned max_order)
{
	struct pw_arena *arena = make_arena(min_order, max_order);
	struct pw_arena_stats stats;

	assert_int_equal(adopt(arena, buffer, loan), 0);
	assert_null(pw_page_of(arena, buffer + loan.offset_bytes - 1));
	assert_null(pw_page_of(arena, buffer + loan.offset_bytes + loan.len_bytes));
	stats = stats_of(arena);
	memset(buffer, 0, HUGE_BYTES);
	assert_int_equal(take_all(arena, buffer), loan.len_bytes);
	for (size_t at = 0; at < HUGE_BYTES; at++)
		if (buffer[at] != (at - loan.offset_bytes < loan.len_bytes))
			fail_msg("byte %zu", at);
	free_all(arena);
	free_pages_equal(arena, stats);
	pw_arena_destroy(arena);
}

static void
lent_memory_is_cut_at_page_multiples(void **state)
{
	static const struct loan loans[] = {
		{0, HUGE_BYTES},
		{0, 1},
		{4095, 1},
		{4095, 2},
		{8191, 4098},
		{64, (64 << 10) - 64},
		{100, 50},
		{100, (1 << 20) + 5000},
		{32767, 32768},
		{65535, 65538},
		{HUGE_BYTES / 2 + 1, HUGE_BYTES / 2 - 2},
		{HUGE_BYTES - 1, 1},
	};
	static const unsigned orders[][2] = {{0, 0}, {3, 3}, {0, 3}, {2, 5}, {0, 9}, {9, 9}};
	char *buffer = lend_buffer(HUGE_BYTES);

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(loans); i++)
		for (unsigned k = 0; k < RTE_DIM(orders); k++)
			check_loan(buffer, loans[i], orders[k][0], orders[k][1]);
	free(buffer);
}

static void
overlapping_loans_are_refused(void **state)
{
	static const struct {
		struct loan loan;
		int rc;
	} steps[] = {
		{{8192, 0}, -EINVAL}, {{8192, 8192}, 0}, {{8192, 8192}, -EINVAL},
		{{0, 8193}, -EINVAL}, {{16383, 10}, -EINVAL}, {{10000, 10}, -EINVAL},
		{{0, 65536}, -EINVAL}, {{40960, 4096}, 0},
		{{0, 8192}, 0}, /* these touch what is there */
		{{45056, 100}, 0}, {{16384, 4096}, 0}, {{45155, 100}, -EINVAL}, {{45156, 100}, 0},
		{{30000, 10}, 0},
		{{50000, SIZE_MAX - 60000}, -EINVAL}, /* round the end of the addresses */
	};
	char *buffer = lend_buffer(HUGE_BYTES);
	struct pw_arena *arena = make_arena(0, 4);
	size_t bytes = 0;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(steps); i++) {
		assert_int_equal(adopt(arena, buffer, steps[i].loan), steps[i].rc);
		if (steps[i].rc == 0)
			bytes += steps[i].loan.len_bytes;
		assert_int_equal(stats_of(arena).bytes, bytes);
	}
	for (unsigned i = 0; i < RTE_DIM(steps); i++)
		if (steps[i].rc == 0)
			assert_non_null(pw_page_of(arena, buffer + steps[i].loan.offset_bytes));
	assert_null(pw_page_of(arena, buffer + 29999));
	assert_null(pw_page_of(arena, buffer + 30010));
	assert_null(pw_page_of(arena, NULL));
	assert_null(pw_page_of(arena, &bytes));
	assert_int_equal(take_all(arena, buffer), bytes);
	pw_arena_destroy(arena);
	free(buffer);
}

/* Addresses that nothing is behind: they must be refused before anybody looks. */
static void
too_much_lent_memory_changes_nothing(void **state)
{
	static const struct {
		size_t len_bytes;
		int rc;
	} wrong[] = {
		{(size_t)5 << 40, -ENOMEM}, /* more than 2^30 pages */
		{((size_t)16 << 40) - HUGE_BYTES, -ENOMEM},
		{(size_t)17 << 40, -EFBIG},
		{SIZE_MAX / 2, -EFBIG},
		{SIZE_MAX - 2 * HUGE_BYTES, -EFBIG},
	};
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_arena_stats stats = stats_of(arena), now;
	struct pw_test_memory before = pw_test_memory();
	char *nowhere = (char *)(uintptr_t)HUGE_BYTES;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		assert_int_equal(pw_arena_adopt(arena, nowhere, RTE_BAD_IOVA, wrong[i].len_bytes,
					 NULL, NULL),
			wrong[i].rc);
		pw_test_memory_equal(before);
	}
	now = stats_of(arena);
	assert_memory_equal(&now, &stats, sizeof(now));
	pw_arena_destroy(arena);
}

/* Pages that the owner does not want, by their number in the buffer. */
struct refusal {
	char *buffer;
	unsigned every;
};

static bool
is_refused(const struct refusal *refusal, const char *addr)
{
	return (addr - refusal->buffer) / FRAME_BYTES % refusal->every == refusal->every - 1;
}

static bool
refuse_some(struct pw_page *page, size_t len_bytes, void *ctx)
{
	return note_len(page, len_bytes, NULL) && !is_refused(ctx, page->addr);
}

static void
unwanted_pages_never_come_out(void **state)
{
	struct refusal refusal = {.buffer = lend_buffer(HUGE_BYTES)};
	struct pw_page *page;

	(void)state;
	for (refusal.every = 2; refusal.every < 600; refusal.every += 1 + refusal.every / 2) {
		struct pw_arena *arena = make_arena(0, 9);
		unsigned refused = HUGE_BYTES / FRAME_BYTES / refusal.every;

		assert_int_equal(pw_arena_adopt(arena, refusal.buffer, RTE_BAD_IOVA, HUGE_BYTES,
					 refuse_some, &refusal),
			0);
		assert_int_equal(stats_of(arena).pages, HUGE_BYTES / FRAME_BYTES - refused);
		for (unsigned order = 10; order-- > 0;)
			while ((page = pw_page_alloc(arena, order)) != NULL) {
				assert_true(page->iova == RTE_BAD_IOVA);
				for (size_t at = 0; at < pw_page_bytes(page); at += FRAME_BYTES)
					assert_false(is_refused(&refusal, page->addr + at));
			}
		assert_int_equal(stats_of(arena).bytes_held, HUGE_BYTES - refused * FRAME_BYTES);
		pw_arena_destroy(arena);
	}
	free(refusal.buffer);
}

static void
unwanted_memory_may_be_lent_again(void **state)
{
	char *buffer = lend_buffer(HUGE_BYTES);
	struct refusal all = {buffer, 1};
	struct pw_arena *arena = make_arena(0, 3);

	(void)state;
	assert_int_equal(pw_arena_adopt(arena, buffer, RTE_BAD_IOVA, 40000, refuse_some, &all), 0);
	assert_null(pw_page_of(arena, buffer));
	assert_int_equal(stats_of(arena).pages, 0);
	assert_int_equal(adopt(arena, buffer, (struct loan){0, 65536}), 0);
	assert_int_equal(take_all(arena, buffer), 65536);
	pw_arena_destroy(arena);
	free(buffer);
}

#define PIECES 200
#define PATCH_BYTES (16 << 20)

/* Cut a buffer in pieces at random and shuffle them; the first lent of them are lent. */
static void
cut_in_pieces(struct loan *pieces, uint64_t *seed)
{
	size_t at = 0;

	for (unsigned i = 0; i < PIECES; i++) {
		size_t max = RTE_MIN((size_t)PATCH_BYTES - at - (PIECES - i), 300000U);

		pieces[i].offset_bytes = at;
		pieces[i].len_bytes = 1 + pw_test_random(seed, pw_test_random(seed, max) + 1);
		at += pieces[i].len_bytes;
	}
	for (unsigned i = PIECES - 1; i > 0; i--) {
		unsigned other = pw_test_random(seed, i + 1);
		struct loan piece = pieces[i];

		pieces[i] = pieces[other];
		pieces[other] = piece;
	}
}

static void
check_piece(const struct pw_arena *arena, char *buffer, struct loan piece, bool lent)
{
	const size_t at[] = {0, piece.len_bytes / 2, piece.len_bytes - 1};

	for (unsigned i = 0; i < RTE_DIM(at); i++) {
		char *addr = buffer + piece.offset_bytes + at[i];
		struct pw_page *page = pw_page_of(arena, addr);

		assert_int_equal(page != NULL, lent);
		if (lent) {
			assert_int_equal(RTE_MAX(RTE_PTR_ALIGN_FLOOR(addr, FRAME_BYTES),
						 buffer + piece.offset_bytes) -
					buffer,
				page->addr - buffer);
			assert_ptr_equal(pw_page_at(arena, page->index), page);
		}
	}
}

/* Regions in any order of addresses, whole pages and slivers, those left out between them. */
static void
pieces_come_in_any_order(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	uint64_t seed = pw_test_seed();
	char *buffer = lend_buffer(PATCH_BYTES);
	struct loan pieces[PIECES];

	(void)state;
	for (unsigned max_order = 0; max_order <= 9; max_order += 3) {
		struct pw_arena *arena = make_arena(0, max_order);
		unsigned lent = PIECES * 3 / 4;
		size_t bytes = 0;

		cut_in_pieces(pieces, &seed);
		for (unsigned i = 0; i < lent; i++) {
			assert_int_equal(adopt(arena, buffer, pieces[i]), 0);
			assert_int_equal(adopt(arena, buffer, pieces[i]), -EINVAL);
			bytes += pieces[i].len_bytes;
		}
		for (unsigned i = 0; i < PIECES; i++)
			check_piece(arena, buffer, pieces[i], i < lent);
		memset(buffer, 0, PATCH_BYTES);
		assert_int_equal(take_all(arena, buffer), bytes);
		for (unsigned i = 0; i < PIECES; i++)
			for (size_t k = 0; k < pieces[i].len_bytes; k++)
				assert_true(buffer[pieces[i].offset_bytes + k] == (i < lent));
		pw_arena_destroy(arena);
	}
	free(buffer);
	pw_test_memory_equal(before);
}

/* As rte_mempool lends memory that is not contiguous. */
static void
tiny_chunks_make_an_arena(void **state)
{
	char *buffer = lend_buffer(PATCH_BYTES);
	struct pw_arena *arena = make_arena(0, 3);
	unsigned chunks = PATCH_BYTES / 2 / FRAME_BYTES;

	(void)state;
	for (unsigned i = 0; i < chunks; i++)
		assert_int_equal(
			adopt(arena, buffer, (struct loan){2 * i * FRAME_BYTES, FRAME_BYTES}), 0);
	assert_int_equal(stats_of(arena).pages, chunks);
	assert_int_equal(stats_of(arena).free_pages[0], chunks); /* their neighbours are missing */
	assert_int_equal(take_all(arena, buffer), chunks * FRAME_BYTES);
	free_all(arena);
	pw_arena_destroy(arena);
	free(buffer);
}

static void
every_index_has_its_page(void **state)
{
	char *buffer = lend_buffer(PATCH_BYTES);
	struct pw_arena *arena = make_arena(1, 4);
	static const struct loan loans[] = {{8 << 20, 100000}, {5000, 1 << 20}, {4 << 20, 1}};
	uint64_t pages = 0;
	uint32_t i = 0;

	(void)state;
	for (unsigned k = 0; k < RTE_DIM(loans); k++)
		assert_int_equal(adopt(arena, buffer, loans[k]), 0);
	/* Indices without memory are those before and behind a loan, in its largest blocks. */
	for (struct pw_page *page; (page = pw_page_at(arena, i)) != NULL; i++) {
		assert_int_equal(page->index, i);
		if (page->addr == NULL)
			continue;
		pages++;
		assert_ptr_equal(pw_page_of(arena, page->addr), page);
	}
	assert_int_equal(pages, stats_of(arena).pages);
	for (unsigned k = 0; k < 1000; k++)
		assert_null(pw_page_at(arena, i + k));
	for (unsigned bit = 16; bit < 32; bit++)
		assert_null(pw_page_at(arena, UINT32_C(1) << bit));
	assert_null(pw_page_at(arena, UINT32_MAX));
	pw_arena_destroy(arena);
	free(buffer);
}

static void
private_room_is_zero_and_of_one_page(void **state)
{
	struct pw_arena_params params = {.max_order = 3, .page_priv_bytes = 21};
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_page *pages[8];
	char expected[21] = {0};

	(void)state;
	assert_non_null(arena);
	assert_int_equal(pw_arena_reserve(arena, "pages_priv", RTE_DIM(pages) * 4096), 0);
	for (unsigned i = 0; i < RTE_DIM(pages); i++) {
		pages[i] = pw_page_alloc(arena, 0);
		assert_memory_equal(pw_page_priv(pages[i]), expected, sizeof(expected));
		memset(pw_page_priv(pages[i]), i + 1, sizeof(expected));
	}
	for (unsigned i = 0; i < RTE_DIM(pages); i++) {
		memset(expected, i + 1, sizeof(expected));
		assert_memory_equal(pw_page_priv(pages[i]), expected, sizeof(expected));
		assert_int_equal(pages[i]->index, i);
	}
	pw_arena_destroy(arena);
}

/* Private room for which there is no memory: nothing may be handed out with less. */
static void
too_much_private_room_is_refused(void **state)
{
	static const uint32_t bytes[] = {
		512 << 20, UINT32_MAX, UINT32_MAX - sizeof(struct pw_page), UINT32_MAX - 7};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bytes); i++) {
		struct pw_arena_params params = {.max_order = 3, .page_priv_bytes = bytes[i]};
		struct pw_arena *arena = pw_arena_create(&params);

		if (arena == NULL)
			continue;
		assert_int_equal(pw_arena_reserve(arena, "pages_priv", 1), -ENOMEM);
		pw_arena_destroy(arena);
	}
}

/* ---- creation: what fails leaves nothing behind ---- */

/* An arena of two regions; a step that fails does not hinder the next try. */
static int
build_arena(struct pw_arena **arena, char *buffer)
{
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY, .max_order = 2};
	int rc;

	if (*arena == NULL)
		*arena = pw_arena_create(&params);
	if (*arena == NULL)
		return -rte_errno;
	if (pw_page_of(*arena, buffer) == NULL) {
		rc = pw_arena_adopt(*arena, buffer, RTE_BAD_IOVA, 65536, NULL, NULL);
		if (rc < 0)
			return rc;
	}
	return pw_arena_reserve(*arena, "pages_build", 1 << 20);
}

static void
failed_allocations_leave_nothing(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	char *buffer = lend_buffer(HUGE_BYTES);
	struct pw_arena *arena;
	bool failed = true;
	int k;

	(void)state;
	for (k = 0; failed; k++) {
		arena = NULL;
		pw_test_fail_alloc(k);
		if (build_arena(&arena, buffer) == 0) {
			failed = pw_test_alloc_failed();
			assert_false(failed);
			pw_test_fail_alloc(-1);
		} else {
			assert_true(pw_test_alloc_failed());
			if (k % 2 == 0)
				assert_int_equal(build_arena(&arena, buffer), 0);
		}
		if (arena != NULL && k % 2 == 0) {
			assert_int_equal(stats_of(arena).bytes, 65536 + (1 << 20));
			assert_int_equal(stats_of(arena).free_pages[2], 4 + 64);
		}
		pw_arena_destroy(arena);
		pw_test_memory_equal(before);
	}
	assert_true(k > 8);
	free(buffer);
}

static void
a_thousand_arenas_leave_nothing(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	char *buffer = lend_buffer(HUGE_BYTES);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct pw_arena *arena = NULL;

		assert_int_equal(build_arena(&arena, buffer), 0);
		for (unsigned k = 0; k < i % 100; k++)
			pw_page_alloc(arena, k % 3); /* still held at the end */
		pw_arena_destroy(arena);
	}
	pw_test_memory_equal(before);
	free(buffer);
}

static void
bookkeeping_is_less_than_a_hundredth(void **state)
{
	static const size_t mebibytes[] = {16, 64, 256};
	static const unsigned max_orders[] = {0, 3, 9};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(mebibytes) * RTE_DIM(max_orders); i++) {
		size_t len_bytes = mebibytes[i % RTE_DIM(mebibytes)] << 20, heap;
		struct pw_arena_params params = {.max_order = max_orders[i / RTE_DIM(mebibytes)]};
		struct pw_test_memory before = pw_test_memory();
		struct pw_arena *arena = pw_arena_create(&params);

		assert_non_null(arena);
		assert_int_equal(pw_arena_reserve(arena, "pages_meta", len_bytes), 0);
		heap = pw_test_heap_bytes() - before.heap_bytes - len_bytes;
		assert_true(stats_of(arena).meta_bytes <= heap);
		assert_true(heap <= len_bytes / 100);
		/* The allocator's own headers are all that is not told. */
		assert_true(heap - stats_of(arena).meta_bytes < 8192);
		pw_arena_destroy(arena);
		pw_test_memory_equal(before);
	}
}

/* ---- buddy: beside a table of who holds which page of the smallest order ---- */

#define MODEL_PAGES 2048
#define FREE 0
#define ABSENT UINT32_MAX

/*
 * Free blocks are the largest that there can be: all that lie at a multiple of their size, are
 * wholly free, and are no half of such a one. Short pages belong to no larger block.
 */
struct model {
	struct pw_arena *arena;
	unsigned min_order;
	unsigned nb_orders;
	uint32_t nb_pages;
	uint32_t owner[MODEL_PAGES]; /* index of the held block plus 1, FREE, ABSENT */
	bool is_short[MODEL_PAGES];
	uint16_t free[PW_PAGE_ORDER_MAX + 1][MODEL_PAGES]; /* pages free in each aligned block */
	struct pw_page *held[MODEL_PAGES];
	uint32_t nb_held;
	uint64_t allocs, failures, bad_frees;
	struct pw_arena_stats start;
	uint64_t seed;
};

static void
model_set(struct model *model, uint32_t index, unsigned order, uint32_t owner)
{
	for (uint32_t i = index; i < index + (1U << order); i++) {
		assert_true((model->owner[i] == FREE) != (owner == FREE));
		model->owner[i] = owner;
		for (unsigned o = 0; o < (model->is_short[i] ? 1 : model->nb_orders); o++)
			model->free[o][i >> o] += owner == FREE ? 1 : -1;
	}
}

static bool
model_is_whole(const struct model *model, unsigned order, uint32_t block)
{
	return order < model->nb_orders && model->free[order][block] == 1U << order;
}

static bool
model_is_block(const struct model *model, unsigned order, uint32_t block)
{
	return model_is_whole(model, order, block) && !model_is_whole(model, order + 1, block / 2);
}

/* Index of the block that serves an order: the lowest of the smallest ones that would do. */
static uint32_t
model_find(const struct model *model, unsigned order)
{
	for (; order < model->nb_orders; order++)
		for (uint32_t block = 0; block < model->nb_pages >> order; block++)
			if (model_is_block(model, order, block))
				return block << order;
	return ABSENT;
}

static void
model_open(struct model *model, char *buffer, unsigned min_order, unsigned max_order)
{
	static const struct loan loans[] = {
		{4 << 20, 2 << 20}, {100, (1 << 20) + 5000}, {(6 << 20) + 8192, 500000}};
	struct pw_page *page;

	model->arena = make_arena(min_order, max_order);
	model->min_order = min_order;
	model->nb_orders = max_order - min_order + 1;
	for (unsigned i = 0; i < RTE_DIM(loans); i++)
		assert_int_equal(adopt(model->arena, buffer, loans[i]), 0);
	for (uint32_t i = 0; (page = pw_page_at(model->arena, i)) != NULL; i++) {
		assert_true(i < MODEL_PAGES);
		model->nb_pages++;
		model->owner[i] = ABSENT;
		if (page->addr == NULL)
			continue;
		model->is_short[i] = *(size_t *)pw_page_priv(page) < (size_t)FRAME_BYTES
				<< min_order;
		model_set(model, i, 0, FREE);
	}
	model->start = stats_of(model->arena);
}

static void
model_check(struct model *model)
{
	struct pw_arena_stats stats = stats_of(model->arena), expected = {0};
	size_t held_bytes = 0, free_bytes = 0;

	for (unsigned o = 0; o < model->nb_orders; o++)
		for (uint32_t block = 0; block < model->nb_pages >> o; block++)
			expected.free_pages[o + model->min_order] += model_is_block(
				model, o, block);
	free_pages_equal(model->arena, expected);
	for (uint32_t i = 0; i < model->nb_held; i++)
		held_bytes += page_len(model->arena, model->held[i]);
	for (uint32_t i = 0; i < model->nb_pages; i++)
		if (model->owner[i] == FREE)
			free_bytes += *(size_t *)pw_page_priv(pw_page_at(model->arena, i));
	assert_int_equal(stats.bytes_held, held_bytes);
	assert_int_equal(stats.bytes, held_bytes + free_bytes);
	assert_int_equal(stats.pages_held, model->nb_held);
	assert_int_equal(stats.page_allocs, model->allocs);
	assert_int_equal(stats.page_frees, model->allocs - model->nb_held);
	assert_int_equal(stats.page_failures, model->failures);
	assert_int_equal(stats.bad_frees, model->bad_frees);
	assert_true(
		stats.bytes_held_max >= stats.bytes_held && stats.bytes_held_max <= stats.bytes);
	assert_true(stats.pages_held_max >= stats.pages_held);
	assert_true(stats.pages_touched >= stats.pages_held && stats.pages_touched <= stats.pages);
}

/* Small orders are asked for more often. */
static void
model_alloc(struct model *model, char *buffer)
{
	unsigned order = __builtin_ctz(
				 pw_test_random(&model->seed, 1U << model->nb_orders) | 1U << 31) %
		model->nb_orders;
	uint32_t index = model_find(model, order);
	struct pw_page *page;

	rte_errno = 0;
	page = pw_page_alloc(model->arena, model->min_order + order);
	if (index == ABSENT) {
		assert_null(page);
		assert_int_equal(rte_errno, ENOMEM);
		model->failures++;
		return;
	}
	assert_non_null(page);
	assert_int_equal(page->index, index);
	check_page(model->arena, page, model->min_order + order, buffer);
	model_set(model, index, order, index + 1);
	memset(page->addr, index, RTE_MIN(page_len(model->arena, page), 64U));
	model->held[model->nb_held++] = page;
	model->allocs++;
}

static void
model_free(struct model *model)
{
	uint32_t which = pw_test_random(&model->seed, model->nb_held);
	struct pw_page *page = model->held[which];
	unsigned order = page->order - model->min_order;

	assert_int_equal((unsigned char)page->addr[0], page->index % 256);
	model_set(model, page->index, order, FREE);
	pw_page_free(model->arena, page);
	model->held[which] = model->held[--model->nb_held];
}

/* Any page: whose block it is in, and that it cannot be freed unless it is held. */
static void
model_probe(struct model *model)
{
	uint32_t i = pw_test_random(&model->seed, model->nb_pages), owner = model->owner[i];
	struct pw_page *page = pw_page_at(model->arena, i), *block;

	if (owner == ABSENT)
		return;
	block = pw_page_of(model->arena,
		page->addr + pw_test_random(&model->seed, *(size_t *)pw_page_priv(page)));
	assert_non_null(block);
	assert_int_equal((block->flags & PW_PAGE_HELD) != 0, owner != FREE);
	if (owner != FREE)
		assert_int_equal(block->index, owner - 1);
	if (owner != i + 1) {
		pw_page_free(model->arena, page);
		model->bad_frees++;
	}
}

static void
model_close(struct model *model)
{
	while (model->nb_held > 0)
		model_free(model);
	model_check(model);
	free_pages_equal(model->arena, model->start);
	assert_int_equal(stats_of(model->arena).splits, stats_of(model->arena).merges);
	pw_arena_destroy(model->arena);
}

static void
walk_model(struct model *model, char *buffer, unsigned steps)
{
	for (unsigned step = 0; step < steps; step++) {
		/* In turns more of one than of the other, so that it runs dry and is whole again.
		 */
		unsigned allocs_in_8 = step / 4096 % 2 == 0 ? 5 : 3;

		if (pw_test_random(&model->seed, 8) < allocs_in_8)
			model_alloc(model, buffer);
		else if (model->nb_held > 0)
			model_free(model);
		if (step % 16 == 0)
			model_probe(model);
		if (step % 4096 == 0)
			model_check(model);
	}
}

static void
pages_are_as_in_a_model(void **state)
{
	static const struct {
		unsigned min_order, max_order, steps;
	} walks[] = {{0, 9, 1000000}, {0, 0, 50000}, {2, 5, 200000}, {3, 3, 50000}, {9, 9, 1000}};
	struct pw_test_memory before = pw_test_memory();
	char *buffer = lend_buffer(8 << 20);
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(walks); i++) {
		struct model *model = calloc(1, sizeof(*model));

		model->seed = seed + i;
		model_open(model, buffer, walks[i].min_order, walks[i].max_order);
		walk_model(model, buffer, walks[i].steps);
		model_close(model);
		free(model);
	}
	free(buffer);
	pw_test_memory_equal(before);
}

static void
each_order_can_be_used_up(void **state)
{
	char *buffer = lend_buffer(4 * HUGE_BYTES);
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_arena_stats start;

	(void)state;
	assert_int_equal(adopt(arena, buffer, (struct loan){0, 4 * HUGE_BYTES}), 0);
	start = stats_of(arena);
	assert_int_equal(start.free_pages[9], 4);
	for (unsigned order = 0; order <= 9; order++) {
		struct pw_page *page;
		uint32_t count = 0;

		for (; (page = pw_page_alloc(arena, order)) != NULL; count++) {
			assert_int_equal(page->index, count << order); /* the lowest first */
			check_page(arena, page, order, buffer);
		}
		assert_int_equal(rte_errno, ENOMEM);
		assert_int_equal(count, 2048 >> order);
		assert_null(pw_page_alloc(arena, 0));
		assert_int_equal(stats_of(arena).bytes_held, 4 * HUGE_BYTES);
		free_all(arena);
		free_pages_equal(arena, start);
	}
	assert_int_equal(stats_of(arena).page_failures, 20);
	assert_int_equal(stats_of(arena).pages_held_max, 2048);
	assert_int_equal(stats_of(arena).bytes_held_max, 4 * HUGE_BYTES);
	assert_int_equal(stats_of(arena).pages_touched, 2048);
	pw_arena_destroy(arena);
	free(buffer);
}

/* Of free pages that do not merge the lowest goes out, however they were put back. */
static void
the_lowest_page_goes_out_first(void **state)
{
	char *buffer = lend_buffer(HUGE_BYTES);
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_page *pages[512];
	uint64_t seed = pw_test_seed();

	(void)state;
	assert_int_equal(adopt(arena, buffer, (struct loan){0, HUGE_BYTES}), 0);
	for (unsigned i = 0; i < RTE_DIM(pages); i++)
		pages[i] = pw_page_alloc(arena, 0);
	for (unsigned i = RTE_DIM(pages); i > 0; i--) {
		unsigned k = pw_test_random(&seed, i);
		struct pw_page *page = pages[k];

		pages[k] = pages[i - 1];
		if (page->index % 2 == 1)
			pw_page_free(arena, page);
	}
	for (unsigned index = 1; index < RTE_DIM(pages); index += 2)
		assert_int_equal(pw_page_alloc(arena, 0)->index, index);
	pw_arena_destroy(arena);
	free(buffer);
}

static void
wrong_frees_are_refused_and_counted(void **state)
{
	char *buffer = lend_buffer(2 * HUGE_BYTES);
	struct pw_arena *arena = make_arena(0, 9), *other = make_arena(0, 9);
	struct pw_page *page, *block, *foreign;
	struct pw_arena_stats before, now;

	(void)state;
	assert_int_equal(adopt(arena, buffer, (struct loan){0, HUGE_BYTES}), 0);
	assert_int_equal(adopt(other, buffer, (struct loan){HUGE_BYTES, HUGE_BYTES}), 0);
	page = pw_page_alloc(arena, 0);
	block = pw_page_alloc(arena, 3);
	foreign = pw_page_alloc(other, 0);
	pw_page_free(arena, page);
	before = stats_of(arena);
	pw_page_free(arena, page);				  /* twice */
	pw_page_free(arena, pw_page_at(arena, block->index + 1)); /* inside a block */
	pw_page_free(arena, pw_page_at(arena, 511));		  /* never given out */
	pw_page_free(arena, foreign);				  /* of another arena */
	before.bad_frees += 4;
	now = stats_of(arena);
	assert_memory_equal(&now, &before, sizeof(now));

	pw_page_free(other, foreign);
	assert_int_equal(stats_of(other).pages_held, 0);
	assert_ptr_not_equal(pw_page_alloc(arena, 0), pw_page_alloc(arena, 0));
	pw_arena_destroy(arena);
	pw_arena_destroy(other);
	free(buffer);
}

/* ---- fragmentation on purpose ---- */

static void
check_fragmented(struct pw_arena *arena, unsigned order)
{
	struct pw_arena_stats stats = stats_of(arena);
	struct pw_page *page;

	for (unsigned o = order + 1; o <= 9; o++) {
		assert_int_equal(stats.free_pages[o], 0);
		assert_null(pw_page_alloc(arena, o));
		assert_int_equal(rte_errno, ENOMEM);
	}
	assert_true(stats.free_pages[order] > 0);
	page = pw_page_alloc(arena, order);
	assert_non_null(page);
	pw_page_free(arena, page);
}

static void
an_arena_is_fragmented_and_whole_again(void **state)
{
	char *buffer = lend_buffer(4 * HUGE_BYTES);
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_arena_stats start;

	(void)state;
	assert_int_equal(adopt(arena, buffer, (struct loan){5000, 4 * HUGE_BYTES - 5000}), 0);
	start = stats_of(arena);
	for (unsigned order = 0; order < 9; order++) {
		uint32_t pinned = pw_arena_fragment(arena, order);

		assert_true(pinned > 0);
		assert_int_equal(stats_of(arena).pages_held, pinned);
		check_fragmented(arena, order);
		assert_int_equal(stats_of(arena).free_pages[order] + pinned,
			(order == 0) + start.bytes / (4096 << order));
		pw_arena_defragment(arena);
		assert_int_equal(stats_of(arena).pages_held, 0);
		free_pages_equal(arena, start);
	}
	pw_arena_defragment(arena);
	assert_int_equal(pw_arena_fragment(arena, 9), 0); /* none can be larger */
	assert_int_equal(pw_arena_fragment(arena, UINT32_MAX), 0);
	free_pages_equal(arena, start);
	pw_arena_destroy(arena);
	free(buffer);
}

/* Whatever was done before: no free page is larger than asked for, and others' pages stay. */
static void
fragmented_again_it_is_as_asked_for(void **state)
{
	char *buffer = lend_buffer(4 * HUGE_BYTES);
	struct pw_arena *arena = make_arena(0, 9);
	struct pw_page *mine[3];
	struct pw_arena_stats start;

	(void)state;
	assert_int_equal(adopt(arena, buffer, (struct loan){0, 4 * HUGE_BYTES}), 0);
	for (unsigned i = 0; i < RTE_DIM(mine); i++)
		mine[i] = pw_page_alloc(arena, 4 * i);
	start = stats_of(arena);
	for (unsigned first = 0; first < 9; first++)
		for (unsigned second = 0; second <= first; second++) {
			uint64_t pinned = pw_arena_fragment(arena, first);

			pinned += pw_arena_fragment(arena, second);
			check_fragmented(arena, second);
			assert_int_equal(stats_of(arena).pages_held, RTE_DIM(mine) + pinned);
			pw_arena_defragment(arena);
			free_pages_equal(arena, start);
		}
	for (unsigned i = 0; i < RTE_DIM(mine); i++)
		pw_page_free(arena, mine[i]);
	assert_int_equal(stats_of(arena).free_pages[9], 4);
	assert_int_equal(stats_of(arena).bad_frees, 0);
	pw_arena_destroy(arena);
	free(buffer);
}

/* ---- two lcores ---- */

#define RACE_STEPS 300000
#define RACE_HELD 64

struct racer {
	struct pw_arena *arena;
	uint32_t tag;
	uint64_t seed;
	unsigned conflicts;
	unsigned allocs;
};

/* Every page of the smallest order in a block must bear a mark, and then bears another one. */
static void
mark(struct racer *racer, struct pw_page *page, uint32_t from, uint32_t to)
{
	for (size_t at = 0; at < pw_page_bytes(page); at += FRAME_BYTES) {
		uint32_t *word = (uint32_t *)(void *)(page->addr + at);

		racer->conflicts += __atomic_exchange_n(word, to, __ATOMIC_RELAXED) != from;
	}
}

static int
race(void *arg)
{
	struct racer *racer = arg;
	struct pw_page *held[RACE_HELD];
	unsigned len = 0;

	for (unsigned step = 0; step < RACE_STEPS || len > 0; step++) {
		bool take = step < RACE_STEPS && len < RACE_HELD &&
			pw_test_random(&racer->seed, 2) == 0;
		struct pw_page *page = take
			? pw_page_alloc(racer->arena, pw_test_random(&racer->seed, 5))
			: NULL;

		if (page != NULL) {
			held[len++] = page;
			mark(racer, page, 0, racer->tag);
			racer->allocs++;
		} else if (len > 0) {
			unsigned which = pw_test_random(&racer->seed, len);

			mark(racer, held[which], racer->tag, 0);
			pw_page_free(racer->arena, held[which]);
			held[which] = held[--len];
		}
	}
	return 0;
}

static void
two_lcores_share_an_arena(void **state)
{
	uint64_t seed = pw_test_seed();
	char *buffer = lend_buffer(HUGE_BYTES);
	struct racer here = {.arena = make_arena(0, 9), .tag = 1, .seed = seed};
	struct racer there = {.arena = here.arena, .tag = 2, .seed = ~seed};
	struct pw_arena_stats start, end;

	(void)state;
	memset(buffer, 0, HUGE_BYTES);
	/* Little memory, so that they meet. */
	assert_int_equal(adopt(here.arena, buffer, (struct loan){0, 300 << 10}), 0);
	start = stats_of(here.arena);
	assert_int_equal(rte_eal_remote_launch(race, &there, 1), 0);
	race(&here);
	rte_eal_wait_lcore(1);
	end = stats_of(here.arena);
	assert_int_equal(here.conflicts + there.conflicts, 0);
	assert_true(here.allocs > 0 && there.allocs > 0);
	assert_int_equal(end.page_allocs, here.allocs + there.allocs);
	assert_int_equal(end.page_frees, end.page_allocs);
	assert_int_equal(end.pages_held, 0);
	assert_int_equal(end.bytes_held, 0);
	assert_int_equal(end.bad_frees, 0);
	free_pages_equal(here.arena, start);
	pw_arena_destroy(here.arena);
	free(buffer);
}

/* ---- NUMA ---- */

/* The node of a page, or below 0 where the kernel does not tell. */
static int
node_of(void *addr)
{
	int node = -1;

	if (numa_available() < 0 || numa_move_pages(0, 1, &addr, NULL, &node, 0) != 0)
		return -1;
	return node;
}

static uint64_t
pages_off_node(struct pw_arena_params params, char *buffer, struct loan loan)
{
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_arena_stats stats;
	struct pw_page *page;
	uint64_t marked = 0;

	assert_non_null(arena);
	assert_int_equal(pw_arena_adopt(arena, buffer + loan.offset_bytes, RTE_BAD_IOVA,
				 loan.len_bytes, NULL, NULL),
		0);
	while ((page = pw_page_alloc(arena, params.min_order)) != NULL)
		marked += (page->flags & PW_PAGE_OFF_NODE) != 0;
	stats = stats_of(arena);
	assert_int_equal(marked, stats.pages_off_node);
	assert_true(marked == 0 || marked == stats.pages);
	pw_arena_destroy(arena);
	return marked;
}

static void
pages_off_their_node_are_marked(void **state)
{
	char *buffer = lend_buffer(4 * HUGE_BYTES);
	int node;

	(void)state;
	memset(buffer, 1, 4 * HUGE_BYTES); /* so that there are pages */
	node = node_of(buffer);
	if (node < 0) {
		free(buffer);
		skip();
	}
	for (unsigned order = 0; order <= 9; order += 3) {
		struct pw_arena_params params = {.min_order = order, .max_order = 9};
		struct loan all = {0, 4 * HUGE_BYTES}, some = {5000, 2 * HUGE_BYTES + 1};

		params.socket_id = SOCKET_ID_ANY;
		assert_int_equal(pages_off_node(params, buffer, all), 0);
		params.socket_id = node;
		assert_int_equal(pages_off_node(params, buffer, all), 0);
		params.socket_id = node + 1;
		assert_int_equal(pages_off_node(params, buffer, all), 2048 >> order);
		assert_true(pages_off_node(params, buffer, some) > 0);
	}
	free(buffer);
}

/* Pages that the owner does not want are none of the arena's. */
static void
unwanted_pages_are_not_off_node(void **state)
{
	struct refusal refusal = {lend_buffer(HUGE_BYTES), 3};
	struct pw_arena_params params = {.max_order = 9, .page_priv_bytes = sizeof(size_t)};
	struct pw_arena *arena;

	(void)state;
	memset(refusal.buffer, 1, HUGE_BYTES);
	if (node_of(refusal.buffer) < 0) {
		free(refusal.buffer);
		skip();
	}
	params.socket_id = node_of(refusal.buffer) + 1;
	arena = pw_arena_create(&params);
	assert_non_null(arena);
	assert_int_equal(pw_arena_adopt(arena, refusal.buffer, RTE_BAD_IOVA, HUGE_BYTES,
				 refuse_some, &refusal),
		0);
	assert_int_equal(stats_of(arena).pages_off_node, stats_of(arena).pages);
	pw_arena_destroy(arena);
	free(refusal.buffer);
}

static void
reserved_memory_is_on_its_node(void **state)
{
	static const int sockets[] = {0, SOCKET_ID_ANY};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(sockets); i++) {
		struct pw_arena_params params = {.socket_id = sockets[i], .max_order = 9};
		struct pw_arena *arena = pw_arena_create(&params);

		assert_non_null(arena);
		assert_int_equal(pw_arena_reserve(arena, "pages_node", 4 * HUGE_BYTES), 0);
		if (numa_available() < 0 || numa_max_node() == 0)
			assert_int_equal(stats_of(arena).pages_off_node, 0);
		pw_arena_destroy(arena);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies_parse),
		cmocka_unit_test(no_strategy_is_the_default_one),
		cmocka_unit_test(wrong_strategies_are_refused),
		cmocka_unit_test(strategies_are_listed),
		cmocka_unit_test(bitmap_is_as_an_array),
		cmocka_unit_test(bitmap_keeps_its_bits_as_it_grows),
		cmocka_unit_test(wrong_arenas_are_refused),
		cmocka_unit_test(an_empty_arena_gives_nothing),
		cmocka_unit_test(wrong_reservations_change_nothing),
		cmocka_unit_test(ten_times_the_memory_is_refused_at_once),
		cmocka_unit_test(reserved_pages_have_their_addresses),
		cmocka_unit_test(lent_memory_is_cut_at_page_multiples),
		cmocka_unit_test(overlapping_loans_are_refused),
		cmocka_unit_test(too_much_lent_memory_changes_nothing),
		cmocka_unit_test(unwanted_pages_never_come_out),
		cmocka_unit_test(unwanted_memory_may_be_lent_again),
		cmocka_unit_test(pieces_come_in_any_order),
		cmocka_unit_test(tiny_chunks_make_an_arena),
		cmocka_unit_test(every_index_has_its_page),
		cmocka_unit_test(private_room_is_zero_and_of_one_page),
		cmocka_unit_test(too_much_private_room_is_refused),
		cmocka_unit_test(failed_allocations_leave_nothing),
		cmocka_unit_test(a_thousand_arenas_leave_nothing),
		cmocka_unit_test(bookkeeping_is_less_than_a_hundredth),
		cmocka_unit_test(pages_are_as_in_a_model),
		cmocka_unit_test(each_order_can_be_used_up),
		cmocka_unit_test(the_lowest_page_goes_out_first),
		cmocka_unit_test(wrong_frees_are_refused_and_counted),
		cmocka_unit_test(an_arena_is_fragmented_and_whole_again),
		cmocka_unit_test(fragmented_again_it_is_as_asked_for),
		cmocka_unit_test(two_lcores_share_an_arena),
		cmocka_unit_test(pages_off_their_node_are_marked),
		cmocka_unit_test(unwanted_pages_are_not_off_node),
		cmocka_unit_test(reserved_memory_is_on_its_node),
	};

	return cmocka_run_group_tests_name("pages", tests, pw_test_eal, NULL);
}
