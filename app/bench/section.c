/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "section.h"

#include <stdio.h>
#include <string.h>

#include "pw_table.h"
#include "worker.h"

void
pw_bench_section_add(struct pw_bench_section *section, const struct pw_bench_grid *grid,
	unsigned row, const char *name)
{
	if (section->n == PW_BENCH_ROWS_MAX)
		return;
	section->lines[section->n].grid = grid;
	section->lines[section->n].row = row;
	section->lines[section->n++].name = name;
}

/* Names take two lines: pagewheel above its strategy. */
static void
add_heading(struct pw_table *table, const struct pw_bench_section *section)
{
	const struct pw_bench_grid *grid = section->lines[0].grid;

	pw_table_add(table, " ");
	pw_table_add(table, " ");
	for (unsigned c = 0; c < grid->nb_columns; c++)
		pw_table_add(table, "%s", grid->columns[c].above);
	pw_table_add(table, "%s", section->rows_are);
	pw_table_add(table, "rounds");
	for (unsigned c = 0; c < grid->nb_columns; c++)
		pw_table_add(table, "%s", grid->columns[c].below);
}

static void
add_cell(struct pw_table *table, const struct pw_bench_cell *cell, enum pw_bench_regime regime,
	bool best)
{
	struct pw_summary summary;
	double half;

	if (regime == PW_BENCH_MIXED || cell->reason[0] != '\0' ||
		cell->samples[regime][0].n == 0) {
		pw_table_add(table, "- ");
		return;
	}
	summary = pw_samples_summary(&cell->samples[regime][0]);
	half = (summary.q3 - summary.q1) / 2;
	pw_table_add(table, summary.median < 100 ? "%.2f ±%.2f%s" : "%.0f ±%.0f%s", summary.median,
		half, best ? "*" : " ");
}

static void
add_row(struct pw_table *table, const struct pw_bench_grid *grid, unsigned row, const char *name)
{
	enum pw_bench_regime regime = pw_bench_shown_regime(grid, row);
	unsigned best = pw_bench_best(grid, row, PW_BENCH_FLOOR);

	pw_table_add(table, "%s", name);
	if (regime == PW_BENCH_MIXED)
		pw_table_add(table, "none");
	else
		pw_table_add(table, "%u %s", pw_bench_shown_rounds(grid, row),
			pw_bench_regime_name(regime));
	for (unsigned c = 0; c < grid->nb_columns; c++)
		add_cell(table, pw_bench_cell(grid, row, c), regime, c == best);
}

static void
print_times(const struct pw_bench_section *section)
{
	struct pw_table *table = pw_table_create(section->lines[0].grid->nb_columns + 2);

	if (table == NULL)
		return;
	add_heading(table, section);
	for (unsigned i = 0; i < section->n; i++)
		add_row(table, section->lines[i].grid, section->lines[i].row,
			section->lines[i].name);
	pw_table_print(table, stdout);
}

static const char *
reason_of(const struct pw_bench_section *section, unsigned line, unsigned column)
{
	return pw_bench_cell(section->lines[line].grid, section->lines[line].row, column)->reason;
}

/* Lines from first to last that have the reason of a line. */
static unsigned
count_same_reason(const struct pw_bench_section *section, unsigned first, unsigned last,
	unsigned line, unsigned column)
{
	const char *reason = reason_of(section, line, column);
	unsigned n = 0;

	for (unsigned i = first; i < last; i++)
		n += strcmp(reason_of(section, i, column), reason) == 0;
	return n;
}

/* Why a cell is empty; a reason that several lines share is said once. */
static void
print_reason(const struct pw_bench_section *section, unsigned line, unsigned column)
{
	const char *reason = reason_of(section, line, column);
	unsigned more;

	if (reason[0] == '\0' || count_same_reason(section, 0, line, line, column) > 0)
		return;
	printf("- %s, %s", section->lines[line].grid->columns[column].name,
		section->lines[line].name);
	more = count_same_reason(section, line + 1, section->n, line, column);
	if (more > 0)
		printf(" and %u more", more);
	printf(": %s\n", reason);
}

static void
print_reasons(const struct pw_bench_section *section)
{
	for (unsigned c = 0; c < section->lines[0].grid->nb_columns; c++)
		for (unsigned i = 0; i < section->n; i++)
			print_reason(section, i, c);
}

static void
add_ratio_row(struct pw_table *table, const struct pw_bench_grid *grid, unsigned row, unsigned ours)
{
	unsigned best = pw_bench_best(grid, row, PW_BENCH_DPDK);
	double ns = pw_bench_shown_ns(grid, row, ours);
	double floor_ns = pw_bench_shown_ns(grid, row, grid->nb_columns - 1);

	if (ns <= 0 || best == grid->nb_columns) {
		pw_table_add(table, "-");
		pw_table_add(table, "-");
	} else {
		pw_table_add(table, "%s", grid->columns[best].name);
		pw_table_add(table, "%.2f x", pw_bench_shown_ns(grid, row, best) / ns);
	}
	if (ns <= 0 || floor_ns <= 0)
		pw_table_add(table, "-");
	else
		pw_table_add(table, "%.2f x", ns / floor_ns);
}

/* The column of ours that is compared with DPDK's; nb_columns: none. */
static unsigned
our_column(const struct pw_bench_grid *grid)
{
	unsigned first = grid->nb_columns;

	for (unsigned c = 0; c < grid->nb_columns; c++) {
		if (grid->columns[c].side != PW_BENCH_OURS)
			continue;
		if (grid->columns[c].has_ratios)
			return c;
		first = RTE_MIN(first, c);
	}
	return first;
}

static void
add_figure_heading(struct pw_table *table, const struct pw_bench_section *section)
{
	const struct pw_bench_grid *grid = section->lines[0].grid;

	for (unsigned c = 0; section->figure != NULL && c < grid->nb_columns; c++)
		if (grid->columns[c].side != PW_BENCH_FLOOR)
			pw_table_add(table, "%s: %s", section->figure_is, grid->columns[c].name);
}

static void
add_figures(struct pw_table *table, const struct pw_bench_section *section, unsigned line)
{
	const struct pw_bench_grid *grid = section->lines[line].grid;

	for (unsigned c = 0; section->figure != NULL && c < grid->nb_columns; c++) {
		double figure;

		if (grid->columns[c].side == PW_BENCH_FLOOR)
			continue;
		figure = section->figure(grid, section->lines[line].row, c);
		if (figure > 0)
			pw_table_add(table, "%.2f", figure);
		else
			pw_table_add(table, "-");
	}
}

static unsigned
count_figures(const struct pw_bench_section *section)
{
	const struct pw_bench_grid *grid = section->lines[0].grid;
	unsigned n = 0;

	for (unsigned c = 0; section->figure != NULL && c < grid->nb_columns; c++)
		n += grid->columns[c].side != PW_BENCH_FLOOR;
	return n;
}

static void
print_ratios(const struct pw_bench_section *section)
{
	const struct pw_bench_grid *grid = section->lines[0].grid;
	unsigned ours = our_column(grid);
	struct pw_table *table;

	if (ours == grid->nb_columns)
		return;
	table = pw_table_create(4 + count_figures(section));
	if (table == NULL)
		return;
	pw_table_add(table, "%s", grid->columns[ours].name);
	pw_table_add(table, "DPDK's best");
	pw_table_add(table, "as fast as that");
	pw_table_add(table, "time of the floor");
	add_figure_heading(table, section);
	for (unsigned i = 0; i < section->n; i++) {
		pw_table_add(table, "%s", section->lines[i].name);
		add_ratio_row(table, section->lines[i].grid, section->lines[i].row, ours);
		add_figures(table, section, i);
	}
	printf("\n");
	pw_table_print(table, stdout);
}

void
pw_bench_section_print(const struct pw_bench_section *section)
{
	if (section->n == 0)
		return;
	print_times(section);
	print_reasons(section);
	print_ratios(section);
}

void
pw_bench_print_end(const struct pw_bench_run *run, unsigned left_out_for_one_lcore)
{
	if (left_out_for_one_lcore > 0)
		printf("\n%u patterns need a second lcore and were left out\n",
			left_out_for_one_lcore);
	if (run->short_of_rounds && !pw_bench_worker_exists())
		printf("\nThere are fewer rounds than wanted: --max-seconds=%u was over\n",
			run->common->max_seconds);
	else if (run->short_of_rounds)
		printf("\nThere are fewer near rounds than wanted: the cores were not near often "
		       "enough, or --max-seconds=%u was over\n",
			run->common->max_seconds);
}
