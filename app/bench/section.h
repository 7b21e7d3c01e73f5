/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_SECTION_H
#define BENCH_SECTION_H

/** @file Rows of grids as text: times, why some cells are empty, and ours against DPDK's. */

#include "grid.h"
#include "run.h"

/** Rows of one grid or of several, which have the same columns. */
struct pw_bench_section {
	const char *rows_are; /**< "pattern" */
	/** A figure of each cell but the floor's, behind the ratios; NULL: none. 0: unknown. */
	double (*figure)(const struct pw_bench_grid *grid, unsigned row, unsigned column);
	const char *figure_is; /**< "merged" */
	unsigned n;
	struct {
		const struct pw_bench_grid *grid;
		unsigned row;
		const char *name;
	} lines[PW_BENCH_ROWS_MAX];
};

/** Add a row; what is more than PW_BENCH_ROWS_MAX is left out. */
void pw_bench_section_add(struct pw_bench_section *section, const struct pw_bench_grid *grid,
	unsigned row, const char *name);

/** Print it below its title. */
void pw_bench_section_print(const struct pw_bench_section *section);

/** What has to be said at the end. */
void pw_bench_print_end(const struct pw_bench_run *run, unsigned left_out_for_one_lcore);

#endif
