/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

/**
 * @file
 * A run of an experiment: rounds over grids of cells, in the time there is.
 *
 * In a round each cell is measured once, in an order that moves on from round to round, so that a
 * machine's mood hits all alike. A row has rounds enough when all its cells have as many as wanted
 * and the first metric's half-width is within the limit, or as many as there may be.
 */

#include <stdbool.h>
#include <stdint.h>

#include "grid.h"
#include "options.h"

struct pw_bench_run {
	const struct pw_bench_common *common;
	struct pw_samples probes[PW_BENCH_REGIMES]; /**< one-way ns */
	unsigned mixed;				    /**< measurements discarded */
	bool short_of_rounds;			    /**< some cell has fewer than wanted */
	bool failed;				    /**< exit code */
	json_t *environment; /**< of an experiment that runs elsewhere; NULL: here */
	json_t *profiles;    /**< array of {"title", "lines"} for the report; NULL: none */

	struct pw_bench_grid **reported; /**< those that had rounds */
	unsigned nb_reported;
	unsigned nb_grids, grids_begun;
	double deadline_s;		      /**< pw_bench_now_s() */
	double grid_begin_s, grid_deadline_s; /**< the same */
	bool warming_up;		      /**< what is measured now is not kept */
};

/** One measurement, between two probes. */
struct pw_bench_timing {
	double value;				/**< of the first metric, such as ns a piece */
	double more[PW_REPORT_METRICS_MAX - 1]; /**< of the others; NAN: not known here */
	double before_ns, after_ns;		/**< what the probes said; 0: not probed */
};

/** Run grid i of those that ctx knows. */
typedef void (*pw_bench_run_grid_t)(void *ctx, unsigned i);

/** Measure a cell once: pw_bench_run_record() or pw_bench_run_fail() says how it went. */
typedef void (*pw_bench_measure_t)(
	void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column);

/** Run n grids, one after the other; each may take its share of the time that is left. */
void pw_bench_run_grids(
	struct pw_bench_run *run, unsigned n, pw_bench_run_grid_t run_grid, void *ctx);

/**
 * Rounds of a grid, until all rows have enough, the time is over, or Ctrl-C. The grid belongs to
 * the report from now on: it must stay until the run ends.
 */
void pw_bench_run_rounds(struct pw_bench_run *run, struct pw_bench_grid *grid,
	pw_bench_measure_t measure, void *ctx);

/** The seed of the round that runs. */
uint64_t pw_bench_run_seed(const struct pw_bench_run *run, const struct pw_bench_grid *grid);

/** A measurement of a cell went well. */
void pw_bench_run_record(struct pw_bench_run *run, const struct pw_bench_grid *grid,
	struct pw_bench_cell *cell, const struct pw_bench_timing *timing);

/** A cell is not measured any more; an error is said, and in the exit code. */
void pw_bench_run_fail(struct pw_bench_run *run, const struct pw_bench_grid *grid, unsigned row,
	unsigned column, const char *reason, bool error);

/** The same for what is left of a column, with one error for all. */
void pw_bench_run_fail_column(struct pw_bench_run *run, const struct pw_bench_grid *grid,
	unsigned column, const char *reason, bool error);

/** Free the samples. */
void pw_bench_run_end(struct pw_bench_run *run);

#endif
