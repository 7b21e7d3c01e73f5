/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The buddy allocator of an arena. All but the public functions are called with its lock. */

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>

#include "pw_arena_priv.h"
#include "pw_lock.h"

static uint32_t
bit_of(const struct pw_arena *arena, uint32_t index, unsigned order)
{
	return index >> (order - arena->params.min_order);
}

/* pw_page_of() reads both at any time, without the lock. */
static void
set_order(struct pw_page *page, uint8_t order)
{
	__atomic_store_n(&page->order, order, __ATOMIC_RELAXED);
}

static void
set_head(struct pw_page *page, uint32_t head)
{
	__atomic_store_n(&page->head, head, __ATOMIC_RELAXED);
}

static void
insert_free(struct pw_arena *arena, struct pw_page *page, unsigned order)
{
	set_order(page, order);
	page->flags |= PW_PAGE_FREE;
	pw_bitmap_set(&arena->free[order], bit_of(arena, page->index, order));
	arena->stats.free_pages[order]++;
}

static void
remove_free(struct pw_arena *arena, struct pw_page *page)
{
	page->flags &= ~PW_PAGE_FREE;
	pw_bitmap_clear(&arena->free[page->order], bit_of(arena, page->index, page->order));
	arena->stats.free_pages[page->order]--;
}

/* The page of the same region, distance pages of the smallest order away. */
static struct pw_page *
neighbour(const struct pw_arena *arena, struct pw_page *page, int64_t distance)
{
	return (struct pw_page *)(void *)((char *)page + distance * (int64_t)arena->desc_bytes);
}

/*
 * Regions begin at a multiple of the largest order, in their addresses as in their indices, so that
 * the buddy always lies in the same region. Short pages are in no block but their own.
 */
static void
merge_and_insert(struct pw_arena *arena, struct pw_page *page, unsigned order)
{
	if (page->flags & PW_PAGE_SHORT) {
		insert_free(arena, page, order);
		return;
	}
	while (order < arena->params.max_order) {
		uint32_t span = UINT32_C(1) << (order - arena->params.min_order);
		struct pw_page *buddy = neighbour(
			arena, page, page->index & span ? -(int64_t)span : (int64_t)span);

		if (!(buddy->flags & PW_PAGE_FREE) || (buddy->flags & PW_PAGE_SHORT) ||
			buddy->order != order)
			break;
		remove_free(arena, buddy);
		page = page->index & span ? buddy : page;
		order++;
		arena->stats.merges++;
	}
	insert_free(arena, page, order);
}

void
pw_buddy_add(struct pw_arena *arena, struct pw_page *page)
{
	uint64_t merges = arena->stats.merges;

	merge_and_insert(arena, page, arena->params.min_order);
	arena->stats.merges = merges; /* those of pages that were given out are counted */
}

/* The page of an index: one request after the other goes to the same region, as a rule. */
static struct pw_page *
page_at(struct pw_arena *arena, uint32_t index)
{
	const struct pw_region *region = &arena->regions.all[arena->last_region];

	if (unlikely(index - region->first >= region->count)) {
		region = pw_region_at(&arena->regions, index);
		arena->last_region = region - arena->regions.all;
	}
	return pw_region_page(arena, region, index - region->first);
}

/* The free block to serve an order with: of the smallest order that would do, the lowest. */
static struct pw_page *
find_free(struct pw_arena *arena, unsigned order)
{
	for (; order <= arena->params.max_order; order++) {
		uint32_t bit = pw_bitmap_first(&arena->free[order]);

		if (bit != PW_BITMAP_NONE)
			return page_at(arena, bit << (order - arena->params.min_order));
	}
	return NULL;
}

/* Give the upper half back until the page is as small as asked for. */
static void
split(struct pw_arena *arena, struct pw_page *page, unsigned order)
{
	while (page->order > order) {
		unsigned half = page->order - 1;

		insert_free(arena,
			neighbour(arena, page, INT64_C(1) << (half - arena->params.min_order)),
			half);
		set_order(page, half);
		arena->stats.splits++;
	}
}

static void
set_heads(const struct pw_arena *arena, struct pw_page *page)
{
	uint32_t span = UINT32_C(1) << (page->order - arena->params.min_order);

	for (uint32_t i = 0; i < span; i++)
		set_head(neighbour(arena, page, i), page->index);
}

static void
count_alloc(struct pw_arena *arena, const struct pw_page *page)
{
	struct pw_arena_stats *stats = &arena->stats;

	stats->page_allocs++;
	stats->pages_held++;
	stats->pages_held_max = RTE_MAX(stats->pages_held_max, stats->pages_held);
	stats->bytes_held += pw_arena_page_len(arena, page);
	stats->bytes_held_max = RTE_MAX(stats->bytes_held_max, stats->bytes_held);
	stats->pages_touched += !(page->flags & PW_PAGE_TOUCHED);
}

static struct pw_page *
take(struct pw_arena *arena, unsigned order)
{
	struct pw_page *page = find_free(arena, order);

	if (page == NULL) {
		arena->stats.page_failures++;
		rte_errno = ENOMEM;
		return NULL;
	}
	remove_free(arena, page);
	split(arena, page, order);
	if (order > arena->params.min_order)
		set_heads(arena, page);
	else
		set_head(page, page->index);
	count_alloc(arena, page);
	page->flags |= PW_PAGE_HELD | PW_PAGE_TOUCHED;
	return page;
}

static void
give_back(struct pw_arena *arena, struct pw_page *page)
{
	arena->stats.page_frees++;
	arena->stats.pages_held--;
	arena->stats.bytes_held -= pw_arena_page_len(arena, page);
	page->flags &= ~(PW_PAGE_HELD | PW_PAGE_FALLBACK | PW_PAGE_PINNED);
	merge_and_insert(arena, page, page->order);
}

struct pw_page *
pw_buddy_alloc(struct pw_arena *arena, unsigned order, uint8_t flags)
{
	struct pw_page *page;

	if (unlikely(order < arena->params.min_order || order > arena->params.max_order)) {
		rte_errno = EINVAL;
		return NULL;
	}
	rte_spinlock_lock(&arena->lock);
	page = take(arena, order);
	if (likely(page != NULL))
		page->flags |= flags;
	pw_unlock(&arena->lock);
	return page;
}

struct pw_page *
pw_page_alloc(struct pw_arena *arena, unsigned order)
{
	return pw_buddy_alloc(arena, order, 0);
}

/* A page of another arena would be merged into this one's memory. */
static bool
is_of(const struct pw_arena *arena, const struct pw_page *page)
{
	const struct pw_region *region = pw_region_of(&arena->regions, page->addr);

	return region != NULL && pw_region_page(arena, region, page->index - region->first) == page;
}

void
pw_page_free(struct pw_arena *arena, struct pw_page *page)
{
	rte_spinlock_lock(&arena->lock);
	if (likely((page->flags & PW_PAGE_HELD) && is_of(arena, page)))
		give_back(arena, page);
	else
		arena->stats.bad_frees++;
	pw_unlock(&arena->lock);
}

/* Pin all free pages of an order or larger ones, cut to that order. */
static uint32_t
pin_all(struct pw_arena *arena, unsigned order)
{
	struct pw_arena_stats before = arena->stats;
	struct pw_page *page;
	uint32_t pinned = 0;

	while ((page = take(arena, order)) != NULL) {
		page->flags |= PW_PAGE_PINNED;
		pinned++;
	}
	arena->stats.page_failures = before.page_failures;
	return pinned;
}

/* Give back the pinned pages of some orders that a mask of their indices selects. */
static uint32_t
unpin(struct pw_arena *arena, unsigned min_order, unsigned max_order, uint32_t mask)
{
	uint32_t freed = 0;

	for (uint32_t r = 0; r < arena->regions.n; r++)
		for (uint32_t i = 0; i < arena->regions.all[r].count; i++) {
			struct pw_page *page = pw_region_page(arena, &arena->regions.all[r], i);

			if ((page->flags & PW_PAGE_PINNED) && page->order >= min_order &&
				page->order <= max_order && (page->index & mask) == 0) {
				give_back(arena, page);
				freed++;
			}
		}
	return freed;
}

uint32_t
pw_arena_fragment(struct pw_arena *arena, unsigned order)
{
	uint32_t pinned;

	if (order < arena->params.min_order || order >= arena->params.max_order)
		return 0;
	rte_spinlock_lock(&arena->lock);
	pinned = pin_all(arena, order);
	/* What an earlier call pinned is of other orders, or has the bit. */
	pinned -= unpin(arena, order, order, UINT32_C(1) << (order - arena->params.min_order));
	pw_unlock(&arena->lock);
	return pinned;
}

void
pw_arena_defragment(struct pw_arena *arena)
{
	rte_spinlock_lock(&arena->lock);
	unpin(arena, 0, PW_PAGE_ORDER_MAX, 0);
	pw_unlock(&arena->lock);
}
