/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static struct pw_gro_bench_options options;

static void
usage(void)
{
	printf("\nContenders:\n"
	       "  rte burst            rte_gro_reassemble_burst(), where each burst is flushed\n"
	       "  rte ctx              rte_gro_reassemble() and rte_gro_timeout_flush()\n"
	       "  pagewheel            pw_gro_receive() and pw_gro_flush()\n"
	       "  floor                nobody merges: mbufs and headers are read\n"
	       "\nA group is measured for each combination of the lists. Only receiving and "
	       "flushing are timed.\n"
	       "With --cksum=software, rte's figures have rte_ipv4_cksum() and "
	       "rte_ipv4_udptcp_cksum_verify() in them: rte_gro verifies nothing.\n");
}

/* The burst mode of rte holds nothing until a later burst. */
static int
open_group(struct pw_gro_bench *bench, const struct pw_gro_bench_settings *settings)
{
	struct pw_gro_bench_group *group = &bench->groups[bench->nb_groups++];
	struct pw_bench_grid *grid = &group->grid;
	unsigned left_out = settings->flush_bursts > 1;

	group->settings = *settings;
	group->kinds = pw_gro_bench_kinds + left_out;
	pw_gro_bench_settings_print(settings, grid->title, sizeof(grid->title));
	grid->rows_are = "flows";
	grid->columns = bench->columns + left_out;
	grid->nb_columns = PW_GRO_BENCH_CONTENDERS - left_out;
	grid->nb_rows = bench->flows.n;
	for (unsigned row = 0; row < grid->nb_rows; row++)
		grid->rows[row] = bench->flow_names[row];
	return pw_bench_grid_open(grid);
}

static int
make_groups(struct pw_gro_bench *bench, const struct pw_gro_bench_options *o)
{
	unsigned n = pw_gro_bench_count_settings(o);

	bench->flows = o->flows;
	for (unsigned i = 0; i < o->flows.n; i++)
		snprintf(bench->flow_names[i], sizeof(bench->flow_names[i]), "%u",
			o->flows.items[i]);
	for (unsigned c = 0; c < PW_GRO_BENCH_CONTENDERS; c++)
		bench->columns[c] = pw_gro_bench_kinds[c].column;
	bench->groups = calloc(n, sizeof(*bench->groups));
	for (unsigned i = 0; bench->groups != NULL && i < n; i++) {
		const struct pw_gro_bench_settings settings = pw_gro_bench_settings_of(o, i);

		if (open_group(bench, &settings) < 0)
			break;
	}
	if (bench->nb_groups == n)
		return 0;
	pw_bench_error("no memory for %u groups", n);
	return -ENOMEM;
}

static bool
is_chosen(const struct pw_bench_numbers *numbers, uint32_t number)
{
	for (unsigned i = 0; i < numbers->n; i++)
		if (numbers->items[i] == number)
			return true;
	return false;
}

static void
run_group(void *ctx, unsigned i)
{
	struct pw_gro_bench *bench = ctx;

	pw_gro_bench_run_group(bench, &bench->groups[i]);
}

static void
close_groups(void *ctx)
{
	struct pw_gro_bench *bench = ctx;

	for (unsigned i = 0; i < bench->nb_groups; i++)
		pw_bench_grid_close(&bench->groups[i].grid);
	free(bench->groups);
	pw_gro_bench_rig_destroy(bench->rig);
}

static int
open_groups(void *ctx)
{
	struct pw_gro_bench *bench = ctx;

	pw_gro_bench_set_defaults(&options, bench->run.common->quick);
	bench->rig = pw_gro_bench_rig_create(
		is_chosen(&options.headers, PW_GRO_BENCH_COLD), bench->run.common->seed);
	if (bench->rig == NULL || make_groups(bench, &options) < 0)
		return -ENOMEM;
	return bench->nb_groups;
}

const struct pw_bench_experiment pw_bench_gro = {
	.name = "gro",
	.help = "GRO against DPDK's rte_gro: what it costs to merge a packet, in ns",
	.options = pw_gro_bench_option_table,
	.values = &options,
	.usage = usage,
	.one_lcore = true,
	.bench_bytes = sizeof(struct pw_gro_bench),
	.open = open_groups,
	.run_group = run_group,
	.report = pw_gro_bench_report,
	.print_json = pw_gro_bench_print_json,
	.close = close_groups,
};
