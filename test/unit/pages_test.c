/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_memory.h>

#include "pw_pages.h"

static void
strategies_parse(void **state)
{
	struct pw_strategy strategy;

	(void)state;
	assert_int_equal(pw_strategy_parse(NULL, &strategy), 0);
	assert_string_equal(strategy.name, PW_STRATEGY_DEFAULT);
	assert_int_equal(pw_strategy_parse("order0", &strategy), 0);
	assert_int_equal(pw_strategy_page_bytes(&strategy), 4096);
	assert_int_equal(pw_strategy_parse("reuse:9", &strategy), 0);
	assert_string_equal(strategy.name, "reuse:9");
	assert_int_equal(pw_strategy_page_bytes(&strategy), 2 << 20);
}

static void
wrong_strategies_are_refused(void **state)
{
	static const char *const wrong[] = {"bogus", "order", "reuse:", "reuse:a", "reuse:10", ":",
		":0", "reuse:-1", "Reuse", "reuse "};
	struct pw_strategy strategy, before;

	(void)state;
	memset(&strategy, 0x5a, sizeof(strategy));
	before = strategy;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		assert_int_equal(pw_strategy_parse(wrong[i], &strategy), -EINVAL);
	assert_memory_equal(&strategy, &before, sizeof(before));
}

static void
pages_are_aligned_and_come_back(void **state)
{
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY, .page_order = 3};
	size_t heap = pw_test_heap_bytes();
	unsigned memzones = pw_test_memzones();
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_arena_stats stats;
	struct pw_page *pages[4];

	(void)state;
	assert_non_null(arena);
	assert_int_equal(pw_arena_reserve(arena, "pages_test", RTE_DIM(pages)), 0);
	for (unsigned i = 0; i < RTE_DIM(pages); i++) {
		pages[i] = pw_page_alloc(arena);
		assert_non_null(pages[i]);
		assert_int_equal((uintptr_t)pages[i]->addr % 32768, 0);
		assert_int_equal(pages[i]->len_bytes, 32768);
		assert_ptr_equal(pw_page_of(arena, pages[i]->addr + 32767), pages[i]);
	}
	assert_null(pw_page_alloc(arena));
	assert_int_equal(rte_errno, ENOMEM);
	for (unsigned i = 0; i < RTE_DIM(pages); i++)
		pw_page_free(arena, pages[i]);
	/* The hottest page goes out first. */
	assert_ptr_equal(pw_page_alloc(arena), pages[3]);
	pw_page_free(arena, pages[3]);

	pw_arena_get_stats(arena, &stats);
	assert_int_equal(stats.pages, 4);
	assert_int_equal(stats.pages_held, 0);
	assert_int_equal(stats.pages_held_max, 4);
	assert_int_equal(stats.pages_touched, 4);
	assert_int_equal(stats.page_failures, 1);
	pw_arena_destroy(arena);
	assert_int_equal(pw_test_heap_bytes(), heap);
	assert_int_equal(pw_test_memzones(), memzones);
}

static struct pw_arena *
make_arena(unsigned order)
{
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY, .page_order = order};
	struct pw_arena *arena = pw_arena_create(&params);

	assert_non_null(arena);
	return arena;
}

static void
strategies_are_listed(void **state)
{
	struct pw_strategy strategy;
	char list[256], cut[12];
	const char *name, *help;
	unsigned i;

	(void)state;
	assert_ptr_equal(pw_strategy_list(list, sizeof(list)), list);
	for (i = 0; (help = pw_strategy_help(i, &name)) != NULL; i++) {
		assert_int_not_equal(help[0], '\0');
		assert_non_null(strstr(list, name));
		assert_int_equal(pw_strategy_parse(name, &strategy), 0);
	}
	assert_true(i >= 2);

	for (size_t size = 0; size <= 10; size++) {
		memset(cut, 'x', sizeof(cut));
		pw_strategy_list(cut, size);
		assert_true(size == 0 || strnlen(cut, sizeof(cut)) == size - 1);
		assert_int_equal(cut[size], 'x');
	}
}

static void
wrong_arenas_are_refused(void **state)
{
	static const struct pw_arena_params wrong[] = {
		{.socket_id = 0, .page_order = PW_PAGE_ORDER_MAX + 1},
		{.socket_id = 0, .page_order = UINT32_MAX},
		{.socket_id = -2, .page_order = 0},
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
wrong_reservations_change_nothing(void **state)
{
	static const struct {
		const char *name;
		uint32_t pages;
		int rc;
	} wrong[] = {
		{"pages_none", 0, -EINVAL},
		{"pages_taken", 1, -EEXIST},
		{"pages_name_of_32_characters_----", 1, -ENAMETOOLONG},
		{"pages_16_GiB", 4 << 20, -ENOMEM},
		{"pages_16_TiB", UINT32_MAX, -ENOMEM},
	};
	struct pw_test_memory start = pw_test_memory(), before;
	struct pw_arena_stats stats, now;
	struct pw_arena *arena = make_arena(0);

	(void)state;
	assert_int_equal(pw_arena_reserve(arena, "pages_taken", 2), 0);
	assert_int_equal(pw_arena_reserve(arena, "pages_name_of_31_characters_---", 1), 0);
	pw_arena_get_stats(arena, &stats);
	before = pw_test_memory();
	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		assert_int_equal(
			pw_arena_reserve(arena, wrong[i].name, wrong[i].pages), wrong[i].rc);
	pw_arena_get_stats(arena, &now);
	assert_memory_equal(&now, &stats, sizeof(stats));
	pw_test_memory_equal(before);
	pw_arena_destroy(arena);
	pw_test_memory_equal(start);
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY, .page_order = 0};
	struct pw_test_memory before = pw_test_memory();
	struct pw_arena *arena;
	int k = -1, rc;

	(void)state;
	do {
		pw_test_fail_alloc(++k);
		arena = pw_arena_create(&params);
		rc = arena == NULL ? -rte_errno : pw_arena_reserve(arena, "pages_fail", 3);
		if (!pw_test_alloc_failed())
			break;
		assert_int_equal(rc, -ENOMEM);
		pw_arena_destroy(arena);
		pw_test_memory_equal(before);
	} while (true);
	pw_test_fail_alloc(-1);
	assert_int_equal(rc, 0);
	assert_true(k >= 4);
	pw_arena_destroy(arena);
	pw_test_memory_equal(before);
}

/* Lent memory: bytes of a buffer that begins at a multiple of 64 KiB. */
struct loan {
	size_t offset_bytes;
	size_t len_bytes;
};

#define LENT_BYTES (64 << 10)
#define LENT_IOVA UINT64_C(0x700000000)

static char *
lend_buffer(void)
{
	char *buffer = aligned_alloc(LENT_BYTES, LENT_BYTES);

	assert_non_null(buffer);
	return buffer;
}

static int
adopt(struct pw_arena *arena, char *buffer, struct loan loan)
{
	return pw_arena_adopt(arena, buffer + loan.offset_bytes, LENT_IOVA + loan.offset_bytes,
		loan.len_bytes, NULL, NULL);
}

/* Take all pages: together they are the loan, none crosses a multiple of its size. */
static void
check_pages(struct pw_arena *arena, char *buffer, struct loan loan)
{
	size_t page_bytes = pw_arena_page_bytes(arena), sum = 0;
	struct pw_page *page;

	while ((page = pw_page_alloc(arena)) != NULL) {
		size_t at = page->addr - buffer;

		assert_in_range(at, loan.offset_bytes, loan.offset_bytes + loan.len_bytes - 1);
		assert_in_range(page->len_bytes, 1, page_bytes);
		assert_int_equal(at / page_bytes, (at + page->len_bytes - 1) / page_bytes);
		assert_int_equal(page->iova, LENT_IOVA + at);
		assert_ptr_equal(pw_page_of(arena, page->addr), page);
		assert_ptr_equal(pw_page_of(arena, page->addr + page->len_bytes - 1), page);
		memset(page->addr, 1, page->len_bytes);
		sum += page->len_bytes;
	}
	assert_int_equal(sum, loan.len_bytes);
}

static void
lent_memory_is_cut_at_page_multiples(void **state)
{
	static const struct loan loans[] = {
		{0, LENT_BYTES},
		{0, 1},
		{4095, 1},
		{4095, 2},
		{8191, 4098},
		{64, LENT_BYTES - 64},
		{100, 50},
		{32767, 32768},
		{LENT_BYTES - 1, 1},
	};
	char *buffer = lend_buffer();

	(void)state;
	for (unsigned i = 0; i < 2 * RTE_DIM(loans); i++) {
		struct loan loan = loans[i / 2];
		struct pw_arena *arena = make_arena(i % 2 == 0 ? 0 : 3);

		assert_int_equal(adopt(arena, buffer, loan), 0);
		assert_null(pw_page_of(arena, buffer + loan.offset_bytes - 1));
		assert_null(pw_page_of(arena, buffer + loan.offset_bytes + loan.len_bytes));
		memset(buffer, 0, LENT_BYTES);
		check_pages(arena, buffer, loan);
		for (size_t at = 0; at < LENT_BYTES; at++)
			assert_int_equal(buffer[at], at - loan.offset_bytes < loan.len_bytes);
		pw_arena_destroy(arena);
	}
	free(buffer);
}

static void
overlapping_loans_are_refused(void **state)
{
	static const struct {
		struct loan loan;
		int rc;
	} steps[] = {
		{{8192, 0}, -EINVAL},
		{{8192, 8192}, 0},
		{{8192, 8192}, -EINVAL},
		{{0, 8193}, -EINVAL},
		{{16383, 10}, -EINVAL},
		{{10000, 10}, -EINVAL},
		{{0, LENT_BYTES}, -EINVAL},
		{{40960, 4096}, 0},
		{{0, 8192}, 0}, /* these touch what is there */
		{{45056, 100}, 0},
		{{16384, 4096}, 0},
		{{45155, 100}, -EINVAL},
		{{45156, 100}, 0},
		{{30000, 10}, 0},
	};
	char *buffer = lend_buffer();
	struct pw_arena *arena = make_arena(0);
	unsigned regions = 0;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(steps); i++) {
		assert_int_equal(adopt(arena, buffer, steps[i].loan), steps[i].rc);
		regions += steps[i].rc == 0;
	}
	for (unsigned i = 0; i < RTE_DIM(steps); i++)
		if (steps[i].rc == 0)
			assert_non_null(pw_page_of(arena, buffer + steps[i].loan.offset_bytes));
	assert_null(pw_page_of(arena, buffer + 29999));
	assert_null(pw_page_of(arena, buffer + 30010));
	assert_null(pw_page_of(arena, NULL));
	assert_null(pw_page_of(arena, &regions));
	assert_true(regions > 4);
	pw_arena_destroy(arena);
	free(buffer);
}

static bool
want_every_other(struct pw_page *page, void *ctx)
{
	char *buffer = ctx;

	return (page->addr - buffer) / 4096 % 2 == 0;
}

static void
unwanted_pages_never_come_out(void **state)
{
	char *buffer = lend_buffer();
	struct pw_arena *arena = make_arena(0);
	struct pw_page *page;
	unsigned count = 0;

	(void)state;
	assert_int_equal(
		pw_arena_adopt(arena, buffer, RTE_BAD_IOVA, LENT_BYTES, want_every_other, buffer),
		0);
	for (; (page = pw_page_alloc(arena)) != NULL; count++) {
		assert_int_equal((page->addr - buffer) / 4096 % 2, 0);
		assert_true(page->iova == RTE_BAD_IOVA);
	}
	assert_int_equal(count, LENT_BYTES / 4096 / 2);
	pw_arena_destroy(arena);
	free(buffer);
}

static bool
want_none(struct pw_page *page, void *ctx)
{
	(void)page;
	(void)ctx;
	return false;
}

static void
unwanted_memory_may_be_lent_again(void **state)
{
	char *buffer = lend_buffer();
	struct pw_arena *arena = make_arena(0);

	(void)state;
	assert_int_equal(pw_arena_adopt(arena, buffer, RTE_BAD_IOVA, 4096, want_none, NULL), 0);
	assert_null(pw_page_of(arena, buffer));
	assert_int_equal(adopt(arena, buffer, (struct loan){0, LENT_BYTES}), 0);
	check_pages(arena, buffer, (struct loan){0, LENT_BYTES});
	pw_arena_destroy(arena);
	free(buffer);
}

static void
private_room_is_zero_and_of_one_page(void **state)
{
	struct pw_arena_params params = {.socket_id = 0, .page_priv_bytes = 21};
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_page *pages[8];
	char expected[21] = {0};

	(void)state;
	assert_non_null(arena);
	assert_int_equal(pw_arena_reserve(arena, "pages_priv", RTE_DIM(pages)), 0);
	for (unsigned i = 0; i < RTE_DIM(pages); i++) {
		pages[i] = pw_page_alloc(arena);
		assert_memory_equal(pw_page_priv(pages[i]), expected, sizeof(expected));
		memset(pw_page_priv(pages[i]), i + 1, sizeof(expected));
	}
	for (unsigned i = 0; i < RTE_DIM(pages); i++) {
		memset(expected, i + 1, sizeof(expected));
		assert_memory_equal(pw_page_priv(pages[i]), expected, sizeof(expected));
		assert_int_equal(pages[i]->len_bytes, 4096);
	}
	pw_arena_destroy(arena);
}

#define WALK_PAGES 64
#define WALK_STEPS 200000

struct walk {
	struct pw_arena *arena;
	unsigned conflicts;
};

/* Take and give back, with a mark in each page that nobody else may touch meanwhile. */
static int
walk_pages(void *arg)
{
	struct walk *walk = arg;
	struct pw_page *held[WALK_PAGES];
	uint64_t seed = (uintptr_t)&held;
	unsigned len = 0;

	for (unsigned i = 0; i < WALK_STEPS; i++) {
		struct pw_page *page = pw_test_random(&seed, 2) == 0 ? pw_page_alloc(walk->arena)
								     : NULL;

		if (page != NULL) {
			held[len++] = page;
			memcpy(page->addr, &walk, sizeof(walk));
		} else if (len > 0) {
			page = held[--len];
			if (memcmp(page->addr, &walk, sizeof(walk)) != 0)
				__atomic_fetch_add(&walk->conflicts, 1, __ATOMIC_RELAXED);
			pw_page_free(walk->arena, page);
		}
	}
	while (len > 0)
		pw_page_free(walk->arena, held[--len]);
	return 0;
}

static void
two_lcores_share_an_arena(void **state)
{
	struct walk here = {.arena = make_arena(0)}, there = here;
	struct pw_arena_stats stats;

	(void)state;
	assert_int_equal(pw_arena_reserve(here.arena, "pages_walk", WALK_PAGES), 0);
	assert_int_equal(rte_eal_remote_launch(walk_pages, &there, 1), 0);
	walk_pages(&here);
	rte_eal_wait_lcore(1);
	assert_int_equal(here.conflicts + there.conflicts, 0);

	pw_arena_get_stats(here.arena, &stats);
	assert_int_equal(stats.pages_held, 0);
	assert_int_equal(stats.page_allocs, stats.page_frees);
	for (unsigned i = 0; i < WALK_PAGES; i++)
		assert_non_null(pw_page_alloc(here.arena));
	assert_null(pw_page_alloc(here.arena));
	pw_arena_destroy(here.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies_parse),
		cmocka_unit_test(wrong_strategies_are_refused),
		cmocka_unit_test(strategies_are_listed),
		cmocka_unit_test(wrong_arenas_are_refused),
		cmocka_unit_test(pages_are_aligned_and_come_back),
		cmocka_unit_test(wrong_reservations_change_nothing),
		cmocka_unit_test(failed_allocations_leak_nothing),
		cmocka_unit_test(lent_memory_is_cut_at_page_multiples),
		cmocka_unit_test(overlapping_loans_are_refused),
		cmocka_unit_test(unwanted_pages_never_come_out),
		cmocka_unit_test(unwanted_memory_may_be_lent_again),
		cmocka_unit_test(private_room_is_zero_and_of_one_page),
		cmocka_unit_test(two_lcores_share_an_arena),
	};

	return cmocka_run_group_tests_name("pages", tests, pw_test_eal, NULL);
}
