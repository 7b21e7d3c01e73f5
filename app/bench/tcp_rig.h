/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TCP_RIG_H
#define BENCH_TCP_RIG_H

/** @file What all endpoints of "tcp" share: the buffers. */

#include <stdint.h>

#include <rte_mbuf.h>

#include "pw_frag_pool.h"

struct pw_tcp_bench_rig {
	struct rte_mempool *mp;	    /**< of the peer's segments, and the endpoints' */
	struct pw_frag_pool *frags; /**< for data to send */
	double clock_cycles;	    /**< what reading the clock twice takes by itself */
};

/** @return NULL: there is no memory, as it has said */
struct pw_tcp_bench_rig *pw_tcp_bench_rig_create(void);

/** NULL is allowed. */
void pw_tcp_bench_rig_destroy(struct pw_tcp_bench_rig *rig);

/** Mbufs and fragments that are somewhere: none, between measurements. */
uint64_t pw_tcp_bench_rig_in_use(const struct pw_tcp_bench_rig *rig);

#endif
