/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAG_H
#define PW_FRAG_H

/**
 * @file
 * Page-fragment caches: fragments of any size, handed out from the end of a page to its start.
 *
 * A page counts its references. The cache takes many at once (the bias) and gives one to each
 * fragment by a plain decrement of its own, so that an allocation costs no atomic operation. When
 * the page is used up the cache gives the rest of its bias back. If nobody else holds a reference
 * then, a strategy with reuse starts again at the end of the same page.
 */

#include <stddef.h>
#include <stdint.h>

#include "pw_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_frag_cache;

struct pw_frag_stats {
	uint64_t allocs;   /**< fragments handed out */
	uint64_t bytes;	   /**< bytes handed out, alignment not counted */
	uint64_t refills;  /**< pages taken from the arena */
	uint64_t reuses;   /**< pages used again in place */
	uint64_t failures; /**< no page left */
};

/**
 * Make a cache. It belongs to one thread; fragments may be freed by any thread.
 *
 * @param arena  its page order must be the strategy's, and no page of it short; it must outlive the
 *	cache and all fragments
 * @return NULL with rte_errno EINVAL (page order, a short page) or ENOMEM
 */
struct pw_frag_cache *pw_frag_cache_create(
	struct pw_arena *arena, const struct pw_strategy *strategy);

/** Free a cache. Fragments in flight stay valid. NULL is allowed. */
void pw_frag_cache_destroy(struct pw_frag_cache *cache);

/**
 * Hand out a fragment, with one reference.
 *
 * @param size_bytes   1 to the arena's page size
 * @param align_bytes  a power of two, at most the page size
 * @return NULL with rte_errno EINVAL (size 0, alignment), EMSGSIZE (larger than a page) or ENOMEM;
 *	the cache is as before then
 */
void *pw_frag_alloc(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes);

/** Take one more reference on a fragment that the caller holds one of. Any thread. */
int pw_frag_ref(struct pw_arena *arena, void *frag);

/**
 * Drop a reference; with the last one of a page the page goes home. Any thread.
 *
 * @param frag  may point anywhere into the fragment
 * @return 0, or -EINVAL when the address is not in this arena
 */
int pw_frag_free(struct pw_arena *arena, void *frag);

/** Read the counters. Exact when read by the owner. */
void pw_frag_get_stats(const struct pw_frag_cache *cache, struct pw_frag_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
