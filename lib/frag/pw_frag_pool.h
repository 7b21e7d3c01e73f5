/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAG_POOL_H
#define PW_FRAG_POOL_H

/**
 * @file
 * The memory that fragments are cut from: an arena, the cache of its empty pages, and a strategy.
 *
 * Those who cut fragments (pw_frag.h, pw_frag_send.h) take pages from here; a page comes back with
 * its last fragment, from whatever thread. Functions may be called by any thread at any time,
 * unless said otherwise.
 */

#include <stddef.h>
#include <stdint.h>

#include "pw_page_cache.h"
#include "pw_pages.h"
#include "pw_stat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_frag_pool;

struct pw_frag_pool_params {
	const char *name; /**< of the memzone; at most 31 characters, not used yet */
	int socket_id;	  /**< NUMA socket or external heap, or SOCKET_ID_ANY */
	struct pw_strategy strategy;
	size_t bytes; /**< of all pages; rounded up to 2 MiB */
};

struct pw_frag_pool_stats {
	struct pw_page_cache_stats cache;
	struct pw_arena_stats pages;
	uint64_t frags_in_flight; /**< as pw_frag_pool_in_flight() */
	uint64_t bytes_in_use;	  /**< of pages with fragments in flight, or being cut */
	uint64_t pages_in_use;	  /**< the number of these */
	uint64_t pages_pinned;	  /**< those kept by one or two references, and nobody cuts them */
	uint64_t refused;	  /**< pw_frag_free() and pw_frag_ref() where no fragment is */
};

/**
 * Make a pool, its memory reserved from EAL.
 *
 * @return NULL with rte_errno EINVAL (no name, no bytes, page order, socket), EEXIST (name),
 *	ENAMETOOLONG or ENOMEM
 */
struct pw_frag_pool *pw_frag_pool_create(const struct pw_frag_pool_params *params);

/**
 * Give the memory back. No other call on the pool may run, nor come later. NULL is allowed.
 *
 * @return 0, or -EBUSY while fragments are in flight, caches exist or a struct pw_send_frag holds a
 *	page: nothing is changed then, so the caller may try again later
 */
int pw_frag_pool_destroy(struct pw_frag_pool *pool);

/**
 * References of fragments that are not freed yet; a fragment with two holders counts twice.
 *
 * Exact while nobody allocates or frees. Visits all pages: not for a fast path.
 */
uint64_t pw_frag_pool_in_flight(struct pw_frag_pool *pool);

/** Read the counters; costs as much as pw_frag_pool_in_flight(). */
void pw_frag_pool_get_stats(struct pw_frag_pool *pool, struct pw_frag_pool_stats *stats);

/** Names and units of struct pw_frag_pool_stats. */
extern const struct pw_stat pw_frag_pool_stat_table[];

/** Its strategy. */
const struct pw_strategy *pw_frag_pool_strategy(const struct pw_frag_pool *pool);

/** The arena below, to show it or to fragment it in a test. */
struct pw_arena *pw_frag_pool_arena(const struct pw_frag_pool *pool);

/** The cache of empty pages. */
struct pw_page_cache *pw_frag_pool_page_cache(const struct pw_frag_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
