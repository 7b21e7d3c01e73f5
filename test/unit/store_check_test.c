/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Puts that are wrong: what is refused, when, and what it leaves. */
#include "pw_test.h"

#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "pw_store.h"
#include "pw_store_rig.h"

/* Whether a strategy refuses all that is wrong at once, without being asked to check. */
static bool
refuses_at_once(const char *strategy)
{
	return !box_is_hot(strategy);
}

/* All strategies that check, and those that need not: */
#define STRICT_ROWS (2 * nb_box_strategies)

/* Row i of them; false: not one that refuses all at once. */
static bool
open_strict(unsigned i, unsigned objects, struct box *box)
{
	const char *strategy = box_strategies[i / 2];
	bool check = i % 2 == 0;

	if (!check && !refuses_at_once(strategy))
		return false;
	*box = open_simple(strategy, objects, check);
	return true;
}

/* Put one address as an lcore: it is refused, counted, and changes nothing. */
static void
put_wrong(const struct box *box, unsigned lcore, void *wrong, bool is_double)
{
	struct pw_store_stats before = box_stats(box), after;
	unsigned me = pw_test_act_as(lcore);
	unsigned refused = pw_store_put(box->store, &wrong, 1);

	pw_test_act_as(me);
	after = box_stats(box);
	if (refused != 1 || after.double_puts != before.double_puts + is_double ||
		after.foreign_puts != before.foreign_puts + !is_double)
		fail_msg("%s: %p was not refused as %s", box->strategy, wrong,
			is_double ? "free" : "foreign");
	assert_ptr_equal(pw_store_last_bad_put(box->store), wrong);
	assert_int_equal(after.free, before.free);
	assert_int_equal(after.puts, before.puts);
	assert_int_equal(after.pages.pages_held, before.pages.pages_held);
	assert_int_equal(pw_store_count(box->store), before.free);
}

/* Freed twice at once, by any two. */
static void
an_object_put_twice_is_refused(void **state)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY};
	struct box box;
	static void *all[1023];

	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		if (!open_strict(i, 1023, &box))
			continue;
		for (unsigned l = 0; l < 9; l++) {
			void *obj, *one, *two;

			get_as(&box, 0, &obj, 1);
			put_as(&box, lcores[l / 3], &obj, 1);
			put_wrong(&box, lcores[l % 3], obj, true);
			get_as(&box, lcores[l % 3], &one, 1);
			get_as(&box, lcores[l % 3], &two, 1);
			assert_ptr_not_equal(one, two);
			put_as(&box, 0, &one, 1);
			put_as(&box, 0, &two, 1);
		}
		take_all(&box, all, 31);
		put_as(&box, 0, all, 1023);
		close_box(&box);
	}
}

/*
 * Freed again long after: the page was left, went home, and is being cut again, or stands in a
 * queue of halves, or the object lies in a magazine.
 */
static void
an_object_put_again_later_is_refused(void **state)
{
	static void *objs[700], *now[700];
	struct box box;

	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		if (!open_strict(i, 1023, &box))
			continue;
		for (unsigned n = 1; n <= 700; n += 1 + n / 3) {
			unsigned out = n / 2;

			get_as(&box, 0, objs, n);
			put_as(&box, n % 2, objs, n);
			get_as(&box, 0, now, out);
			for (unsigned o = 0; o < n; o++) {
				bool is_out = false;

				for (unsigned j = 0; j < out && !is_out; j++)
					is_out = now[j] == objs[o];
				if (!is_out)
					put_wrong(&box, o % 2, objs[o], true);
			}
			put_as(&box, 0, now, out);
		}
		close_box(&box);
	}
}

/* All objects of a box are free, wherever they lie: each is refused. */
static void
no_free_object_can_be_put(void **state)
{
	static void *all[600];
	struct box box;

	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		if (!open_strict(i, 600, &box))
			continue;
		get_as(&box, 0, all, 600);
		put_as(&box, 0, all, 300);
		put_as(&box, 1, all + 300, 300);
		for (unsigned o = 0; o < 600; o++)
			put_wrong(&box, o % 2, all[o], true);
		gather_box(&box);
		for (unsigned o = 0; o < 600; o++)
			put_wrong(&box, o % 2, all[o], true);
		close_box(&box);
	}
}

static void
what_is_no_object_is_refused(void **state)
{
	struct box other = open_simple("order0", 16, false), box;
	static void *all[100];
	void *theirs;

	(void)state;
	get_as(&other, 0, &theirs, 1);
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		if (!open_strict(i, 100, &box))
			continue;
		get_as(&box, 0, all, 50);
		for (unsigned o = 0; o < 50; o++) {
			char *obj = all[o];
			void *wrong[] = {NULL, &box, theirs, obj - 1, obj + 1, obj - 64, obj + 8,
				obj + 64, box.lent, box.lent - 1, box.lent + box.lent_bytes - 1,
				box.lent + box.lent_bytes, (void *)UINTPTR_MAX,
				(void *)(uintptr_t)1, (void *)((uintptr_t)obj ^ (uintptr_t)1 << 47),
				(void *)((uintptr_t)obj ^ (uintptr_t)1 << 63)};

			for (unsigned w = 0; w < RTE_DIM(wrong); w++)
				put_wrong(&box, w % 2, wrong[w], false);
		}
		put_as(&box, 0, all, 50);
		close_box(&box);
	}
	put_as(&other, 0, &theirs, 1);
	close_box(&other);
}

/* The rest of a page behind its last object, a page of fewer objects, and one of none. */
static void
the_waste_of_a_page_is_no_object(void **state)
{
	static void *mine[64];

	(void)state;
	for (unsigned i = 0; i < 2 * nb_box_strategies; i++) {
		const char *name = box_strategies[i / 2];
		struct pw_store_params params = box_params(name, 2000, 100);
		struct box box;
		unsigned n;

		params.check = i % 2 == 0;
		if (!params.check && !refuses_at_once(name))
			continue;
		box = open_box(params, 2000, 200000, 37);
		n = box.objects;
		get_as(&box, 0, mine, n);
		for (size_t at = 0; at < box.lent_bytes; at += 4)
			if (box.ids[at] == 0 || box.ids[at] == UINT32_MAX)
				if (at % 100 == 0 || at % 4096 < 8 || at % 2000 == 100)
					put_wrong(&box, 0, box.lent + at, false);
		put_as(&box, 0, mine, n);
		close_box(&box);
	}
}

/* The good ones of a table are taken, wherever the wrong ones stand. */
static void
good_ones_among_wrong_ones_are_taken(void **state)
{
	static void *all[512], *table[1024];
	uint64_t seed = pw_test_seed();
	struct box box;

	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		if (!open_strict(i, 512, &box))
			continue;
		for (unsigned round = 0; round < 20; round++) {
			unsigned n = 0, good = 1 + pw_test_random(&seed, 512), wrong;

			get_as(&box, 0, all, 512);
			for (unsigned o = 0; o < good; o++) {
				table[n++] = all[o];
				if (pw_test_random(&seed, 2) == 0)
					table[n++] = pw_test_random(&seed, 2) == 0
						? all[o]
						: (char *)all[o] + 4;
			}
			wrong = n - good;
			assert_int_equal(pw_store_put(box.store, table, n), wrong);
			assert_int_equal(pw_store_count(box.store), good);
			put_as(&box, 1, all + good, 512 - good);
		}
		take_all(&box, all, 32);
		put_as(&box, 0, all, 512);
		close_box(&box);
	}
}

/* Nobody gets more than there are, and never one object twice, as all is put twice all the time. */
static void
never_more_than_there_are(void **state)
{
	static void *objs[600];
	uint64_t seed = pw_test_seed();
	struct box box;

	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		if (!open_strict(i, 1023, &box))
			continue;
		for (unsigned round = 0; round < 300; round++) {
			unsigned n = 1 + pw_test_random(&seed, 600);

			get_as(&box, round % 2, objs, n);
			assert_int_equal(pw_store_count(box.store), 1023 - n);
			assert_int_equal(pw_store_put(box.store, objs, n), 0);
			assert_int_equal(pw_store_put(box.store, objs, n), n);
			assert_int_equal(pw_store_count(box.store), 1023);
		}
		close_box(&box);
	}
}

/* ---- stores with reuse that do not check ---- */

static const char *const hot[] = {"reuse", "reuse:0", "reuse:4"};

/* What lies outside of the memory never comes out again. */
static void
hot_stores_refuse_other_memory_at_once(void **state)
{
	static void *all[600];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++)
		for (unsigned pages = 1; pages <= 5; pages++) {
			/* Not aligned to a power of two, so that some are near. */
			struct box box = open_box(
				box_params(hot[s], 256, 64), 64 << 10, pages * 65536, UINT32_MAX);
			unsigned char *end = box.lent + box.lent_bytes;
			void *far[] = {NULL, &box, all, (void *)UINTPTR_MAX, box.lent - (1 << 30),
				end + (1 << 30), box.lent - 1, end, end + 64, end + 4096,
				box.lent - 64, box.lent - 4096, end + 65535,
				(void *)((uintptr_t)box.lent ^ (uintptr_t)1 << 47)};

			for (unsigned w = 0; w < RTE_DIM(far); w++)
				put_wrong(&box, w % 2, far[w], false);
			for (unsigned n = 1; n <= 40; n += 3) {
				get_as(&box, 0, all, n);
				all[n] = all[n / 2];
				all[n / 2] = far[n % RTE_DIM(far)];
				assert_int_equal(pw_store_put(box.store, all, n + 1), 1);
				assert_int_equal(pw_store_count(box.store), box.objects);
			}
			close_box(&box);
		}
}

/* All else shows when it comes to its page; until then no count is beyond what there is. */
static void
hot_stores_find_the_rest_when_they_sort(void **state)
{
	static void *all[1023], *wrong;

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], 1023, false);
		struct pw_store_stats stats;

		get_as(&box, 0, &all[0], 1);
		put_as(&box, 0, &all[0], 1);
		put_as(&box, 0, &all[0], 1);
		assert_int_equal(pw_store_count(box.store), 1023);
		assert_int_equal(box_stats(&box).free, 1023);
		gather_box(&box);
		stats = box_stats(&box);
		assert_int_equal(stats.double_puts, 1);
		assert_ptr_equal(pw_store_last_bad_put(box.store), all[0]);
		assert_int_equal(stats.gets, stats.puts);

		wrong = (char *)all[0] + 8;
		put_as(&box, 0, &wrong, 1);
		assert_int_equal(pw_store_count(box.store), 1023);
		gather_box(&box);
		assert_int_equal(box_stats(&box).foreign_puts, 1);
		assert_ptr_equal(pw_store_last_bad_put(box.store), wrong);
		take_all(&box, all, 32);
		put_as(&box, 0, all, 1023);
		close_box(&box);
	}
}

/* A flood of wrong puts: each is refused once, by the put that sorts it or by a gather. */
static void
hot_stores_count_each_wrong_put_once(void **state)
{
	static void *all[BOX_MANY];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], BOX_MANY, false);

		for (unsigned round = 0; round < 10; round++) {
			unsigned n = 1 + pw_test_random(&seed, 600), refused = 0;
			uint64_t before = box_stats(&box).double_puts;

			get_as(&box, 0, all, BOX_MANY);
			shuffle(all, BOX_MANY, &seed);
			refused += pw_store_put(box.store, all, BOX_MANY);
			refused += pw_store_put(box.store, all, n);
			assert_int_equal(pw_store_count(box.store), BOX_MANY);
			assert_true(refused <= n);
			gather_box(&box);
			assert_int_equal(box_stats(&box).double_puts, before + n);
			assert_int_equal(pw_store_count(box.store), BOX_MANY);
		}
		take_all(&box, all, 100);
		put_as(&box, 0, all, BOX_MANY);
		close_box(&box);
	}
}

/* An object that went out twice as it was put twice: when both are back, all is well again. */
static void
hot_stores_recover_from_a_double_put(void **state)
{
	static void *all[1100];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(hot); s++) {
		struct box box = open_simple(hot[s], 1023, false);

		get_as(&box, 0, all, 1);
		put_as(&box, 0, all, 1);
		put_as(&box, 0, all, 1);
		get_as(&box, 0, all, 1);
		get_as(&box, 0, all + 1, 1);
		assert_ptr_equal(all[0], all[1]); /* the price of not looking */
		get_as(&box, 0, all + 2, 1022);
		assert_true(pw_store_get(box.store, all + 1024, 1) < 0);
		pw_store_put(box.store, all, 1024);
		gather_box(&box);
		assert_int_equal(box_stats(&box).double_puts, 1);
		take_all(&box, all, 1);
		put_as(&box, 0, all, 1023);
		close_box(&box);
	}
}

/* Memory of which no page was wanted is not the store's. */
static void
memory_that_was_of_no_use_is_foreign(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 64, false);
		unsigned char *piece = box.lent + box.lent_bytes + 1000;
		void *wrong;

		assert_int_equal(pw_store_add(box.store, piece, BOX_IOVA, 200, UINT32_MAX,
					 box_note_object, &box),
			0);
		for (wrong = box.lent + box.lent_bytes; wrong < (void *)(piece + 200);
			wrong = (char *)wrong + 100)
			put_wrong(&box, 0, wrong, false);
		close_box(&box);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_put_twice_is_refused),
		cmocka_unit_test(an_object_put_again_later_is_refused),
		cmocka_unit_test(no_free_object_can_be_put),
		cmocka_unit_test(what_is_no_object_is_refused),
		cmocka_unit_test(the_waste_of_a_page_is_no_object),
		cmocka_unit_test(good_ones_among_wrong_ones_are_taken),
		cmocka_unit_test(never_more_than_there_are),
		cmocka_unit_test(hot_stores_refuse_other_memory_at_once),
		cmocka_unit_test(hot_stores_find_the_rest_when_they_sort),
		cmocka_unit_test(hot_stores_count_each_wrong_put_once),
		cmocka_unit_test(hot_stores_recover_from_a_double_put),
		cmocka_unit_test(memory_that_was_of_no_use_is_foreign),
	};

	return cmocka_run_group_tests_name("store_check", tests, pw_test_eal, NULL);
}
