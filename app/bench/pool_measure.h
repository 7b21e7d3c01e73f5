/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_POOL_MEASURE_H
#define BENCH_POOL_MEASURE_H

/** @file One measurement: one pattern with one handler, between two probes. */

#include <stdint.h>

#include "pool_handler.h"
#include "pool_patterns.h"

struct pw_pool_result {
	double ns;		    /**< a buffer */
	double before_ns, after_ns; /**< what the probes said */
	uint64_t failed_gets;
	char reason[256]; /**< of a failure */
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
