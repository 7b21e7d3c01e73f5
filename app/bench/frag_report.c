/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdio.h>

#include "environment.h"
#include "frag.h"
#include "frag_rig.h"
#include "pw_table.h"
#include "section.h"

/* The row of a pattern; nb_rows: it has none. */
static unsigned
row_of(const struct pw_bfrag_group *group, const struct pw_bfrag_pattern *pattern)
{
	unsigned row = 0;

	while (row < group->grid.nb_rows && group->patterns[row] != pattern)
		row++;
	return row;
}

static bool
is_representative(const struct pw_bfrag_group *group)
{
	return group->size_bytes == 256 || group->size_bytes == 2048 || group->mixed;
}

static bool
is_explained(const struct pw_bfrag_bench *bench, const struct pw_bfrag_group *group)
{
	bool some = bench->all_why;

	for (unsigned g = 0; g < bench->nb_groups && !some; g++)
		some = is_representative(&bench->groups[g]) && !bench->groups[g].mixed;
	/* All, when the sizes are others. */
	return bench->all_why || !some || is_representative(group);
}

static unsigned
count_why_rows(void)
{
	unsigned n = 0;

	while (pw_bfrag_why_rows[n].key != NULL)
		n++;
	return n;
}

static void
add_why_heading(struct pw_table *table)
{
	pw_table_add(table, " ");
	pw_table_add(table, " ");
	for (const struct pw_bfrag_why_row *row = pw_bfrag_why_rows; row->key != NULL; row++)
		pw_table_add(table, "%s", row->above);
	pw_table_add(table, "bytes");
	pw_table_add(table, "strategy");
	for (const struct pw_bfrag_why_row *row = pw_bfrag_why_rows; row->key != NULL; row++)
		pw_table_add(table, "%s", row->below);
}

static void
add_why_value(struct pw_table *table, double value)
{
	if (value == 0)
		pw_table_add(table, "0");
	else
		pw_table_add(table, "%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
}

static void
add_why(struct pw_table *table, const struct pw_bfrag_bench *bench,
	const struct pw_bfrag_group *group, unsigned p, unsigned a)
{
	const struct pw_bfrag_why *why = &pw_bfrag_cell(group, p, a)->why;

	if (why->fragments == 0)
		return;
	pw_table_add(table, "%s", group->label);
	pw_table_add(table, "%s", bench->allocators[a].strategy.name);
	for (const struct pw_bfrag_why_row *row = pw_bfrag_why_rows; row->key != NULL; row++)
		add_why_value(table, pw_bfrag_why_value(why, row) / row->divide_by);
}

static bool
has_strategies(const struct pw_bfrag_bench *bench)
{
	for (unsigned a = 0; a < bench->nb_allocators; a++)
		if (bench->allocators[a].kind == PW_BFRAG_FRAG)
			return true;
	return false;
}

static void
print_why(const struct pw_bfrag_bench *bench, const struct pw_bfrag_pattern *pattern)
{
	struct pw_table *table;

	if (!has_strategies(bench))
		return;
	table = pw_table_create(2 + count_why_rows());
	if (table == NULL)
		return;
	add_why_heading(table);
	for (unsigned g = 0; g < bench->nb_groups; g++) {
		const struct pw_bfrag_group *group = &bench->groups[g];
		unsigned row = row_of(group, pattern);

		if (row == group->grid.nb_rows || !is_explained(bench, group))
			continue;
		for (unsigned a = 0; a < bench->nb_allocators; a++)
			add_why(table, bench, group, row, a);
	}
	printf("\n%s: why [in 1000 fragments; tail bytes: in one; KiB held: at the end, most]\n\n",
		pattern->name);
	pw_table_print(table, stdout);
}

static void
print_pattern(const struct pw_bfrag_bench *bench, const struct pw_bfrag_pattern *pattern)
{
	struct pw_bench_section section = {.rows_are = "bytes"};

	for (unsigned g = 0; g < bench->nb_groups; g++) {
		const struct pw_bfrag_group *group = &bench->groups[g];
		unsigned row = row_of(group, pattern);

		if (row < group->grid.nb_rows)
			pw_bench_section_add(&section, &group->grid, row, group->label);
	}
	if (section.n == 0)
		return;
	printf("\n%s: %s [ns a fragment: median ± half the interquartile range; * the fastest]\n\n",
		pattern->name, pattern->help);
	pw_bench_section_print(&section);
	print_why(bench, pattern);
}

void
pw_bfrag_report(const void *ctx)
{
	const struct pw_bfrag_bench *bench = ctx;
	printf("Fragments aligned to %u bytes, from pools of %u MiB; mempools of %u objects, "
	       "cache %u; %u rounds wanted\n",
		PW_BFRAG_ALIGN, PW_BFRAG_POOL_BYTES >> 20, PW_BFRAG_OBJECTS, PW_BFRAG_CACHE,
		bench->run.common->rounds);
	pw_bench_environment_print(bench->run.common, bench->run.probes, bench->run.mixed);
	for (unsigned p = 0; p < bench->nb_patterns; p++)
		print_pattern(bench, bench->patterns[p]);
	pw_bench_print_end(&bench->run, bench->two_lcores_left_out);
}
