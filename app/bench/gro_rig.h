/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRO_RIG_H
#define BENCH_GRO_RIG_H

/** @file What the measurements of "gro" work on: the mbufs, which stay the rig's all the time. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "gro_contender.h"
#include "gro_traffic.h"

struct pw_gro_bench_rig {
	struct rte_mempool *mp;
	struct rte_mbuf **mbufs; /**< all of the pool's, in an order at random */
	uint32_t nb_mbufs;
	struct pw_gro_bench_packet *packets; /**< of a measurement */
	struct pw_gro_bench_flow *flows;
	double clock_cycles; /**< what reading the clock twice takes by itself */
	size_t l2_bytes;
	uint32_t nb_timed;
	uint64_t *timed; /**< cycles from flush to flush, each time that was measured */
	struct pw_gro_bench_output output;
};

/**
 * @param cold  with mbufs for cold headers too, which take much more memory
 * @return NULL: there is no memory, as it has said
 */
struct pw_gro_bench_rig *pw_gro_bench_rig_create(bool cold, uint64_t seed);

void pw_gro_bench_rig_destroy(struct pw_gro_bench_rig *rig);

/** Packets of a measurement at most. */
uint32_t pw_gro_bench_rig_packets(
	const struct pw_gro_bench_rig *rig, enum pw_gro_bench_headers headers);

#endif
