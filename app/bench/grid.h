/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

/** @file A grid of cells that are measured in the same rounds: what is done, with what. */

#include <stdbool.h>

#include "regime.h"
#include "samples.h"

#define PW_BENCH_ROWS_MAX 32
#define PW_BENCH_REASON_MAX 256

enum pw_bench_side {
	PW_BENCH_DPDK,
	PW_BENCH_OURS,
	PW_BENCH_FLOOR, /**< the same without what is measured */
	PW_BENCH_ALONE, /**< compared with nothing: columns measure different things */
};

struct pw_bench_column {
	enum pw_bench_side side;
	bool has_ratios;	   /**< preferred for the lines that compare ours with DPDK's */
	char name[48];		   /**< "pagewheel:reuse" */
	char above[24], below[48]; /**< the same in two lines, for headings */
};

/** All rounds of a row with a column. */
struct pw_bench_cell {
	struct pw_bench_samples ns[PW_BENCH_REGIMES];
	unsigned mixed;			  /**< rounds discarded */
	char reason[PW_BENCH_REASON_MAX]; /**< why it is not measured (any more); "": it is */
};

struct pw_bench_grid {
	char title[128]; /**< "8192 buffers, cache 256" */
	const char *rows[PW_BENCH_ROWS_MAX];
	unsigned nb_rows;
	const struct pw_bench_column *columns;
	unsigned nb_columns;
	unsigned rounds;	     /**< begun */
	struct pw_bench_cell *cells; /**< [row][column] */
};

/** Make the cells of a grid of which all else is filled in; 0 or -ENOMEM. */
int pw_bench_grid_open(struct pw_bench_grid *grid);

void pw_bench_grid_close(struct pw_bench_grid *grid);

static inline struct pw_bench_cell *
pw_bench_cell(const struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	return &grid->cells[row * grid->nb_columns + column];
}

/** The regime to show of a row: near, if all its cells have samples of it; or PW_BENCH_MIXED. */
enum pw_bench_regime pw_bench_shown_regime(const struct pw_bench_grid *grid, unsigned row);

/** What a cell shows: its median, in the regime of its row; negative: nothing. */
double pw_bench_shown_ns(const struct pw_bench_grid *grid, unsigned row, unsigned column);

/** Fewest rounds of a row's cells that have any, in the regime shown. */
unsigned pw_bench_shown_rounds(const struct pw_bench_grid *grid, unsigned row);

/** The fastest column, of a side or (PW_BENCH_FLOOR) of both sides; nb_columns: none. */
unsigned pw_bench_best(const struct pw_bench_grid *grid, unsigned row, enum pw_bench_side side);

#endif
