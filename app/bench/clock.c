/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "clock.h"

#include <stdint.h>
#include <time.h>

#include <rte_cycles.h>

#include "pw_samples.h"

double
pw_bench_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

double
pw_bench_clock_cycles(void)
{
	struct pw_samples samples = {0};
	double cycles;

	for (unsigned i = 0; i < 1001; i++) {
		uint64_t begin = rte_rdtsc_precise();

		pw_samples_add(&samples, (double)(rte_rdtsc_precise() - begin));
	}
	cycles = pw_samples_summary(&samples).median;
	pw_samples_free(&samples);
	return cycles;
}
