/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

void
pw_bench_samples_add(struct pw_bench_samples *samples, double value)
{
	if (samples->n == samples->room) {
		unsigned room = RTE_MAX(16U, 2 * samples->room);
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
	unsigned above = RTE_MIN(below + 1, n - 1);

	return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

struct pw_bench_summary
pw_bench_samples_summary(const struct pw_bench_samples *samples)
{
	struct pw_bench_summary summary = {0};
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

void
pw_bench_samples_free(struct pw_bench_samples *samples)
{
	free(samples->values);
	*samples = (struct pw_bench_samples){0};
}
