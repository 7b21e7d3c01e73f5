/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

/** @file A grid of cells that are measured in the same rounds: what is done, with what. */

#include <stdbool.h>

#include "pw_report.h"
#include "pw_samples.h"
#include "regime.h"

#define PW_BENCH_ROWS_MAX 32
#define PW_BENCH_COLUMNS_MAX 32
#define PW_BENCH_REASON_MAX PW_REPORT_REASON_MAX

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
	/** Of each metric, the first one before all; a regime's have the same number. */
	struct pw_samples samples[PW_BENCH_REGIMES][PW_REPORT_METRICS_MAX];
	unsigned mixed;			  /**< rounds discarded */
	char reason[PW_BENCH_REASON_MAX]; /**< why it is not measured (any more); "": it is */
};

struct pw_bench_grid {
	char title[128];      /**< "8192 buffers, cache 256" */
	const char *rows_are; /**< "message bytes"; NULL: patterns */
	const char *rows[PW_BENCH_ROWS_MAX];
	unsigned nb_rows;
	const struct pw_bench_column *columns;
	unsigned nb_columns;
	unsigned baseline; /**< the column that percents are of; not of PW_BENCH_ALONE */
	/** What is measured of a cell; NULL: ns only. */
	const struct pw_report_metric *metrics;
	unsigned nb_metrics;
	unsigned rounds;	     /**< begun */
	struct pw_bench_cell *cells; /**< [row][column] */
};

/** How many metrics a cell has. */
static inline unsigned
pw_bench_metrics(const struct pw_bench_grid *grid)
{
	return grid->metrics == NULL ? 1 : grid->nb_metrics;
}

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
