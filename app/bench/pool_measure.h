/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_POOL_MEASURE_H
#define BENCH_POOL_MEASURE_H

/** @file One measurement: one pattern with one handler, between two probes. */

#include <stdint.h>

#include "pool_handler.h"
#include "pool_patterns.h"
#include "run.h"

struct pw_pool_result {
	struct pw_bench_timing timing;
	uint64_t failed_gets;
	char reason[PW_BENCH_REASON_MAX]; /**< of a failure */
};

/**
 * Put the pool's buffers in order, warm up, measure, and see that all buffers are back.
 *
 * @return 0; or with a reason in the result: -ENOBUFS (a get failed), -EIO (buffers were lost or
 *	handed out twice) or -ETIMEDOUT. After those, the pool's state is unknown.
 */
int pw_pool_measure(struct pw_pool_rig *rig, const struct pw_pool_pattern *pattern,
	struct pw_pool_handler *handler, uint64_t seed, struct pw_pool_result *result);

#endif
