/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

/** @file A run of an experiment: rounds over grids of cells, in the time there is. */

#include <stdbool.h>
#include <stdint.h>

#include "grid.h"
#include "options.h"

struct pw_bench_run {
	const struct pw_bench_common *common;
	struct pw_bench_samples probes[PW_BENCH_REGIMES]; /**< one-way ns */
	unsigned mixed;					  /**< measurements discarded */
	bool short_of_rounds;				  /**< some cell has fewer than wanted */
	bool failed;					  /**< exit code */

	unsigned nb_grids, grids_begun;
	uint64_t deadline;		    /**< TSC */
	uint64_t grid_begin, grid_deadline; /**< TSC */
};

/** One measurement, between two probes. */
struct pw_bench_timing {
	double ns;		    /**< a piece */
	double before_ns, after_ns; /**< what the probes said */
};

/** Run grid i of those that ctx knows. */
typedef void (*pw_bench_run_grid_t)(void *ctx, unsigned i);

/** Measure a cell once: pw_bench_run_record() or pw_bench_run_fail() says how it went. */
typedef void (*pw_bench_measure_t)(
	void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column);

/** Run grids one after the other; each may take its share of the time that is left. */
void pw_bench_run_grids(
	struct pw_bench_run *run, unsigned n, pw_bench_run_grid_t run_grid, void *ctx);

/**
 * Rounds of a grid, until all cells without a reason have as many near ones as wanted, or the
 * time is over.
 */
void pw_bench_run_rounds(struct pw_bench_run *run, struct pw_bench_grid *grid,
	pw_bench_measure_t measure, void *ctx);

/** The seed of the round that runs. */
uint64_t pw_bench_run_seed(const struct pw_bench_run *run, const struct pw_bench_grid *grid);

/** A measurement of a cell went well. */
void pw_bench_run_record(
	struct pw_bench_run *run, struct pw_bench_cell *cell, const struct pw_bench_timing *timing);

/** A cell is not measured any more; an error is said, and in the exit code. */
void pw_bench_run_fail(struct pw_bench_run *run, const struct pw_bench_grid *grid, unsigned row,
	unsigned column, const char *reason, bool error);

/** The same for what is left of a column, with one error for all. */
void pw_bench_run_fail_column(struct pw_bench_run *run, const struct pw_bench_grid *grid,
	unsigned column, const char *reason, bool error);

/** Free the samples. */
void pw_bench_run_end(struct pw_bench_run *run);

#endif
