/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_FRAG_MEASURE_H
#define BENCH_FRAG_MEASURE_H

/** @file One measurement: one pattern with one allocator, between two probes. */

#include <stdint.h>

#include "frag_allocator.h"
#include "frag_patterns.h"
#include "frag_why.h"
#include "run.h"

struct pw_bfrag_rig;

struct pw_bfrag_result {
	struct pw_bench_timing timing;
	struct pw_bfrag_counters before, after;
	char reason[PW_BENCH_REASON_MAX]; /**< of a failure */
};

/**
 * Warm up, measure, free all, and see that all is back.
 *
 * @param fragments  to measure, about
 * @return 0; or with a reason in the result: -ENOBUFS (no fragment could be had), -ENOMEM, -EIO
 *	(not all is back) or -ETIMEDOUT. After those, the allocator's state is unknown.
 */
int pw_bfrag_measure(struct pw_bfrag_rig *rig, const struct pw_bfrag_pattern *pattern,
	struct pw_bfrag_allocator *allocator, uint64_t fragments, uint64_t seed,
	struct pw_bfrag_result *result);

#endif
