/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
pw_samples_add(struct pw_samples *samples, double value)
{
	if (samples->n == samples->room) {
		unsigned room = samples->room == 0 ? 16 : 2 * samples->room;
		double *values = realloc(samples->values, room * sizeof(*values));

		if (values == NULL)
			return;
		samples->values = values;
		samples->room = room;
	}
	samples->values[samples->n++] = value;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Where a share of the sorted samples lies below. */
static double
quantile(const double *sorted, unsigned n, double share)
{
	double position = share * (n - 1);
	unsigned below = (unsigned)position;
	unsigned above = below + 1 < n ? below + 1 : n - 1;

	return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

struct pw_summary
pw_samples_summary(const struct pw_samples *samples)
{
	struct pw_summary summary = {0};
	double *sorted;

	if (samples->n == 0)
		return summary;
	sorted = malloc(samples->n * sizeof(*sorted));
	if (sorted == NULL)
		return summary;
	memcpy(sorted, samples->values, samples->n * sizeof(*sorted));
	qsort(sorted, samples->n, sizeof(*sorted), compare);
	summary.median = quantile(sorted, samples->n, 0.5);
	summary.q1 = quantile(sorted, samples->n, 0.25);
	summary.q3 = quantile(sorted, samples->n, 0.75);
	free(sorted);
	return summary;
}

/* Squares are summed of what is left of the mean: small differences of large values survive. */
static double
standard_error(const struct pw_samples *samples, double mean)
{
	double sum = 0;

	for (unsigned i = 0; i < samples->n; i++)
		sum += (samples->values[i] - mean) * (samples->values[i] - mean);
	return sqrt(sum / (samples->n - 1) / samples->n);
}

static double
percent_of(double half_width, double mean)
{
	if (half_width == 0)
		return 0;
	return mean == 0 ? INFINITY : 100 * half_width / fabs(mean);
}

struct pw_estimate
pw_samples_estimate(const struct pw_samples *samples, double confidence_percent)
{
	struct pw_estimate estimate = {.n = samples->n};

	if (samples->n == 0)
		return estimate;
	for (unsigned i = 0; i < samples->n; i++)
		estimate.mean += samples->values[i] / samples->n;
	estimate.half_width = samples->n == 1 ? INFINITY
					      : pw_student_t(confidence_percent, samples->n - 1) *
			standard_error(samples, estimate.mean);
	estimate.half_width_percent = percent_of(estimate.half_width, estimate.mean);
	return estimate;
}

void
pw_samples_free(struct pw_samples *samples)
{
	free(samples->values);
	*samples = (struct pw_samples){0};
}
