/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What holds for each strategy. */
#include "pw_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_memory.h>

#include "pw_store.h"
#include "pw_store_rig.h"

static void
wrong_stores_are_refused(void **state)
{
	static const struct {
		const char *strategy;
		uint32_t stride_bytes, offset_bytes;
		int error;
	} rows[] = {
		{"order0", 0, 0, EINVAL},
		{"order0", 64, 64, EINVAL},
		{"order0", 64, UINT32_MAX, EINVAL},
		{"order0", 4097, 0, EMSGSIZE},
		{"order0", UINT32_MAX, 64, EMSGSIZE},
		{"order0", 4096, 4095, 0},
		{"order0", 1, 0, 0},
		{"reuse", 0, 0, EINVAL},
		{"reuse", 32769, 0, EMSGSIZE},
		{"reuse", 32768, 0, 0},
		{"page_pool", 4097, 0, EMSGSIZE},
		{"flip", 0, 0, EINVAL},
		{"flip", 64, 64, EINVAL},
		{"flip", 4097, 0, EMSGSIZE}, /* half of a page of 8192 */
		{"flip", 4096, 64, 0},
		{"flip:9", 1 << 20, 0, 0},
		{"flip:9", (1 << 20) + 1, 0, EMSGSIZE},
		{"reuse:9", 2 << 20, 0, 0},
	};
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct pw_store_params params = box_params(
			rows[i].strategy, rows[i].stride_bytes, rows[i].offset_bytes);
		struct pw_store *store;

		rte_errno = 0;
		store = pw_store_create(&params);
		assert_int_equal(store == NULL, rows[i].error != 0);
		assert_int_equal(rte_errno, rows[i].error);
		pw_store_destroy(store);
		pw_test_memory_equal(before);
	}
	pw_store_destroy(NULL);
}

static void
a_strategy_can_be_asked_for_its_room(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct pw_store_params params = box_params(box_strategies[s], 100, 0);
		size_t room_bytes = pw_store_room_bytes(&params.strategy);
		size_t page_bytes = pw_strategy_page_bytes(&params.strategy);
		bool halves = box_is_flip(box_strategies[s]);
		struct pw_store *store = pw_store_create(&params);

		assert_int_equal(room_bytes, halves ? page_bytes / 2 : page_bytes);
		assert_non_null(store);
		assert_string_equal(pw_store_strategy(store)->name, box_strategies[s]);
		assert_int_equal(pw_store_strategy(store)->page_order, params.strategy.page_order);
		assert_int_equal(pw_store_stride_bytes(store), halves ? page_bytes / 2 : 100);
		assert_int_equal(pw_store_pages_off_node(store), 0);
		assert_null(pw_store_last_bad_put(store));
		pw_store_destroy(store);

		params.stride_bytes = room_bytes + 1;
		assert_null(pw_store_create(&params));
		assert_int_equal(rte_errno, EMSGSIZE);
	}
}

/* A store, with memory added, where the k-th allocation may fail. */
static int
create_and_add(const struct pw_store_params *params, struct box *box, struct pw_store **store)
{
	*store = pw_store_create(params);
	if (*store == NULL)
		return -rte_errno;
	return pw_store_add(
		*store, box->lent, BOX_IOVA, box->lent_bytes, UINT32_MAX, box_note_object, box);
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct box box = {.lent_bytes = 65536, .object_bytes = 256, .offset_bytes = 64};

	(void)state;
	box.lent = aligned_alloc(65536, box.lent_bytes);
	box.ids = calloc(box.lent_bytes, sizeof(*box.ids));
	for (unsigned i = 0; i < 2 * nb_box_strategies; i++) {
		struct pw_store_params params = box_params(box_strategies[i / 2], 256, 64);
		struct pw_test_memory before = pw_test_memory();
		struct pw_store *store;
		int k = -1, rc;

		params.check = i % 2 == 1;
		box.page_bytes = pw_strategy_page_bytes(&params.strategy);
		box.stride_bytes = box_is_flip(box_strategies[i / 2]) ? box.page_bytes / 2 : 256;
		box.objects = 0;
		memset(box.ids, 0, box.lent_bytes * sizeof(*box.ids));
		do {
			pw_test_fail_alloc(++k);
			rc = create_and_add(&params, &box, &store);
			if (!pw_test_alloc_failed())
				break;
			assert_int_equal(rc, -ENOMEM);
			assert_true(store == NULL || pw_store_count(store) == 0);
			pw_store_destroy(store);
			pw_test_memory_equal(before);
		} while (true);
		pw_test_fail_alloc(-1);
		assert_int_equal(rc, 65536 / box.stride_bytes);
		assert_true(k >= 4);
		pw_store_destroy(store);
		pw_test_memory_equal(before);
	}
	free(box.ids);
	free(box.lent);
}

static void
ignore_object(void *obj, rte_iova_t iova, void *ctx)
{
	(void)obj;
	(void)iova;
	(void)ctx;
}

static void
a_thousand_stores_leave_nothing(void **state)
{
	void *memory = aligned_alloc(65536, 65536), *objs[3];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct pw_store_params params = box_params(box_strategies[s], 256, 64);
		struct pw_test_memory before = pw_test_memory();

		for (unsigned i = 0; i < 1000; i++) {
			struct pw_store *store;

			params.check = i % 2 == 1;
			store = pw_store_create(&params);
			assert_non_null(store);
			assert_true(pw_store_add(store, memory, RTE_BAD_IOVA, 65536, 256,
					    ignore_object, NULL) > 0);
			/* Some are out when it ends, some are in magazines or in pages begun. */
			assert_int_equal(pw_store_get(store, objs, 2), 0);
			assert_int_equal(pw_store_put(store, objs, i % 3), 0);
			pw_store_destroy(store);
		}
		pw_test_memory_equal(before);
	}
	free(memory);
}

/* Objects that lent memory has room for: of each page's share of it as many as fit. */
static unsigned
expected_objects(const struct box *box, const void *lent, size_t len_bytes, unsigned max)
{
	uintptr_t at = (uintptr_t)lent, end = at + len_bytes, next;
	unsigned count = 0;

	for (; at < end; at = next) {
		next = (at / box->page_bytes + 1) * box->page_bytes;
		count += (RTE_MIN(next, end) - at) / box->stride_bytes;
	}
	return RTE_MIN(count, max);
}

static void
objects_lie_in_pages(void **state)
{
	static const struct {
		uint32_t stride_bytes, offset_bytes;
		size_t skew_bytes, len_bytes;
		uint32_t max_objects;
	} rows[] = {
		{64, 0, 0, 4096, UINT32_MAX},
		{64, 0, 0, 4096, 63},
		{64, 0, 0, 4096, 0},
		{64, 8, 0, 63, UINT32_MAX},
		{64, 8, 0, 64, UINT32_MAX},
		{64, 8, 4064, 64, UINT32_MAX}, /* half before a page, half in it */
		{1, 0, 4093, 7, UINT32_MAX},
		{2304, 64, 0, 65536, UINT32_MAX},
		{2304, 64, 64, 65536, UINT32_MAX},
		{2304, 64, 2048, 65536, UINT32_MAX},
		{1000, 3, 17, 20000, UINT32_MAX},
		{4096, 64, 0, 65536, UINT32_MAX},
		{4096, 64, 1, 65536, UINT32_MAX},
		{100, 99, 4000, 196, UINT32_MAX},
		{8, 0, 0, 65536, 5000},
	};
	void **objs = calloc(65536, sizeof(*objs));

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows) * nb_box_strategies; i++) {
		unsigned r = i / nb_box_strategies, s = i % nb_box_strategies;
		struct pw_store_params params = box_params(
			box_strategies[s], rows[r].stride_bytes, rows[r].offset_bytes);
		struct pw_store_stats stats;
		struct box box;

		params.check = i % 2 == 0;
		box = open_box(params, rows[r].skew_bytes, rows[r].len_bytes, rows[r].max_objects);
		assert_int_equal(box.objects,
			expected_objects(&box, box.lent, box.lent_bytes, rows[r].max_objects));
		stats = box_stats(&box);
		assert_true(stats.waste_bytes + (uint64_t)box.objects * box.stride_bytes <=
			box.lent_bytes);
		take_all(&box, objs, 1 + r);
		put_as(&box, 1, objs, box.objects);
		close_box(&box);
	}
	free(objs);
}

/* Lent memory comes in pieces, some of them of no use, and may come when the store is in use. */
static void
memory_comes_in_pieces(void **state)
{
	static const size_t pieces[][2] = {
		{0, 64}, {100, 10}, {110, 1}, {4000, 300}, {4300, 4096}, {20000, 40000}};
	void *objs[1024];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_box(box_params(box_strategies[s], 100, 10), 65536, 100, 1);

		for (unsigned i = 0; i < RTE_DIM(pieces); i++) {
			struct box more = box;
			int rc;

			more.lent = box.memory + pieces[i][0];
			more.lent_bytes = pieces[i][1];
			more.ids = calloc(pieces[i][1] + 1, sizeof(*more.ids));
			more.objects = 0;
			rc = pw_store_add(box.store, more.lent, BOX_IOVA, more.lent_bytes,
				UINT32_MAX, box_note_object, &more);
			assert_int_equal(rc, more.objects);
			assert_int_equal(more.objects,
				expected_objects(&box, more.lent, more.lent_bytes, UINT32_MAX));
			free(more.ids);
			box.objects += more.objects;
			get_as(&box, 0, objs, box.objects);
			assert_int_equal(pw_store_get(box.store, objs, 1), -ENOBUFS);
			put_as(&box, 0, objs, box.objects);
		}
		close_box(&box);
	}
}

static void
lent_memory_must_not_overlap(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 128, false);

		assert_int_equal(
			pw_store_add(box.store, box.lent, BOX_IOVA, 256, 1, box_note_object, &box),
			-EINVAL);
		assert_int_equal(pw_store_add(box.store, box.lent - 256, BOX_IOVA, 257, 1,
					 box_note_object, &box),
			-EINVAL);
		assert_int_equal(
			pw_store_add(box.store, NULL, BOX_IOVA, 0, 1, box_note_object, &box),
			-EINVAL);
		close_box(&box);
	}
}

static void
get_gives_all_or_none(void **state)
{
	static const unsigned numbers[] = {1, 2, 256, 257, 1000, 1024, 1025, 2047, 2048, 2049};
	static void *objs[BOX_MANY], *untouched[BOX_MANY];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers) * nb_box_strategies; i++) {
		unsigned n = numbers[i / nb_box_strategies];
		struct box box = open_simple(box_strategies[i % nb_box_strategies], n, i % 7 == 0);

		memset(objs, BOX_CANARY, sizeof(objs));
		memset(untouched, BOX_CANARY, sizeof(untouched));
		assert_int_equal(pw_store_get(box.store, objs, 0), 0);
		assert_int_equal(pw_store_get(box.store, objs, n + 1), -ENOBUFS);
		assert_int_equal(pw_store_get(box.store, objs, UINT32_MAX), -ENOBUFS);
		assert_memory_equal(objs, untouched, sizeof(objs));
		assert_int_equal(pw_store_count(box.store), n);
		assert_int_equal(box_stats(&box).failures, 2);

		assert_int_equal(pw_store_get(box.store, objs, n), 0);
		assert_memory_equal(&objs[n], untouched, sizeof(objs[0]));
		assert_int_equal(pw_store_count(box.store), 0);
		assert_int_equal(pw_store_get(box.store, &objs[n], 1), -ENOBUFS);
		assert_memory_equal(&objs[n], untouched, sizeof(objs[0]));
		put_as(&box, 0, objs, n);
		put_as(&box, 0, objs, 0);
		close_box(&box);
	}
}

static void
every_object_comes_once(void **state)
{
	static const unsigned numbers[] = {1, 3, 32, 257, 1024, 1025, 2305, BOX_MANY};
	static void *objs[BOX_MANY];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], BOX_MANY, s % 2 == 0);

		for (unsigned i = 0; i < RTE_DIM(numbers); i++) {
			unsigned n = numbers[i];

			take_all(&box, objs, n);
			for (unsigned len = 0; len < BOX_MANY; len += n)
				put_as(&box, i % 2, objs + len, RTE_MIN(n, BOX_MANY - len));
			assert_int_equal(pw_store_count(box.store), BOX_MANY);
		}
		close_box(&box);
	}
}

struct visitor {
	const struct box *box;
	unsigned burst;
	unsigned rounds;
	unsigned failures;
};

static void *
visit(void *arg)
{
	struct visitor *visitor = arg;
	void *objs[600];

	for (unsigned i = 0; i < visitor->rounds; i++) {
		if (pw_store_get(visitor->box->store, objs, visitor->burst) < 0)
			visitor->failures++;
		else
			visitor->failures += pw_store_put(
				visitor->box->store, objs, visitor->burst);
	}
	visitor->failures += rte_lcore_id() != LCORE_ID_ANY;
	return NULL;
}

/*
 * Each lcore and some plain threads leave objects in magazines, in pages that they cut, or in
 * queues of halves: all are counted, and each comes when it is asked for.
 */
static void
others_keep_nothing_back(void **state)
{
	static const unsigned numbers[] = {1, 32, 600, 1000};
	static void *objs[1000], *few[300];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers) * nb_box_strategies; i++) {
		struct box box = open_simple(
			box_strategies[i % nb_box_strategies], 1000, i % 5 == 0);
		struct visitor visitor = {.box = &box, .burst = 150, .rounds = 3};

		for (unsigned round = 0; round < 3; round++)
			for (unsigned lcore = 0; lcore < 2; lcore++) {
				get_as(&box, lcore, few, RTE_DIM(few));
				put_as(&box, lcore, few, RTE_DIM(few));
			}
		for (unsigned t = 0; t < 3; t++)
			pw_test_on_thread(visit, &visitor);
		assert_int_equal(visitor.failures, 0);
		assert_int_equal(pw_store_count(box.store), 1000);
		take_all(&box, objs, numbers[i / nb_box_strategies]);
		put_as(&box, 0, objs, 1000);
		close_box(&box);
	}
}

/* Whatever is held, and whoever freed the rest, one lcore can have all of it one by one. */
static void
it_is_never_dry_while_an_object_is_free(void **state)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY};
	static void *objs[BOX_MANY], *held[BOX_MANY / 16];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], BOX_MANY, false);

		for (unsigned l = 0; l < RTE_DIM(lcores); l++) {
			unsigned len = 0;

			take_all(&box, objs, 32);
			shuffle(objs, BOX_MANY, &seed);
			memcpy(held, objs, sizeof(held));
			for (unsigned i = RTE_DIM(held); i < BOX_MANY; i++)
				put_as(&box, lcores[i % RTE_DIM(lcores)], &objs[i], 1);
			for (; len < BOX_MANY - RTE_DIM(held); len++)
				get_as(&box, lcores[l], &objs[len], 1);
			assert_int_equal(pw_store_get(box.store, &objs[len], 1), -ENOBUFS);
			put_as(&box, 0, objs, len);
			put_as(&box, 1, held, RTE_DIM(held));
		}
		close_box(&box);
	}
}

/* What is held lies in pages that are held. */
static void
check_pages_held(const struct box *box, uint64_t held)
{
	struct pw_arena_stats pages = box_stats(box).pages;

	if (pages.pages_held * pages.page_bytes < held * box->stride_bytes)
		fail_msg("%" PRIu64 " objects in %" PRIu64 " pages", held, pages.pages_held);
}

static void
objects_in_use_keep_their_pages(void **state)
{
	static const unsigned bursts[] = {7, 600};
	static void *objs[2000];

	(void)state;
	for (unsigned i = 0; i < nb_box_strategies * RTE_DIM(bursts); i++) {
		struct box box = open_simple(box_strategies[i % nb_box_strategies], 2000, false);
		unsigned burst = bursts[i / nb_box_strategies], n;

		for (unsigned held = 0; held < 2000; held += n) {
			n = RTE_MIN(burst, 2000 - held);
			get_as(&box, 0, objs + held, n);
			check_pages_held(&box, held + n);
		}
		for (unsigned held = 2000; held > 0; held -= n) {
			n = RTE_MIN(burst, held);
			put_as(&box, held % 2, objs + held - n, n);
			check_pages_held(&box, held - n);
		}
		close_box(&box);
	}
}

/* A page with one object in use stays; its other objects are used before the store says no. */
static void
partly_free_pages_are_used_up(void **state)
{
	static void *objs[1600], *kept[1600];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 1600, false);
		unsigned each = RTE_MIN(16U, box_per_page(&box)), nb_kept = 0, rest;

		get_as(&box, 0, objs, 1600);
		sort_objects(objs, 1600);
		for (unsigned i = 0; i < 1600; i++)
			if (i % each == 0)
				kept[nb_kept++] = objs[i];
			else
				put_as(&box, 0, &objs[i], 1);
		rest = 1600 - nb_kept;
		assert_int_equal(pw_store_count(box.store), rest);
		for (unsigned i = 0; i < rest; i++)
			get_as(&box, i / 100 % 2, &objs[i], 1);
		assert_int_equal(pw_store_get(box.store, &objs[rest], 1), -ENOBUFS);
		put_as(&box, 0, objs, rest);
		put_as(&box, 1, kept, nb_kept);
		close_box(&box);
	}
}

/* One object is out in each of some pages, of which all others are in. */
static void
pinned_pages_are_counted(void **state)
{
	static void *objs[2048], *kept[8];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 2048, false);
		unsigned each = box_per_page(&box), nb_kept = 0;

		assert_int_equal(box_stats(&box).pinned_pages, 0);
		get_as(&box, 0, objs, 2048);
		sort_objects(objs, 2048);
		for (unsigned i = 0; i < 2048; i++)
			if (i % each == 0 && nb_kept < RTE_DIM(kept) && i / each % 2 == 0)
				kept[nb_kept++] = objs[i];
			else
				put_as(&box, i % 2, &objs[i], 1);
		gather_box(&box);
		assert_int_equal(nb_kept, RTE_MIN((2048 + each) / each / 2, RTE_DIM(kept)));
		assert_int_equal(box_stats(&box).pinned_pages, nb_kept);
		put_as(&box, 1, kept, nb_kept);
		gather_box(&box);
		assert_int_equal(box_stats(&box).pinned_pages, 0);
		close_box(&box);
	}
}

/* A page from which nothing is out is pinned by nothing, whoever cuts or queues it. */
static void
nothing_out_pins_nothing(void **state)
{
	void *objs[64];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box;

		if (box_is_hot(box_strategies[s]))
			continue; /* what is hot counts as being out of its page */
		box = open_simple(box_strategies[s], 2048, false);
		for (unsigned n = 1; n <= RTE_DIM(objs); n++) {
			get_as(&box, 0, objs, n);
			put_as(&box, n % 2, objs, n);
			assert_int_equal(box_stats(&box).pinned_pages, 0);
		}
		close_box(&box);
	}
}

static void
plain_threads_get_and_put(void **state)
{
	static void *objs[64];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 64, s % 2 == 0);
		struct visitor visitor = {.box = &box, .burst = 8, .rounds = 1000};

		pw_test_on_thread(visit, &visitor);
		assert_int_equal(visitor.failures, 0);
		assert_int_equal(pw_store_count(box.store), 64);
		take_all(&box, objs, 8);
		put_as(&box, 0, objs, 64);
		close_box(&box);
	}
}

/* Lcores that came after the store share what plain threads have. */
static void
later_lcores_get_and_put(void **state)
{
	void *objs[300];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 300, s % 2 == 0);

		assert_false(rte_lcore_is_enabled(5));
		for (unsigned i = 0; i < 10; i++) {
			get_as(&box, 5, objs, 300);
			put_as(&box, i % 2 == 0 ? 5 : 0, objs, 300);
		}
		close_box(&box);
	}
}

static void
gets_and_puts_are_counted(void **state)
{
	void *objs[600];

	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 600, s % 2 == 0);
		uint64_t gets = 0;

		for (unsigned n = 1; n <= 600; n += 37) {
			struct pw_store_stats stats;

			get_as(&box, n % 2, objs, n);
			assert_int_equal(pw_store_get(box.store, objs, 601 - n), -ENOBUFS);
			stats = box_stats(&box);
			gets += n;
			assert_int_equal(stats.gets, gets);
			assert_int_equal(stats.puts, gets - n);
			assert_int_equal(stats.free, 600 - n);
			assert_int_equal(stats.objects, 600);
			put_as(&box, 1, objs, n);
		}
		assert_int_equal(box_stats(&box).failures, 17);
		assert_int_equal(box_stats(&box).foreign_puts + box_stats(&box).double_puts, 0);
		close_box(&box);
	}
}

/* What the store tells of its bookkeeping is what it takes of the heap, but for the heap's own. */
static void
bookkeeping_is_told(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * nb_box_strategies; i++) {
		struct box box = open_simple(box_strategies[i / 2], 4000, i % 2 == 0);
		struct pw_store_stats stats = box_stats(&box);
		size_t heap = pw_test_heap_bytes() - box.before.heap_bytes;
		size_t told = stats.meta_bytes + stats.cache.meta_bytes + stats.pages.meta_bytes;

		if (told > heap || told + 64 * 128 < heap)
			fail_msg("%s: %zu bytes told, %zu taken", box.strategy, told, heap);
		close_box(&box);
	}
}

/* Each counter has its line, and a large one prints in full. */
static void
counters_print_in_full(void **state)
{
	struct pw_store_stats stats;
	uint64_t *counters = (uint64_t *)(void *)&stats;
	unsigned nb = sizeof(stats) / sizeof(*counters), lines = 0;
	char *text = NULL, line[64];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	for (unsigned i = 0; i < nb; i++)
		counters[i] = UINT64_C(5000000000) + i;
	pw_stat_print(out, pw_store_stat_table, &stats);
	fclose(out);
	for (unsigned i = 0; i < nb; i++) {
		snprintf(line, sizeof(line), ": %" PRIu64 " ", counters[i]);
		lines += strstr(text, line) != NULL;
	}
	/* Free pages by order have a view of their own. */
	assert_int_equal(lines, nb - RTE_DIM(stats.pages.free_pages));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_stores_are_refused),
		cmocka_unit_test(a_strategy_can_be_asked_for_its_room),
		cmocka_unit_test(failed_allocations_leak_nothing),
		cmocka_unit_test(a_thousand_stores_leave_nothing),
		cmocka_unit_test(objects_lie_in_pages),
		cmocka_unit_test(memory_comes_in_pieces),
		cmocka_unit_test(lent_memory_must_not_overlap),
		cmocka_unit_test(get_gives_all_or_none),
		cmocka_unit_test(every_object_comes_once),
		cmocka_unit_test(others_keep_nothing_back),
		cmocka_unit_test(it_is_never_dry_while_an_object_is_free),
		cmocka_unit_test(objects_in_use_keep_their_pages),
		cmocka_unit_test(partly_free_pages_are_used_up),
		cmocka_unit_test(pinned_pages_are_counted),
		cmocka_unit_test(nothing_out_pins_nothing),
		cmocka_unit_test(plain_threads_get_and_put),
		cmocka_unit_test(later_lcores_get_and_put),
		cmocka_unit_test(gets_and_puts_are_counted),
		cmocka_unit_test(bookkeeping_is_told),
		cmocka_unit_test(counters_print_in_full),
	};

	return cmocka_run_group_tests_name("store", tests, pw_test_eal, NULL);
}
