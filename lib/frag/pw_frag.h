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
 * the page is used up the cache gives the rest of its bias back, and takes the next page from the
 * pool. The strategy's reuse comes before that:
 *
 * - PW_REUSE_RESET: if nobody else holds a reference, from the end of the same page again.
 * - PW_REUSE_FLIP: a fragment is one half of a page. The pages wait their turn in a ring of
 *   PW_FRAG_FIFO, as the buffers of an RX queue do. When it comes, and the half that did not go out
 *   last is free, that one goes out; else the ring takes a new page in its place. The halves are
 *   counted apart. What is larger than a half, or aligned to more, gets a page of its own, once.
 *
 * When no page of the strategy's order is left, what fits into 4096 bytes comes from a page of
 * order 0. Such a page, and one that lies on another NUMA node, is used once and not again.
 */

#include <stddef.h>
#include <stdint.h>

#include "pw_frag_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pages in the ring of a cache with PW_REUSE_FLIP; a power of two. */
#define PW_FRAG_FIFO 256

struct pw_frag_cache;

struct pw_frag_stats {
	uint64_t allocs;	 /**< fragments handed out */
	uint64_t bytes;		 /**< bytes handed out, alignment not counted */
	uint64_t local_frees;	 /**< references that pw_frag_cache_free() dropped */
	uint64_t refills;	 /**< pages taken from the pool */
	uint64_t fallback_pages; /**< those of them with order 0 instead of the strategy's */
	uint64_t reuses;	 /**< pages used again in place, and halves */
	uint64_t failures;	 /**< no page left */
	uint64_t tail_bytes;	 /**< left unused in pages (and halves) that were used up */
};

/**
 * Make a cache. It belongs to one thread; fragments may be freed by any thread.
 *
 * @param pool  must outlive the cache and all fragments
 * @return NULL with rte_errno ENOMEM
 */
struct pw_frag_cache *pw_frag_cache_create(struct pw_frag_pool *pool);

/** Free a cache. Fragments in flight stay valid. NULL is allowed. */
void pw_frag_cache_destroy(struct pw_frag_cache *cache);

/**
 * Hand out a fragment, with one reference.
 *
 * @param size_bytes   1 to the strategy's page size
 * @param align_bytes  a power of two, at most the strategy's page size
 * @return NULL with rte_errno EINVAL (size 0, alignment), EMSGSIZE (larger than a page of the
 *	strategy) or ENOMEM (no page, or only smaller ones). The cache is as before then; only if
 *	another thread was quicker to take the page that the cache had just emptied, it has none.
 */
void *pw_frag_alloc(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes);

/**
 * Take one more reference on a fragment that the caller holds one of. Any thread.
 *
 * A fragment may have 16384 references with PW_REUSE_FLIP, all of a page 2^28 otherwise.
 *
 * @param frag  may point anywhere into the fragment
 * @return 0, or -EINVAL, counted, as pw_frag_free()
 */
int pw_frag_ref(struct pw_frag_pool *pool, const void *frag);

/**
 * Drop a reference; with the last one of a page the page goes home. Any thread.
 *
 * @param frag  may point anywhere into the fragment
 * @return 0, or -EINVAL, counted, when the address is not in this pool, or in a page (or half) of
 *	which nothing is handed out. A second free is only found that way.
 */
int pw_frag_free(struct pw_frag_pool *pool, const void *frag);

/**
 * pw_frag_free() by the owner of a cache: no atomic operation if the fragment lies in the page that
 * the cache is cutting. For fragments of its pool, whoever allocated them.
 */
int pw_frag_cache_free(struct pw_frag_cache *cache, const void *frag);

/** IO address of a byte of a fragment, or RTE_BAD_IOVA; contiguous within the fragment. */
rte_iova_t pw_frag_iova(const struct pw_frag_pool *pool, const void *frag);

/** The pool of a cache. */
struct pw_frag_pool *pw_frag_cache_pool(const struct pw_frag_cache *cache);

/** Read the counters. Exact when read by the owner. */
void pw_frag_get_stats(const struct pw_frag_cache *cache, struct pw_frag_stats *stats);

/** Names and units of struct pw_frag_stats. */
extern const struct pw_stat pw_frag_stat_table[];

#ifdef __cplusplus
}
#endif

#endif
