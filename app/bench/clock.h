/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

/** @file The time, and what reading it costs. */

/** Seconds since some moment; also without EAL. Not for what is measured. */
double pw_bench_now_s(void);

/** Cycles that reading the TSC twice takes, with nothing in between. */
double pw_bench_clock_cycles(void);

#endif
