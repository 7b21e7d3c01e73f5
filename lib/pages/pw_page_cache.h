/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_PAGE_CACHE_H
#define PW_PAGE_CACHE_H

/**
 * @file
 * Empty pages of one order between those who cut them and the buddy allocator of their arena.
 *
 * The home of the strategy (enum pw_home) decides: no cache at all; a stack for each lcore, on
 * which it puts the pages that it empties, as Linux's per-CPU page lists; or a stack for each lcore
 * of the pages that it took itself, with a ring by which others return them, as Linux's page_pool.
 *
 * A page that lies on the wrong NUMA node, or is smaller than it should be, is not kept.
 *
 * Functions may be called by any thread at any time, unless said otherwise. A stack is locked
 * while it is used: others come to it only when the arena has run dry.
 */

#include "pw_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_page_cache;

struct pw_page_cache_stats {
	uint64_t cache_hits;   /**< pages got from a stack of the lcore's own */
	uint64_t ring_hits;    /**< pages that came to such a stack by a ring, home from others */
	uint64_t buddy_hits;   /**< pages from the arena, of the order asked for */
	uint64_t fallbacks;    /**< pages of the arena's smallest order instead */
	uint64_t failures;     /**< no page at all */
	uint64_t remote_frees; /**< pages emptied by another lcore than took them */
	uint64_t spills;       /**< pages that went home to the arena as stack or ring was full */
	uint64_t drains; /**< times that a stack was emptied into the arena for somebody in need */
	uint64_t cached; /**< pages lying here now, which the arena counts as held */
	uint64_t meta_bytes; /**< stacks and rings */
};

/**
 * Make a cache over an arena that has the strategy's page order; it must outlive the cache.
 *
 * @return NULL with rte_errno EINVAL (order) or ENOMEM
 */
struct pw_page_cache *pw_page_cache_create(
	struct pw_arena *arena, const struct pw_strategy *strategy);

/** Give all cached pages back to the arena, and the cache's memory. No other calls. NULL is
 * allowed.
 */
void pw_page_cache_destroy(struct pw_page_cache *cache);

/**
 * Take an empty page.
 *
 * When the arena has none of the order, what lies in all stacks and rings goes to the arena first.
 * If that does not help, and fallback is set, the page is of the arena's smallest order.
 *
 * @return NULL with rte_errno ENOMEM
 */
struct pw_page *pw_page_cache_get(struct pw_page_cache *cache, bool fallback);

/** Put an empty page, got from this cache, back. */
void pw_page_cache_put(struct pw_page_cache *cache, struct pw_page *page);

/** Give all cached pages to the arena; tells how many. */
unsigned pw_page_cache_drain(struct pw_page_cache *cache);

/** The arena behind it. */
struct pw_arena *pw_page_cache_arena(const struct pw_page_cache *cache);

/** Read the counters. */
void pw_page_cache_get_stats(struct pw_page_cache *cache, struct pw_page_cache_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
