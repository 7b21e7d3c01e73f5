/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

/**
 * @file
 * A line on stderr that says where a long run is: again and again in its place on a terminal, a
 * new one every five seconds elsewhere.
 */

#include <rte_common.h>

/** Show a line, unless one was shown just before. */
__rte_format_printf(1, 2) void pw_bench_progress(const char *format, ...);

/** Clear the line on a terminal. */
void pw_bench_progress_end(void);

#endif
