/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAG_RIG_H
#define PW_FRAG_RIG_H

/** @file What the tests of lib/frag share: a pool, a cache on it, and a look at both. */

#include "pw_test.h"

#include "pw_frag.h"

/** All presets. */
#define PW_FRAG_STRATEGIES "order0", "order3", "cached", "reuse", "flip", "page_pool"

#define DESK_TAKEN_MAX 1024

/* A pool and a cache on it. */
struct desk {
	struct pw_frag_pool *pool;
	struct pw_frag_cache *cache;
	struct pw_arena *arena;
	struct pw_strategy strategy;
	size_t page_bytes;
	struct pw_page *taken[DESK_TAKEN_MAX]; /* from the arena, to leave little in it */
	unsigned nb_taken;
	struct pw_test_memory before;
};

/** Parameters for a pool of a number of pages, with a name of its own. */
struct pw_frag_pool_params desk_params(const char *strategy, unsigned pages);

/** Open one with this number of pages of the strategy's order free, and no other memory. */
void desk_open(struct desk *desk, const char *strategy, unsigned pages);

/** Take pages of the strategy's order from the arena until only some are left. */
void desk_leave_pages(struct desk *desk, unsigned pages);

/**
 * Close it. All fragments are free: every page must have come home, each as often as it went out,
 * and have merged with the others.
 */
void desk_close(struct desk *desk);

/** A fragment that must be there. */
char *desk_take(const struct desk *desk, size_t size_bytes);

/** Free one, which must work. */
void desk_give(const struct desk *desk, void *frag);

/** First byte of the page that a fragment lies in, and the page's size. */
char *desk_page_start(const struct desk *desk, const void *frag);
size_t desk_page_bytes(const struct desk *desk, const void *frag);

struct pw_frag_stats desk_stats(const struct desk *desk);
struct pw_frag_pool_stats desk_pool_stats(const struct desk *desk);

static inline bool
desk_flips(const struct desk *desk)
{
	return desk->strategy.reuse == PW_REUSE_FLIP;
}

#endif
