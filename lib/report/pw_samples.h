/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_SAMPLES_H
#define PW_SAMPLES_H

/**
 * @file
 * Samples of one figure, and what they say. One thread at a time.
 */

#include <stdbool.h>

/** All zeros is an empty one. */
struct pw_samples {
	unsigned n, room;
	double *values; /**< in the order they came */
};

/** All zero when there are no samples. */
struct pw_summary {
	double median, q1, q3; /**< quartiles, interpolated between neighbours */
};

/** All zero when there are no samples. */
struct pw_estimate {
	unsigned n;
	double mean;
	/** The true mean lies within mean ± half_width with the confidence asked for, if samples
	 * are independent and normal (Student's t). INFINITY with a single sample. */
	double half_width;
	double half_width_percent; /**< of the mean; 0 if both are 0, INFINITY if only the mean is
				    */
};

/** Add one; what does not fit in memory is lost. */
void pw_samples_add(struct pw_samples *samples, double value);

struct pw_summary pw_samples_summary(const struct pw_samples *samples);

/** @param confidence_percent  above 0, below 100 */
struct pw_estimate pw_samples_estimate(const struct pw_samples *samples, double confidence_percent);

/** Free the memory; the samples are empty then. */
void pw_samples_free(struct pw_samples *samples);

/**
 * The quantile of Student's t of both sides: how many standard errors around the mean hold it with
 * the confidence.
 *
 * @param confidence_percent  above 0, below 100
 * @param degrees  of freedom, at least 1
 */
double pw_student_t(double confidence_percent, unsigned degrees);

#endif
