/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "histogram.h"

#include <rte_common.h>

/* Row 0 holds the values below 32 as they are; row n those with n - 1 bits cut off. */
static unsigned
row_of(uint64_t value)
{
	return value < PW_HISTOGRAM_PARTS ? 0 : 59 - __builtin_clzll(value);
}

static unsigned
shift_of(unsigned row)
{
	return row == 0 ? 0 : row - 1;
}

void
pw_histogram_add(struct pw_histogram *histogram, uint64_t value)
{
	unsigned row = row_of(value);

	histogram->parts[row][(value >> shift_of(row)) % PW_HISTOGRAM_PARTS]++;
	if (histogram->count == 0 || value < histogram->min)
		histogram->min = value;
	histogram->max = RTE_MAX(histogram->max, value);
	histogram->count++;
}

void
pw_histogram_merge(struct pw_histogram *histogram, const struct pw_histogram *other)
{
	if (other->count == 0)
		return;
	for (unsigned row = 0; row < RTE_DIM(histogram->parts); row++)
		for (unsigned i = 0; i < PW_HISTOGRAM_PARTS; i++)
			histogram->parts[row][i] += other->parts[row][i];
	if (histogram->count == 0 || other->min < histogram->min)
		histogram->min = other->min;
	histogram->max = RTE_MAX(histogram->max, other->max);
	histogram->count += other->count;
}

/* The largest value that is counted there. */
static uint64_t
top_of(unsigned row, unsigned part)
{
	uint64_t base = row == 0 ? part : PW_HISTOGRAM_PARTS + part;

	return ((base + 1) << shift_of(row)) - 1;
}

uint64_t
pw_histogram_quantile(const struct pw_histogram *histogram, unsigned permille)
{
	uint64_t rank = (histogram->count * permille + 999) / 1000, seen = 0;

	for (unsigned row = 0; row < RTE_DIM(histogram->parts); row++) {
		for (unsigned i = 0; i < PW_HISTOGRAM_PARTS; i++) {
			seen += histogram->parts[row][i];
			if (seen >= rank && seen > 0)
				return RTE_MIN(top_of(row, i), histogram->max);
		}
	}
	return 0;
}
