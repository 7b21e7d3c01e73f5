/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_mbuf.h>
#include <rte_memory.h>
#include <rte_ring.h>

#include "pw_frag.h"
#include "pw_frag_buf.h"
#include "pw_pages.h"

/* An arena and a cache on it. */
struct desk {
	struct pw_arena *arena;
	struct pw_frag_cache *cache;
	size_t page_bytes;
	struct pw_test_memory before;
};

static struct desk
open_desk(const char *strategy_text, uint32_t pages)
{
	struct desk desk = {.before = pw_test_memory()};
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY};
	struct pw_strategy strategy;
	char name[32];

	/* Two desks may be open at once. */
	snprintf(name, sizeof(name), "frag_test_%u", desk.before.memzones);
	assert_int_equal(pw_strategy_parse(strategy_text, &strategy), 0);
	params.page_order = strategy.page_order;
	desk.arena = pw_arena_create(&params);
	assert_non_null(desk.arena);
	assert_int_equal(pw_arena_reserve(desk.arena, name, pages), 0);
	desk.cache = pw_frag_cache_create(desk.arena, &strategy);
	assert_non_null(desk.cache);
	desk.page_bytes = pw_strategy_page_bytes(&strategy);
	return desk;
}

static struct pw_frag_stats
cache_stats(const struct desk *desk)
{
	struct pw_frag_stats stats;

	pw_frag_get_stats(desk->cache, &stats);
	return stats;
}

static struct pw_arena_stats
arena_stats(const struct desk *desk)
{
	struct pw_arena_stats stats;

	pw_arena_get_stats(desk->arena, &stats);
	return stats;
}

/* All fragments are free: every page must have come home, each as often as it went out. */
static void
close_desk(struct desk *desk)
{
	struct pw_arena_stats stats;

	pw_frag_cache_destroy(desk->cache);
	stats = arena_stats(desk);
	assert_int_equal(stats.pages_held, 0);
	assert_int_equal(stats.page_allocs, stats.page_frees);
	for (unsigned i = 0; i < stats.pages; i++)
		assert_non_null(pw_page_alloc(desk->arena));
	assert_null(pw_page_alloc(desk->arena));
	pw_arena_destroy(desk->arena);
	pw_test_memory_equal(desk->before);
}

static char *
take(const struct desk *desk, size_t size_bytes)
{
	char *frag = pw_frag_alloc(desk->cache, size_bytes, 1);

	assert_non_null(frag);
	return frag;
}

static void
give(const struct desk *desk, void *frag)
{
	assert_int_equal(pw_frag_free(desk->arena, frag), 0);
}

static char *
page_start(const struct desk *desk, const char *frag)
{
	return RTE_PTR_ALIGN_FLOOR((char *)(uintptr_t)frag, desk->page_bytes);
}

static void
fragments_go_from_the_end_to_the_start(void **state)
{
	struct desk desk = open_desk("reuse:0", 2);
	char *frags[4], *next;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(frags); i++) {
		frags[i] = take(&desk, 1000);
		assert_ptr_equal(frags[i], page_start(&desk, frags[0]) + 4096 - (i + 1) * 1000);
	}
	next = take(&desk, 97); /* one byte more than is left */
	assert_ptr_not_equal(page_start(&desk, next), page_start(&desk, frags[0]));
	assert_ptr_equal(next, page_start(&desk, next) + 4096 - 97);
	for (unsigned i = 0; i < RTE_DIM(frags); i++)
		give(&desk, frags[i]);
	give(&desk, next);
	close_desk(&desk);
}

static void
a_page_can_be_used_to_the_last_byte(void **state)
{
	struct desk desk = open_desk("reuse:0", 2);
	char *frags[3];

	(void)state;
	frags[0] = take(&desk, 4096);
	assert_ptr_equal(frags[0], page_start(&desk, frags[0]));
	frags[1] = take(&desk, 4095);
	frags[2] = take(&desk, 1);
	assert_ptr_equal(frags[2], page_start(&desk, frags[1]));
	for (unsigned i = 0; i < RTE_DIM(frags); i++)
		give(&desk, frags[i]);
	close_desk(&desk);
}

static void
fragments_are_aligned_and_apart(void **state)
{
	static const char *const strategies[] = {"order0", "reuse:0", "reuse", "reuse:9"};
	static const size_t sizes[] = {1, 7, 64, 100, 1536, 2049, 4096};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 3);
		char *last = NULL;

		for (size_t align = 1; align <= desk.page_bytes; align *= 2) {
			size_t size = sizes[align % RTE_DIM(sizes)];
			char *frag = pw_frag_alloc(desk.cache, size, align);

			assert_non_null(frag);
			assert_int_equal((uintptr_t)frag % align, 0);
			assert_ptr_equal(
				page_start(&desk, frag), page_start(&desk, frag + size - 1));
			if (last != NULL && page_start(&desk, frag) == page_start(&desk, last))
				assert_true(frag + size <= last);
			if (last != NULL)
				give(&desk, last);
			last = frag;
		}
		give(&desk, last);
		close_desk(&desk);
	}
}

static void
refused_calls_leave_the_cache_as_it_was(void **state)
{
	static const struct {
		size_t size_bytes, align_bytes;
		int error;
	} wrong[] = {
		{0, 1, EINVAL},
		{0, 64, EINVAL},
		{1, 0, EINVAL},
		{1, 3, EINVAL},
		{1, 96, EINVAL},
		{1, 8192, EINVAL},
		{1, SIZE_MAX, EINVAL},
		{1, (size_t)1 << 32, EINVAL},
		{4097, 1, EMSGSIZE},
		{4097, 64, EMSGSIZE},
		{(size_t)1 << 32, 1, EMSGSIZE},
		{((size_t)1 << 32) + 1, 1, EMSGSIZE},
		{SIZE_MAX, 1, EMSGSIZE},
	};
	struct desk desk = open_desk("reuse:0", 2);
	char *first = take(&desk, 10), *second;
	struct pw_frag_stats before = cache_stats(&desk), after;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		rte_errno = 0;
		assert_null(pw_frag_alloc(desk.cache, wrong[i].size_bytes, wrong[i].align_bytes));
		assert_int_equal(rte_errno, wrong[i].error);
	}
	after = cache_stats(&desk);
	assert_memory_equal(&after, &before, sizeof(before));
	second = take(&desk, 10);
	assert_ptr_equal(second, first - 10);
	give(&desk, first);
	give(&desk, second);
	close_desk(&desk);
}

static void
refused_calls_take_no_page(void **state)
{
	struct desk desk = open_desk("reuse:0", 1);
	char *frag;

	(void)state;
	assert_null(pw_frag_alloc(desk.cache, 0, 1));
	assert_null(pw_frag_alloc(desk.cache, 4097, 1));
	assert_int_equal(arena_stats(&desk).pages_held, 0);
	frag = take(&desk, 4096);
	assert_ptr_equal(frag, page_start(&desk, frag));
	give(&desk, frag);
	close_desk(&desk);
}

static void
exhaustion_leaves_the_cache_as_it_was(void **state)
{
	static const char *const strategies[] = {"order0", "reuse:0"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 1);
		char *first = take(&desk, 4000), *second;

		for (unsigned i = 0; i < 3; i++) {
			rte_errno = 0;
			assert_null(pw_frag_alloc(desk.cache, 97, 1));
			assert_int_equal(rte_errno, ENOMEM);
		}
		assert_int_equal(cache_stats(&desk).failures, 3);
		assert_int_equal(cache_stats(&desk).allocs, 1);
		second = take(&desk, 96);
		assert_ptr_equal(second, first - 96);
		give(&desk, first);
		give(&desk, second);
		close_desk(&desk);
	}
}

/* An arena of one page serves for ever, as long as the page becomes free in between. */
static void
one_page_is_enough(void **state)
{
	static const char *const strategies[] = {"order0", "reuse:0", "reuse"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 1);

		for (unsigned i = 0; i < 100; i++) {
			char *frag = take(&desk, desk.page_bytes / 2 + 1);

			memset(frag, i, desk.page_bytes / 2 + 1);
			give(&desk, frag);
		}
		assert_int_equal(cache_stats(&desk).failures, 0);
		close_desk(&desk);
	}
}

static void
wrong_caches_are_refused(void **state)
{
	struct desk desk = open_desk("reuse:0", 1);
	struct pw_strategy strategy;

	(void)state;
	for (unsigned order = 1; order <= PW_PAGE_ORDER_MAX; order++) {
		assert_int_equal(pw_strategy_parse("reuse", &strategy), 0);
		strategy.page_order = order;
		rte_errno = 0;
		assert_null(pw_frag_cache_create(desk.arena, &strategy));
		assert_int_equal(rte_errno, EINVAL);
	}
	strategy.page_order = 0;
	pw_test_fail_alloc(0);
	assert_null(pw_frag_cache_create(desk.arena, &strategy));
	assert_true(pw_test_alloc_failed());
	assert_int_equal(rte_errno, ENOMEM);
	pw_frag_cache_destroy(NULL);
	close_desk(&desk);
}

/* In a page cut short a fragment could reach outside the memory that was lent. */
static void
arenas_with_short_pages_are_refused(void **state)
{
	static const struct {
		size_t offset_bytes, len_bytes;
		bool fits;
	} loans[] = {{0, 8192, true}, {64, 8192, false}, {0, 8191, false}, {4096, 10, false}};
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY};
	char *memory = aligned_alloc(4096, 3 * 4096);
	struct pw_strategy strategy;

	(void)state;
	assert_int_equal(pw_strategy_parse("reuse:0", &strategy), 0);
	for (unsigned i = 0; i < RTE_DIM(loans); i++) {
		struct pw_arena *arena = pw_arena_create(&params);
		struct pw_frag_cache *cache;

		assert_int_equal(pw_arena_adopt(arena, memory + loans[i].offset_bytes, RTE_BAD_IOVA,
					 loans[i].len_bytes, NULL, NULL),
			0);
		cache = pw_frag_cache_create(arena, &strategy);
		assert_int_equal(cache != NULL, loans[i].fits);
		assert_true(cache != NULL || rte_errno == EINVAL);
		pw_frag_cache_destroy(cache);
		pw_arena_destroy(arena);
	}
	free(memory);
}

/* The most references there can be: a big page of the smallest fragments. */
static void
bytes_fill_a_page_which_goes_home_once(void **state)
{
	static const char *const strategies[] = {"order0:4", "reuse:4", "order0:9", "reuse:9"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 2);
		char *first = take(&desk, 1), *next;
		struct pw_page *page = pw_page_of(desk.arena, first);

		for (size_t i = 1; i < desk.page_bytes; i++)
			assert_ptr_equal(take(&desk, 1), first - i);
		next = take(&desk, 1);
		assert_ptr_not_equal(pw_page_of(desk.arena, next), page);
		assert_int_equal(page->refs, desk.page_bytes);
		for (size_t i = 0; i < desk.page_bytes; i++) {
			assert_int_equal(arena_stats(&desk).page_frees, 0);
			give(&desk, first - i);
		}
		assert_int_equal(page->refs, 0);
		assert_int_equal(arena_stats(&desk).page_frees, 1);
		give(&desk, next);
		close_desk(&desk);
	}
}

/* Freed while the cache still uses the page, nothing goes home before the cache leaves it. */
static void
bytes_freed_at_once_keep_the_page(void **state)
{
	struct desk desk = open_desk("reuse:9", 1);
	char *first = NULL;

	(void)state;
	for (size_t i = 0; i < 2 * desk.page_bytes; i++) {
		char *frag = take(&desk, 1);

		if (i == 0)
			first = frag;
		assert_ptr_equal(frag, first - i % desk.page_bytes);
		give(&desk, frag);
	}
	assert_int_equal(arena_stats(&desk).page_frees, 0);
	assert_int_equal(cache_stats(&desk).reuses, 1);
	close_desk(&desk);
}

static void
fragments_outlive_their_cache(void **state)
{
	struct desk desk = open_desk("reuse:0", 2);
	char *frags[7];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(frags); i++) {
		frags[i] = take(&desk, 512);
		memset(frags[i], i, 512);
	}
	pw_frag_cache_destroy(desk.cache);
	desk.cache = NULL;
	for (unsigned i = 0; i < RTE_DIM(frags); i++) {
		assert_int_equal(arena_stats(&desk).pages_held, 1);
		assert_int_equal(frags[i][0], i);
		assert_int_equal(frags[i][511], i);
		give(&desk, frags[i]);
	}
	close_desk(&desk);
}

static void
a_page_is_reused_by_its_only_holder(void **state)
{
	static const struct {
		const char *strategy;
		bool hold;
		uint64_t reuses;
	} rows[] = {
		{"reuse:0", false, 9},
		{"reuse:0", true, 0},
		{"reuse", false, 9},
		{"reuse", true, 0},
		{"order0", false, 0},
		{"order0", true, 0},
		{"order0:3", false, 0},
	};

	(void)state;
	for (unsigned r = 0; r < RTE_DIM(rows); r++) {
		struct desk desk = open_desk(rows[r].strategy, 10);
		char *held[10];

		for (unsigned i = 0; i < RTE_DIM(held); i++) {
			char *frag = take(&desk, desk.page_bytes / 2);

			held[i] = take(&desk, desk.page_bytes / 2);
			give(&desk, frag);
			if (!rows[r].hold)
				give(&desk, held[i]);
		}
		assert_int_equal(cache_stats(&desk).reuses, rows[r].reuses);
		assert_int_equal(cache_stats(&desk).refills, RTE_DIM(held) - rows[r].reuses);
		for (unsigned i = 0; rows[r].hold && i < RTE_DIM(held); i++)
			give(&desk, held[i]);
		close_desk(&desk);
	}
}

/* One of two holders of a fragment lets go: the other's bytes stay while 1000 more pass. */
static void
a_second_reference_keeps_the_bytes(void **state)
{
	static const char *const strategies[] = {"order0", "reuse:0"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 3);
		char *frag = take(&desk, 2048), expected[2048];

		memset(expected, 0x5a, sizeof(expected));
		memset(frag, 0x5a, 2048);
		assert_int_equal(pw_frag_ref(desk.arena, frag), 0);
		give(&desk, frag);
		for (unsigned i = 0; i < 1000; i++) {
			char *other = take(&desk, 2048);

			memset(other, i, 2048);
			give(&desk, other + i); /* anywhere in it */
		}
		assert_memory_equal(frag, expected, sizeof(expected));
		give(&desk, frag);
		close_desk(&desk);
	}
}

static void
foreign_addresses_are_refused(void **state)
{
	struct desk desk = open_desk("reuse:0", 1), other = open_desk("reuse:0", 1);
	char *frag = take(&desk, 100), *foreign = take(&other, 100);
	char *start = page_start(&desk, frag);
	void *wrong[] = {NULL, &desk, foreign, start - 1, start + 4096, (void *)UINTPTR_MAX};
	struct pw_page *page = pw_page_of(desk.arena, frag);
	uint32_t refs = page->refs;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		assert_int_equal(pw_frag_free(desk.arena, wrong[i]), -EINVAL);
		assert_int_equal(pw_frag_ref(desk.arena, wrong[i]), -EINVAL);
	}
	assert_int_equal(page->refs, refs);
	give(&desk, frag);
	give(&other, foreign);
	/* The one opened last goes first: what each checks is the memory at its opening. */
	close_desk(&other);
	close_desk(&desk);
}

static void
fragments_and_bytes_are_counted(void **state)
{
	struct desk desk = open_desk("reuse:0", 1);
	char *frag = pw_frag_alloc(desk.cache, 100, 64), *other = pw_frag_alloc(desk.cache, 1, 1);

	(void)state;
	assert_int_equal(cache_stats(&desk).allocs, 2);
	assert_int_equal(cache_stats(&desk).bytes, 101);
	give(&desk, frag);
	give(&desk, other);
	close_desk(&desk);
}

#define WALK_HELD 64
#define WALK_STEPS 300000

struct held {
	unsigned char *frag;
	uint32_t len_bytes;
	unsigned char mark;
};

static void
drop_held(const struct desk *desk, struct held *held)
{
	for (uint32_t i = 0; i < held->len_bytes; i++)
		assert_int_equal(held->frag[i], held->mark);
	give(desk, held->frag);
	held->frag = NULL;
}

static void
take_held(const struct desk *desk, struct held *held, uint64_t *seed)
{
	uint32_t max = pw_test_random(seed, 8) == 0 ? desk->page_bytes : 300;

	held->len_bytes = 1 + pw_test_random(seed, max);
	held->frag = pw_frag_alloc(desk->cache, held->len_bytes, 1U << pw_test_random(seed, 8));
	if (held->frag == NULL) {
		assert_int_equal(rte_errno, ENOMEM);
		return;
	}
	held->mark = pw_test_random(seed, 256);
	memset(held->frag, held->mark, held->len_bytes);
}

/* Whatever the order of the calls, nobody else writes into a fragment that is held. */
static void
random_walk_keeps_all_bytes(void **state)
{
	static const char *const strategies[] = {"order0", "reuse:0", "reuse:2"};
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 16);
		struct held held[WALK_HELD] = {0};

		for (unsigned i = 0; i < WALK_STEPS; i++) {
			/* Few holders at times, so that pages become free. */
			struct held *one = &held[pw_test_random(
				&seed, i / 1000 % 2 == 0 ? WALK_HELD : 4)];

			if (one->frag != NULL)
				drop_held(&desk, one);
			else
				take_held(&desk, one, &seed);
		}
		for (unsigned i = 0; i < WALK_HELD; i++)
			if (held[i].frag != NULL)
				drop_held(&desk, &held[i]);
		close_desk(&desk);
	}
}

struct parcel {
	struct pw_arena *arena;
	char *frags[64];
	int rc;
};

static void *
free_parcel(void *arg)
{
	struct parcel *parcel = arg;

	for (unsigned i = 0; i < RTE_DIM(parcel->frags); i++)
		parcel->rc |= pw_frag_free(parcel->arena, parcel->frags[i]);
	return NULL;
}

static void
any_thread_may_free(void **state)
{
	struct desk desk = open_desk("reuse:0", 4);
	struct parcel parcel = {.arena = desk.arena};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(parcel.frags); i++)
		parcel.frags[i] = take(&desk, 256);
	assert_int_equal(arena_stats(&desk).pages_held, 4);
	pw_test_on_thread(free_parcel, &parcel);
	assert_int_equal(parcel.rc, 0);
	assert_int_equal(arena_stats(&desk).pages_held, 1);
	close_desk(&desk);
}

#define LINE_FRAGS 2000000

struct line {
	struct pw_arena *arena;
	struct rte_ring *ring;
	uint64_t popped;
	uint64_t wrong;
};

/* The consumer's lcore: what comes out of the ring must be what was written, in its order. */
static int
free_line(void *arg)
{
	struct line *line = arg;

	for (line->popped = 0; line->popped < LINE_FRAGS; line->popped++) {
		uint64_t popped = line->popped, since = 0;
		void *frag;

		while (rte_ring_sc_dequeue(line->ring, &frag) < 0)
			if (!pw_test_wait(&since))
				return -1;
		if (*(uint64_t *)frag != popped || ((uint64_t *)frag)[255] != popped)
			line->wrong++;
		line->wrong += pw_frag_free(line->arena, frag) != 0;
	}
	return 0;
}

/* Returns how many went into the ring: fewer when it or the arena stays full. */
static uint64_t
push_line(const struct desk *desk, struct rte_ring *ring)
{
	uint64_t pushed;

	for (pushed = 0; pushed < LINE_FRAGS; pushed++) {
		uint64_t *frag, since = 0;

		while ((frag = pw_frag_alloc(desk->cache, 2048, 64)) == NULL)
			if (!pw_test_wait(&since))
				return pushed;
		frag[0] = pushed;
		frag[255] = pushed;
		for (since = 0; rte_ring_sp_enqueue(ring, frag) < 0;)
			if (!pw_test_wait(&since))
				return pushed;
	}
	return pushed;
}

static void
one_lcore_allocates_and_another_frees(void **state)
{
	static const char *const strategies[] = {"order0", "reuse"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct pw_test_memory before = pw_test_memory();
		struct rte_ring *ring = rte_ring_create(
			"frag_line", 512, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		struct desk desk = open_desk(strategies[s], 300);
		struct line line = {.arena = desk.arena, .ring = ring};
		uint64_t pushed;

		assert_non_null(ring);
		assert_int_equal(rte_eal_remote_launch(free_line, &line, 1), 0);
		pushed = push_line(&desk, ring);
		rte_eal_wait_lcore(1);
		if (line.popped < LINE_FRAGS)
			fail_msg("stuck with %" PRIu64 " fragments allocated, %" PRIu64 " freed",
				pushed, line.popped);
		assert_int_equal(line.wrong, 0);
		assert_int_equal(cache_stats(&desk).allocs, LINE_FRAGS);
		close_desk(&desk);
		rte_ring_free(ring);
		pw_test_memory_equal(before);
	}
}

static void
buffers_have_the_size_asked_for(void **state)
{
	static const char *const strategies[] = {"order0", "reuse", "reuse:4", "reuse:9"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk = open_desk(strategies[s], 2);
		uint16_t max = pw_frag_buf_max(desk.arena);
		struct pw_frag_buf *buf = pw_frag_buf_alloc(desk.cache, desk.arena, max);

		assert_non_null(buf);
		assert_int_equal(buf->size_bytes, max);
		memset(buf->data, 0x5a, max);
		assert_int_equal(buf->size_bytes, max);
		assert_ptr_equal(
			page_start(&desk, buf->data), page_start(&desk, buf->data + max - 1));
		assert_true(buf->iova == rte_mem_virt2iova(buf->data));
		pw_frag_buf_put(buf);

		rte_errno = 0;
		assert_null(pw_frag_buf_alloc(desk.cache, desk.arena, 0));
		assert_int_equal(rte_errno, EINVAL);
		if (max < UINT16_MAX) {
			assert_null(pw_frag_buf_alloc(desk.cache, desk.arena, max + 1));
			assert_int_equal(rte_errno, EMSGSIZE);
		}
		pw_frag_buf_put(NULL);
		close_desk(&desk);
	}
}

static void
check_attached(const struct rte_mbuf *m, struct pw_frag_buf *buf, uint16_t offset, uint16_t len)
{
	const char *reason;

	assert_true(RTE_MBUF_HAS_EXTBUF(m));
	assert_ptr_equal(rte_pktmbuf_mtod(m, char *), buf->data + offset);
	assert_true(rte_mbuf_data_iova(m) == buf->iova + offset);
	assert_int_equal(rte_pktmbuf_data_len(m), len);
	assert_int_equal(rte_pktmbuf_pkt_len(m), len);
	assert_int_equal(rte_pktmbuf_tailroom(m), buf->size_bytes - offset - len);
	assert_int_equal(rte_mbuf_check(m, 1, &reason), 0);
}

/* The fragment is free with the last holder, in whatever order they let go. */
static void
buffers_live_as_long_as_their_mbufs(void **state)
{
	static const unsigned orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
	struct pw_test_memory before = pw_test_memory();
	struct rte_mempool *pool = rte_pktmbuf_pool_create_by_ops(
		"frag_bufs", 15, 0, 0, 0, 0, "ring_mp_mc");

	(void)state;
	assert_non_null(pool);
	for (unsigned o = 0; o < RTE_DIM(orders); o++) {
		struct desk desk = open_desk("reuse:0", 1);
		struct pw_frag_buf *buf = pw_frag_buf_alloc(desk.cache, desk.arena, 3000);
		struct rte_mbuf *mbufs[3];

		assert_non_null(buf);
		memset(buf->data, 0x5a, 3000);
		for (unsigned i = 0; i < RTE_DIM(mbufs); i++) {
			mbufs[i] = rte_pktmbuf_alloc(pool);
			pw_frag_buf_attach(buf, mbufs[i], i * 1000, 1000 - i);
			check_attached(mbufs[i], buf, i * 1000, 1000 - i);
		}
		pw_frag_cache_destroy(desk.cache);
		desk.cache = NULL;
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(arena_stats(&desk).pages_held, 1);
			assert_int_equal(buf->data[2999], 0x5a);
			if (orders[o][i] == 3)
				pw_frag_buf_put(buf);
			else
				rte_pktmbuf_free(mbufs[orders[o][i]]);
		}
		close_desk(&desk);
		assert_int_equal(rte_mempool_avail_count(pool), 15);
	}
	rte_mempool_free(pool);
	pw_test_memory_equal(before);
}

static void
buffers_without_pages_are_refused(void **state)
{
	struct desk desk = open_desk("reuse:0", 1);
	struct pw_frag_buf *buf = pw_frag_buf_alloc(desk.cache, desk.arena, 4000);

	(void)state;
	assert_non_null(buf);
	rte_errno = 0;
	assert_null(pw_frag_buf_alloc(desk.cache, desk.arena, 4000));
	assert_int_equal(rte_errno, ENOMEM);
	pw_frag_buf_put(buf);
	close_desk(&desk);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragments_go_from_the_end_to_the_start),
		cmocka_unit_test(a_page_can_be_used_to_the_last_byte),
		cmocka_unit_test(fragments_are_aligned_and_apart),
		cmocka_unit_test(refused_calls_leave_the_cache_as_it_was),
		cmocka_unit_test(refused_calls_take_no_page),
		cmocka_unit_test(exhaustion_leaves_the_cache_as_it_was),
		cmocka_unit_test(one_page_is_enough),
		cmocka_unit_test(wrong_caches_are_refused),
		cmocka_unit_test(arenas_with_short_pages_are_refused),
		cmocka_unit_test(bytes_fill_a_page_which_goes_home_once),
		cmocka_unit_test(bytes_freed_at_once_keep_the_page),
		cmocka_unit_test(fragments_outlive_their_cache),
		cmocka_unit_test(a_page_is_reused_by_its_only_holder),
		cmocka_unit_test(a_second_reference_keeps_the_bytes),
		cmocka_unit_test(foreign_addresses_are_refused),
		cmocka_unit_test(fragments_and_bytes_are_counted),
		cmocka_unit_test(random_walk_keeps_all_bytes),
		cmocka_unit_test(any_thread_may_free),
		cmocka_unit_test(one_lcore_allocates_and_another_frees),
		cmocka_unit_test(buffers_have_the_size_asked_for),
		cmocka_unit_test(buffers_live_as_long_as_their_mbufs),
		cmocka_unit_test(buffers_without_pages_are_refused),
	};

	return cmocka_run_group_tests_name("frag", tests, pw_test_eal, NULL);
}
