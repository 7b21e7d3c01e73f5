/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_string_fns.h>

#include "bench.h"
#include "pool.h"
#include "pool_measure.h"
#include "pool_rig.h"
#include "progress.h"

/* Rounds begun are at most so many times those wanted: the cores may never be near. */
#define TRIES 3

static bool
is_late(uint64_t deadline)
{
	return rte_rdtsc() > deadline;
}

/* Ours failing is an error; so is a buffer lost or handed out twice by anybody. */
static void
cell_fails(struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p, unsigned h,
	const char *reason, bool error)
{
	const struct pw_pool_handler *handler = &bench->handlers[h];
	struct pw_pool_cell *cell = pw_pool_cell(bench, group, p, h);

	rte_strscpy(cell->reason, reason, sizeof(cell->reason));
	if (!error && handler->kind == PW_POOL_DPDK)
		return;
	pw_bench_error("%s, %s, %u buffers, cache %u: %s", handler->name, bench->patterns[p]->name,
		group->size, group->cache, reason);
	bench->failed = true;
}

/* A handler without a pool: one error, and a reason for all that is not measured. */
static void
handler_fails(struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned h)
{
	const struct pw_pool_handler *handler = &bench->handlers[h];

	if (handler->kind != PW_POOL_DPDK) {
		pw_bench_error("%s: %s", handler->name, handler->reason);
		bench->failed = true;
	}
	for (unsigned p = 0; p < bench->nb_patterns; p++) {
		struct pw_pool_cell *cell = pw_pool_cell(bench, group, p, h);

		if (cell->reason[0] == '\0')
			rte_strscpy(cell->reason, handler->reason, sizeof(cell->reason));
	}
}

/* What is known not to work, and would take the program down. */
static void
leave_out(struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned h)
{
	if (strcmp(bench->handlers[h].ops, "bucket") != 0)
		return;
	for (unsigned p = 0; p < bench->nb_patterns; p++)
		if (bench->patterns[p]->plain)
			rte_strscpy(pw_pool_cell(bench, group, p, h)->reason,
				"left out: bucket crashes on threads that are no lcores (its stacks are indexed by lcore id)",
				sizeof(((struct pw_pool_cell *)NULL)->reason));
}

static void
measure_cell(struct pw_pool_bench *bench, struct pw_pool_group *group, struct pw_pool_rig *rig,
	unsigned p, unsigned h)
{
	struct pw_pool_handler *handler = &bench->handlers[h];
	struct pw_pool_cell *cell = pw_pool_cell(bench, group, p, h);
	uint64_t seed = ((uint64_t)bench->common->seed << 32) + group->rounds;
	struct pw_pool_result result;
	enum pw_bench_regime regime;
	int rc;

	if (cell->reason[0] != '\0')
		return;
	rc = pw_pool_measure(rig, bench->patterns[p], handler, seed, &result);
	cell->failed_gets += result.failed_gets;
	if (rc < 0) {
		cell_fails(bench, group, p, h, result.reason, rc != -ENOBUFS);
		if (pw_pool_handler_reopen(handler) < 0)
			handler_fails(bench, group, h);
		return;
	}
	regime = pw_bench_regime(result.before_ns, result.after_ns, bench->common->near_ns);
	if (regime == PW_BENCH_MIXED) {
		cell->mixed++;
		bench->mixed++;
		return;
	}
	pw_bench_samples_add(&cell->ns[regime], result.ns);
	pw_bench_samples_add(&bench->probes[regime], result.before_ns);
	pw_bench_samples_add(&bench->probes[regime], result.after_ns);
}

static unsigned
wanted_samples(const struct pw_pool_cell *cell)
{
	return cell->ns[PW_BENCH_NEAR].n + cell->ns[PW_BENCH_UNPROBED].n;
}

/* Rounds that a pattern has in all its cells, of those wanted. */
static unsigned
pattern_rounds(
	const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned pattern)
{
	unsigned least = bench->common->rounds;

	if (bench->patterns[pattern]->plain && !group->plain)
		return least;
	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		const struct pw_pool_cell *cell = pw_pool_cell(bench, group, pattern, h);

		if (cell->reason[0] == '\0')
			least = RTE_MIN(least, wanted_samples(cell));
	}
	return least;
}

static unsigned
group_rounds(const struct pw_pool_bench *bench, const struct pw_pool_group *group)
{
	unsigned least = bench->common->rounds;

	for (unsigned p = 0; p < bench->nb_patterns; p++)
		least = RTE_MIN(least, pattern_rounds(bench, group, p));
	return least;
}

/* On some machines the cores are never near: then as many far rounds have to do. */
static bool
is_never_near(const struct pw_pool_bench *bench)
{
	return bench->probes[PW_BENCH_NEAR].n == 0 && bench->probes[PW_BENCH_FAR].n > 0;
}

static unsigned
rounds_left(const struct pw_pool_bench *bench, const struct pw_pool_group *group)
{
	unsigned wanted = bench->common->rounds;

	if (is_never_near(bench))
		return wanted - RTE_MIN(wanted, group->rounds);
	if (group->rounds >= TRIES * wanted)
		return 0;
	return wanted - group_rounds(bench, group);
}

/* What is left at the pace so far, but not beyond the end. */
static void
show_progress(const struct pw_pool_bench *bench, const struct pw_pool_group *group, uint64_t begin)
{
	unsigned wanted = bench->common->rounds, left = rounds_left(bench, group);
	unsigned number = group - bench->groups, later = bench->nb_groups - number - 1;
	double hz = (double)rte_get_tsc_hz(), now = (double)rte_rdtsc();
	double round_s = (now - (double)begin) / hz / (group->rounds + 1);
	double end_s = ((double)bench->deadline - now) / hz;
	double left_s = RTE_MIN(end_s, round_s * left + round_s * wanted * later);

	pw_bench_progress("pool %u of %u: %u buffers, cache %u: %u of %u rounds, about %.0f s left",
		number + 1, bench->nb_groups, group->size, group->cache, wanted - left, wanted,
		RTE_MAX(left_s, 0));
}

/* The order of the handlers moves on with each round and each pattern. */
static void
run_round(struct pw_pool_bench *bench, struct pw_pool_group *group, struct pw_pool_rig *rig,
	uint64_t begin, uint64_t deadline)
{
	for (unsigned p = 0; p < bench->nb_patterns; p++) {
		if (pattern_rounds(bench, group, p) == bench->common->rounds)
			continue;
		for (unsigned i = 0; i < bench->nb_handlers && !is_late(deadline); i++) {
			measure_cell(
				bench, group, rig, p, (i + p + group->rounds) % bench->nb_handlers);
			show_progress(bench, group, begin);
		}
	}
}

static void
run_rounds(struct pw_pool_bench *bench, struct pw_pool_group *group, uint64_t deadline)
{
	struct pw_pool_rig *rig = pw_pool_rig_create(group->size);
	uint64_t begin = rte_rdtsc();

	if (rig == NULL) {
		pw_bench_error("no memory for the RX ring and the rings between lcores");
		bench->failed = true;
		return;
	}
	while (rounds_left(bench, group) > 0 && !is_late(deadline)) {
		run_round(bench, group, rig, begin, deadline);
		group->rounds++;
	}
	if (group_rounds(bench, group) < bench->common->rounds)
		bench->short_of_rounds = true;
	pw_pool_rig_destroy(rig);
}

void
pw_pool_run_group(struct pw_pool_bench *bench, struct pw_pool_group *group, uint64_t deadline)
{
	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		leave_out(bench, group, h);
		if (pw_pool_handler_open(&bench->handlers[h], group->size, group->cache) < 0)
			handler_fails(bench, group, h);
	}
	run_rounds(bench, group, deadline);
	for (unsigned h = 0; h < bench->nb_handlers; h++)
		pw_pool_handler_close(&bench->handlers[h]);
}
