/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "bench.h"
#include "clock.h"
#include "interrupt.h"
#include "progress.h"

/* Rounds begun are at most so many times those that may be: the cores may never be near. */
#define TRIES 3

static bool
is_late(double deadline_s)
{
	return pw_bench_interrupted() || pw_bench_now_s() > deadline_s;
}

uint64_t
pw_bench_run_seed(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	return ((uint64_t)run->common->seed << 32) + grid->rounds;
}

static void
keep(struct pw_samples *metrics, unsigned nb_metrics, const struct pw_bench_timing *timing)
{
	pw_samples_add(&metrics[0], timing->value);
	for (unsigned m = 1; m < nb_metrics; m++)
		if (!isnan(timing->more[m - 1]))
			pw_samples_add(&metrics[m], timing->more[m - 1]);
}

void
pw_bench_run_record(struct pw_bench_run *run, const struct pw_bench_grid *grid,
	struct pw_bench_cell *cell, const struct pw_bench_timing *timing)
{
	enum pw_bench_regime regime = pw_bench_regime(
		timing->before_ns, timing->after_ns, run->common->near_ns);

	if (run->warming_up)
		return;
	if (regime == PW_BENCH_MIXED) {
		cell->mixed++;
		run->mixed++;
		return;
	}
	keep(cell->samples[regime], pw_bench_metrics(grid), timing);
	pw_samples_add(&run->probes[regime], timing->before_ns);
	pw_samples_add(&run->probes[regime], timing->after_ns);
}

void
pw_bench_run_fail(struct pw_bench_run *run, const struct pw_bench_grid *grid, unsigned row,
	unsigned column, const char *reason, bool error)
{
	struct pw_bench_cell *cell = pw_bench_cell(grid, row, column);

	rte_strscpy(cell->reason, reason, sizeof(cell->reason));
	if (!error)
		return;
	pw_bench_error(
		"%s, %s, %s: %s", grid->columns[column].name, grid->rows[row], grid->title, reason);
	run->failed = true;
}

void
pw_bench_run_fail_column(struct pw_bench_run *run, const struct pw_bench_grid *grid,
	unsigned column, const char *reason, bool error)
{
	if (error) {
		pw_bench_error("%s: %s", grid->columns[column].name, reason);
		run->failed = true;
	}
	for (unsigned r = 0; r < grid->nb_rows; r++)
		if (pw_bench_cell(grid, r, column)->reason[0] == '\0')
			pw_bench_run_fail(run, grid, r, column, reason, false);
}

/* On some machines the cores are never near: then far rounds have to do. */
static bool
is_never_near(const struct pw_bench_run *run)
{
	return run->probes[PW_BENCH_NEAR].n == 0 && run->probes[PW_BENCH_FAR].n > 0;
}

static const struct pw_samples *
wanted_samples(const struct pw_bench_run *run, const struct pw_bench_cell *cell)
{
	if (cell->samples[PW_BENCH_UNPROBED][0].n > 0)
		return &cell->samples[PW_BENCH_UNPROBED][0];
	return &cell->samples[is_never_near(run) ? PW_BENCH_FAR : PW_BENCH_NEAR][0];
}

static bool
has_enough(const struct pw_bench_run *run, const struct pw_samples *samples)
{
	const struct pw_bench_common *common = run->common;

	if (samples->n < common->rounds)
		return false;
	return samples->n >= common->max_rounds ||
		pw_samples_estimate(samples, common->confidence_percent).half_width_percent <=
		common->half_width_percent;
}

/* Rounds that a row has in all its cells, of those wanted. */
static unsigned
row_rounds(const struct pw_bench_run *run, const struct pw_bench_grid *grid, unsigned row)
{
	unsigned least = run->common->rounds;

	for (unsigned c = 0; c < grid->nb_columns; c++) {
		const struct pw_bench_cell *cell = pw_bench_cell(grid, row, c);

		if (cell->reason[0] == '\0')
			least = RTE_MIN(least, wanted_samples(run, cell)->n);
	}
	return least;
}

static unsigned
grid_rounds(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	unsigned least = run->common->rounds;

	for (unsigned r = 0; r < grid->nb_rows; r++)
		least = RTE_MIN(least, row_rounds(run, grid, r));
	return least;
}

static bool
row_is_done(const struct pw_bench_run *run, const struct pw_bench_grid *grid, unsigned row)
{
	for (unsigned c = 0; c < grid->nb_columns; c++) {
		const struct pw_bench_cell *cell = pw_bench_cell(grid, row, c);

		if (cell->reason[0] == '\0' && !has_enough(run, wanted_samples(run, cell)))
			return false;
	}
	return true;
}

static bool
grid_is_done(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	for (unsigned r = 0; r < grid->nb_rows; r++)
		if (!row_is_done(run, grid, r))
			return grid->rounds >= TRIES * run->common->max_rounds;
	return true;
}

/* What is left at the pace so far, but not beyond the end. Nobody knows how many more rounds the
 * half-width needs: those wanted are counted. */
static void
show_progress(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	unsigned wanted = run->common->rounds, done = grid_rounds(run, grid);
	unsigned later = run->nb_grids - run->grids_begun;
	double now_s = pw_bench_now_s();
	double round_s = (now_s - run->grid_begin_s) / (grid->rounds + 1);
	double left_s = round_s * RTE_MAX(wanted - done, 1U) + round_s * wanted * later;

	pw_bench_progress("%u of %u, %s: round %u, %u of %u wanted are done, about %.0f s left",
		run->grids_begun, run->nb_grids, grid->title, grid->rounds + 1, done, wanted,
		RTE_MAX(RTE_MIN(left_s, run->deadline_s - now_s), 0));
}

/* The order of the columns moves on with each round and each row. */
static void
run_round(
	struct pw_bench_run *run, struct pw_bench_grid *grid, pw_bench_measure_t measure, void *ctx)
{
	for (unsigned r = 0; r < grid->nb_rows; r++) {
		if (row_is_done(run, grid, r))
			continue;
		for (unsigned i = 0; i < grid->nb_columns && !is_late(run->grid_deadline_s); i++) {
			unsigned c = (i + r + grid->rounds) % grid->nb_columns;

			if (pw_bench_cell(grid, r, c)->reason[0] == '\0')
				measure(ctx, grid, r, c);
			show_progress(run, grid);
		}
	}
}

static int
set_baseline(struct pw_bench_run *run, struct pw_bench_grid *grid)
{
	const char *name = run->common->baseline;
	char names[512] = "";

	for (unsigned c = 0; name != NULL && c < grid->nb_columns; c++) {
		size_t used = strlen(names);

		if (strcmp(grid->columns[c].name, name) == 0) {
			grid->baseline = c;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", c == 0 ? "" : ", ",
			grid->columns[c].name);
	}
	if (name == NULL)
		return 0;
	pw_bench_error("--baseline=%s: expected one of: %s", name, names);
	run->failed = true;
	return -EINVAL;
}

static void
remember(struct pw_bench_run *run, struct pw_bench_grid *grid)
{
	void *grids = realloc(
		run->reported, (run->nb_reported + 1) * sizeof(struct pw_bench_grid *));

	if (grids == NULL) {
		pw_bench_error("no memory");
		run->failed = true;
		return;
	}
	run->reported = grids;
	run->reported[run->nb_reported++] = grid;
}

void
pw_bench_run_rounds(
	struct pw_bench_run *run, struct pw_bench_grid *grid, pw_bench_measure_t measure, void *ctx)
{
	remember(run, grid);
	if (set_baseline(run, grid) < 0)
		return;
	run->warming_up = true;
	for (unsigned i = 0; i < run->common->warm_up; i++)
		run_round(run, grid, measure, ctx);
	run->warming_up = false;
	run->grid_begin_s = pw_bench_now_s();
	while (!grid_is_done(run, grid) && !is_late(run->grid_deadline_s)) {
		run_round(run, grid, measure, ctx);
		grid->rounds++;
	}
	if (grid_rounds(run, grid) < run->common->rounds)
		run->short_of_rounds = true;
}

void
pw_bench_run_grids(struct pw_bench_run *run, unsigned n, pw_bench_run_grid_t run_grid, void *ctx)
{
	run->deadline_s = pw_bench_now_s() + run->common->max_seconds;
	run->nb_grids = n;
	for (unsigned i = 0; i < n; i++) {
		double now_s = pw_bench_now_s();

		if (is_late(run->deadline_s)) {
			run->short_of_rounds = true;
			break;
		}
		run->grids_begun++;
		run->grid_deadline_s = now_s + (run->deadline_s - now_s) / (n - i);
		run_grid(ctx, i);
	}
	pw_bench_progress_end();
}

void
pw_bench_run_end(struct pw_bench_run *run)
{
	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
		pw_samples_free(&run->probes[r]);
	json_decref(run->environment);
	json_decref(run->profiles);
	free(run->reported);
}
