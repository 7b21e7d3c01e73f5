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

#include <stdbool.h>

#include <stddef.h>

#include <rte_common.h>

#include "options.h"

struct pw_bench_experiment {
	const char *name;
	const char *help;		       /**< one line */
	const struct pw_bench_option *options; /**< its own, beside the common ones */
	void *values;			       /**< what they are read into */
	void (*usage)(void);		       /**< the rest of its help; NULL: nothing */
	bool one_lcore;			       /**< it needs no second one, nor a probe */
	bool seconds;			       /**< one measurement takes seconds */
	/** It runs in other processes, that tools/lab starts: EAL is not. See lab.h. */
	bool is_lab;
	/** The same in other processes, taken with --on=PLACE; NULL: it runs in memory only. */
	const struct pw_bench_experiment *on;
	/* All get its state, of so many bytes, which begins with a struct pw_bench_run. */
	size_t bench_bytes;
	/**
	 * Open its groups, with EAL started, on the main lcore.
	 *
	 * @return how many there are, or a negative errno after pw_bench_error() has said why
	 */
	int (*open)(void *bench);
	void (*run_group)(void *bench, unsigned i);
	/** Print all as tables; NULL: as any report. */
	void (*report)(const void *bench);
	/** Print what the tables do not have; NULL: nothing. */
	void (*print_more)(const void *bench);
	/**
	 * Print all as JSON; 0, or a negative errno after pw_bench_error() has said why. NULL: as
	 * any report.
	 */
	int (*print_json)(const void *bench);
	/** Free what open() made, of as many groups as it got to. */
	void (*close)(void *bench);
};

extern const struct pw_bench_experiment pw_bench_frag;
extern const struct pw_bench_experiment pw_bench_gro;
extern const struct pw_bench_experiment pw_bench_pool;
extern const struct pw_bench_experiment pw_bench_tcp;
extern const struct pw_bench_experiment pw_bench_udp_stream;
extern const struct pw_bench_experiment pw_bench_sizes;
extern const struct pw_bench_experiment pw_bench_split;

/** Run it. Returns 0, or a negative errno after pw_bench_error() has said why. */
int pw_bench_experiment_run(
	const struct pw_bench_experiment *experiment, const struct pw_bench_common *common);

/** Print an error as "pagewheel-bench: ..." on stderr. */
__rte_format_printf(1, 2) void pw_bench_error(const char *format, ...);

#endif
