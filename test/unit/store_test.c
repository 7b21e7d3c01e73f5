/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_memory.h>

#include "pw_store.h"

#define IOVA UINT64_C(0x700000000)
#define CANARY 0x5a
/* Much more than any magazine holds. */
#define MANY 6000

static const char *const strategies[] = {"order0", "order0:3", "reuse", "reuse:0"};

/* A store over one piece of lent memory, with as much canary before and behind it. */
struct box {
	struct pw_store *store;
	unsigned char *memory; /* all, canaries included */
	unsigned char *lent;
	size_t lent_bytes;
	uint32_t stride_bytes;
	uint32_t offset_bytes;
	size_t page_bytes;
	unsigned objects; /* as init told them */
	uint32_t *ids;	  /* by lent byte: number of the object that begins there, from 1 */
	struct pw_test_memory before;
};

#define MARGIN (64 << 10)

static struct pw_store_params
store_params(const char *strategy, uint32_t stride_bytes, uint32_t offset_bytes)
{
	struct pw_store_params params = {.stride_bytes = stride_bytes,
		.offset_bytes = offset_bytes,
		.socket_id = SOCKET_ID_ANY};

	assert_int_equal(pw_strategy_parse(strategy, &params.strategy), 0);
	return params;
}

/* Each object told must be whole, in the lent memory and in one page, and told once. */
static void
note_object(void *obj, rte_iova_t iova, void *ctx)
{
	struct box *box = ctx;
	size_t at = (unsigned char *)obj - box->lent;
	size_t begin = at - box->offset_bytes;
	unsigned char *stride = box->lent + begin;

	assert_true(at < box->lent_bytes);
	assert_true(begin + box->stride_bytes <= box->lent_bytes);
	assert_true(iova == IOVA + at);
	assert_ptr_equal(RTE_PTR_ALIGN_FLOOR(stride, box->page_bytes),
		RTE_PTR_ALIGN_FLOOR(stride + box->stride_bytes - 1, box->page_bytes));
	for (size_t i = begin; i < begin + box->stride_bytes; i++)
		assert_int_equal(box->ids[i], 0);
	for (size_t i = begin; i < begin + box->stride_bytes; i++)
		box->ids[i] = UINT32_MAX;
	box->ids[at] = ++box->objects;
}

/* Lend len bytes from skew bytes behind a multiple of 2 MiB. */
static struct box
open_box(struct pw_store_params params, size_t skew, size_t len_bytes, unsigned max_objects)
{
	struct box box = {
		.lent_bytes = len_bytes,
		.stride_bytes = params.stride_bytes,
		.offset_bytes = params.offset_bytes,
		.page_bytes = pw_strategy_page_bytes(&params.strategy),
		.before = pw_test_memory(),
	};
	size_t all = RTE_ALIGN_CEIL(MARGIN + skew + len_bytes + MARGIN, 2 << 20);
	int rc;

	box.memory = aligned_alloc(2 << 20, all);
	box.ids = calloc(len_bytes + 1, sizeof(*box.ids));
	assert_non_null(box.memory);
	assert_non_null(box.ids);
	memset(box.memory, CANARY, all);
	box.lent = box.memory + MARGIN + skew;
	box.store = pw_store_create(&params);
	assert_non_null(box.store);
	rc = pw_store_add(box.store, box.lent, IOVA, len_bytes, max_objects, note_object, &box);
	assert_int_equal(rc, box.objects);
	assert_true(box.objects <= max_objects);
	assert_int_equal(pw_store_count(box.store), box.objects);
	return box;
}

/* A box with exactly so many objects of 256 bytes. */
static struct box
open_simple(const char *strategy, unsigned objects)
{
	struct box box = open_box(
		store_params(strategy, 256, 64), 0, RTE_ALIGN_CEIL(objects * 256, 32768), objects);

	assert_int_equal(box.objects, objects);
	return box;
}

static struct pw_store_stats
box_stats(const struct box *box)
{
	struct pw_store_stats stats;

	pw_store_get_stats(box->store, &stats);
	return stats;
}

/* All objects are back: the memory was never written to, and nothing leaked. */
static void
close_box(struct box *box)
{
	size_t all = box->lent + box->lent_bytes + MARGIN - box->memory;
	struct pw_store_stats stats = box_stats(box);

	assert_int_equal(pw_store_count(box->store), box->objects);
	assert_int_equal(stats.free, box->objects);
	assert_int_equal(stats.objects, box->objects);
	assert_int_equal(stats.gets, stats.puts);
	pw_store_destroy(box->store);
	for (size_t i = 0; i < all; i++)
		assert_int_equal(box->memory[i], CANARY);
	free(box->memory);
	free(box->ids);
	pw_test_memory_equal(box->before);
}

/* Number of an object, from 0; it must be one that the store told. */
static unsigned
object_id(const struct box *box, const void *obj)
{
	size_t at = (const unsigned char *)obj - box->lent;

	assert_true(at < box->lent_bytes);
	assert_in_range(box->ids[at], 1, box->objects);
	return box->ids[at] - 1;
}

/* Get all objects, n at a time: each comes once, and then no more. */
static void
take_all(const struct box *box, void **objs, unsigned n)
{
	bool *seen = calloc(box->objects + 1, sizeof(*seen));
	unsigned len = 0;
	void *more = NULL;

	for (; len < box->objects; len += n) {
		n = RTE_MIN(n, box->objects - len);
		assert_int_equal(pw_store_get(box->store, objs + len, n), 0);
		for (unsigned i = len; i < len + n; i++) {
			unsigned id = object_id(box, objs[i]);

			assert_false(seen[id]);
			seen[id] = true;
		}
		assert_int_equal(pw_store_count(box->store), box->objects - len - n);
	}
	assert_int_equal(pw_store_get(box->store, &more, 1), -ENOBUFS);
	assert_null(more);
	free(seen);
}

static void
wrong_stores_are_refused(void **state)
{
	static const struct {
		uint32_t stride_bytes, offset_bytes;
		int error;
	} rows[] = {
		{0, 0, EINVAL},
		{64, 64, EINVAL},
		{64, UINT32_MAX, EINVAL},
		{4097, 0, EMSGSIZE},
		{UINT32_MAX, 64, EMSGSIZE},
		{4096, 4095, 0},
		{1, 0, 0},
	};
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct pw_store_params params = store_params(
			"order0", rows[i].stride_bytes, rows[i].offset_bytes);
		struct pw_store *store;

		rte_errno = 0;
		store = pw_store_create(&params);
		assert_int_equal(store == NULL, rows[i].error != 0);
		assert_int_equal(rte_errno, rows[i].error);
		pw_store_destroy(store);
		pw_test_memory_equal(before);
	}
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct pw_store_params params = store_params("reuse", 256, 64);
	struct box box = {.stride_bytes = 256, .page_bytes = 32768, .lent_bytes = 65536};
	struct pw_test_memory before = pw_test_memory();
	struct pw_store *store;
	int k = -1, rc;

	(void)state;
	box.lent = aligned_alloc(65536, 65536);
	box.offset_bytes = 64;
	box.ids = calloc(65536, sizeof(*box.ids));
	do {
		pw_test_fail_alloc(++k);
		store = pw_store_create(&params);
		rc = store == NULL
			? -rte_errno
			: pw_store_add(store, box.lent, IOVA, 65536, UINT32_MAX, note_object, &box);
		if (!pw_test_alloc_failed())
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_true(store == NULL || pw_store_count(store) == 0);
		pw_store_destroy(store);
		pw_test_memory_equal(before);
	} while (true);
	pw_test_fail_alloc(-1);
	assert_int_equal(rc, 256);
	assert_true(k >= 4);
	pw_store_destroy(store);
	pw_store_destroy(NULL);
	pw_test_memory_equal(before);
	free(box.ids);
	free(box.lent);
}

static void
objects_lie_in_pages(void **state)
{
	static const struct {
		uint32_t stride_bytes, offset_bytes;
		size_t skew_bytes, len_bytes;
		uint32_t max_objects, order0; /* as many as pages of 4096 bytes hold */
	} rows[] = {
		{64, 0, 0, 4096, UINT32_MAX, 64},
		{64, 0, 0, 4096, 63, 63},
		{64, 0, 0, 4096, 0, 0},
		{64, 8, 0, 63, UINT32_MAX, 0},
		{64, 8, 0, 64, UINT32_MAX, 1},
		{64, 8, 4064, 64, UINT32_MAX, 0}, /* half before a page, half in it */
		{1, 0, 4093, 7, UINT32_MAX, 7},
		{2304, 64, 0, 65536, UINT32_MAX, 16},
		{2304, 64, 64, 65536, UINT32_MAX, 16},
		{2304, 64, 2048, 65536, UINT32_MAX, 15},
		{1000, 3, 17, 20000, UINT32_MAX, 19},
		{4096, 64, 0, 65536, UINT32_MAX, 16},
		{4096, 64, 1, 65536, UINT32_MAX, 15},
		{100, 99, 4000, 196, UINT32_MAX, 1},
		{8, 0, 0, 65536, 5000, 5000},
	};
	void **objs = calloc(65536, sizeof(*objs));

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows) * RTE_DIM(strategies); i++) {
		unsigned r = i / RTE_DIM(strategies), s = i % RTE_DIM(strategies);
		struct box box = open_box(
			store_params(strategies[s], rows[r].stride_bytes, rows[r].offset_bytes),
			rows[r].skew_bytes, rows[r].len_bytes, rows[r].max_objects);

		if (box.page_bytes == 4096)
			assert_int_equal(box.objects, rows[r].order0);
		assert_true(box.objects >= rows[r].order0);
		take_all(&box, objs, 1 + r);
		pw_store_put(box.store, objs, box.objects);
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
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct box box = open_box(store_params(strategies[s], 100, 10), 65536, 100, 1);

		for (unsigned i = 0; i < RTE_DIM(pieces); i++) {
			struct box more = box;
			int rc;

			more.lent = box.memory + pieces[i][0];
			more.lent_bytes = pieces[i][1];
			more.ids = calloc(pieces[i][1] + 1, sizeof(*more.ids));
			more.objects = 0;
			rc = pw_store_add(box.store, more.lent, IOVA, more.lent_bytes, UINT32_MAX,
				note_object, &more);
			assert_int_equal(rc, more.objects);
			free(more.ids);
			box.objects += more.objects;
			assert_int_equal(pw_store_get(box.store, objs, box.objects), 0);
			assert_int_equal(pw_store_get(box.store, objs, 1), -ENOBUFS);
			pw_store_put(box.store, objs, box.objects);
		}
		assert_true(box.objects > 400);
		close_box(&box);
	}
}

static void
lent_memory_must_not_overlap(void **state)
{
	struct box box = open_simple("reuse", 128);

	(void)state;
	assert_int_equal(
		pw_store_add(box.store, box.lent, IOVA, 256, 1, note_object, &box), -EINVAL);
	assert_int_equal(
		pw_store_add(box.store, box.lent - 256, IOVA, 257, 1, note_object, &box), -EINVAL);
	assert_int_equal(pw_store_add(box.store, NULL, IOVA, 0, 1, note_object, &box), -EINVAL);
	close_box(&box);
}

static void
get_gives_all_or_none(void **state)
{
	static const unsigned numbers[] = {1, 2, 256, 257, 1000, 2047, 2048, 2049, MANY};
	static void *objs[MANY + 2], *untouched[MANY + 2];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers) * RTE_DIM(strategies); i++) {
		unsigned n = numbers[i / RTE_DIM(strategies)];
		struct box box = open_simple(strategies[i % RTE_DIM(strategies)], n);

		memset(objs, CANARY, sizeof(objs));
		memset(untouched, CANARY, sizeof(untouched));
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
		pw_store_put(box.store, objs, n);
		pw_store_put(box.store, objs, 0);
		close_box(&box);
	}
}

static void
every_object_comes_once(void **state)
{
	static const unsigned numbers[] = {1, 3, 32, 257, 2047, 2048, 2049, 2305, MANY};
	static void *objs[MANY];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct box box = open_simple(strategies[s], MANY);

		for (unsigned i = 0; i < RTE_DIM(numbers); i++) {
			unsigned n = numbers[i];

			take_all(&box, objs, n);
			for (unsigned len = 0; len < MANY; len += n)
				pw_store_put(box.store, objs + len, RTE_MIN(n, MANY - len));
			assert_int_equal(pw_store_count(box.store), MANY);
		}
		close_box(&box);
	}
}

static int
fill_my_magazine(void *arg)
{
	struct box *box = arg;
	void *objs[300];

	for (unsigned i = 0; i < 3; i++) {
		if (pw_store_get(box->store, objs, RTE_DIM(objs)) < 0)
			return -1;
		pw_store_put(box->store, objs, RTE_DIM(objs));
	}
	return 0;
}

static void *
fill_shared_magazine(void *arg)
{
	fill_my_magazine(arg);
	return NULL;
}

/* What other lcores and threads keep is counted, and comes when it is asked for. */
static void
others_keep_nothing_back(void **state)
{
	static const unsigned numbers[] = {1, 32, 600, 1000};
	static void *objs[1000];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers) * RTE_DIM(strategies); i++) {
		struct box box = open_simple(strategies[i % RTE_DIM(strategies)], 1000);

		assert_int_equal(rte_eal_remote_launch(fill_my_magazine, &box, 1), 0);
		assert_int_equal(rte_eal_wait_lcore(1), 0);
		pw_test_on_thread(fill_shared_magazine, &box);
		assert_int_equal(pw_store_count(box.store), 1000);
		take_all(&box, objs, numbers[i / RTE_DIM(strategies)]);
		pw_store_put(box.store, objs, 1000);
		close_box(&box);
	}
}

static void
a_freed_object_is_the_next_with_reuse(void **state)
{
	struct box box = open_simple("reuse", 2000);
	void *obj, *next, *all[2000];

	(void)state;
	assert_int_equal(pw_store_get(box.store, &obj, 1), 0);
	for (unsigned i = 0; i < 5000; i++) {
		pw_store_put(box.store, &obj, 1);
		assert_int_equal(pw_store_get(box.store, &next, 1), 0);
		assert_ptr_equal(next, obj);
	}
	assert_int_equal(box_stats(&box).pages.pages_touched, 1);
	assert_true(box_stats(&box).reuses > 4000);
	pw_store_put(box.store, &obj, 1);
	assert_int_equal(pw_store_get(box.store, all, 2000), 0);
	pw_store_put(box.store, all, 2000);
	close_box(&box);
}

/* What an lcore frees stays hot for itself. */
static void
each_lcore_gets_its_own_objects_again(void **state)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY};
	struct box box = open_simple("reuse", 2000);
	void *objs[RTE_DIM(lcores)], *next;
	unsigned me = rte_lcore_id();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(lcores); i++) {
		pw_test_act_as(lcores[i]);
		assert_int_equal(pw_store_get(box.store, &objs[i], 1), 0);
	}
	for (unsigned i = 0; i < RTE_DIM(lcores); i++) {
		pw_test_act_as(lcores[i]);
		pw_store_put(box.store, &objs[i], 1);
	}
	for (unsigned i = 0; i < RTE_DIM(lcores); i++) {
		pw_test_act_as(lcores[i]);
		assert_int_equal(pw_store_get(box.store, &next, 1), 0);
		assert_ptr_equal(next, objs[i]);
		pw_store_put(box.store, &next, 1);
	}
	pw_test_act_as(me);
	close_box(&box);
}

static void
pages_go_home_without_reuse(void **state)
{
	static const unsigned numbers[] = {16, 600, 2000};
	static void *objs[2000];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(numbers); i++) {
		struct box box = open_simple("order3:0", 2000);

		assert_int_equal(pw_store_get(box.store, objs, numbers[i]), 0);
		assert_true(box_stats(&box).pages.pages_held >= numbers[i] / 16);
		pw_store_put(box.store, objs, numbers[i]);
		assert_int_equal(pw_store_get(box.store, objs, 2000), 0);
		pw_store_put(box.store, objs, 2000);
		assert_int_equal(box_stats(&box).pages.pages_held, 0);
		assert_int_equal(box_stats(&box).reuses, 0);
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
			store_params("reuse:8", 256, 64), (1 << 20) - MARGIN, 2 << 20, 8192);
		unsigned held = 0;

		/* Up to 256 more than were asked for may be taken. */
		for (; held + burst <= 4096 - 256; held += burst)
			assert_int_equal(pw_store_get(box.store, objs + held, burst), 0);
		assert_int_equal(box_stats(&box).pages.pages_touched, 1);
		assert_int_equal(pw_store_get(box.store, objs + held, 8192 - held), 0);
		pw_store_put(box.store, objs, 8192);
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
	static const char *const names[] = {"order0", "reuse", "reuse:0"};
	static const unsigned bursts[] = {1, 7, 600};
	static void *objs[MANY];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(names) * RTE_DIM(bursts); i++) {
		struct box box = open_simple(names[i % RTE_DIM(names)], MANY);
		unsigned burst = bursts[i / RTE_DIM(names)], n;

		for (unsigned held = 0; held < MANY; held += n) {
			n = RTE_MIN(burst, MANY - held);
			assert_int_equal(pw_store_get(box.store, objs + held, n), 0);
			check_pages_held(&box, held + n);
		}
		for (unsigned held = MANY; held > 0; held -= n) {
			n = RTE_MIN(burst, held);
			pw_store_put(box.store, objs + held - n, n);
			check_pages_held(&box, held - n);
		}
		close_box(&box);
	}
}

/* A page with one object in use stays; its other objects are used before the store says no. */
static void
partly_free_pages_are_used_up(void **state)
{
	void *objs[1600], *kept[100];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct box box = open_simple(strategies[s], 1600);

		assert_int_equal(pw_store_get(box.store, objs, 1600), 0);
		for (unsigned i = 0; i < 1600; i++)
			if (i % 16 == 0)
				kept[i / 16] = objs[i];
			else
				pw_store_put(box.store, &objs[i], 1);
		assert_int_equal(pw_store_count(box.store), 1500);
		for (unsigned i = 0; i < 1500; i++)
			assert_int_equal(pw_store_get(box.store, &objs[i], 1), 0);
		assert_int_equal(pw_store_get(box.store, &objs[1500], 1), -ENOBUFS);
		pw_store_put(box.store, objs, 1500);
		pw_store_put(box.store, kept, 100);
		close_box(&box);
	}
}

static void
double_puts_are_refused(void **state)
{
	struct box box = open_simple("order0", 32);
	void *objs[32], *more;

	(void)state;
	assert_int_equal(pw_store_get(box.store, objs, 4), 0);
	pw_store_put(box.store, &objs[1], 1);
	pw_store_put(box.store, &objs[1], 1); /* its page is partly free */
	assert_int_equal(box_stats(&box).double_puts, 1);
	assert_int_equal(pw_store_count(box.store), 29);
	pw_store_put(box.store, objs, 4); /* the good ones of a table are taken */
	assert_int_equal(box_stats(&box).double_puts, 2);
	pw_store_put(box.store, objs, 4); /* its page is home */
	assert_int_equal(box_stats(&box).double_puts, 6);
	assert_int_equal(pw_store_count(box.store), 32);

	take_all(&box, objs, 1);
	assert_int_equal(pw_store_get(box.store, &more, 1), -ENOBUFS);
	pw_store_put(box.store, objs, 32);
	assert_int_equal(box_stats(&box).puts, box_stats(&box).gets);
	pw_store_destroy(box.store);
	free(box.memory);
	free(box.ids);
	pw_test_memory_equal(box.before);
}

static void
foreign_puts_are_refused(void **state)
{
	/* Three objects, in pages of 1 (4096 is left to no object), 2 and none. */
	struct box box = open_box(store_params("order0", 2000, 100), 2000, 10000, 3);
	struct box other = open_simple("order0", 16);
	void *theirs, *mine[3];

	(void)state;
	assert_int_equal(pw_store_get(other.store, &theirs, 1), 0);
	assert_int_equal(pw_store_get(box.store, mine, 3), 0);
	for (unsigned i = 0; i < 3; i++) {
		char *obj = mine[i];
		void *wrong[] = {NULL, &box, theirs, obj - 1, obj + 1, obj - 100, obj + 1000,
			box.lent, box.lent - 1, box.lent + 9999, box.lent + 10000, box.lent + 9000};

		pw_store_put(box.store, wrong, RTE_DIM(wrong));
		assert_int_equal(box_stats(&box).foreign_puts, (i + 1) * RTE_DIM(wrong));
		assert_int_equal(pw_store_count(box.store), 0);
	}
	assert_int_equal(box_stats(&box).double_puts, 0);
	pw_store_put(box.store, mine, 3);
	take_all(&box, mine, 1);
	pw_store_put(other.store, &theirs, 1);
	close_box(&other);
	pw_store_destroy(box.store);
	free(box.memory);
	free(box.ids);
}

#define MODEL_OBJECTS 6000
#define MODEL_STEPS 250000 /* for each of four strategies */

/* The reference: who holds what, and how many are free. */
struct model {
	struct box box;
	void *held[MODEL_OBJECTS];
	unsigned nb_held;
	bool is_held[MODEL_OBJECTS];
};

static void
model_get(struct model *model, unsigned n)
{
	unsigned nb_free = MODEL_OBJECTS - model->nb_held;
	void **table = model->held + model->nb_held;
	int rc;

	if (n > nb_free) {
		static void *objs[MODEL_OBJECTS + 600];

		assert_int_equal(pw_store_get(model->box.store, objs, n), -ENOBUFS);
		assert_null(objs[0]);
		assert_null(objs[n - 1]);
		return;
	}
	rc = pw_store_get(model->box.store, table, n);
	assert_int_equal(rc, 0);
	for (unsigned i = 0; i < n; i++) {
		unsigned id = object_id(&model->box, table[i]);

		assert_false(model->is_held[id]);
		model->is_held[id] = true;
	}
	model->nb_held += n;
}

static void
model_put(struct model *model, unsigned n, uint64_t *seed)
{
	n = RTE_MIN(n, model->nb_held);
	for (unsigned i = 0; i < n; i++) {
		void **last = &model->held[model->nb_held - 1 - i];
		void **any = &model->held[pw_test_random(seed, model->nb_held - i)];
		void *obj = *any;

		*any = *last;
		*last = obj;
		model->is_held[object_id(&model->box, obj)] = false;
	}
	model->nb_held -= n;
	pw_store_put(model->box.store, model->held + model->nb_held, n);
}

static void
model_step(struct model *model, uint64_t *seed, bool rising)
{
	static const unsigned lcores[] = {0, 0, 1, LCORE_ID_ANY};
	unsigned max = pw_test_random(seed, 64) == 0 ? 600 : 9;
	unsigned n = 1 + pw_test_random(seed, max);
	unsigned me = pw_test_act_as(lcores[pw_test_random(seed, RTE_DIM(lcores))]);

	if (pw_test_random(seed, 8) < (rising ? 5 : 3))
		model_get(model, n);
	else
		model_put(model, n, seed);
	pw_test_act_as(me);
	assert_int_equal(pw_store_count(model->box.store), MODEL_OBJECTS - model->nb_held);
}

/* Lcore 1 waits: this thread passes for it, so one thread works all magazines. */
static void
random_walk_agrees_with_the_model(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		static struct model model;

		memset(&model, 0, sizeof(model));
		model.box = open_simple(strategies[s], MODEL_OBJECTS);
		for (unsigned i = 0; i < MODEL_STEPS; i++)
			model_step(&model, &seed, i / 2000 % 2 == 0);
		model_put(&model, MODEL_OBJECTS, &seed);
		close_box(&model.box);
	}
}

#define RACE_OBJECTS 64
#define RACE_BURST 32

struct race {
	const struct box *box;
	unsigned char *owners; /* by object */
	uint64_t end_tsc;
	unsigned max_held;
	uint64_t gets;
	uint64_t failures;
	uint64_t conflicts;
};

static unsigned char *
owner_of(const struct race *race, const void *obj)
{
	return &race->owners[((const unsigned char *)obj - race->box->lent) / 256];
}

static void
race_get(struct race *race, void **held, unsigned *len, unsigned n)
{
	if (pw_store_get(race->box->store, held + *len, n) < 0) {
		race->failures++;
		return;
	}
	for (unsigned i = *len; i < *len + n; i++)
		race->conflicts += __atomic_exchange_n(
					   owner_of(race, held[i]), 1, __ATOMIC_RELAXED) != 0;
	*len += n;
	race->gets += n;
}

static void
race_put(struct race *race, void **held, unsigned *len, unsigned n)
{
	for (unsigned i = *len - n; i < *len; i++)
		race->conflicts += __atomic_exchange_n(
					   owner_of(race, held[i]), 0, __ATOMIC_RELAXED) != 1;
	*len -= n;
	pw_store_put(race->box->store, held + *len, n);
}

static int
run_race(void *arg)
{
	struct race *race = arg;
	uint64_t seed = (uintptr_t)race;
	void *held[RACE_OBJECTS];
	unsigned len = 0;

	while (rte_get_tsc_cycles() < race->end_tsc) {
		unsigned n = RACE_BURST - pw_test_random(&seed, 2);

		if (pw_test_random(&seed, 2) == 0 && len + n <= race->max_held)
			race_get(race, held, &len, n);
		else
			race_put(race, held, &len, RTE_MIN(n, len));
	}
	race_put(race, held, &len, len);
	return 0;
}

static void *
run_race_thread(void *arg)
{
	run_race(arg);
	return NULL;
}

/*
 * Lcores 0 and 1, and threads that are none, share few objects. Together they hold no more than
 * there are if nobody holds more than half: then no get may fail.
 */
static void
objects_have_one_owner(void **state)
{
	static const unsigned max_held[] = {RACE_OBJECTS / 2, RACE_OBJECTS};
	static unsigned char owners[2 * RACE_OBJECTS];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct box box = open_simple(i < 2 ? "order0" : "reuse:0", RACE_OBJECTS);
		struct race one = {.box = &box, .owners = owners, .max_held = max_held[i % 2]};
		struct race two, three;

		one.end_tsc = rte_get_tsc_cycles() + rte_get_tsc_hz() / 2;
		two = three = one;
		assert_int_equal(rte_eal_remote_launch(run_race, &two, 1), 0);
		if (i % 2 == 0)
			run_race(&one);
		else
			pw_test_on_thread(run_race_thread, &three);
		rte_eal_wait_lcore(1);
		assert_int_equal(one.conflicts + two.conflicts + three.conflicts, 0);
		if (i % 2 == 0)
			assert_int_equal(one.failures + two.failures, 0);
		assert_true(one.gets + three.gets > 0 && two.gets > 0);
		assert_int_equal(box_stats(&box).gets, one.gets + two.gets + three.gets);
		close_box(&box);
	}
}

struct visitor {
	const struct box *box;
	unsigned failures;
};

static void *
visit(void *arg)
{
	struct visitor *visitor = arg;
	void *objs[8];

	for (unsigned i = 0; i < 1000; i++) {
		if (pw_store_get(visitor->box->store, objs, RTE_DIM(objs)) < 0)
			visitor->failures++;
		else
			pw_store_put(visitor->box->store, objs, RTE_DIM(objs));
	}
	visitor->failures += rte_lcore_id() != LCORE_ID_ANY;
	return NULL;
}

static void
plain_threads_get_and_put(void **state)
{
	static void *objs[64];

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct box box = open_simple(strategies[s], 64);
		struct visitor visitor = {.box = &box};

		pw_test_on_thread(visit, &visitor);
		assert_int_equal(visitor.failures, 0);
		assert_int_equal(pw_store_count(box.store), 64);
		take_all(&box, objs, 8);
		pw_store_put(box.store, objs, 64);
		close_box(&box);
	}
}

static void
the_strategy_can_be_asked(void **state)
{
	struct box box = open_simple("reuse:0", 16);

	(void)state;
	assert_string_equal(pw_store_strategy(box.store)->name, "reuse:0");
	assert_int_equal(pw_store_strategy(box.store)->page_order, 0);
	close_box(&box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_stores_are_refused),
		cmocka_unit_test(failed_allocations_leak_nothing),
		cmocka_unit_test(objects_lie_in_pages),
		cmocka_unit_test(memory_comes_in_pieces),
		cmocka_unit_test(lent_memory_must_not_overlap),
		cmocka_unit_test(get_gives_all_or_none),
		cmocka_unit_test(every_object_comes_once),
		cmocka_unit_test(others_keep_nothing_back),
		cmocka_unit_test(a_freed_object_is_the_next_with_reuse),
		cmocka_unit_test(each_lcore_gets_its_own_objects_again),
		cmocka_unit_test(pages_go_home_without_reuse),
		cmocka_unit_test(a_page_begun_is_used_up),
		cmocka_unit_test(objects_in_use_keep_their_pages),
		cmocka_unit_test(partly_free_pages_are_used_up),
		cmocka_unit_test(double_puts_are_refused),
		cmocka_unit_test(foreign_puts_are_refused),
		cmocka_unit_test(random_walk_agrees_with_the_model),
		cmocka_unit_test(objects_have_one_owner),
		cmocka_unit_test(plain_threads_get_and_put),
		cmocka_unit_test(the_strategy_can_be_asked),
	};

	return cmocka_run_group_tests_name("store", tests, pw_test_eal, NULL);
}
