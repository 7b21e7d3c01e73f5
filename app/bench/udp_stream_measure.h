/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_UDP_STREAM_MEASURE_H
#define BENCH_UDP_STREAM_MEASURE_H

/** @file One measurement of "udp_stream". */

#include <jansson.h>

#include "run.h"
#include "udp_stream_host.h"

/** A row. */
struct pw_udp_stream_case {
	uint32_t message_bytes;
	bool fragmented; /**< free memory has pages of 4 KiB only */
};

#define PW_UDP_STREAM_METRICS 12
#define PW_UDP_STREAM_MESSAGES_METRIC 3
extern const struct pw_report_metric pw_udp_stream_metrics[PW_UDP_STREAM_METRICS];

/**
 * Measure once, with memory of its own.
 *
 * @param reason  PW_BENCH_REASON_MAX bytes, written on error
 * @return 0 or a negative errno
 */
int pw_udp_stream_measure(const struct pw_udp_stream_case *what, const struct pw_strategy *strategy,
	bool quick, struct pw_bench_timing *timing, char *reason);

/** Where the time goes, by stage and, where there is perf, by symbol: an array for the report. */
json_t *pw_udp_stream_profile(const struct pw_udp_stream_case *what,
	const struct pw_strategy *strategy, const char *name);

#endif
