/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Random calls, and beside them a model that knows where the next fragment must lie: the fragments
 * that are held, and for each cache the page it is cutting, or its ring of pages.
 */
#include "pw_test.h"

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "pw_frag.h"
#include "pw_frag_rig.h"
#include "pw_frag_send.h"

#define HELD_MAX 128
#define CACHES 3
#define STEPS 300000

struct held {
	unsigned char *frag; /* NULL: none */
	uint32_t len_bytes;
	unsigned refs;
	unsigned char mark;
};

/* A page as the test saw it. */
struct seen {
	uintptr_t begin; /* 0: none */
	size_t bytes;
	bool fallback;
};

struct model {
	struct pw_frag_cache *cache;
	struct seen page;
	uintptr_t cut;
	struct {
		struct seen page;
		unsigned half;
	} ring[PW_FRAG_FIFO];
	unsigned turn;
	uint64_t reuses;
	uint64_t failures;
};

struct world {
	struct desk desk;
	struct model models[CACHES];
	struct pw_send_frag send;
	struct seen send_page;
	uint32_t send_offset;
	struct held held[HELD_MAX];
	uint64_t seed;
};

static uint32_t
dice(struct world *world, uint32_t below)
{
	return pw_test_random(&world->seed, below);
}

/* ---- what is held ---- */

static bool
is_range_free(const struct world *world, uintptr_t begin, size_t len_bytes)
{
	for (unsigned i = 0; i < HELD_MAX; i++) {
		uintptr_t frag = (uintptr_t)world->held[i].frag;

		if (frag != 0 && frag < begin + len_bytes &&
			begin < frag + world->held[i].len_bytes)
			return false;
	}
	return true;
}

static bool
is_page_free(const struct world *world, const struct seen *page)
{
	return is_range_free(world, page->begin, page->bytes);
}

static struct seen
look(const struct world *world, const void *frag)
{
	const struct pw_page *page = pw_page_of(world->desk.arena, frag);

	assert_non_null(page);
	return (struct seen){
		(uintptr_t)page->addr, pw_page_bytes(page), (page->flags & PW_PAGE_FALLBACK) != 0};
}

/* No cache and no sender may be using it, nor anybody hold a part of it. */
static void
assert_page_is_new(const struct world *world, const struct seen *page)
{
	assert_true(is_page_free(world, page));
	assert_true(page->begin != world->send_page.begin);
	for (unsigned c = 0; c < CACHES; c++) {
		assert_true(page->begin != world->models[c].page.begin);
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++)
			assert_true(page->begin != world->models[c].ring[i].page.begin);
	}
}

static void
hold(struct world *world, struct held *held, void *frag, uint32_t len_bytes)
{
	assert_true(is_range_free(world, (uintptr_t)frag, len_bytes));
	held->frag = frag;
	held->len_bytes = len_bytes;
	held->refs = 1;
	held->mark = dice(world, 256);
	memset(frag, held->mark, len_bytes);
}

/* Check the bytes, and forget one reference; the caller frees it. */
static void *
let_go(struct held *held)
{
	void *frag = held->frag;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < held->len_bytes; i++)
		wrong += held->frag[i] != held->mark;
	assert_int_equal(wrong, 0);
	if (--held->refs == 0)
		held->frag = NULL;
	return frag;
}

/* ---- where a fragment must come from ---- */

/* Free memory of at least a page's order, cached pages included. */
static bool
is_arena_dry(const struct world *world, unsigned order)
{
	struct pw_page_cache_stats cache_stats;
	struct pw_arena_stats stats;
	uint64_t free_pages = 0;

	pw_arena_get_stats(world->desk.arena, &stats);
	pw_page_cache_get_stats(pw_frag_pool_page_cache(world->desk.pool), &cache_stats);
	for (; order <= PW_PAGE_ORDER_MAX; order++)
		free_pages += stats.free_pages[order];
	return free_pages + cache_stats.cached == 0;
}

static uintptr_t
cut_from(uintptr_t end, size_t size, size_t align)
{
	return (end - size) & ~((uintptr_t)align - 1);
}

/* What a new page may be, and when there need not be one. */
struct want {
	size_t size, align;
	bool dry;   /* no page of the strategy's order was free before */
	bool small; /* a fallback page would do */
};

static struct want
make_want(const struct world *world, size_t size, size_t align)
{
	return (struct want){size, align, is_arena_dry(world, world->desk.strategy.page_order),
		size <= 4096 && align <= 4096 && world->desk.strategy.page_order > 0};
}

static void
check_failure(const struct world *world, struct model *model, const struct want *want)
{
	assert_int_equal(rte_errno, ENOMEM);
	assert_true(want->dry);
	assert_true(is_arena_dry(world, want->small ? 0 : world->desk.strategy.page_order));
	model->failures++;
}

static struct seen
check_new_page(const struct world *world, const struct want *want, const void *frag)
{
	struct seen page = look(world, frag);

	assert_page_is_new(world, &page);
	assert_true(
		page.fallback ? want->dry && want->small : page.bytes == world->desk.page_bytes);
	return page;
}

/* ---- a cache that cuts ---- */

/* The address if it is certain, or 0: it must be a new page. */
static uintptr_t
expect_cut(struct world *world, struct model *model, size_t size, size_t align)
{
	uintptr_t frag = cut_from(model->cut, size, align);

	if (model->page.begin != 0 && frag >= model->page.begin)
		return frag;
	if (RTE_MAX(size, align) > model->page.bytes || !is_page_free(world, &model->page))
		return 0;
	if (world->desk.strategy.reuse == PW_REUSE_RESET && !model->page.fallback) {
		model->reuses++;
		return cut_from(model->page.begin + model->page.bytes, size, align);
	}
	model->page = (struct seen){0}; /* it goes home, and may come back */
	return 0;
}

static void *
alloc_cut(struct world *world, struct model *model, size_t size, size_t align)
{
	struct seen before = model->page;
	uintptr_t expected = expect_cut(world, model, size, align);
	bool left = before.begin != model->page.begin;
	struct want want = make_want(world, size, align);
	void *frag = pw_frag_alloc(model->cache, size, align);

	if (expected != 0) {
		assert_true((uintptr_t)frag == expected);
	} else if (frag == NULL) {
		assert_false(left); /* that page was there to be taken */
		check_failure(world, model, &want);
		return NULL;
	} else {
		/* Where it left a page there may be no other. */
		want.small |= left && before.fallback;
		model->page = check_new_page(world, &want, frag);
		assert_true((uintptr_t)frag ==
			cut_from(model->page.begin + model->page.bytes, size, align));
	}
	model->cut = (uintptr_t)frag;
	return frag;
}

/* ---- a cache that flips ---- */

static uintptr_t
half_begin(const struct seen *page, unsigned half)
{
	return page->begin + half * (page->bytes / 2);
}

static bool
is_half_free(const struct world *world, const struct seen *page, unsigned half)
{
	return is_range_free(world, half_begin(page, half), page->bytes / 2);
}

static void *
alloc_whole(struct world *world, struct model *model, size_t size, size_t align)
{
	struct want want = make_want(world, size, align);
	void *frag = pw_frag_alloc(model->cache, size, align);
	struct seen page;

	/* As no page was left, the ring gave back those that nobody holds. */
	for (unsigned i = 0; want.dry && i < PW_FRAG_FIFO; i++)
		if (is_page_free(world, &model->ring[i].page))
			model->ring[i].page.begin = 0;
	if (frag == NULL) {
		check_failure(world, model, &want);
		return NULL;
	}
	page = check_new_page(world, &want, frag);
	assert_true((uintptr_t)frag == cut_from(page.begin + page.bytes, size, align));
	return frag;
}

/* The slot that a search starting at the turn finds, with a free half; -1: none. */
static int
search_ring(const struct world *world, const struct model *model, unsigned *half)
{
	for (unsigned i = 0; i < PW_FRAG_FIFO; i++) {
		unsigned slot = (model->turn + i) % PW_FRAG_FIFO;
		const struct seen *page = &model->ring[slot].page;

		for (unsigned other = 1; page->begin != 0 && other < 2; other--) {
			*half = model->ring[slot].half ^ other;
			if (is_half_free(world, page, *half))
				return slot;
		}
	}
	return -1;
}

static void
flip_to(struct model *model, unsigned half)
{
	model->ring[model->turn].half = half;
	model->turn = (model->turn + 1) % PW_FRAG_FIFO;
}

static uintptr_t
cut_half(const struct seen *page, unsigned half, size_t size, size_t align)
{
	return cut_from(half_begin(page, half) + page->bytes / 2, size, align);
}

/* No half is free where its turn is: a new page, a fallback page, or a free half elsewhere. */
static void *
alloc_half_elsewhere(struct world *world, struct model *model, size_t size, size_t align)
{
	struct want want = make_want(world, size, align);
	uint64_t reuses = model->reuses;
	struct pw_frag_stats stats;
	unsigned half = 0;
	int slot = search_ring(world, model, &half);
	void *frag = pw_frag_alloc(model->cache, size, align);

	pw_frag_get_stats(model->cache, &stats);
	if (frag == NULL) {
		assert_int_equal(slot, -1);
		check_failure(world, model, &want);
	} else if (stats.reuses > reuses) {
		struct seen page = model->ring[slot].page;

		assert_true(want.dry && slot >= 0);
		model->ring[slot] = model->ring[model->turn];
		model->ring[model->turn].page = page;
		assert_true((uintptr_t)frag == cut_half(&page, half, size, align));
		model->reuses++;
		flip_to(model, half);
	} else {
		struct seen page = check_new_page(world, &want, frag);

		if (page.fallback) {
			model->turn = (model->turn + 1) % PW_FRAG_FIFO;
			assert_true(
				(uintptr_t)frag == cut_from(page.begin + page.bytes, size, align));
		} else {
			model->ring[model->turn].page = page;
			assert_true((uintptr_t)frag == cut_half(&page, 1, size, align));
			flip_to(model, 1);
		}
	}
	return frag;
}

static void *
alloc_flip(struct world *world, struct model *model, size_t size, size_t align)
{
	const struct seen *page = &model->ring[model->turn].page;
	size_t half_bytes = world->desk.page_bytes / 2;
	unsigned other = !model->ring[model->turn].half;
	void *frag;

	if (size > half_bytes || align > half_bytes)
		return alloc_whole(world, model, size, align);
	if (page->begin == 0 || !is_half_free(world, page, other))
		return alloc_half_elsewhere(world, model, size, align);
	frag = pw_frag_alloc(model->cache, size, align);
	assert_true((uintptr_t)frag == cut_half(page, other, size, align));
	model->reuses++;
	flip_to(model, other);
	return frag;
}

/* ---- steps ---- */

static void
step_alloc(struct world *world, struct held *held)
{
	struct model *model = &world->models[dice(world, CACHES)];
	size_t max = dice(world, 8) == 0 ? world->desk.page_bytes
		: dice(world, 4) == 0	 ? world->desk.page_bytes / 2
					 : 300;
	size_t size = 1 + dice(world, max);
	size_t align = (size_t)1 << dice(world,
			       dice(world, 20) == 0 ? 13 + world->desk.strategy.page_order : 8);
	void *frag;

	frag = desk_flips(&world->desk) ? alloc_flip(world, model, size, align)
					: alloc_cut(world, model, size, align);
	if (frag != NULL)
		hold(world, held, frag, size);
}

/* Send a few bytes, from the start of the sender's page to its end. */
static void
step_send(struct world *world, struct held *held)
{
	struct seen *page = &world->send_page;
	size_t min = 1 + dice(world, dice(world, 8) == 0 ? world->desk.page_bytes : 500);
	bool again = page->begin != 0 && !page->fallback && is_page_free(world, page);
	bool left = page->begin != 0 && page->fallback && is_page_free(world, page);
	struct want want = make_want(world, min, 1);
	size_t room = 0, used;
	char *at = pw_send_frag_room(&world->send, world->desk.pool, min, &room);

	if (at == NULL) {
		assert_int_equal(rte_errno, ENOMEM);
		assert_true(want.dry && !again && !(left && min <= 4096));
		return;
	}
	if (page->begin != 0 && page->bytes - world->send_offset >= min) {
		assert_ptr_equal(at, (char *)page->begin + world->send_offset);
	} else if (again) {
		assert_ptr_equal(at, (char *)page->begin);
		world->send_offset = 0;
	} else {
		page->begin = 0;
		*page = check_new_page(world, &want, at);
		assert_true((uintptr_t)at == page->begin);
		world->send_offset = 0;
	}
	assert_int_equal(room, page->bytes - world->send_offset);
	assert_true(room >= min);
	used = 1 + dice(world, min);
	assert_ptr_equal(pw_send_frag_take(&world->send, used), at);
	world->send_offset += used;
	hold(world, held, at, used);
}

static void
step_free(struct world *world, struct held *held)
{
	void *frag = let_go(held);
	char *inside = (char *)frag + dice(world, held->len_bytes);

	if (dice(world, 2) == 0)
		assert_int_equal(pw_frag_free(world->desk.pool, inside), 0);
	else
		assert_int_equal(
			pw_frag_cache_free(world->models[dice(world, CACHES)].cache, inside), 0);
}

struct parcel {
	struct pw_frag_pool *pool;
	void *frags[16];
	unsigned nb_frags;
	int rc;
};

static void *
free_parcel(void *arg)
{
	struct parcel *parcel = arg;

	for (unsigned i = 0; i < parcel->nb_frags; i++)
		parcel->rc |= pw_frag_free(parcel->pool, parcel->frags[i]);
	return NULL;
}

static void
step_free_elsewhere(struct world *world)
{
	struct parcel parcel = {.pool = world->desk.pool};

	while (parcel.nb_frags < RTE_DIM(parcel.frags)) {
		struct held *held = &world->held[dice(world, HELD_MAX)];

		if (held->frag != NULL)
			parcel.frags[parcel.nb_frags++] = let_go(held);
		else if (dice(world, 4) == 0)
			break;
	}
	pw_test_on_thread(free_parcel, &parcel);
	assert_int_equal(parcel.rc, 0);
}

static void
new_cache(struct world *world, struct model *model)
{
	*model = (struct model){.cache = pw_frag_cache_create(world->desk.pool)};
	assert_non_null(model->cache);
}

static void
check_counters(const struct model *model)
{
	struct pw_frag_stats stats;

	pw_frag_get_stats(model->cache, &stats);
	assert_int_equal(stats.reuses, model->reuses);
	assert_int_equal(stats.failures, model->failures);
}

static void
step_rarely(struct world *world)
{
	struct model *model = &world->models[dice(world, CACHES)];

	switch (dice(world, 6)) {
	case 0: /* with fragments in flight */
		check_counters(model);
		pw_frag_cache_destroy(model->cache);
		new_cache(world, model);
		break;
	case 1:
		pw_send_frag_release(&world->send, world->desk.pool);
		world->send_page.begin = 0;
		break;
	case 2:
		pw_arena_fragment(world->desk.arena, 0);
		break;
	case 3:
		pw_arena_defragment(world->desk.arena);
		break;
	default:
		step_free_elsewhere(world);
	}
}

/* ---- the whole ---- */

static void
note_page(uintptr_t *pages, unsigned *count, uintptr_t begin)
{
	for (unsigned i = 0; i < *count; i++)
		if (pages[i] == begin)
			return;
	if (begin != 0)
		pages[(*count)++] = begin;
}

/* What the pool tells must be what the model holds. */
static void
check_pool(const struct world *world)
{
	struct pw_frag_pool_stats stats = desk_pool_stats(&world->desk);
	uintptr_t pages[HELD_MAX + CACHES * (PW_FRAG_FIFO + 1) + 1];
	unsigned count = 0;
	uint64_t refs = 0;

	note_page(pages, &count, world->send_page.begin);
	for (unsigned i = 0; i < HELD_MAX; i++)
		if (world->held[i].frag != NULL) {
			refs += world->held[i].refs;
			note_page(pages, &count, look(world, world->held[i].frag).begin);
		}
	for (unsigned c = 0; c < CACHES; c++) {
		check_counters(&world->models[c]);
		note_page(pages, &count, world->models[c].page.begin);
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++)
			note_page(pages, &count, world->models[c].ring[i].page.begin);
	}
	assert_int_equal(stats.frags_in_flight, refs);
	assert_int_equal(stats.pages_in_use, count);
	assert_int_equal(stats.refused, 0);
}

static void
walk(struct world *world)
{
	for (unsigned i = 0; i < STEPS; i++) {
		/* Few holders at times, so that pages become free. */
		struct held *held = &world->held[dice(world, i / 1000 % 2 == 0 ? HELD_MAX : 4)];

		if (dice(world, 500) == 0)
			step_rarely(world);
		if (held->frag == NULL && dice(world, 4) == 0) {
			step_send(world, held);
		} else if (held->frag == NULL) {
			step_alloc(world, held);
		} else if (dice(world, 8) == 0) {
			assert_int_equal(pw_frag_ref(world->desk.pool, held->frag), 0);
			held->refs++;
		} else {
			step_free(world, held);
		}
		if (i % 1000 == 0)
			check_pool(world);
	}
	for (unsigned i = 0; i < HELD_MAX; i++)
		while (world->held[i].frag != NULL)
			step_free(world, &world->held[i]);
	check_pool(world);
}

static void
run(const char *strategy, unsigned pages)
{
	static struct world world; /* large */

	memset(&world, 0, sizeof(world));
	world.seed = pw_test_seed();
	desk_open(&world.desk, strategy, pages);
	pw_frag_cache_destroy(world.desk.cache);
	world.desk.cache = NULL;
	for (unsigned c = 0; c < CACHES; c++)
		new_cache(&world, &world.models[c]);
	walk(&world);
	pw_send_frag_release(&world.send, world.desk.pool);
	for (unsigned c = 0; c < CACHES; c++)
		pw_frag_cache_destroy(world.models[c].cache);
	desk_close(&world.desk);
}

/* With little memory, so that it runs out, and with enough. */
static void
fragments_lie_where_the_model_says(void **state)
{
	static const struct {
		const char *strategy;
		unsigned pages;
	} rows[] = {
		{"order0", 40},
		{"order3", 20},
		{"order3", 64},
		{"cached", 20},
		{"reuse", 20},
		{"reuse", 64},
		{"reuse:0", 40},
		{"flip", 40},
		{"flip", 1000},
		{"flip:0", 1000},
		{"flip:3", 30},
		{"page_pool", 40},
		{"page_pool:2", 40},
	};

	(void)state;
	for (unsigned r = 0; r < RTE_DIM(rows); r++)
		run(rows[r].strategy, rows[r].pages);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragments_lie_where_the_model_says),
	};

	return cmocka_run_group_tests_name("frag_random", tests, pw_test_eal, NULL);
}
