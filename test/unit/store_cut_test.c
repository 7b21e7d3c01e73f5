/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Strategies that cut objects off pages: where empty pages go, and when halves flip. */
#include "pw_test.h"

#include <string.h>

#include <rte_lcore.h>

#include "pw_store.h"
#include "pw_store_priv.h"
#include "pw_store_rig.h"

static const char *const cut[] = {
	"order0", "order0:3", "order3", "cached", "cached:0", "page_pool", "page_pool:2"};

static void
a_page_is_cut_from_its_end_to_its_start(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(cut); s++) {
		struct box box = open_simple(cut[s], 2048, false);
		unsigned each = box_per_page(&box);
		static char *objs[2048];

		for (unsigned i = 0; i < 2048; i++) {
			get_as(&box, 0, (void **)&objs[i], 1);
			if (i % each == 0)
				assert_int_equal(
					(uintptr_t)objs[i] % box.page_bytes / BOX_OBJECT_BYTES,
					each - 1);
			else
				assert_ptr_equal(objs[i], objs[i - 1] - BOX_OBJECT_BYTES);
		}
		assert_int_equal(box_stats(&box).reuses, 0);
		put_as(&box, 0, (void **)objs, 2048);
		close_box(&box);
	}
}

#define PAGES 5

/* Where the pages are that one lcore took and another emptied, and where it takes the next from. */
static void
empty_pages_go_home_as_the_strategy_says(void **state)
{
	static const struct {
		const char *strategy;
		unsigned lcore; /* that frees */
		unsigned cached, cache_hits, ring_hits, buddy_hits;
	} rows[] = {
		{"order3:0", 0, 0, 0, 0, 2 * PAGES},
		{"order3:0", 1, 0, 0, 0, 2 * PAGES},
		{"order3", LCORE_ID_ANY, 0, 0, 0, 2 * PAGES},
		{"cached", 0, PAGES, PAGES, 0, PAGES},
		{"order0", 1, PAGES, 0, 0, 2 * PAGES},
		{"cached", LCORE_ID_ANY, PAGES, 0, 0, 2 * PAGES},
		{"page_pool", 0, PAGES, PAGES, 0, PAGES},
		{"page_pool:2", 1, PAGES, PAGES, PAGES, PAGES},
		{"page_pool", LCORE_ID_ANY, PAGES, PAGES, PAGES, PAGES},
	};
	static void *objs[PAGES * 128];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct box box = open_simple(rows[i].strategy, 4 * PAGES * 128, false);
		unsigned n = PAGES * box_per_page(&box);
		struct pw_store_stats stats;

		get_as(&box, 0, objs, n);
		assert_int_equal(box_stats(&box).pages.pages_held, PAGES);
		put_as(&box, rows[i].lcore, objs, n);
		stats = box_stats(&box);
		assert_int_equal(stats.cache.cached, rows[i].cached);
		assert_int_equal(stats.pages.pages_held, rows[i].cached);
		assert_int_equal(stats.cache.remote_frees, rows[i].lcore == 0 ? 0 : PAGES);
		get_as(&box, 0, objs, n);
		stats = box_stats(&box);
		assert_int_equal(stats.cache.cache_hits, rows[i].cache_hits);
		assert_int_equal(stats.cache.ring_hits, rows[i].ring_hits);
		assert_int_equal(stats.cache.buddy_hits, rows[i].buddy_hits);
		assert_int_equal(stats.gathers, 0);
		put_as(&box, 0, objs, n);
		gather_box(&box);
		assert_int_equal(box_stats(&box).pages.pages_held, 0);
		close_box(&box);
	}
}

/* One object of each page of the lower half is out: the others there wait for it, or for need. */
static void
a_page_partly_held_is_used_in_need_only(void **state)
{
	static void *all[2048], *held[2048], *objs[2048];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(cut); s++) {
		struct box box = open_simple(cut[s], 2048, false);
		unsigned each = box_per_page(&box), nb_held = 0, len = 0;

		get_as(&box, 0, all, 2048);
		sort_objects(all, 2048);
		for (unsigned i = 0; i < 1024; i++)
			if (i % each == i / each % each)
				held[nb_held++] = all[i];
			else
				put_as(&box, i % 2, &all[i], 1);
		put_as(&box, 0, all + 1024, 1024);
		assert_int_equal(nb_held, 1024 / each);
		for (; len < 1024; len++) {
			get_as(&box, 0, &objs[len], 1);
			assert_true(objs[len] >= all[1024]);
		}
		assert_int_equal(box_stats(&box).gathers, 1); /* the first */
		for (; len < 2048 - nb_held; len++)
			get_as(&box, 0, &objs[len], 1);
		assert_true(box_stats(&box).gathers > 1);
		assert_true(pw_store_get(box.store, &objs[len], 1) < 0);
		put_as(&box, 0, objs, len);
		put_as(&box, 1, held, nb_held);
		close_box(&box);
	}
}

static bool
keeps_what_it_frees(const char *name)
{
	struct pw_strategy strategy;

	assert_int_equal(pw_strategy_parse(name, &strategy), 0);
	return strategy.home == PW_HOME_CACHE;
}

static void
a_small_working_set_touches_few_pages(void **state)
{
	static void *objs[32];

	(void)state;
	for (unsigned i = 0; i < 2 * RTE_DIM(cut); i++) {
		struct box box = open_simple(cut[i / 2], 2 * BOX_MANY, false);
		unsigned lcore = i % 2;

		for (unsigned round = 0; round < 3000; round++) {
			get_as(&box, 0, objs, 32);
			put_as(&box, lcore, objs, 32);
		}
		/* A stack keeps 64 pages; who only frees fills it. */
		assert_in_range(box_stats(&box).pages.pages_touched, 1,
			4 + (lcore == 1 && keeps_what_it_frees(cut[i / 2]) ? 64 : 0));
		close_box(&box);
	}
}

#define QUEUE PW_FLIP_PAGES

/* Each page's halves in turn, when its turn comes again: one of all pages, then the other. */
static void
halves_alternate_as_their_turn_comes(void **state)
{
	static const char *const names[] = {"flip", "flip:0"};
	static char *first[QUEUE];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(names); s++) {
		struct box box = open_simple(names[s], 2 * QUEUE + 100, false);
		struct pw_store_stats stats;

		for (unsigned i = 0; i < 5 * QUEUE; i++) {
			char **page = &first[i % QUEUE], *obj;

			get_as(&box, 0, (void **)&obj, 1);
			if (i < QUEUE)
				*page = obj;
			else if (i / QUEUE % 2 == 0)
				assert_ptr_equal(obj, *page);
			else
				assert_ptr_equal((uintptr_t)obj,
					(uintptr_t)*page ^ (uintptr_t)box.stride_bytes);
			put_as(&box, i % 3 == 0, (void **)&obj, 1);
		}
		stats = box_stats(&box);
		assert_int_equal(stats.page_objects, QUEUE);
		assert_int_equal(stats.flips, 4 * QUEUE);
		assert_int_equal(stats.reuses, stats.flips);
		assert_int_equal(stats.pages.pages_touched, QUEUE);
		assert_int_equal(stats.gathers, 0);
		gather_box(&box);
		assert_int_equal(box_stats(&box).pages.pages_held, 0);
		close_box(&box);
	}
}

/* Get and put one object so many times. */
static void
turn_queue(const struct box *box, unsigned count)
{
	void *obj;

	while (count-- > 0) {
		get_as(box, 0, &obj, 1);
		put_as(box, 0, &obj, 1);
	}
}

/* While a half is out the other may go; while the other is out none does, and the page is left. */
static void
a_half_in_use_is_not_flipped_to(void **state)
{
	struct box box = open_simple("flip", 2 * QUEUE + 100, false);
	char *one, *two, *three;

	(void)state;
	get_as(&box, 0, (void **)&one, 1);
	turn_queue(&box, QUEUE - 1);
	get_as(&box, 0, (void **)&two, 1);
	assert_int_equal((uintptr_t)two, (uintptr_t)one ^ (uintptr_t)box.stride_bytes);
	turn_queue(&box, QUEUE - 1);
	/* Now the first half again: it is out, so an empty page comes. */
	get_as(&box, 0, (void **)&three, 1);
	assert_int_equal(box_stats(&box).page_objects, QUEUE + 1);
	assert_ptr_not_equal(RTE_PTR_ALIGN_FLOOR(three, box.page_bytes),
		RTE_PTR_ALIGN_FLOOR(one, box.page_bytes));
	assert_int_equal(box_stats(&box).pages.pages_held, QUEUE + 1);
	/* The page that was left goes home when both are back. */
	put_as(&box, 1, (void **)&two, 1);
	assert_int_equal(box_stats(&box).pages.pages_held, QUEUE + 1);
	put_as(&box, 0, (void **)&one, 1);
	assert_int_equal(box_stats(&box).pages.pages_held, QUEUE);
	put_as(&box, 0, (void **)&three, 1);
	close_box(&box);
}

/* A clone's kind of use: the half that went out first stays out, the second comes and goes. */
static void
a_page_is_left_when_its_other_half_stays_out(void **state)
{
	struct box box = open_simple("flip", 2 * QUEUE + 100, false);
	char *kept, *obj;

	(void)state;
	get_as(&box, 0, (void **)&kept, 1);
	turn_queue(&box, QUEUE);     /* the last of these is the other half */
	turn_queue(&box, QUEUE - 1); /* all others flip */
	assert_int_equal(box_stats(&box).page_objects, QUEUE);
	for (unsigned i = 0; i < 3 * QUEUE; i++) {
		get_as(&box, 0, (void **)&obj, 1);
		assert_ptr_not_equal(RTE_PTR_ALIGN_FLOOR(obj, box.page_bytes),
			RTE_PTR_ALIGN_FLOOR(kept, box.page_bytes));
		put_as(&box, 0, (void **)&obj, 1);
	}
	assert_int_equal(box_stats(&box).page_objects, QUEUE + 1);
	put_as(&box, 1, (void **)&kept, 1);
	assert_int_equal(box_stats(&box).pages.pages_held, QUEUE);
	close_box(&box);
}

/* A pool with fewer pages than the queue holds lets them go again and again. */
static void
a_small_pool_flips_without_end(void **state)
{
	static const unsigned numbers[] = {1, 2, 3, 64};
	void *objs[64];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers); i++) {
		struct box box = open_simple("flip", 64, i % 2 == 0);

		for (unsigned round = 0; round < 2000; round++) {
			get_as(&box, round % 3 == 0, objs, numbers[i]);
			put_as(&box, round % 5 == 0, objs, numbers[i]);
		}
		close_box(&box);
	}
}

/* A page on another NUMA node is let go of as soon as it can be. */
static void
pages_off_their_node_do_not_flip(void **state)
{
	struct box box = open_simple("flip", 2 * QUEUE + 100, false);

	(void)state;
	for (unsigned i = 0; i < pw_arena_nb_indices(box.store->arena); i++) {
		struct pw_page *page = pw_page_at(box.store->arena, i);

		if (page != NULL)
			page->flags |= PW_PAGE_OFF_NODE;
	}
	turn_queue(&box, 3 * QUEUE);
	assert_int_equal(box_stats(&box).flips, 0);
	assert_int_equal(box_stats(&box).cache.cached, 0);
	close_box(&box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_cut_from_its_end_to_its_start),
		cmocka_unit_test(empty_pages_go_home_as_the_strategy_says),
		cmocka_unit_test(a_page_partly_held_is_used_in_need_only),
		cmocka_unit_test(a_small_working_set_touches_few_pages),
		cmocka_unit_test(halves_alternate_as_their_turn_comes),
		cmocka_unit_test(a_half_in_use_is_not_flipped_to),
		cmocka_unit_test(a_page_is_left_when_its_other_half_stays_out),
		cmocka_unit_test(a_small_pool_flips_without_end),
		cmocka_unit_test(pages_off_their_node_do_not_flip),
	};

	return cmocka_run_group_tests_name("store_cut", tests, pw_test_eal, NULL);
}
