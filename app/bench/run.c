/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "run.h"

#include <rte_cycles.h>
#include <rte_string_fns.h>

#include "bench.h"
#include "progress.h"

/* Rounds begun are at most so many times those wanted: the cores may never be near. */
#define TRIES 3

static bool
is_late(uint64_t deadline)
{
	return rte_rdtsc() > deadline;
}

uint64_t
pw_bench_run_seed(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	return ((uint64_t)run->common->seed << 32) + grid->rounds;
}

void
pw_bench_run_record(
	struct pw_bench_run *run, struct pw_bench_cell *cell, const struct pw_bench_timing *timing)
{
	enum pw_bench_regime regime = pw_bench_regime(
		timing->before_ns, timing->after_ns, run->common->near_ns);

	if (regime == PW_BENCH_MIXED) {
		cell->mixed++;
		run->mixed++;
		return;
	}
	pw_bench_samples_add(&cell->ns[regime], timing->ns);
	pw_bench_samples_add(&run->probes[regime], timing->before_ns);
	pw_bench_samples_add(&run->probes[regime], timing->after_ns);
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

static unsigned
wanted_samples(const struct pw_bench_cell *cell)
{
	return cell->ns[PW_BENCH_NEAR].n + cell->ns[PW_BENCH_UNPROBED].n;
}

/* Rounds that a row has in all its cells, of those wanted. */
static unsigned
row_rounds(const struct pw_bench_run *run, const struct pw_bench_grid *grid, unsigned row)
{
	unsigned least = run->common->rounds;

	for (unsigned c = 0; c < grid->nb_columns; c++) {
		const struct pw_bench_cell *cell = pw_bench_cell(grid, row, c);

		if (cell->reason[0] == '\0')
			least = RTE_MIN(least, wanted_samples(cell));
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

/* On some machines the cores are never near: then as many far rounds have to do. */
static bool
is_never_near(const struct pw_bench_run *run)
{
	return run->probes[PW_BENCH_NEAR].n == 0 && run->probes[PW_BENCH_FAR].n > 0;
}

static unsigned
rounds_left(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	unsigned wanted = run->common->rounds;

	if (is_never_near(run))
		return wanted - RTE_MIN(wanted, grid->rounds);
	if (grid->rounds >= TRIES * wanted)
		return 0;
	return wanted - grid_rounds(run, grid);
}

/* What is left at the pace so far, but not beyond the end. */
static void
show_progress(const struct pw_bench_run *run, const struct pw_bench_grid *grid)
{
	unsigned wanted = run->common->rounds, left = rounds_left(run, grid);
	unsigned later = run->nb_grids - run->grids_begun;
	double hz = (double)rte_get_tsc_hz(), now = (double)rte_rdtsc();
	double round_s = (now - (double)run->grid_begin) / hz / (grid->rounds + 1);
	double end_s = ((double)run->deadline - now) / hz;
	double left_s = RTE_MIN(end_s, round_s * left + round_s * wanted * later);

	pw_bench_progress("%u of %u, %s: %u of %u rounds, about %.0f s left", run->grids_begun,
		run->nb_grids, grid->title, wanted - left, wanted, RTE_MAX(left_s, 0));
}

/* The order of the columns moves on with each round and each row. */
static void
run_round(
	struct pw_bench_run *run, struct pw_bench_grid *grid, pw_bench_measure_t measure, void *ctx)
{
	for (unsigned r = 0; r < grid->nb_rows; r++) {
		if (row_rounds(run, grid, r) == run->common->rounds)
			continue;
		for (unsigned i = 0; i < grid->nb_columns && !is_late(run->grid_deadline); i++) {
			unsigned c = (i + r + grid->rounds) % grid->nb_columns;

			if (pw_bench_cell(grid, r, c)->reason[0] == '\0')
				measure(ctx, grid, r, c);
			show_progress(run, grid);
		}
	}
}

void
pw_bench_run_rounds(
	struct pw_bench_run *run, struct pw_bench_grid *grid, pw_bench_measure_t measure, void *ctx)
{
	run->grid_begin = rte_rdtsc();
	while (rounds_left(run, grid) > 0 && !is_late(run->grid_deadline)) {
		run_round(run, grid, measure, ctx);
		grid->rounds++;
	}
	if (grid_rounds(run, grid) < run->common->rounds)
		run->short_of_rounds = true;
}

void
pw_bench_run_grids(struct pw_bench_run *run, unsigned n, pw_bench_run_grid_t run_grid, void *ctx)
{
	run->deadline = rte_rdtsc() + run->common->max_seconds * rte_get_tsc_hz();
	run->nb_grids = n;
	for (unsigned i = 0; i < n; i++) {
		uint64_t now = rte_rdtsc();

		if (now >= run->deadline) {
			run->short_of_rounds = true;
			break;
		}
		run->grids_begun++;
		run->grid_deadline = now + (run->deadline - now) / (n - i);
		run_grid(ctx, i);
	}
	pw_bench_progress_end();
}

void
pw_bench_run_end(struct pw_bench_run *run)
{
	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
		pw_bench_samples_free(&run->probes[r]);
}
