/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <math.h>

#include "pw_samples.h"

/*
 * The share of Student's t within ±t, for whole degrees of freedom: the finite series of Abramowitz
 * and Stegun, 26.7.3 (odd degrees) and 26.7.4 (even ones), in theta = atan(t / sqrt(degrees)).
 */
static double
share_within(double t, unsigned degrees)
{
	double theta = atan(t / sqrt(degrees)), cosine = cos(theta);
	bool odd = degrees % 2 == 1;
	double term = odd ? cosine : 1, sum = 0;

	for (unsigned i = odd ? 1 : 0; i + 2 <= degrees; i += 2) {
		sum += term;
		term *= cosine * cosine * (i + 1) / (i + 2);
	}
	if (odd)
		return 2 / M_PI * (theta + sin(theta) * sum);
	return sin(theta) * sum;
}

double
pw_student_t(double confidence_percent, unsigned degrees)
{
	double low = 0, high = 1;

	while (share_within(high, degrees) < confidence_percent / 100 && high < 1e9)
		high *= 2;
	for (unsigned i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (share_within(middle, degrees) < confidence_percent / 100)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
