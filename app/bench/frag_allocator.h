/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_FRAG_ALLOCATOR_H
#define BENCH_FRAG_ALLOCATOR_H

/**
 * @file
 * What fragments come from: a strategy of lib/frag, rte_malloc, a mempool, or the floor.
 *
 * For the main lcore, while nobody else uses the allocator.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "grid.h"
#include "pw_frag.h"

#define PW_BFRAG_ALIGN 64U
/** Bytes of a fragment pool. */
#define PW_BFRAG_POOL_BYTES (64U << 20)
/** Objects of a mempool: what patterns have in flight, and what the caches of two lcores keep. */
#define PW_BFRAG_OBJECTS 2048U
#define PW_BFRAG_CACHE 256U
/** Pointers of the floor; a power of two. */
#define PW_BFRAG_FLOOR 128U

enum pw_bfrag_kind {
	PW_BFRAG_FRAG,
	PW_BFRAG_MALLOC,
	PW_BFRAG_MEMPOOL,
	PW_BFRAG_FIXED, /**< the floor: a fixed set of pointers, again and again */
	PW_BFRAG_KINDS,
};

struct pw_bfrag_allocator {
	enum pw_bfrag_kind kind;
	struct pw_bench_column column;
	struct pw_strategy strategy; /**< of a fragment pool */
	const char *ops;	     /**< of a mempool */
	uint32_t size_bytes;	     /**< largest fragment */
	struct pw_frag_pool *pool;
	struct pw_frag_cache *cache; /**< of the main lcore, while something is measured */
	struct rte_mempool *mp;
	char *memory;  /**< of the floor */
	uint64_t base; /**< bytes or allocations that are not given back, as not ours */
	char reason[PW_BENCH_REASON_MAX];
};

/** Fill in what a name says: "frag:reuse", "rte_malloc", "mempool", "floor"; 0 or -EINVAL. */
int pw_bfrag_allocator_init(struct pw_bfrag_allocator *allocator, const char *name);

/** The i-th name that is no strategy, and its help; NULL after the last. */
const char *pw_bfrag_allocator_help(unsigned i, const char **name);

/** True when fragments of that size can be had; else the reason says why not. */
bool pw_bfrag_allocator_fits(struct pw_bfrag_allocator *allocator, uint32_t size_bytes);

/** Reserve its memory; 0, or a negative errno with a reason. */
int pw_bfrag_allocator_open(struct pw_bfrag_allocator *allocator, uint32_t size_bytes);

/** Give it back, whatever the state. Nothing is done when it is not open. */
void pw_bfrag_allocator_close(struct pw_bfrag_allocator *allocator);

/**
 * Before a measurement: a cache that has no page yet.
 *
 * @param fragmented  no two free pages lie side by side
 * @return 0, or a negative errno with a reason
 */
int pw_bfrag_allocator_begin(struct pw_bfrag_allocator *allocator, bool fragmented);

/** After it, all fragments freed: see that all is back. 0, or -EIO with a reason. */
int pw_bfrag_allocator_end(struct pw_bfrag_allocator *allocator);

#endif
