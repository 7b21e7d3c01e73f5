/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_EAL_H
#define BENCH_EAL_H

/** @file EAL, with arguments that suit a benchmark. */

/** What EAL gets unless the user says otherwise, in words. */
#define PW_BENCH_EAL_OPTIONS                                                                   \
	"--lcores=0@A,1@B (the first two CPUs this process may run on), --in-memory --no-pci " \
	"--no-telemetry --log-level=4"

/**
 * Start EAL with our arguments, and the user's behind them.
 *
 * @return 0, or a negative errno: it has said why
 */
int pw_bench_eal_start(int argc, char **argv);

#endif
