/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

/** @file What the clock itself costs. */

/** Cycles that reading it twice takes, with nothing in between. */
double pw_bench_clock_cycles(void);

#endif
