/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_POOL_RIG_H
#define BENCH_POOL_RIG_H

/** @file What the loops of pool_patterns.c work on: an RX ring, rings between lcores, the floor. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>
#include <rte_ring.h>

#include "pool_patterns.h"
#include "wait.h"

#define PW_POOL_BURST 32U
#define PW_POOL_POSTED 1024U	/**< buffers in the RX ring */
#define PW_POOL_HAND_OVER 1024U /**< buffers on their way to the other lcore, at most */
/** One buffer in so many is held by the pattern hold, and at most that share of the pool. */
#define PW_POOL_HELD_SHARE 16
/** From a buffer to its data: a struct rte_mbuf and the headroom. */
#define PW_POOL_DATA_OFFSET (sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM)

/** What a loop works on, and what it says. No line is written by one lcore and read by another. */
struct pw_pool_rig {
	struct rte_mempool *mp;
	void **set;	   /**< of the floor: a stack that grows towards its start */
	uint64_t steps[2]; /**< bursts of the warm-up, and of what is measured */
	struct rte_ring *hand_over, *hand_back;
	void **held; /**< buffers held by the pattern hold */
	uint32_t held_max;
	struct pw_bench_wait wait;

	/** The lcore that gets. */
	uint64_t written __rte_aligned(PW_BENCH_APART); /**< sum of the words written */
	uint64_t failed_gets;
	uint64_t random;
	unsigned top; /**< of the floor's stack */
	uint32_t nb_held, nb_posted;
	void *posted[PW_POOL_POSTED];

	/** The lcore that frees, which is the same one but for split. */
	uint64_t cycles __rte_aligned(PW_BENCH_APART); /**< of what was measured; 0: it was not */
	uint64_t read;				       /**< sum of the words read */
};

/** Make a rig for pools of that size; NULL: no memory. */
struct pw_pool_rig *pw_pool_rig_create(uint32_t pool_size);

void pw_pool_rig_destroy(struct pw_pool_rig *rig);

/** Ready for one measurement; -ENOBUFS: the floor has too few buffers. */
int pw_pool_rig_reset(struct pw_pool_rig *rig, const struct pw_pool_pattern *pattern,
	const struct pw_pool_handler *handler, uint64_t seed);

/** Give back what a measurement that went well has left in use. */
void pw_pool_rig_give_back(struct pw_pool_rig *rig);

#endif
