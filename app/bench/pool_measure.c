/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "pool_rig.h"
#include "regime.h"
#include "worker.h"

struct loop_call {
	pw_pool_loop_t loop;
	struct pw_pool_rig *rig;
};

static void
call_loop(void *arg)
{
	struct loop_call *call = arg;

	call->loop(call->rig);
}

static void *
thread_main(void *arg)
{
	call_loop(arg);
	return NULL;
}

/* A thread that EAL does not know. It has the main lcore's CPU from it, which waits meanwhile. */
static int
run_plain(struct loop_call *call)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, thread_main, call);

	if (rc != 0)
		return -rc;
	return -pthread_join(thread, NULL);
}

static int
run_loops(struct pw_pool_rig *rig, const struct pw_pool_pattern *pattern, bool with_floor)
{
	const struct pw_pool_loop *consume = &pattern->consume;
	struct loop_call call = {
		with_floor ? pattern->loop.with_floor : pattern->loop.with_mempool, rig};
	struct loop_call other = {with_floor ? consume->with_floor : consume->with_mempool, rig};

	if (pattern->plain)
		return run_plain(&call);
	if (other.loop == NULL) {
		call_loop(&call);
		return 0;
	}
	pw_bench_worker_begin(call_loop, &other);
	call_loop(&call);
	return pw_bench_worker_wait();
}

/* What the loops have left behind, in words. */
static int
judge(const struct pw_pool_rig *rig, const struct pw_pool_handler *handler,
	struct pw_pool_result *result)
{
	result->failed_gets = rig->failed_gets;
	if (rig->failed_gets > 0) {
		snprintf(result->reason, sizeof(result->reason),
			"ran dry: a get failed with %u of %u buffers free",
			rte_mempool_avail_count(handler->mp), handler->size);
		return -ENOBUFS;
	}
	if (rig->cycles == 0) {
		snprintf(result->reason, sizeof(result->reason),
			"an lcore waited too long for the other");
		return -ETIMEDOUT;
	}
	if (rig->read != rig->written) {
		snprintf(result->reason, sizeof(result->reason),
			"data was overwritten while in use: a buffer was handed out twice");
		return -EIO;
	}
	return 0;
}

static int
fail(struct pw_pool_result *result, const char *reason, int rc)
{
	snprintf(result->reason, sizeof(result->reason), "%s", reason);
	return rc;
}

int
pw_pool_measure(struct pw_pool_rig *rig, const struct pw_pool_pattern *pattern,
	struct pw_pool_handler *handler, uint64_t seed, struct pw_pool_result *result)
{
	bool is_floor = handler->kind == PW_BENCH_FLOOR;
	int rc;

	memset(result, 0, sizeof(*result));
	if (!is_floor && pw_pool_handler_order(handler, pattern->order, seed) < 0)
		return fail(result, handler->reason, -EIO);
	rc = pw_pool_rig_reset(rig, pattern, handler, seed);
	if (rc < 0)
		return fail(result, "the floor has too few buffers", rc);

	result->timing.before_ns = pw_bench_probe_ns();
	rc = run_loops(rig, pattern, is_floor);
	result->timing.after_ns = pw_bench_probe_ns();
	if (rc < 0)
		return fail(result, strerror(-rc), rc);

	rc = judge(rig, handler, result);
	if (rc < 0)
		return rc;
	result->timing.value = (double)rig->cycles * 1e9 / (double)rte_get_tsc_hz() /
		pattern->buffers;
	if (is_floor)
		return 0;
	pw_pool_rig_give_back(rig);
	if (pw_pool_handler_settle(handler) < 0)
		return fail(result, handler->reason, -EIO);
	return 0;
}
