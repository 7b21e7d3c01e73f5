/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRO_MEASURE_H
#define BENCH_GRO_MEASURE_H

/** @file One measurement: some traffic through one contender. */

#include <stdint.h>

#include "gro_rig.h"
#include "run.h"

struct pw_gro_bench_result {
	struct pw_bench_timing timing;
	uint64_t packets_in, packets_out; /**< of what was measured */
	char reason[PW_BENCH_REASON_MAX]; /**< of a failure */
};

/**
 * Draw the packets, write them, merge them, and see that all that went in has come out.
 *
 * @return 0, or -EIO with a reason in the result: the contender's state is unknown then
 */
int pw_gro_bench_measure(struct pw_gro_bench_rig *rig, struct pw_gro_bench_contender *contender,
	const struct pw_gro_bench_settings *settings, uint32_t nb_flows, uint64_t seed,
	struct pw_gro_bench_result *result);

#endif
