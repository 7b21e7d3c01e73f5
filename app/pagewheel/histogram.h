/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

/**
 * @file
 * A log-linear histogram: each power of two is cut into 32 parts, so that a value read from it is
 * at most 3.2 % above the true one.
 */

#include <stdint.h>

#define PW_HISTOGRAM_PARTS 32

struct pw_histogram {
	uint64_t count, min, max;
	uint64_t parts[60][PW_HISTOGRAM_PARTS];
};

/** All zeros is an empty histogram. */
void pw_histogram_add(struct pw_histogram *histogram, uint64_t value);

/** Add all values of another. */
void pw_histogram_merge(struct pw_histogram *histogram, const struct pw_histogram *other);

/** The value that so many thousandths of all are not above; 0 when there are none. */
uint64_t pw_histogram_quantile(const struct pw_histogram *histogram, unsigned permille);

#endif
