/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_SPLIT_RIG_H
#define BENCH_SPLIT_RIG_H

/**
 * @file
 * One lcore receives, another runs GRO and TCP, and frees what the first has taken.
 *
 * There is no card: the receiving lcore keeps buffers posted, as an RX ring does, writes frames
 * from memory into them, and hands bursts over by a ring.
 */

#include "split_flows.h"
#include "wait.h"

#define PW_SPLIT_BURST 32
#define PW_SPLIT_POSTED_MAX 4096

/** What the receiving lcore writes. */
struct pw_split_card {
	struct rte_mempool *mp;
	struct rte_ring *ring;
	struct pw_bench_wait *wait;
	struct pw_split_flows flows;
	uint64_t frames; /**< to receive; a multiple of the burst */
	unsigned posted; /**< buffers of the RX ring; a multiple of the burst */
	struct rte_mbuf *slots[PW_SPLIT_POSTED_MAX];
	uint64_t cycles, waited_cycles, failed_gets;
	int rc;
};

struct pw_split_rig {
	struct pw_bench_wait wait __rte_aligned(PW_BENCH_APART);
	struct pw_split_card card __rte_aligned(PW_BENCH_APART);

	struct rte_ring *ring __rte_aligned(PW_BENCH_APART);
	struct rte_mempool *tx;	    /**< of the stack's own segments */
	struct pw_frag_pool *frags; /**< it sends no data, but wants one */
	struct pw_bench_stack stack;
	struct pw_split_answer answer;
	struct pw_tcp_app app;
	uint64_t taken_bytes; /**< by the application */
	uint64_t sent_frames; /**< by the stack */
	uint64_t cycles, waited_cycles;
};

/** @return NULL: no memory, as it has said */
struct pw_split_rig *pw_split_rig_create(void);

/** NULL is allowed. */
void pw_split_rig_destroy(struct pw_split_rig *rig);

/**
 * Open the connections, with buffers of a pool.
 *
 * @param posted  buffers in the RX ring, a multiple of PW_SPLIT_BURST
 * @return 0 or a negative errno
 */
int pw_split_rig_open(struct pw_split_rig *rig, struct rte_mempool *mp, unsigned posted);

/** Let so many frames, a multiple of PW_SPLIT_BURST, go through. 0, or a negative errno. */
int pw_split_rig_run(struct pw_split_rig *rig, uint64_t frames);

/** Close the connections; the posted buffers go back. */
void pw_split_rig_close(struct pw_split_rig *rig);

#endif
