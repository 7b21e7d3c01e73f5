/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "bench.h"
#include "gro.h"
#include "gro_measure.h"

/* What a measurement of a group needs. */
struct round_call {
	struct pw_gro_bench *bench;
	struct pw_gro_bench_group *group;
	struct pw_gro_bench_contender contenders[PW_GRO_BENCH_CONTENDERS]; /* of the columns */
};

static void
open_contender(struct round_call *call, unsigned c)
{
	struct pw_bench_grid *grid = &call->group->grid;

	if (pw_gro_bench_contender_open(&call->contenders[c], &call->group->kinds[c],
		    &call->group->settings, &call->bench->rig->output) == 0)
		return;
	pw_bench_run_fail_column(&call->bench->run, grid, c, "no memory for its tables",
		grid->columns[c].side != PW_BENCH_DPDK);
}

/* Packets that are lost are an error of anybody's. */
static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned c)
{
	struct round_call *call = ctx;
	struct pw_gro_bench *bench = call->bench;
	struct pw_gro_bench_merged *merged = &call->group->merged[row][c];
	struct pw_gro_bench_result result;

	if (pw_gro_bench_measure(bench->rig, &call->contenders[c], &call->group->settings,
		    bench->flows.items[row], pw_bench_run_seed(&bench->run, grid), &result) < 0) {
		pw_bench_run_fail(&bench->run, grid, row, c, result.reason, true);
		pw_gro_bench_contender_close(&call->contenders[c]);
		open_contender(call, c);
		return;
	}
	pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, row, c), &result.timing);
	merged->in += result.packets_in;
	merged->out += result.packets_out;
}

void
pw_gro_bench_run_group(struct pw_gro_bench *bench, struct pw_gro_bench_group *group)
{
	struct round_call call = {.bench = bench, .group = group};

	for (unsigned c = 0; c < group->grid.nb_columns; c++)
		open_contender(&call, c);
	pw_bench_run_rounds(&bench->run, &group->grid, measure_cell, &call);
	for (unsigned c = 0; c < group->grid.nb_columns; c++)
		pw_gro_bench_contender_close(&call.contenders[c]);
}
