/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_FRAG_PATTERNS_H
#define BENCH_FRAG_PATTERNS_H

/** @file How fragments are used: the loops that are measured, each for every kind of allocator. */

#include <stdbool.h>
#include <stdint.h>

#include "frag_allocator.h"
#include "worker.h"

struct pw_bfrag_pattern {
	const char *name;
	const char *help;
	pw_bench_work_t loop[PW_BFRAG_KINDS];	 /**< of a struct pw_bfrag_rig */
	pw_bench_work_t consume[PW_BFRAG_KINDS]; /**< what the second lcore does meanwhile */
	uint32_t size_max;			 /**< of fragments */
	bool mixed;				 /**< sizes are random, not those of a group */
	bool fragmented;			 /**< the arena is, before */
	uint32_t floor_set;			 /**< pointers of the floor; a power of two */
};

/** The patterns; *n is their number. */
const struct pw_bfrag_pattern *pw_bfrag_patterns(unsigned *n);

static inline bool
pw_bfrag_needs_two_lcores(const struct pw_bfrag_pattern *pattern)
{
	return pattern->consume[0] != NULL;
}

#endif
