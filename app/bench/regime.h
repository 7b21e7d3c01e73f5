/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_REGIME_H
#define BENCH_REGIME_H

/**
 * @file
 * How far the two cores are from each other.
 *
 * On a shared machine it changes within a run, and figures from far cores cannot be compared with
 * those from near ones: a line between the cores is probed before and after each measurement.
 */

#include <stdint.h>

enum pw_bench_regime {
	PW_BENCH_NEAR,
	PW_BENCH_FAR,
	PW_BENCH_UNPROBED,		   /**< there is one lcore only */
	PW_BENCH_REGIMES,		   /**< number of those above, of which samples are kept */
	PW_BENCH_MIXED = PW_BENCH_REGIMES, /**< it changed meanwhile, or could not be probed */
};

const char *pw_bench_regime_name(enum pw_bench_regime regime);

/**
 * Send a cache line to and fro between the main lcore and the second one, for 0.3 ms.
 *
 * @return nanoseconds for one way; 0: there is no second lcore; negative: it did not answer
 */
double pw_bench_probe_ns(void);

/** The regime of what was measured between two probes. */
enum pw_bench_regime pw_bench_regime(double before_ns, double after_ns, uint32_t near_ns);

#endif
