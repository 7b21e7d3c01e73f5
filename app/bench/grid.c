/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "grid.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_common.h>

int
pw_bench_grid_open(struct pw_bench_grid *grid)
{
	grid->cells = calloc((size_t)grid->nb_rows * grid->nb_columns, sizeof(*grid->cells));
	return grid->cells == NULL ? -ENOMEM : 0;
}

void
pw_bench_grid_close(struct pw_bench_grid *grid)
{
	unsigned n = grid->nb_rows * grid->nb_columns;

	for (unsigned i = 0; grid->cells != NULL && i < n; i++)
		for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
			for (unsigned m = 0; m < pw_bench_metrics(grid); m++)
				pw_samples_free(&grid->cells[i].samples[r][m]);
	free(grid->cells);
	grid->cells = NULL;
}

/* Cells of a row that are measured: all of them, and those with samples of a regime. */
static unsigned
count_cells(
	const struct pw_bench_grid *grid, unsigned row, enum pw_bench_regime regime, unsigned *all)
{
	unsigned found = 0;

	*all = 0;
	for (unsigned c = 0; c < grid->nb_columns; c++) {
		const struct pw_bench_cell *cell = pw_bench_cell(grid, row, c);

		if (cell->reason[0] != '\0')
			continue;
		*all += 1;
		found += cell->samples[regime][0].n > 0;
	}
	return found;
}

enum pw_bench_regime
pw_bench_shown_regime(const struct pw_bench_grid *grid, unsigned row)
{
	enum pw_bench_regime some = PW_BENCH_MIXED;
	unsigned found, all;

	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++) {
		found = count_cells(grid, row, r, &all);
		if (found > 0 && found == all)
			return r;
		if (found > 0 && some == PW_BENCH_MIXED)
			some = r;
	}
	return some;
}

double
pw_bench_shown_ns(const struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	enum pw_bench_regime regime = pw_bench_shown_regime(grid, row);
	const struct pw_bench_cell *cell = pw_bench_cell(grid, row, column);

	if (regime == PW_BENCH_MIXED || cell->reason[0] != '\0' || cell->samples[regime][0].n == 0)
		return -1;
	return pw_samples_summary(&cell->samples[regime][0]).median;
}

unsigned
pw_bench_shown_rounds(const struct pw_bench_grid *grid, unsigned row)
{
	enum pw_bench_regime regime = pw_bench_shown_regime(grid, row);
	unsigned least = UINT32_MAX;

	for (unsigned c = 0; regime != PW_BENCH_MIXED && c < grid->nb_columns; c++) {
		const struct pw_bench_cell *cell = pw_bench_cell(grid, row, c);

		if (cell->reason[0] == '\0' && cell->samples[regime][0].n > 0)
			least = RTE_MIN(least, cell->samples[regime][0].n);
	}
	return least == UINT32_MAX ? 0 : least;
}

unsigned
pw_bench_best(const struct pw_bench_grid *grid, unsigned row, enum pw_bench_side side)
{
	unsigned best = grid->nb_columns;
	double best_ns = 0;

	for (unsigned c = 0; c < grid->nb_columns; c++) {
		double ns = pw_bench_shown_ns(grid, row, c);

		if (ns < 0 || grid->columns[c].side == PW_BENCH_FLOOR ||
			grid->columns[c].side == PW_BENCH_ALONE ||
			(side != PW_BENCH_FLOOR && grid->columns[c].side != side))
			continue;
		if (best == grid->nb_columns || ns < best_ns) {
			best = c;
			best_ns = ns;
		}
	}
	return best;
}
