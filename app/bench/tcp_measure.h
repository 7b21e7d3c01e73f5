/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TCP_MEASURE_H
#define BENCH_TCP_MEASURE_H

/** @file One measurement: a pattern on one endpoint. */

#include "run.h"
#include "tcp_patterns.h"

/** Bursts of a measurement. */
#define PW_TCP_BENCH_EXCHANGES 4096U

/**
 * Run a pattern, and see that all bytes arrived, nothing was sent again, and all buffers are free.
 *
 * @param idle  connections that stay, beside the active ones
 * @param reason  of a failure
 * @return 0, or -EIO: the endpoint's state is unknown then
 */
int pw_tcp_bench_measure(const struct pw_tcp_bench_rig *rig, struct pw_tcp_bench_peers *peers,
	const struct pw_tcp_bench_pattern *pattern, uint32_t idle, struct pw_bench_timing *timing,
	char reason[PW_BENCH_REASON_MAX]);

#endif
