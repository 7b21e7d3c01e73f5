/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag_measure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "frag_rig.h"
#include "worker.h"

static int
run_loops(struct pw_bfrag_rig *rig, const struct pw_bfrag_pattern *pattern, enum pw_bfrag_kind kind)
{
	if (!pw_bfrag_needs_two_lcores(pattern)) {
		pattern->loop[kind](rig);
		return 0;
	}
	pw_bench_worker_begin(pattern->consume[kind], rig);
	pattern->loop[kind](rig);
	return pw_bench_worker_wait();
}

static int
fail(struct pw_bfrag_result *result, const char *reason, int rc)
{
	snprintf(result->reason, sizeof(result->reason), "%s", reason);
	return rc;
}

int
pw_bfrag_measure(struct pw_bfrag_rig *rig, const struct pw_bfrag_pattern *pattern,
	struct pw_bfrag_allocator *allocator, uint64_t fragments, uint64_t seed,
	struct pw_bfrag_result *result)
{
	int rc;

	memset(result, 0, sizeof(*result));
	rc = pw_bfrag_allocator_begin(allocator, pattern->fragmented);
	if (rc < 0)
		return fail(result, allocator->reason, rc);
	pw_bfrag_rig_reset(rig, pattern, allocator, fragments, seed);

	result->timing.before_ns = pw_bench_probe_ns();
	rc = run_loops(rig, pattern, allocator->kind);
	result->timing.after_ns = pw_bench_probe_ns();
	if (rc < 0)
		return fail(result, strerror(-rc), rc); /* the other lcore may still be at it */

	pw_bfrag_rig_give_back(rig, allocator);
	rc = pw_bfrag_allocator_end(allocator);
	if (rig->ran_dry)
		return fail(result, "no fragment could be had", -ENOBUFS);
	if (rig->cycles == 0)
		return fail(result, "an lcore waited too long for the other", -ETIMEDOUT);
	if (rc < 0)
		return fail(result, allocator->reason, rc);
	result->timing.value = (double)rig->cycles * 1e9 / (double)rte_get_tsc_hz() /
		(double)rig->steps[1];
	result->before = rig->counters[1];
	result->after = rig->counters[2];
	return 0;
}
