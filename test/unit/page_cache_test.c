/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_memory.h>
#include <rte_ring.h>

#include "pw_page_cache.h"

#define FRAME_BYTES 4096
#define MANY 2000
/* No lcore keeps more: a stack and a ring of a few hundred pages. */
#define KEPT_MAX 512

static const char *const home_names[] = {"buddy", "cache", "ring"};

/* A cache over an arena of its own, and what a test holds of it. */
struct shop {
	struct pw_arena *arena;
	struct pw_page_cache *cache;
	struct pw_page *held[MANY];
	unsigned len;
	unsigned others; /* held by somebody else, straight from the arena */
	struct pw_arena_stats start;
	struct pw_test_memory before;
};

static struct pw_strategy
strategy_of(enum pw_home home, unsigned page_order)
{
	return (struct pw_strategy){.name = "test", .page_order = page_order, .home = home};
}

static struct pw_arena_stats
arena_stats(const struct shop *shop)
{
	struct pw_arena_stats stats;

	pw_arena_get_stats(shop->arena, &stats);
	return stats;
}

static struct pw_page_cache_stats
cache_stats(const struct shop *shop)
{
	struct pw_page_cache_stats stats;

	pw_page_cache_get_stats(shop->cache, &stats);
	return stats;
}

/* Pages of an order, the arena's smallest one being min_order. */
static void
open_shop(struct shop *shop, enum pw_home home, unsigned min_order, unsigned page_order,
	unsigned pages)
{
	struct pw_arena_params params = {
		.min_order = min_order, .max_order = RTE_MAX(page_order, 3U)};
	struct pw_strategy strategy = strategy_of(home, page_order);
	static unsigned shops;
	char name[32];

	/* Each has its name, so that a test that fails does not hinder the next. */
	snprintf(name, sizeof(name), "page_cache_%u", shops++);
	memset(shop, 0, sizeof(*shop));
	shop->before = pw_test_memory();
	shop->arena = pw_arena_create(&params);
	assert_non_null(shop->arena);
	assert_int_equal(
		pw_arena_reserve(shop->arena, name, pages * pw_strategy_page_bytes(&strategy)), 0);
	shop->cache = pw_page_cache_create(shop->arena, &strategy);
	assert_non_null(shop->cache);
	assert_ptr_equal(pw_page_cache_arena(shop->cache), shop->arena);
	shop->start = arena_stats(shop);
}

/* What the arena counts as held is here or in the cache: nothing is lost, nothing there twice. */
static void
check_shop(const struct shop *shop)
{
	assert_int_equal(
		arena_stats(shop).pages_held, shop->len + shop->others + cache_stats(shop).cached);
	assert_int_equal(arena_stats(shop).bad_frees, 0);
}

/* Take a page as an lcore. */
static bool
take(struct shop *shop, unsigned lcore, bool fallback)
{
	unsigned before = pw_test_act_as(lcore);
	struct pw_page *page;

	rte_errno = 0;
	page = pw_page_cache_get(shop->cache, fallback);
	pw_test_act_as(before);
	if (page == NULL) {
		assert_int_equal(rte_errno, ENOMEM);
		return false;
	}
	assert_true(page->flags & PW_PAGE_HELD);
	assert_int_equal(page->refs, 0);
	page->refs = 1; /* ours: so it is not given out twice */
	shop->held[shop->len++] = page;
	return true;
}

static void
take_many(struct shop *shop, unsigned lcore, unsigned count)
{
	while (count-- > 0)
		assert_true(take(shop, lcore, false));
}

/* Give a page that is held back as an lcore. */
static void
give(struct shop *shop, unsigned lcore, unsigned which)
{
	unsigned before = pw_test_act_as(lcore);
	struct pw_page *page = shop->held[which];

	shop->held[which] = shop->held[--shop->len];
	page->refs = 0;
	pw_page_cache_put(shop->cache, page);
	pw_test_act_as(before);
}

static void
give_all(struct shop *shop, unsigned lcore)
{
	while (shop->len > 0)
		give(shop, lcore, shop->len - 1);
}

/* The cache's end gives the arena all back. */
static void
close_shop(struct shop *shop)
{
	give_all(shop, 0);
	check_shop(shop);
	pw_page_cache_destroy(shop->cache);
	assert_int_equal(arena_stats(shop).pages_held, 0);
	assert_int_equal(arena_stats(shop).bytes_held, 0);
	assert_memory_equal(arena_stats(shop).free_pages, shop->start.free_pages,
		sizeof(shop->start.free_pages));
	pw_arena_destroy(shop->arena);
	pw_test_memory_equal(shop->before);
}

/* Each pair of lcores: one takes ten pages, another gives them back; then again. */
static void
homes_count_as_their_mechanisms_say(void **state)
{
	static const struct {
		enum pw_home home;
		unsigned taker, giver;
		struct pw_page_cache_stats expected;
	} rows[] = {
		{PW_HOME_BUDDY, 0, 0, {.buddy_hits = 20}},
		{PW_HOME_CACHE, 0, 0, {.cache_hits = 10, .buddy_hits = 10, .cached = 10}},
		{PW_HOME_RING, 0, 0, {.cache_hits = 10, .buddy_hits = 10, .cached = 10}},
		{PW_HOME_BUDDY, 0, 1, {.buddy_hits = 20, .remote_frees = 20}},
		{PW_HOME_CACHE, 0, 1, {.buddy_hits = 20, .remote_frees = 20, .cached = 20}},
		{PW_HOME_RING, 0, 1,
			{.cache_hits = 10,
				.ring_hits = 10,
				.buddy_hits = 10,
				.remote_frees = 20,
				.cached = 10}},
		{PW_HOME_BUDDY, LCORE_ID_ANY, LCORE_ID_ANY, {.buddy_hits = 20}},
		{PW_HOME_CACHE, LCORE_ID_ANY, LCORE_ID_ANY,
			{.cache_hits = 10, .buddy_hits = 10, .cached = 10}},
		{PW_HOME_CACHE, LCORE_ID_ANY, 0,
			{.buddy_hits = 20, .remote_frees = 20, .cached = 20}},
		{PW_HOME_RING, LCORE_ID_ANY, 0,
			{.cache_hits = 10,
				.ring_hits = 10,
				.buddy_hits = 10,
				.remote_frees = 20,
				.cached = 10}},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct pw_page_cache_stats stats;
		struct shop shop;

		open_shop(&shop, rows[i].home, 0, 3, 20);
		for (unsigned round = 0; round < 2; round++) {
			take_many(&shop, rows[i].taker, 10);
			check_shop(&shop);
			give_all(&shop, rows[i].giver);
			check_shop(&shop);
		}
		stats = cache_stats(&shop);
		assert_true(stats.meta_bytes > 0);
		stats.meta_bytes = 0;
		if (memcmp(&stats, &rows[i].expected, sizeof(stats)) != 0)
			print_error("row %u, home %s\n", i, home_names[rows[i].home]);
		assert_memory_equal(&stats, &rows[i].expected, sizeof(stats));
		close_shop(&shop);
	}
}

/* The one who takes a page from its stack is the one who took it: giving it back is not remote. */
static void
a_page_is_its_last_takers(void **state)
{
	(void)state;
	for (enum pw_home home = PW_HOME_BUDDY; home <= PW_HOME_RING; home++) {
		struct shop shop;

		open_shop(&shop, home, 0, 0, 64);
		take_many(&shop, 0, 10);
		give_all(&shop, 1);
		assert_int_equal(cache_stats(&shop).remote_frees, 10);
		for (unsigned i = 0; i < 5; i++) {
			take_many(&shop, 1, 10);
			give_all(&shop, 1);
		}
		assert_int_equal(cache_stats(&shop).remote_frees, 10);
		check_shop(&shop);
		close_shop(&shop);
	}
}

static void
the_hottest_page_comes_first(void **state)
{
	static const enum pw_home homes[] = {PW_HOME_CACHE, PW_HOME_RING};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(homes); i++) {
		struct pw_page *last;
		struct shop shop;

		open_shop(&shop, homes[i], 0, 0, 64);
		take_many(&shop, 0, 50);
		while (shop.len > 0) {
			last = shop.held[0];
			give(&shop, 0, 0);
		}
		take_many(&shop, 0, 1);
		assert_ptr_equal(shop.held[0], last);
		close_shop(&shop);
	}
}

/* What others return by the ring comes to the lcore that took it, and to no other. */
static void
the_ring_leads_home(void **state)
{
	static const unsigned lcores[][2] = {{0, 1}, {1, 0}, {LCORE_ID_ANY, 0}, {0, LCORE_ID_ANY}};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(lcores); i++) {
		unsigned owner = lcores[i][0], other = lcores[i][1];
		struct pw_page *pages[10];
		struct shop shop;

		open_shop(&shop, PW_HOME_RING, 0, 0, 64);
		take_many(&shop, owner, RTE_DIM(pages));
		memcpy(pages, shop.held, sizeof(pages));
		give_all(&shop, other);
		take_many(&shop, other, RTE_DIM(pages));
		for (unsigned k = 0; k < RTE_DIM(pages); k++)
			for (unsigned l = 0; l < shop.len; l++)
				assert_ptr_not_equal(shop.held[l], pages[k]);
		give_all(&shop, other);
		take_many(&shop, owner, RTE_DIM(pages));
		for (unsigned k = 0; k < RTE_DIM(pages); k++) {
			bool found = false;

			for (unsigned l = 0; l < shop.len; l++)
				found |= shop.held[l] == pages[k];
			assert_true(found);
		}
		close_shop(&shop);
	}
}

/* However many pages come back, a lcore keeps few; the others are in the arena. */
static void
what_is_kept_is_bounded(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		enum pw_home home = i / 2;
		unsigned giver = i % 2;
		struct pw_page_cache_stats stats;
		struct shop shop;

		open_shop(&shop, home, 0, 0, MANY);
		take_many(&shop, 0, MANY);
		give_all(&shop, giver);
		check_shop(&shop);
		stats = cache_stats(&shop);
		assert_true(stats.cached <= KEPT_MAX);
		assert_int_equal(stats.cached > 0, home != PW_HOME_BUDDY);
		assert_int_equal(stats.spills, home == PW_HOME_BUDDY ? 0 : MANY - stats.cached);
		assert_int_equal(stats.remote_frees, giver == 0 ? 0 : MANY);
		assert_int_equal(stats.drains, 0);
		/* And each of them can be had again. */
		take_many(&shop, 0, MANY);
		assert_false(take(&shop, 0, true));
		assert_int_equal(cache_stats(&shop).failures, 1);
		close_shop(&shop);
	}
}

/* Scatter all pages over everybody's stacks and rings; then one lcore gets every single one. */
static void
pages_kept_by_others_are_found(void **state)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY};
	enum { PAGES = 96 };

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		unsigned taker = lcores[i % 3];
		struct shop shop;

		open_shop(&shop, i / 3, 0, 3, PAGES);
		for (unsigned k = 0; k < PAGES; k++)
			assert_true(take(&shop, lcores[k % 3], false));
		for (unsigned k = 0; shop.len > 0; k++)
			give(&shop, lcores[k / 8 % 3], shop.len - 1);
		check_shop(&shop);
		assert_int_equal(cache_stats(&shop).cached, i / 3 == PW_HOME_BUDDY ? 0 : PAGES);
		take_many(&shop, taker, PAGES);
		check_shop(&shop);
		assert_int_equal(cache_stats(&shop).cached, 0);
		assert_int_equal(cache_stats(&shop).drains > 0, i / 3 != PW_HOME_BUDDY);
		assert_int_equal(cache_stats(&shop).failures, 0);
		assert_false(take(&shop, taker, true));
		assert_int_equal(cache_stats(&shop).failures, 1);
		assert_int_equal(cache_stats(&shop).fallbacks, 0);
		/* Where it was looked for in vain there may be one again. */
		give(&shop, lcores[(i + 1) % 3], shop.len - 1);
		take_many(&shop, taker, 1);
		assert_int_equal(cache_stats(&shop).failures, 1);
		close_shop(&shop);
	}
}

static void
draining_tells_how_many(void **state)
{
	(void)state;
	for (enum pw_home home = PW_HOME_BUDDY; home <= PW_HOME_RING; home++) {
		uint64_t cached;
		struct shop shop;

		open_shop(&shop, home, 0, 0, MANY);
		take_many(&shop, 0, 400);
		while (shop.len > 300)
			give(&shop, 0, 0);
		give_all(&shop, 1);
		cached = cache_stats(&shop).cached;
		assert_int_equal(pw_page_cache_drain(shop.cache), cached);
		assert_int_equal(cache_stats(&shop).cached, 0);
		assert_int_equal(arena_stats(&shop).pages_held, 0);
		assert_int_equal(pw_page_cache_drain(shop.cache), 0);
		close_shop(&shop);
	}
}

/* In an arena in pieces there are only pages of the smallest order: counted, and not kept. */
static void
an_arena_in_pieces_gives_small_pages(void **state)
{
	(void)state;
	for (enum pw_home home = PW_HOME_BUDDY; home <= PW_HOME_RING; home++) {
		unsigned small = 0;
		struct shop shop;

		open_shop(&shop, home, 0, 3, 16);
		assert_true(pw_arena_fragment(shop.arena, 1) > 0);
		assert_false(take(&shop, 0, false));
		assert_int_equal(cache_stats(&shop).failures, 1);
		while (take(&shop, small % 2, true))
			small++;
		assert_int_equal(small, 16 * 8 / 2);
		assert_int_equal(cache_stats(&shop).fallbacks, small);
		assert_int_equal(cache_stats(&shop).buddy_hits, 0);
		assert_int_equal(cache_stats(&shop).failures, 2);
		for (unsigned i = 0; shop.len > 0; i++) {
			assert_int_equal(shop.held[0]->order, 0);
			assert_true(shop.held[0]->flags & PW_PAGE_FALLBACK);
			give(&shop, i % 2, 0);
			assert_int_equal(cache_stats(&shop).cached, 0);
		}
		pw_arena_defragment(shop.arena);
		/* Nobody remembers: pages are of the order asked for again, and no fallbacks. */
		take_many(&shop, 0, 16);
		for (unsigned i = 0; i < 16; i++) {
			assert_int_equal(shop.held[i]->order, 3);
			assert_false(shop.held[i]->flags & PW_PAGE_FALLBACK);
		}
		close_shop(&shop);
	}
}

static void
there_is_no_fallback_to_the_same_order(void **state)
{
	struct shop shop;

	(void)state;
	open_shop(&shop, PW_HOME_CACHE, 3, 3, 2);
	take_many(&shop, 0, 2);
	assert_false(take(&shop, 0, true));
	assert_false(take(&shop, 0, false));
	assert_int_equal(cache_stats(&shop).fallbacks, 0);
	assert_int_equal(cache_stats(&shop).failures, 2);
	close_shop(&shop);
}

/* By hand, as there may be one node only; the other pages are kept as ever. */
static void
pages_off_their_node_are_not_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		enum pw_home home = i / 2;
		struct shop shop;

		open_shop(&shop, home, 0, 0, 16);
		take_many(&shop, 0, 16);
		for (unsigned k = 0; k < 16; k += 2)
			shop.held[k]->flags |= PW_PAGE_OFF_NODE;
		give_all(&shop, i % 2);
		check_shop(&shop);
		assert_int_equal(cache_stats(&shop).cached, home == PW_HOME_BUDDY ? 0 : 8);
		assert_int_equal(cache_stats(&shop).spills, 0);
		close_shop(&shop);
	}
}

/* An lcore that was none when the cache was made (rte_thread_register()): it shares a stack. */
static void
later_lcores_get_pages_too(void **state)
{
	static const unsigned later[] = {2, 77, RTE_MAX_LCORE - 1};

	(void)state;
	for (unsigned i = 0; i < 3 * RTE_DIM(later); i++) {
		unsigned lcore = later[i / 3];
		struct shop shop;

		assert_false(rte_lcore_is_enabled(lcore));
		open_shop(&shop, i % 3, 0, 0, 200);
		for (unsigned round = 0; round < 3; round++) {
			take_many(&shop, lcore, 200);
			check_shop(&shop);
			give_all(&shop, lcore);
			check_shop(&shop);
		}
		assert_int_equal(cache_stats(&shop).remote_frees, 0);
		take_many(&shop, 0, 200);
		give_all(&shop, lcore);
		assert_int_equal(cache_stats(&shop).remote_frees, 200);
		close_shop(&shop);
	}
}

/* cmocka must not be called on another thread: problems are counted. */
struct visitor {
	struct pw_page_cache *cache;
	unsigned problems;
};

static void *
visit(void *arg)
{
	struct visitor *visitor = arg;
	struct pw_page *pages[8];

	visitor->problems += rte_lcore_id() != LCORE_ID_ANY;
	for (unsigned i = 0; i < 1000; i++) {
		unsigned len = 0;

		while (len < RTE_DIM(pages)) {
			pages[len] = pw_page_cache_get(visitor->cache, false);
			visitor->problems += pages[len] == NULL;
			len += pages[len] != NULL;
			if (len == 0)
				return NULL;
		}
		while (len > 0)
			pw_page_cache_put(visitor->cache, pages[--len]);
	}
	return NULL;
}

/* More threads than have stacks of their own, one after the other. */
static void
plain_threads_take_and_give(void **state)
{
	(void)state;
	for (enum pw_home home = PW_HOME_BUDDY; home <= PW_HOME_RING; home++) {
		struct pw_page_cache_stats stats;
		struct visitor visitor;
		struct shop shop;

		open_shop(&shop, home, 0, 3, 20);
		visitor = (struct visitor){.cache = shop.cache};
		for (unsigned i = 0; i < 12; i++)
			pw_test_on_thread(visit, &visitor);
		assert_int_equal(visitor.problems, 0);
		check_shop(&shop);
		stats = cache_stats(&shop);
		assert_int_equal(stats.cache_hits + stats.buddy_hits, 12 * 8000);
		assert_int_equal(stats.remote_frees, 0);
		assert_int_equal(stats.failures, 0);
		if (home != PW_HOME_BUDDY)
			assert_true(stats.cache_hits > 11 * 8000);
		take_many(&shop, 0, 20); /* theirs are found */
		close_shop(&shop);
	}
}

static void
wrong_caches_are_refused(void **state)
{
	static const unsigned wrong[] = {0, 1, 6, 9, UINT32_MAX};
	struct pw_arena_params params = {.min_order = 2, .max_order = 5};
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		struct pw_strategy strategy = strategy_of(PW_HOME_CACHE, wrong[i]);

		rte_errno = 0;
		assert_null(pw_page_cache_create(arena, &strategy));
		assert_int_equal(rte_errno, EINVAL);
	}
	for (unsigned order = 2; order <= 5; order++) {
		struct pw_strategy strategy = strategy_of(PW_HOME_CACHE, order);
		struct pw_page_cache *cache = pw_page_cache_create(arena, &strategy);

		assert_non_null(cache);
		pw_page_cache_destroy(cache);
	}
	pw_page_cache_destroy(NULL);
	pw_test_memory_equal(before);
	pw_arena_destroy(arena);
}

static void
failed_allocations_leave_nothing(void **state)
{
	struct pw_arena_params params = {.max_order = 3};
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (enum pw_home home = PW_HOME_BUDDY; home <= PW_HOME_RING; home++) {
		struct pw_strategy strategy = strategy_of(home, 3);
		int k;

		for (k = 0;; k++) {
			struct pw_page_cache *cache;

			rte_errno = 0;
			pw_test_fail_alloc(k);
			cache = pw_page_cache_create(arena, &strategy);
			if (!pw_test_alloc_failed()) {
				pw_test_fail_alloc(-1);
				assert_non_null(cache);
				pw_page_cache_destroy(cache);
				break;
			}
			assert_null(cache);
			assert_int_equal(rte_errno, ENOMEM);
			pw_test_memory_equal(before);
		}
		assert_true(k >= 3); /* itself, and two lcores */
		pw_test_memory_equal(before);
	}
	pw_arena_destroy(arena);
}

static void
a_thousand_caches_leave_nothing(void **state)
{
	static struct shop shop;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		open_shop(&shop, i % 3, 0, i % 4, 100);
		take_many(&shop, i % 2, i % 100);
		give_all(&shop, i / 2 % 2);
		close_shop(&shop); /* with what it keeps */
	}
}

/* ---- at random, as anybody, beside what is known of a cache ---- */

#define WALK_PAGES 60

/* Each page of the smallest order that is held bears the number of its page, and only once. */
static void
mark_page(struct pw_page *page, bool on)
{
	for (size_t at = 0; at < pw_page_bytes(page); at += FRAME_BYTES) {
		uint32_t *word = (uint32_t *)(void *)(page->addr + at);

		assert_int_equal(*word, on ? 0 : page->index + 1);
		*word = on ? page->index + 1 : 0;
	}
}

static void
clear_marks(const struct shop *shop)
{
	for (uint32_t i = 0; i < shop->start.pages; i++)
		*(uint32_t *)(void *)pw_page_at(shop->arena, i)->addr = 0;
}

/* No page: then none is kept anywhere, and the arena has none that would do. */
static void
check_dry(const struct shop *shop, unsigned page_order, bool fallback)
{
	struct pw_arena_stats stats = arena_stats(shop);

	assert_int_equal(cache_stats(shop).cached, 0);
	for (unsigned order = fallback ? 0 : page_order; order <= PW_PAGE_ORDER_MAX; order++)
		assert_int_equal(stats.free_pages[order], 0);
}

static void
check_walk(const struct shop *shop, uint64_t gets, uint64_t failures, uint64_t fallbacks)
{
	struct pw_page_cache_stats stats = cache_stats(shop);

	check_shop(shop);
	assert_int_equal(stats.failures, failures);
	assert_int_equal(stats.fallbacks, fallbacks);
	assert_int_equal(stats.cache_hits + stats.buddy_hits + stats.fallbacks, gets);
	assert_true(stats.ring_hits <= stats.cache_hits + KEPT_MAX);
}

static void
walk(struct shop *shop, unsigned page_order, unsigned steps, uint64_t *seed)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY, 5};
	uint64_t gets = 0, failures = 0, fallbacks = 0;

	for (unsigned step = 0; step < steps; step++) {
		unsigned lcore = lcores[pw_test_random(seed, RTE_DIM(lcores))];
		bool fallback = pw_test_random(seed, 4) == 0;

		if (pw_test_random(seed, 16) >= (step / 2048 % 2 == 0 ? 7 : 9)) {
			if (!take(shop, lcore, fallback)) {
				failures++;
				check_dry(shop, page_order, fallback);
				continue;
			}
			gets++;
			fallbacks += shop->held[shop->len - 1]->order != page_order;
			mark_page(shop->held[shop->len - 1], true);
		} else if (shop->len > 0) {
			unsigned which = pw_test_random(seed, shop->len);

			mark_page(shop->held[which], false);
			give(shop, lcore, which);
		}
		if (step % 1024 == 0)
			check_walk(shop, gets, failures, fallbacks);
	}
	while (shop->len > 0) {
		mark_page(shop->held[0], false);
		give(shop, 0, 0);
	}
	check_walk(shop, gets, failures, fallbacks);
	assert_true(failures > 0 && (page_order == 0 || fallbacks > 0));
}

static void
a_random_walk_loses_nothing(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		unsigned page_order = i % 2 == 0 ? 0 : 3;
		struct pw_page *other;
		struct shop shop;

		open_shop(&shop, i / 2, 0, page_order, WALK_PAGES);
		clear_marks(&shop);
		other = pw_page_alloc(shop.arena, 0); /* so that one of order 3 is in pieces */
		shop.others = 1;
		walk(&shop, page_order, 200000, &seed);
		pw_page_free(shop.arena, other);
		shop.others = 0;
		close_shop(&shop);
	}
}

/* ---- two lcores and a plain thread, which pass pages on to each other ---- */

#define RACE_STEPS 100000
#define RACE_PAGES 40
#define RACERS 3

struct race {
	struct pw_page_cache *cache;
	struct rte_ring *ring; /* pages taken by one and given back by another */
	unsigned conflicts;
	unsigned gets;
};

static void
race_mark(struct race *race, struct pw_page *page, uint32_t from, uint32_t to)
{
	for (size_t at = 0; at < pw_page_bytes(page); at += FRAME_BYTES) {
		uint32_t *word = (uint32_t *)(void *)(page->addr + at);

		if (__atomic_exchange_n(word, to, __ATOMIC_RELAXED) != from)
			__atomic_fetch_add(&race->conflicts, 1, __ATOMIC_RELAXED);
	}
}

static void
race_give(struct race *race, struct pw_page *page)
{
	race_mark(race, page, page->index + 1, 0);
	pw_page_cache_put(race->cache, page);
}

static int
run_race(void *arg)
{
	struct race *race = arg;
	struct pw_page *page;
	void *other;

	for (unsigned step = 0; step < RACE_STEPS; step++) {
		page = pw_page_cache_get(race->cache, step % 4 == 0);
		if (page != NULL) {
			__atomic_fetch_add(&race->gets, 1, __ATOMIC_RELAXED);
			race_mark(race, page, 0, page->index + 1);
			if (step % 3 == 0 || rte_ring_enqueue(race->ring, page) < 0)
				race_give(race, page);
		}
		if (step % 2 == 0 && rte_ring_dequeue(race->ring, &other) == 0)
			race_give(race, other);
		/* The CPUs may be busy: who is put off while it has a lock keeps all waiting. */
		if (step % 8 == 0)
			sched_yield();
	}
	return 0;
}

static void *
run_race_thread(void *arg)
{
	run_race(arg);
	return NULL;
}

static void
race_at_home(enum pw_home home)
{
	struct pw_page_cache_stats stats;
	struct shop shop;
	struct race race;
	void *page;

	open_shop(&shop, home, 0, 2, RACE_PAGES);
	clear_marks(&shop);
	race = (struct race){
		.cache = shop.cache, .ring = rte_ring_create("page_race", 64, SOCKET_ID_ANY, 0)};
	assert_non_null(race.ring);
	assert_int_equal(rte_eal_remote_launch(run_race, &race, 1), 0);
	pw_test_on_thread(run_race_thread, &race);
	run_race(&race);
	rte_eal_wait_lcore(1);
	while (rte_ring_dequeue(race.ring, &page) == 0)
		race_give(&race, page);
	assert_int_equal(race.conflicts, 0);
	stats = cache_stats(&shop);
	assert_int_equal(stats.cache_hits + stats.buddy_hits + stats.fallbacks, race.gets);
	assert_int_equal(race.gets + stats.failures, RACERS * RACE_STEPS);
	rte_ring_free(race.ring);
	close_shop(&shop);
}

static void
lcores_and_threads_share_a_cache(void **state)
{
	(void)state;
	for (enum pw_home home = PW_HOME_BUDDY; home <= PW_HOME_RING; home++)
		race_at_home(home);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(homes_count_as_their_mechanisms_say),
		cmocka_unit_test(a_page_is_its_last_takers),
		cmocka_unit_test(the_hottest_page_comes_first),
		cmocka_unit_test(the_ring_leads_home),
		cmocka_unit_test(what_is_kept_is_bounded),
		cmocka_unit_test(pages_kept_by_others_are_found),
		cmocka_unit_test(draining_tells_how_many),
		cmocka_unit_test(an_arena_in_pieces_gives_small_pages),
		cmocka_unit_test(there_is_no_fallback_to_the_same_order),
		cmocka_unit_test(pages_off_their_node_are_not_kept),
		cmocka_unit_test(later_lcores_get_pages_too),
		cmocka_unit_test(plain_threads_take_and_give),
		cmocka_unit_test(wrong_caches_are_refused),
		cmocka_unit_test(failed_allocations_leave_nothing),
		cmocka_unit_test(a_thousand_caches_leave_nothing),
		cmocka_unit_test(a_random_walk_loses_nothing),
		cmocka_unit_test(lcores_and_threads_share_a_cache),
	};

	return cmocka_run_group_tests_name("page_cache", tests, pw_test_eal, NULL);
}
