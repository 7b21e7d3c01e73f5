/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

/** @file Samples of one figure, and what they say. */

struct pw_bench_samples {
	unsigned n, room;
	double *values; /**< in the order they came */
};

struct pw_bench_summary {
	double median, q1, q3; /**< quartiles, interpolated between neighbours */
};

/** Add one; what does not fit in memory is lost. */
void pw_bench_samples_add(struct pw_bench_samples *samples, double value);

/** All zero when there are none. */
struct pw_bench_summary pw_bench_samples_summary(const struct pw_bench_samples *samples);

void pw_bench_samples_free(struct pw_bench_samples *samples);

#endif
