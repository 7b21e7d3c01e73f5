/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_store_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_lcore.h>
#include <rte_memory.h>

const char *const box_strategies[] = {
	"order0",
	"order0:3",
	"order3",
	"cached",
	"cached:0",
	"reuse",
	"reuse:0",
	"reuse:4",
	"flip",
	"flip:2",
	"page_pool",
	"page_pool:2",
};
const unsigned nb_box_strategies = RTE_DIM(box_strategies);

bool
box_is_hot(const char *strategy)
{
	return strncmp(strategy, "reuse", 5) == 0;
}

bool
box_is_flip(const char *strategy)
{
	return strncmp(strategy, "flip", 4) == 0;
}

struct pw_store_params
box_params(const char *strategy, uint32_t stride_bytes, uint32_t offset_bytes)
{
	struct pw_store_params params = {.stride_bytes = stride_bytes,
		.offset_bytes = offset_bytes,
		.socket_id = SOCKET_ID_ANY};

	assert_int_equal(pw_strategy_parse(strategy, &params.strategy), 0);
	return params;
}

void
box_note_object(void *obj, rte_iova_t iova, void *ctx)
{
	struct box *box = ctx;
	size_t at = (unsigned char *)obj - box->lent;
	size_t begin = at - box->offset_bytes;
	unsigned char *stride = box->lent + begin;

	assert_true(at < box->lent_bytes);
	assert_true(begin + box->stride_bytes <= box->lent_bytes);
	assert_true(iova == BOX_IOVA + at);
	assert_ptr_equal(RTE_PTR_ALIGN_FLOOR(stride, box->page_bytes),
		RTE_PTR_ALIGN_FLOOR(stride + box->stride_bytes - 1, box->page_bytes));
	for (size_t i = begin; i < begin + box->object_bytes; i++) {
		if (box->ids[i] != 0)
			fail_msg("two objects at byte %zu", i);
		box->ids[i] = UINT32_MAX;
	}
	box->ids[at] = ++box->objects;
}

struct box
open_box(struct pw_store_params params, size_t skew_bytes, size_t len_bytes, unsigned max_objects)
{
	struct box box = {
		.lent_bytes = len_bytes,
		.object_bytes = params.stride_bytes,
		.offset_bytes = params.offset_bytes,
		.page_bytes = pw_strategy_page_bytes(&params.strategy),
		.before = pw_test_memory(),
	};
	size_t all = RTE_ALIGN_CEIL(BOX_MARGIN + skew_bytes + len_bytes + BOX_MARGIN, 2 << 20);
	int rc;

	box.memory = aligned_alloc(2 << 20, all);
	box.ids = calloc(len_bytes + 1, sizeof(*box.ids));
	assert_non_null(box.memory);
	assert_non_null(box.ids);
	memset(box.memory, BOX_CANARY, all);
	box.lent = box.memory + BOX_MARGIN + skew_bytes;
	box.store = pw_store_create(&params);
	assert_non_null(box.store);
	box.strategy = pw_store_strategy(box.store)->name;
	box.stride_bytes = pw_store_stride_bytes(box.store);
	rc = pw_store_add(
		box.store, box.lent, BOX_IOVA, len_bytes, max_objects, box_note_object, &box);
	assert_int_equal(rc, box.objects);
	assert_true(box.objects <= max_objects);
	assert_int_equal(pw_store_count(box.store), box.objects);
	return box;
}

unsigned
box_per_page(const struct box *box)
{
	return box->page_bytes / box->stride_bytes;
}

struct box
open_simple(const char *strategy, unsigned objects, bool check)
{
	struct pw_store_params params = box_params(strategy, BOX_OBJECT_BYTES, 64);
	size_t page_bytes = pw_strategy_page_bytes(&params.strategy);
	size_t per_page = box_is_flip(strategy) ? 2 : page_bytes / BOX_OBJECT_BYTES;
	struct box box;

	params.check = check;
	box = open_box(params, 0, (objects + per_page - 1) / per_page * page_bytes, objects);
	assert_int_equal(box.objects, objects);
	return box;
}

struct pw_store_stats
box_stats(const struct box *box)
{
	struct pw_store_stats stats;

	pw_store_get_stats(box->store, &stats);
	return stats;
}

unsigned
box_id(const struct box *box, const void *obj)
{
	size_t at = (const unsigned char *)obj - box->lent;

	assert_true(at < box->lent_bytes);
	assert_in_range(box->ids[at], 1, box->objects);
	return box->ids[at] - 1;
}

void
close_box(struct box *box)
{
	size_t all = box->lent + box->lent_bytes + BOX_MARGIN - box->memory;
	struct pw_store_stats stats = box_stats(box);

	assert_int_equal(pw_store_count(box->store), box->objects);
	assert_int_equal(stats.free, box->objects);
	assert_int_equal(stats.objects, box->objects);
	assert_int_equal(stats.gets, stats.puts);
	assert_int_equal(stats.pages.bad_frees, 0);
	pw_store_destroy(box->store);
	/* Each byte is as the one before it. */
	assert_int_equal(box->memory[0], BOX_CANARY);
	assert_int_equal(memcmp(box->memory, box->memory + 1, all - 1), 0);
	free(box->memory);
	free(box->ids);
	pw_test_memory_equal(box->before);
}

void
take_all(const struct box *box, void **objs, unsigned n)
{
	static const unsigned lcores[] = {0, 1, LCORE_ID_ANY};
	bool *seen = calloc(box->objects + 1, sizeof(*seen));
	unsigned turn = 0;
	void *more = NULL;

	assert_non_null(seen);
	for (unsigned len = 0; len < box->objects; len += n) {
		n = RTE_MIN(n, box->objects - len);
		get_as(box, lcores[turn++ / 4 % RTE_DIM(lcores)], objs + len, n);
		for (unsigned i = len; i < len + n; i++) {
			unsigned id = box_id(box, objs[i]);

			assert_false(seen[id]);
			seen[id] = true;
		}
		assert_int_equal(pw_store_count(box->store), box->objects - len - n);
	}
	assert_int_equal(pw_store_get(box->store, &more, 1), -ENOBUFS);
	assert_null(more);
	free(seen);
}

void
get_as(const struct box *box, unsigned lcore, void **objs, unsigned n)
{
	unsigned me = pw_test_act_as(lcore);
	int rc = pw_store_get(box->store, objs, n);

	pw_test_act_as(me);
	if (rc != 0)
		fail_msg("%s: no %u objects, of %u that are free", box->strategy, n,
			pw_store_count(box->store));
}

void
put_as(const struct box *box, unsigned lcore, void *const *objs, unsigned n)
{
	unsigned me = pw_test_act_as(lcore);
	unsigned refused = pw_store_put(box->store, objs, n);

	pw_test_act_as(me);
	assert_int_equal(refused, 0);
}

void
gather_box(const struct box *box)
{
	uint64_t gathers = box_stats(box).gathers;

	pw_store_gather(box->store);
	assert_int_equal(box_stats(box).gathers, gathers + 1);
}

void
shuffle(void **objs, unsigned n, uint64_t *seed)
{
	for (; n > 1; n--) {
		void **other = &objs[pw_test_random(seed, n)];
		void *obj = *other;

		*other = objs[n - 1];
		objs[n - 1] = obj;
	}
}

static int
compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

void
sort_objects(void **objs, unsigned n)
{
	qsort(objs, n, sizeof(*objs), compare);
}

void
assert_same_objects(void **a, void **b, unsigned n)
{
	sort_objects(a, n);
	sort_objects(b, n);
	assert_memory_equal(a, b, n * sizeof(*a));
}
