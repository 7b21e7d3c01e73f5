/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_H
#define BENCH_H

/**
 * @file
 * The program pagewheel-bench: what its files share.
 *
 * An experiment is a file with a struct pw_bench_experiment, and its line in the table of main.c.
 */

#include <rte_common.h>

#include "options.h"

struct pw_bench_experiment {
	const char *name;
	const char *help;		       /**< one line */
	const struct pw_bench_option *options; /**< its own, beside the common ones */
	void *values;			       /**< what they are read into */
	void (*usage)(void);		       /**< the rest of its help; NULL: nothing */
	/**
	 * Run it, with EAL started, on the main lcore.
	 *
	 * @return 0, or a negative errno after pw_bench_error() has said why
	 */
	int (*run)(const struct pw_bench_common *common);
};

extern const struct pw_bench_experiment pw_bench_frag;
extern const struct pw_bench_experiment pw_bench_pool;

/** Print an error as "pagewheel-bench: ..." on stderr. */
__rte_format_printf(1, 2) void pw_bench_error(const char *format, ...);

#endif
