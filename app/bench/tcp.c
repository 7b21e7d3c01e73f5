/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp.h"

#include <errno.h>
#include <stdio.h>

#include "bench.h"

static struct pw_tcp_bench_options options;

static const char *
pattern_name(unsigned i)
{
	return i < PW_TCP_BENCH_PATTERNS ? pw_tcp_bench_patterns[i].name : NULL;
}

static int
parse_patterns(void *values, const struct pw_bench_option *option, char *value)
{
	return pw_bench_parse_beginnings(values, option, value, pattern_name);
}

#define FIELD(name) offsetof(struct pw_tcp_bench_options, name)

static const struct pw_bench_option option_table[] = {
	{"idle", "LIST", "idle connections held meanwhile", "0,1000,100000, with --quick 0,1000",
		pw_bench_parse_numbers, FIELD(idle), 0, PW_TCP_BENCH_IDLE_MAX},
	{"patterns", "LIST", "what is done: names, or their beginnings", "all of those below",
		parse_patterns, FIELD(patterns), 0, 0},
	{0},
};

static void
usage(void)
{
	printf("\nPatterns:\n");
	for (unsigned i = 0; i < PW_TCP_BENCH_PATTERNS; i++)
		printf("  %-20s ns a %s: %s\n", pw_tcp_bench_patterns[i].name,
			pw_tcp_bench_patterns[i].piece, pw_tcp_bench_patterns[i].help);
	printf("\nOnly the endpoint and the application on it are timed, not its peers. The time "
	       "it is told is virtual: %u us from burst to burst.\n",
		PW_TCP_BENCH_STEP_US);
}

static void
set_defaults(struct pw_tcp_bench_options *o, bool quick)
{
	static const struct pw_bench_numbers few = {2, {0, 1000}}, all = {3, {0, 1000, 100000}};

	if (o->idle.n == 0)
		o->idle = quick ? few : all;
}

static void
make_columns(struct pw_tcp_bench *bench)
{
	for (unsigned i = 0; i < PW_TCP_BENCH_PATTERNS; i++) {
		const struct pw_tcp_bench_pattern *pattern = &pw_tcp_bench_patterns[i];
		struct pw_bench_column *column = &bench->columns[bench->grid.nb_columns];

		if (!pw_bench_is_chosen(&options.patterns, pattern->name))
			continue;
		bench->patterns[bench->grid.nb_columns++] = pattern;
		column->side = PW_BENCH_ALONE;
		snprintf(column->name, sizeof(column->name), "%s", pattern->name);
		snprintf(column->above, sizeof(column->above), "%s:", pattern->piece);
		snprintf(column->below, sizeof(column->below), "%s", pattern->name);
	}
	bench->grid.columns = bench->columns;
}

static int
make_grid(struct pw_tcp_bench *bench)
{
	struct pw_bench_grid *grid = &bench->grid;

	bench->idle = options.idle;
	snprintf(grid->title, sizeof(grid->title), "beside idle connections");
	grid->rows_are = "idle connections";
	make_columns(bench);
	grid->nb_rows = bench->idle.n;
	for (unsigned row = 0; row < grid->nb_rows; row++) {
		snprintf(bench->idle_names[row], sizeof(bench->idle_names[row]), "%u",
			bench->idle.items[row]);
		grid->rows[row] = bench->idle_names[row];
	}
	if (pw_bench_grid_open(grid) == 0)
		return 0;
	pw_bench_error("no memory");
	return -ENOMEM;
}

/* Those of all rows at once: their rounds take turns. */
static int
open_endpoints(struct pw_tcp_bench *bench)
{
	for (unsigned row = 0; row < bench->grid.nb_rows; row++) {
		uint32_t idle = bench->idle.items[row];

		bench->endpoints[row] = pw_tcp_bench_endpoint_create(bench->rig, idle);
		if (bench->endpoints[row] == NULL)
			return -ENOMEM;
		bench->peers[row] = pw_tcp_bench_peers_create(
			bench->endpoints[row], bench->rig, idle);
		if (bench->peers[row] == NULL)
			return -ENOMEM;
	}
	return 0;
}

static int
open_groups(void *ctx)
{
	struct pw_tcp_bench *bench = ctx;

	set_defaults(&options, bench->run.common->quick);
	bench->rig = pw_tcp_bench_rig_create();
	if (bench->rig == NULL || make_grid(bench) < 0 || open_endpoints(bench) < 0)
		return -ENOMEM;
	return 1;
}

/* Of an endpoint that failed nothing is known any more: the rest of its row is not measured. */
static void
fail_row(struct pw_tcp_bench *bench, unsigned row, unsigned column, const char *reason)
{
	pw_bench_run_fail(&bench->run, &bench->grid, row, column, reason, true);
	for (unsigned c = 0; c < bench->grid.nb_columns; c++)
		if (pw_bench_cell(&bench->grid, row, c)->reason[0] == '\0')
			pw_bench_run_fail(
				&bench->run, &bench->grid, row, c, "another pattern failed", false);
}

static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	struct pw_tcp_bench *bench = ctx;
	char reason[PW_BENCH_REASON_MAX];
	struct pw_bench_timing timing;

	if (pw_tcp_bench_measure(bench->rig, bench->peers[row], bench->patterns[column],
		    bench->idle.items[row], &timing, reason) == 0)
		pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, row, column), &timing);
	else
		fail_row(bench, row, column, reason);
}

static void
run_group(void *ctx, unsigned i)
{
	struct pw_tcp_bench *bench = ctx;

	(void)i;
	pw_bench_run_rounds(&bench->run, &bench->grid, measure_cell, bench);
}

static void
close_groups(void *ctx)
{
	struct pw_tcp_bench *bench = ctx;

	for (unsigned row = 0; row < PW_BENCH_LIST_MAX; row++) {
		pw_tcp_bench_peers_destroy(bench->peers[row]);
		pw_tcp_bench_endpoint_destroy(bench->endpoints[row]);
	}
	pw_bench_grid_close(&bench->grid);
	pw_tcp_bench_rig_destroy(bench->rig);
}

const struct pw_bench_experiment pw_bench_tcp = {
	.name = "tcp",
	.help = "the TCP endpoint: what connections and segments cost it, in ns",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.one_lcore = true,
	.bench_bytes = sizeof(struct pw_tcp_bench),
	.open = open_groups,
	.run_group = run_group,
	.report = pw_tcp_bench_report,
	.print_json = pw_tcp_bench_print_json,
	.close = close_groups,
};
