/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "pool.h"
#include "pool_measure.h"
#include "pool_rig.h"

/* What a measurement of a group needs. */
struct round_call {
	struct pw_pool_bench *bench;
	struct pw_pool_group *group;
	struct pw_pool_rig *rig;
};

/* Without a pool nothing of a handler is measured any more; of ours that is an error. */
static void
handler_fails(struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned h)
{
	const struct pw_pool_handler *handler = &bench->handlers[h];

	pw_bench_run_fail_column(
		&bench->run, &group->grid, h, handler->reason, handler->kind != PW_BENCH_DPDK);
}

/* What is known not to work, and would take the program down. */
static void
leave_out(struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned h)
{
	if (strcmp(bench->handlers[h].ops, "bucket") != 0)
		return;
	for (unsigned p = bench->nb_lcore_patterns; p < group->grid.nb_rows; p++)
		pw_bench_run_fail(&bench->run, &group->grid, p, h,
			"left out: bucket crashes on threads that are no lcores (its stacks are indexed by lcore id)",
			false);
}

/* Ours failing is an error; so is a buffer lost or handed out twice by anybody. */
static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned p, unsigned h)
{
	struct round_call *call = ctx;
	struct pw_pool_bench *bench = call->bench;
	struct pw_pool_handler *handler = &bench->handlers[h];
	struct pw_pool_result result;
	int rc;

	rc = pw_pool_measure(call->rig, bench->patterns[p], handler,
		pw_bench_run_seed(&bench->run, grid), &result);
	call->group->failed_gets[p * grid->nb_columns + h] += result.failed_gets;
	if (rc == 0) {
		pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, p, h), &result.timing);
		return;
	}
	pw_bench_run_fail(&bench->run, grid, p, h, result.reason,
		rc != -ENOBUFS || handler->kind != PW_BENCH_DPDK);
	if (pw_pool_handler_reopen(handler) < 0)
		handler_fails(bench, call->group, h);
}

static void
run_rounds(struct pw_pool_bench *bench, struct pw_pool_group *group)
{
	struct round_call call = {bench, group, pw_pool_rig_create(group->size)};

	if (call.rig == NULL) {
		pw_bench_error("no memory for the RX ring and the rings between lcores");
		bench->run.failed = true;
		return;
	}
	pw_bench_run_rounds(&bench->run, &group->grid, measure_cell, &call);
	pw_pool_rig_destroy(call.rig);
}

void
pw_pool_run_group(struct pw_pool_bench *bench, struct pw_pool_group *group)
{
	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		leave_out(bench, group, h);
		if (pw_pool_handler_open(&bench->handlers[h], group->size, group->cache) < 0)
			handler_fails(bench, group, h);
	}
	run_rounds(bench, group);
	for (unsigned h = 0; h < bench->nb_handlers; h++)
		pw_pool_handler_close(&bench->handlers[h]);
}
