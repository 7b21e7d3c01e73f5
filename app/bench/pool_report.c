/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "environment.h"
#include "pool.h"
#include "pool_rig.h"
#include "table.h"
#include "worker.h"

/* What a cell shows: its median, in the regime of its row; negative: nothing. */
static double
shown_ns(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p,
	unsigned h)
{
	enum pw_bench_regime regime = pw_pool_shown_regime(bench, group, p);
	const struct pw_pool_cell *cell = pw_pool_cell(bench, group, p, h);

	if (regime == PW_BENCH_MIXED || cell->reason[0] != '\0' || cell->ns[regime].n == 0)
		return -1;
	return pw_bench_samples_summary(&cell->ns[regime]).median;
}

/* The fastest handler, of a kind or (PW_POOL_FLOOR) of both kinds; nb_handlers: none. */
static unsigned
find_best(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p,
	enum pw_pool_kind kind)
{
	unsigned best = bench->nb_handlers;
	double best_ns = 0;

	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		double ns = shown_ns(bench, group, p, h);

		if (ns < 0 || bench->handlers[h].kind == PW_POOL_FLOOR ||
			(kind != PW_POOL_FLOOR && bench->handlers[h].kind != kind))
			continue;
		if (best == bench->nb_handlers || ns < best_ns) {
			best = h;
			best_ns = ns;
		}
	}
	return best;
}

/* Names take two lines: pagewheel above its strategy. */
static void
add_heading(struct pw_bench_table *table, const struct pw_pool_bench *bench)
{
	pw_bench_table_add(table, " ");
	pw_bench_table_add(table, " ");
	for (unsigned h = 0; h < bench->nb_handlers; h++)
		pw_bench_table_add(table, "%s",
			bench->handlers[h].kind == PW_POOL_PAGEWHEEL ? bench->handlers[h].ops : "");
	pw_bench_table_add(table, "pattern");
	pw_bench_table_add(table, "rounds");
	for (unsigned h = 0; h < bench->nb_handlers; h++)
		pw_bench_table_add(table, "%s",
			bench->handlers[h].kind == PW_POOL_PAGEWHEEL ? bench->handlers[h].strategy
								     : bench->handlers[h].name);
}

static void
add_cell(struct pw_bench_table *table, const struct pw_pool_cell *cell, enum pw_bench_regime regime,
	bool best)
{
	struct pw_bench_summary summary;
	double half;

	if (regime == PW_BENCH_MIXED || cell->reason[0] != '\0' || cell->ns[regime].n == 0) {
		pw_bench_table_add(table, "- ");
		return;
	}
	summary = pw_bench_samples_summary(&cell->ns[regime]);
	half = (summary.q3 - summary.q1) / 2;
	pw_bench_table_add(table, summary.median < 100 ? "%.2f ±%.2f%s" : "%.0f ±%.0f%s",
		summary.median, half, best ? "*" : " ");
}

/* Fewest rounds of the cells shown. */
static unsigned
least_rounds(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p,
	enum pw_bench_regime regime)
{
	unsigned least = UINT32_MAX;

	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		const struct pw_pool_cell *cell = pw_pool_cell(bench, group, p, h);

		if (cell->reason[0] == '\0' && cell->ns[regime].n > 0)
			least = RTE_MIN(least, cell->ns[regime].n);
	}
	return least == UINT32_MAX ? 0 : least;
}

static void
add_row(struct pw_bench_table *table, const struct pw_pool_bench *bench,
	const struct pw_pool_group *group, unsigned p)
{
	enum pw_bench_regime regime = pw_pool_shown_regime(bench, group, p);
	unsigned best = find_best(bench, group, p, PW_POOL_FLOOR);

	pw_bench_table_add(table, "%s", bench->patterns[p]->name);
	if (regime == PW_BENCH_MIXED)
		pw_bench_table_add(table, "none");
	else
		pw_bench_table_add(table, "%u %s", least_rounds(bench, group, p, regime),
			pw_bench_regime_name(regime));
	for (unsigned h = 0; h < bench->nb_handlers; h++)
		add_cell(table, pw_pool_cell(bench, group, p, h), regime, h == best);
}

static void
print_times(const struct pw_pool_bench *bench, const struct pw_pool_group *group, bool plain)
{
	struct pw_bench_table *table = pw_bench_table_create(bench->nb_handlers + 2);

	if (table == NULL)
		return;
	add_heading(table, bench);
	for (unsigned p = 0; p < bench->nb_patterns; p++)
		if (bench->patterns[p]->plain == plain)
			add_row(table, bench, group, p);
	pw_bench_table_print(table);
}

static void
add_ratio_row(struct pw_bench_table *table, const struct pw_pool_bench *bench,
	const struct pw_pool_group *group, unsigned p, unsigned ours)
{
	unsigned best = find_best(bench, group, p, PW_POOL_DPDK);
	double ns = shown_ns(bench, group, p, ours);
	double floor_ns = shown_ns(bench, group, p, bench->nb_handlers - 1);

	pw_bench_table_add(table, "%s", bench->patterns[p]->name);
	if (ns <= 0 || best == bench->nb_handlers) {
		pw_bench_table_add(table, "-");
		pw_bench_table_add(table, "-");
	} else {
		pw_bench_table_add(table, "%s", bench->handlers[best].name);
		pw_bench_table_add(table, "%.2f x", shown_ns(bench, group, p, best) / ns);
	}
	if (ns <= 0 || floor_ns <= 0)
		pw_bench_table_add(table, "-");
	else
		pw_bench_table_add(table, "%.2f x", ns / floor_ns);
}

static void
print_ratios(const struct pw_pool_bench *bench, const struct pw_pool_group *group, bool plain)
{
	unsigned ours = pw_pool_our_handler(bench);
	struct pw_bench_table *table;

	if (ours == bench->nb_handlers)
		return;
	table = pw_bench_table_create(4);
	if (table == NULL)
		return;
	pw_bench_table_add(table, "%s", bench->handlers[ours].name);
	pw_bench_table_add(table, "DPDK's best");
	pw_bench_table_add(table, "as fast as that");
	pw_bench_table_add(table, "time of the floor");
	for (unsigned p = 0; p < bench->nb_patterns; p++)
		if (bench->patterns[p]->plain == plain)
			add_ratio_row(table, bench, group, p, ours);
	printf("\n");
	pw_bench_table_print(table);
}

/* Patterns from first to last that have the reason of pattern p. */
static unsigned
count_same_reason(const struct pw_pool_bench *bench, const struct pw_pool_group *group,
	unsigned first, unsigned last, unsigned p, unsigned h)
{
	unsigned n = 0;

	for (unsigned q = first; q < last; q++)
		n += bench->patterns[q]->plain == bench->patterns[p]->plain &&
			strcmp(pw_pool_cell(bench, group, q, h)->reason,
				pw_pool_cell(bench, group, p, h)->reason) == 0;
	return n;
}

/* Why a cell is empty; a reason that several patterns share is said once. */
static void
print_reason(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p,
	unsigned h)
{
	const char *reason = pw_pool_cell(bench, group, p, h)->reason;
	unsigned more;

	if (reason[0] == '\0' || count_same_reason(bench, group, 0, p, p, h) > 0)
		return;
	printf("- %s, %s", bench->handlers[h].name, bench->patterns[p]->name);
	more = count_same_reason(bench, group, p + 1, bench->nb_patterns, p, h);
	if (more > 0)
		printf(" and %u more", more);
	printf(": %s\n", reason);
}

static void
print_reasons(const struct pw_pool_bench *bench, const struct pw_pool_group *group, bool plain)
{
	for (unsigned h = 0; h < bench->nb_handlers; h++)
		for (unsigned p = 0; p < bench->nb_patterns; p++)
			if (bench->patterns[p]->plain == plain)
				print_reason(bench, group, p, h);
}

static void
print_section(const struct pw_pool_bench *bench, const struct pw_pool_group *group, bool plain)
{
	unsigned rows = 0;

	for (unsigned p = 0; p < bench->nb_patterns; p++)
		rows += bench->patterns[p]->plain == plain;
	if (rows == 0)
		return;
	if (plain)
		printf("\n%u buffers, a thread that is no lcore (no cache)", group->size);
	else
		printf("\n%u buffers, cache %u", group->size, group->cache);
	printf(" [ns a buffer: median ± half the interquartile range; * the fastest handler]\n\n");
	print_times(bench, group, plain);
	print_reasons(bench, group, plain);
	print_ratios(bench, group, plain);
}

void
pw_pool_report(const struct pw_pool_bench *bench)
{
	printf("Pools of buffers of %zu bytes, in bursts of %u; %u rounds wanted\n",
		PW_POOL_BUFFER_BYTES, PW_POOL_BURST, bench->common->rounds);
	pw_bench_environment_print(bench->common, bench->probes, bench->mixed);
	for (unsigned g = 0; g < bench->nb_groups; g++) {
		print_section(bench, &bench->groups[g], false);
		if (bench->groups[g].plain)
			print_section(bench, &bench->groups[g], true);
	}
	if (bench->two_lcores_left_out > 0)
		printf("\n%u patterns need a second lcore and were left out\n",
			bench->two_lcores_left_out);
	if (bench->short_of_rounds)
		printf("\nThere are fewer near rounds than wanted: the cores were not near often "
		       "enough, or --max-seconds=%u was over\n",
			bench->common->max_seconds);
}
