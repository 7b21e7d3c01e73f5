/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_INTERRUPT_H
#define BENCH_INTERRUPT_H

/** @file Ctrl-C: what has been measured is kept. */

#include <stdbool.h>

/** From now on SIGINT, SIGTERM and SIGHUP are only noted. System calls are not begun again after.
 */
void pw_bench_interrupt_catch(void);

bool pw_bench_interrupted(void);

#endif
