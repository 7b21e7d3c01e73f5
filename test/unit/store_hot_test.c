/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Strategies with reuse: hot magazines, the depot between lcores, and pages in order below. */
#include "pw_test.h"

#include <string.h>

#include <rte_lcore.h>

#include "pw_store.h"
#include "pw_store_rig.h"

#define MAGAZINE 256

static const char *const hot[] = {"reuse", "reuse:0", "reuse:4"};

static void
a_freed_object_is_the_next(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], 2000, s == 1);
		void *obj, *next, *all[2000];

		get_as(&box, 0, &obj, 1);
		for (unsigned i = 0; i < 5000; i++) {
			put_as(&box, 0, &obj, 1);
			get_as(&box, 0, &next, 1);
			assert_ptr_equal(next, obj);
		}
		assert_int_equal(box_stats(&box).pages.pages_touched, 1);
		assert_true(box_stats(&box).reuses > 4000);
		put_as(&box, 0, &obj, 1);
		get_as(&box, 0, all, 2000);
		put_as(&box, 0, all, 2000);
		close_box(&box);
	}
}

/* As much as an lcore and the depot hold: 512 objects at least come back to who freed them last. */
static void
what_an_lcore_frees_it_gets_next(void **state)
{
	static void *all[BOX_MANY], *again[512];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 60 * RTE_DIM(hot); round++) {
		struct box box = open_simple(hot[round % RTE_DIM(hot)], BOX_MANY, false);
		unsigned before = pw_test_random(&seed, 1000);
		unsigned n = 1 + pw_test_random(&seed, RTE_DIM(again));
		unsigned burst = 1 + pw_test_random(&seed, n);

		get_as(&box, 0, all, BOX_MANY); /* so that nothing is left anywhere else */
		shuffle(all, BOX_MANY, &seed);
		put_as(&box, 0, all, before);
		for (unsigned i = 0; i < n; i += burst)
			put_as(&box, 0, all + before + i, RTE_MIN(burst, n - i));
		for (unsigned i = 0; i < n; i += burst)
			get_as(&box, 0, again + i, RTE_MIN(burst, n - i));
		assert_same_objects(all + before, again, n);
		assert_int_equal(box_stats(&box).gathers, 1);
		put_as(&box, 0, all + before, BOX_MANY - before);
		close_box(&box);
	}
}

/* What an lcore frees stays hot for itself, up to what its magazine holds. */
static void
each_lcore_gets_its_own_objects_again(void **state)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY};
	static const unsigned numbers[] = {1, 32, 255, MAGAZINE};
	static void *objs[RTE_DIM(lcores)][MAGAZINE], *again[MAGAZINE], *rest[2000];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers) * RTE_DIM(hot); i++) {
		struct box box = open_simple(hot[i % RTE_DIM(hot)], 2000, false);
		unsigned n = numbers[i / RTE_DIM(hot)];
		unsigned nb_rest = 2000 - n * RTE_DIM(lcores);

		for (unsigned l = 0; l < RTE_DIM(lcores); l++)
			get_as(&box, lcores[l], objs[l], n);
		get_as(&box, 0, rest, nb_rest);
		for (unsigned l = 0; l < RTE_DIM(lcores); l++)
			put_as(&box, lcores[l], objs[l], n);
		for (unsigned l = 0; l < RTE_DIM(lcores); l++) {
			get_as(&box, lcores[l], again, n);
			assert_same_objects(objs[l], again, n);
			put_as(&box, lcores[l], again, n);
		}
		put_as(&box, 0, rest, nb_rest);
		close_box(&box);
	}
}

/* One lcore receives, another frees: full magazines go by the depot, in the order of the frees. */
static void
what_another_frees_comes_in_its_order(void **state)
{
	static void *all[BOX_MANY], *came[2 * MAGAZINE];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], BOX_MANY, false);
		struct pw_store_stats stats;

		get_as(&box, 0, all, BOX_MANY);
		shuffle(all, BOX_MANY, &seed);
		for (unsigned i = 0; i < 2 * MAGAZINE; i += 32)
			put_as(&box, 1, all + i, 32);
		put_as(&box, 1, all + 2 * MAGAZINE, 1); /* the second is full, too */
		for (unsigned i = 0; i < 2 * MAGAZINE; i += 32)
			get_as(&box, 0, came + i, 32);
		assert_memory_equal(came, all, sizeof(came));
		stats = box_stats(&box);
		assert_int_equal(stats.depot_objects, 2 * MAGAZINE);
		assert_int_equal(stats.remote_frees, 2 * MAGAZINE);
		assert_int_equal(stats.flushes, 0);
		assert_int_equal(stats.gathers, 1);
		put_as(&box, 0, came, 2 * MAGAZINE);
		put_as(&box, 0, all + 2 * MAGAZINE + 1, BOX_MANY - 2 * MAGAZINE - 1);
		close_box(&box);
	}
}

/* An lcore's own magazines by the depot are no remote frees. */
static void
own_magazines_are_no_remote_frees(void **state)
{
	static void *all[BOX_MANY];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], BOX_MANY, false);

		get_as(&box, 0, all, BOX_MANY);
		for (unsigned i = 0; i < 10; i++) {
			put_as(&box, 0, all, 3 * MAGAZINE);
			get_as(&box, 0, all, 3 * MAGAZINE);
		}
		assert_int_equal(box_stats(&box).depot_objects, 10 * 2 * MAGAZINE);
		assert_int_equal(box_stats(&box).remote_frees, 0);
		assert_int_equal(box_stats(&box).flushes, 0);
		put_as(&box, 0, all, BOX_MANY);
		close_box(&box);
	}
}

/* What the depot has no place for is sorted, the oldest first, a magazine at a time. */
static void
what_the_depot_has_no_place_for_is_sorted(void **state)
{
	static void *all[BOX_MANY], *came[BOX_MANY];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], BOX_MANY, false);

		get_as(&box, 0, all, BOX_MANY);
		put_as(&box, 1, all, 5 * MAGAZINE);
		/* One is the lcore's, two the depot's. */
		assert_int_equal(box_stats(&box).flushes, 2 * MAGAZINE);
		for (unsigned i = 0; i < 2 * MAGAZINE; i += 16)
			get_as(&box, 0, came + i, 16);
		assert_same_objects(all + 2 * MAGAZINE, came, 2 * MAGAZINE);
		for (unsigned i = 0; i < 2 * MAGAZINE; i += 16)
			get_as(&box, 0, came + i, 16);
		assert_same_objects(all, came, 2 * MAGAZINE);
		put_as(&box, 0, all, 4 * MAGAZINE);
		put_as(&box, 0, all + 5 * MAGAZINE, BOX_MANY - 5 * MAGAZINE);
		close_box(&box);
	}
}

/* All objects in their pages, put there in disorder. */
static void
disorder(const struct box *box, void **all, uint64_t *seed)
{
	get_as(box, 0, all, box->objects);
	shuffle(all, box->objects, seed);
	for (unsigned i = 0; i < box->objects; i += 100)
		put_as(box, i / 100 % 2, all + i, RTE_MIN(100U, box->objects - i));
	gather_box(box);
}

static void
reverse(void **objs, unsigned n)
{
	for (unsigned i = 0; i < n / 2; i++) {
		void *obj = objs[i];

		objs[i] = objs[n - 1 - i];
		objs[n - 1 - i] = obj;
	}
}

/*
 * Few objects come in the order of their addresses; many so that they are in order when handed out
 * from the end, as rte_mempool's cache does.
 */
static void
the_order_of_addresses_comes_back(void **state)
{
	static const unsigned bursts[] = {1, 8, 32, 63, 64, 256, 384, 1024, 1025, BOX_MANY};
	static void *all[BOX_MANY], *ordered[BOX_MANY];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bursts) * RTE_DIM(hot); i++) {
		struct box box = open_simple(hot[i % RTE_DIM(hot)], BOX_MANY, i % 2 == 0);
		unsigned burst = bursts[i / RTE_DIM(hot)], at;

		disorder(&box, all, &seed);
		memcpy(ordered, all, sizeof(ordered));
		sort_objects(ordered, BOX_MANY);
		for (at = 0; at + burst <= BOX_MANY; at += burst) {
			get_as(&box, 1, all + at, burst);
			if (burst >= 64 && burst <= 1024)
				reverse(all + at, burst);
		}
		assert_memory_equal(all, ordered, at * sizeof(*all));
		put_as(&box, 0, all, at);
		close_box(&box);
	}
}

/* Pages of which an object is out serve last, whatever their addresses. */
static void
whole_pages_go_out_first(void **state)
{
	static void *all[BOX_MANY], *kept[BOX_MANY], *rest[BOX_MANY];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], BOX_MANY, false);
		unsigned each = box_per_page(&box), nb_kept = 0, nb_rest = 0, whole = 0;

		get_as(&box, 0, all, BOX_MANY);
		sort_objects(all, BOX_MANY);
		for (unsigned i = 0; i < BOX_MANY; i++)
			if (i % (2 * each) == each / 2)
				kept[nb_kept++] = all[i]; /* one of every second page */
			else
				rest[nb_rest++] = all[i];
		shuffle(rest, nb_rest, &seed);
		put_as(&box, 0, rest, nb_rest);
		gather_box(&box);
		for (unsigned i = 0; i < BOX_MANY; i++)
			if (i / each % 2 == 1)
				rest[whole++] = all[i];
		for (unsigned i = 0; i < BOX_MANY; i++)
			if (i / each % 2 == 0 && i % (2 * each) != each / 2)
				rest[whole++] = all[i];
		assert_int_equal(whole, nb_rest);
		for (unsigned i = 0; i < nb_rest; i++) {
			get_as(&box, 0, &all[i], 1);
			assert_ptr_equal(all[i], rest[i]);
		}
		put_as(&box, 1, rest, nb_rest);
		put_as(&box, 1, kept, nb_kept);
		close_box(&box);
	}
}

/* A page larger than any magazine is used up before the next one is begun. */
static void
a_page_begun_is_used_up(void **state)
{
	static void *objs[8192];

	(void)state;
	for (unsigned burst = 1; burst <= 1000; burst = burst * 10) {
		/* 4096 objects a page of 1 MiB, two pages */
		struct box box = open_box(
			box_params("reuse:8", 256, 64), (1 << 20) - BOX_MARGIN, 2 << 20, 8192);
		unsigned held = 0;

		/* Up to 256 more than were asked for may be taken. */
		for (; held + burst <= 4096 - 256; held += burst)
			get_as(&box, 0, objs + held, burst);
		assert_int_equal(box_stats(&box).pages.pages_touched, 1);
		get_as(&box, 0, objs + held, 8192 - held);
		put_as(&box, 0, objs, 8192);
		close_box(&box);
	}
}

/* As an RX ring does: of what is posted the oldest comes back as the next is taken. */
static void
a_small_working_set_touches_few_pages(void **state)
{
	static const unsigned posted[] = {32, 256, 1024};
	static void *ring[1024];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(posted) * RTE_DIM(hot); i++) {
		struct box box = open_simple(hot[i % RTE_DIM(hot)], BOX_MANY, false);
		unsigned n = posted[i / RTE_DIM(hot)];
		/* Beside the ring: the lcore's two magazines and those of the depot. */
		unsigned few = (n + 4 * MAGAZINE) / box_per_page(&box) + 1;

		for (unsigned at = 0; at < n; at += 32)
			get_as(&box, 0, ring + at, 32);
		for (unsigned round = 0; round < 2000; round++) {
			unsigned at = round * 32 % n;

			put_as(&box, 0, ring + at, 32);
			get_as(&box, 0, ring + at, 32);
		}
		assert_in_range(box_stats(&box).pages.pages_touched, 1, few);
		put_as(&box, 0, ring, n);
		close_box(&box);
	}
}

/* One lcore receives and another frees, all the time: what is used stays the same. */
static void
a_pipeline_touches_few_pages(void **state)
{
	static void *ring[1024];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], BOX_MANY, false);
		/* Beside the ring: two magazines of each lcore and those of the depot. */
		unsigned few = (RTE_DIM(ring) + 6 * MAGAZINE) / box_per_page(&box) + 1;
		struct pw_store_stats stats;

		for (unsigned at = 0; at < RTE_DIM(ring); at += 32)
			get_as(&box, 0, ring + at, 32);
		for (unsigned round = 0; round < 2000; round++) {
			unsigned at = round * 32 % RTE_DIM(ring);

			put_as(&box, 1, ring + at, 32);
			get_as(&box, 0, ring + at, 32);
		}
		stats = box_stats(&box);
		assert_in_range(stats.pages.pages_touched, 1, few);
		assert_int_equal(stats.gathers, 0);
		assert_true(stats.remote_frees >= 2000 * 32 - RTE_DIM(ring) - 6 * MAGAZINE);
		assert_int_equal(stats.depot_objects, stats.remote_frees);
		put_as(&box, 0, ring, RTE_DIM(ring));
		close_box(&box);
	}
}

/* What was taken for a get that failed goes back. */
static void
a_failing_get_loses_nothing(void **state)
{
	static void *all[2000], *none[1024];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], 2000, false);

		get_as(&box, 0, all, 2000);
		put_as(&box, 0, all, 100);
		put_as(&box, 1, all + 100, 100);
		for (unsigned n = 201; n <= 1024; n += 100) {
			assert_true(pw_store_get(box.store, none, n) < 0);
			assert_int_equal(pw_store_count(box.store), 200);
		}
		put_as(&box, 0, all + 200, 1800);
		close_box(&box);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_freed_object_is_the_next),
		cmocka_unit_test(what_an_lcore_frees_it_gets_next),
		cmocka_unit_test(each_lcore_gets_its_own_objects_again),
		cmocka_unit_test(what_another_frees_comes_in_its_order),
		cmocka_unit_test(own_magazines_are_no_remote_frees),
		cmocka_unit_test(what_the_depot_has_no_place_for_is_sorted),
		cmocka_unit_test(the_order_of_addresses_comes_back),
		cmocka_unit_test(whole_pages_go_out_first),
		cmocka_unit_test(a_page_begun_is_used_up),
		cmocka_unit_test(a_small_working_set_touches_few_pages),
		cmocka_unit_test(a_pipeline_touches_few_pages),
		cmocka_unit_test(a_failing_get_loses_nothing),
	};

	return cmocka_run_group_tests_name("store_hot", tests, pw_test_eal, NULL);
}
