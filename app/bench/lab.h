/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H

/**
 * @file
 * Experiments that run pagewheel itself: tools/lab starts it on nicsim, on a veth pair or on a
 * bound NIC, and lets something send. We decide what is measured next, and keep what it tells.
 *
 * Lines of JSON go to and fro. The lab's first one says what there is to measure: title, rows_are,
 * rows, columns, metrics and environment. {"row": I, "column": I, "round": N,
 * "warm_up": BOOL} asks for a measurement; lines with "progress" come first, then one with "values"
 * (of metrics, by their keys) and what is new of the environment, or one with "error".
 */

#include "bench.h"

/** Options that are not common ones go to the lab, which knows them. */
int pw_bench_lab_options(const struct pw_bench_experiment *experiment, int argc, char **argv,
	struct pw_bench_common *common);

/** Print what the lab says of its options. */
int pw_bench_lab_usage(const struct pw_bench_experiment *experiment);

/** For experiments that run in memory, unless --on=PLACE is given: those are ours, of their names.
 */
extern const struct pw_bench_experiment pw_bench_udp_stream_on, pw_bench_sizes_on;

extern const struct pw_bench_experiment pw_bench_stream, pw_bench_udp, pw_bench_forward,
	pw_bench_rr, pw_bench_throughput;

#endif
