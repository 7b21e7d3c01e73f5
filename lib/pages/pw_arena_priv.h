/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_ARENA_PRIV_H
#define PW_ARENA_PRIV_H

/** @file What pw_pages.c (memory and its description) and pw_buddy.c (free pages) share. */

#include <rte_spinlock.h>

#include "pw_bitmap.h"
#include "pw_pages.h"
#include "pw_region.h"

struct pw_arena {
	rte_spinlock_t lock; /* free pages and stats */
	struct pw_arena_params params;
	size_t desc_bytes; /* a struct pw_page and the owner's room behind it */
	struct pw_bitmap
		free[PW_PAGE_ORDER_MAX + 1]; /* bit i: the block of index i << (order - min) */
	struct pw_arena_stats stats;
	struct pw_regions regions;
	uint32_t last_region; /* that a page was taken of */
	uint32_t nb_indices;
};

static inline size_t
pw_arena_min_bytes(const struct pw_arena *arena)
{
	return (size_t)1 << (PW_PAGE_SHIFT + arena->params.min_order);
}

static inline struct pw_page *
pw_region_page(const struct pw_arena *arena, const struct pw_region *region, uint32_t i)
{
	return (struct pw_page *)(void *)(region->descs + (size_t)i * arena->desc_bytes);
}

/** Bytes of a page, a short one too. */
size_t pw_arena_page_len(const struct pw_arena *arena, const struct pw_page *page);

/** pw_page_alloc() of a page with some flags: they are written with the lock only. */
struct pw_page *pw_buddy_alloc(struct pw_arena *arena, unsigned order, uint8_t flags);

/** Put pages of the smallest order that were just described on the free lists, merged. */
void pw_buddy_add(struct pw_arena *arena, struct pw_page *page);

#endif
