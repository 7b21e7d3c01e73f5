/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_POOL_PATTERNS_H
#define BENCH_POOL_PATTERNS_H

/**
 * @file
 * How buffers are used: the loops that are measured.
 *
 * Each loop exists twice, with rte_mempool and with the floor in its place: a fixed set of buffers
 * without any handler. On one lcore that is a bare stack of pointers, on two it is a second ring
 * that brings the buffers back.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pool_handler.h"

struct pw_pool_rig;

typedef void (*pw_pool_loop_t)(struct pw_pool_rig *rig);

/** A loop in its two forms. */
struct pw_pool_loop {
	pw_pool_loop_t with_mempool, with_floor;
};

struct pw_pool_pattern {
	const char *name;
	const char *help;
	struct pw_pool_loop loop;
	struct pw_pool_loop consume; /**< what the second lcore does meanwhile, or NULLs */
	enum pw_pool_order order;    /**< of the pool before */
	bool plain;		     /**< run by a thread that is no lcore */
	bool holds;		     /**< the warm-up goes on until all that may be held is held */
	uint32_t buffers;	     /**< measured a round */
};

/** The patterns; *n is their number. */
const struct pw_pool_pattern *pw_pool_patterns(unsigned *n);

#endif
