/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "bench.h"
#include "frag.h"
#include "frag_measure.h"
#include "frag_rig.h"

/* So long a measurement is to take: fast allocators get more fragments than slow ones. */
#define MEASURE_NS 4e6
#define FRAGMENTS_MIN 2048
#define FRAGMENTS_MAX (1 << 20)

/* What a measurement of a group needs. */
struct round_call {
	struct pw_bfrag_bench *bench;
	struct pw_bfrag_group *group;
	struct pw_bfrag_rig *rig;
};

static bool
is_ours(const struct pw_bfrag_bench *bench, unsigned a)
{
	return bench->columns[a].side != PW_BENCH_DPDK;
}

static void
allocator_fails(
	struct pw_bfrag_bench *bench, const struct pw_bfrag_group *group, unsigned a, bool error)
{
	pw_bench_run_fail_column(&bench->run, &group->grid, a, bench->allocators[a].reason, error);
}

static int
measure(struct round_call *call, unsigned p, unsigned a, uint64_t fragments,
	struct pw_bfrag_result *result)
{
	struct pw_bfrag_cell *cell = pw_bfrag_cell(call->group, p, a);
	int rc = pw_bfrag_measure(call->rig, call->group->patterns[p], &call->bench->allocators[a],
		fragments, pw_bench_run_seed(&call->bench->run, &call->group->grid), result);

	if (rc == 0)
		cell->pace_ns = result->timing.value;
	return rc;
}

/* The first measurement of a cell only tells its pace. */
static int
measure_at_pace(struct round_call *call, unsigned p, unsigned a, struct pw_bfrag_result *result)
{
	const struct pw_bfrag_cell *cell = pw_bfrag_cell(call->group, p, a);
	double fragments;

	if (cell->pace_ns == 0) {
		int rc = measure(call, p, a, FRAGMENTS_MIN, result);

		if (rc < 0)
			return rc;
	}
	fragments = MEASURE_NS / RTE_MAX(cell->pace_ns, 0.01);
	fragments = RTE_MIN(RTE_MAX(fragments, FRAGMENTS_MIN), FRAGMENTS_MAX);
	return measure(call, p, a, (uint64_t)fragments, result);
}

/* Fragments that are lost are an error of anybody's, none to be had is one of ours. */
static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned p, unsigned a)
{
	struct round_call *call = ctx;
	struct pw_bfrag_bench *bench = call->bench;
	struct pw_bfrag_allocator *allocator = &bench->allocators[a];
	struct pw_bfrag_result result;
	int rc = measure_at_pace(call, p, a, &result);

	if (rc < 0) {
		pw_bench_run_fail(&bench->run, grid, p, a, result.reason,
			rc != -ENOBUFS || is_ours(bench, a));
		pw_bfrag_allocator_close(allocator);
		if (pw_bfrag_allocator_open(allocator, allocator->size_bytes) < 0)
			allocator_fails(bench, call->group, a, is_ours(bench, a));
		return;
	}
	pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, p, a), &result.timing);
	if (allocator->kind == PW_BFRAG_FRAG)
		pw_bfrag_why_add(&pw_bfrag_cell(call->group, p, a)->why, &result.before,
			&result.after, allocator->base);
}

static void
run_rounds(struct pw_bfrag_bench *bench, struct pw_bfrag_group *group)
{
	struct round_call call = {bench, group, pw_bfrag_rig_create(bench->run.common->seed)};

	if (call.rig == NULL) {
		pw_bench_error("no memory for the ring between lcores");
		bench->run.failed = true;
		return;
	}
	pw_bench_run_rounds(&bench->run, &group->grid, measure_cell, &call);
	pw_bfrag_rig_destroy(call.rig);
}

void
pw_bfrag_run_group(struct pw_bfrag_bench *bench, struct pw_bfrag_group *group)
{
	for (unsigned a = 0; a < bench->nb_allocators; a++) {
		struct pw_bfrag_allocator *allocator = &bench->allocators[a];

		if (!pw_bfrag_allocator_fits(allocator, group->size_bytes))
			allocator_fails(bench, group, a, false);
		else if (pw_bfrag_allocator_open(allocator, group->size_bytes) < 0)
			allocator_fails(bench, group, a, is_ours(bench, a));
	}
	run_rounds(bench, group);
	for (unsigned a = 0; a < bench->nb_allocators; a++)
		pw_bfrag_allocator_close(&bench->allocators[a]);
}
