/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_FRAG_RIG_H
#define BENCH_FRAG_RIG_H

/** @file What the loops of frag_patterns.c work on. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "frag_allocator.h"
#include "frag_patterns.h"
#include "frag_why.h"
#include "wait.h"

#define PW_BFRAG_SIZE_MIN 64U
#define PW_BFRAG_SIZE_MAX 16384U
#define PW_BFRAG_WINDOW 64U /**< in flight at a time; a power of two */
#define PW_BFRAG_BURST 32U  /**< handed over to the other lcore at a time */
#define PW_BFRAG_HAND_OVER 1024U
#define PW_BFRAG_HELD_SHARE 16U /**< one in so many is held */
#define PW_BFRAG_HELD 512U	/**< so many at the most; a power of two */
#define PW_BFRAG_RANDOM 4096U	/**< random sizes; a power of two */
/** Warm-up: held slots are filled, rings of caches too, and some exchanges come behind. */
#define PW_BFRAG_WARM_UP (2 * PW_BFRAG_HELD * PW_BFRAG_HELD_SHARE)

/** What a loop works on, and what it says. No line is written by one lcore and read by another. */
struct pw_bfrag_rig {
	struct pw_frag_pool *pool;
	struct pw_frag_cache *cache;
	struct rte_mempool *mp;
	uint32_t size_bytes;
	uint64_t steps[2]; /**< fragments of the warm-up, and of what is measured */
	struct rte_ring *hand_over;
	uint32_t floor_mask;
	void *floor[PW_BFRAG_FLOOR];
	uint32_t sizes[PW_BFRAG_RANDOM];
	struct pw_bench_wait wait;

	/** The lcore that allocates. */
	bool ran_dry __rte_aligned(PW_BENCH_APART);
	uint64_t random;
	uint32_t floor_at;
	uint32_t nb_burst; /**< left in burst, after an error */
	void *burst[PW_BFRAG_BURST];
	void *window[PW_BFRAG_WINDOW];	      /**< NULL: none */
	void *held[PW_BFRAG_HELD];	      /**< NULL: none */
	struct pw_bfrag_counters counters[3]; /**< before each phase, and at the end */

	/** The lcore that frees, which is the same one but for remote. */
	uint64_t cycles __rte_aligned(PW_BENCH_APART); /**< of what was measured; 0: it was not */
};

/** NULL: no memory. */
struct pw_bfrag_rig *pw_bfrag_rig_create(uint64_t seed);

void pw_bfrag_rig_destroy(struct pw_bfrag_rig *rig);

/** Ready for one measurement. */
void pw_bfrag_rig_reset(struct pw_bfrag_rig *rig, const struct pw_bfrag_pattern *pattern,
	const struct pw_bfrag_allocator *allocator, uint64_t fragments, uint64_t seed);

/** Free what a measurement has left in use. */
void pw_bfrag_rig_give_back(struct pw_bfrag_rig *rig, const struct pw_bfrag_allocator *allocator);

#endif
