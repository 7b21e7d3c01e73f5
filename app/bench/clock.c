/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "clock.h"

#include <stdint.h>

#include <rte_cycles.h>

#include "samples.h"

double
pw_bench_clock_cycles(void)
{
	struct pw_bench_samples samples = {0};
	double cycles;

	for (unsigned i = 0; i < 1001; i++) {
		uint64_t begin = rte_rdtsc_precise();

		pw_bench_samples_add(&samples, (double)(rte_rdtsc_precise() - begin));
	}
	cycles = pw_bench_samples_summary(&samples).median;
	pw_bench_samples_free(&samples);
	return cycles;
}
