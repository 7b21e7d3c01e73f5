/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "regime.h"

#include <stdbool.h>
#include <stddef.h>

#include <rte_cycles.h>

#include "pw_samples.h"
#include "worker.h"

#define PROBE_US 300
#define GIVE_UP_MS 200
/* Trips to and fro of one sample: the median of samples leaves interrupts out. */
#define TRIPS 32
#define SAMPLES_MIN 3
#define STOP UINT32_MAX

/* Even: the main lcore may send; odd: the second one may. Alone on its pair of lines. */
static struct {
	uint32_t ball;
} __rte_aligned(128) line;

static uint64_t
give_up_time(void)
{
	return rte_rdtsc() + rte_get_tsc_hz() / 1000 * GIVE_UP_MS;
}

/* Waits until the ball is the one expected, or STOP. The clock is read now and then only. */
static bool
wait_for(uint32_t expected, uint64_t deadline)
{
	uint32_t seen;
	unsigned spins = 0;

	while ((seen = __atomic_load_n(&line.ball, __ATOMIC_ACQUIRE)) != expected) {
		if (seen == STOP || (++spins % 4096 == 0 && rte_rdtsc() > deadline))
			return false;
	}
	return true;
}

static void
answer(void *arg)
{
	uint64_t deadline = give_up_time();

	(void)arg;
	for (uint32_t next = 1; wait_for(next, deadline); next += 2)
		__atomic_store_n(&line.ball, next + 1, __ATOMIC_RELEASE);
}

static bool
send_trips(uint32_t *last, uint64_t deadline)
{
	for (unsigned i = 0; i < TRIPS; i++) {
		__atomic_store_n(&line.ball, *last + 1, __ATOMIC_RELEASE);
		*last += 2;
		if (!wait_for(*last, deadline))
			return false;
	}
	return true;
}

static void
probe(struct pw_samples *samples)
{
	const double cycles_per_ns = (double)rte_get_tsc_hz() / 1e9;
	uint64_t begin, end = rte_rdtsc() + rte_get_tsc_hz() / 1000000 * PROBE_US;
	uint64_t deadline = give_up_time();
	uint32_t last = 0;

	if (!send_trips(&last, deadline)) /* not counted: it may not have begun */
		return;
	do {
		begin = rte_rdtsc();
		if (!send_trips(&last, deadline))
			return;
		pw_samples_add(
			samples, (double)(rte_rdtsc() - begin) / cycles_per_ns / (2 * TRIPS));
	} while (rte_rdtsc() < end || samples->n < SAMPLES_MIN);
}

double
pw_bench_probe_ns(void)
{
	struct pw_samples samples = {0};
	double ns;

	if (!pw_bench_worker_exists())
		return 0;
	line.ball = 0;
	pw_bench_worker_begin(answer, NULL);
	probe(&samples);
	__atomic_store_n(&line.ball, STOP, __ATOMIC_RELEASE);
	if (pw_bench_worker_wait() < 0 || samples.n < SAMPLES_MIN)
		ns = -1;
	else
		ns = pw_samples_summary(&samples).median;
	pw_samples_free(&samples);
	return ns;
}

enum pw_bench_regime
pw_bench_regime(double before_ns, double after_ns, uint32_t near_ns)
{
	if (before_ns < 0 || after_ns < 0)
		return PW_BENCH_MIXED;
	if (!pw_bench_worker_exists())
		return PW_BENCH_UNPROBED;
	if (before_ns < near_ns && after_ns < near_ns)
		return PW_BENCH_NEAR;
	if (before_ns >= near_ns && after_ns >= near_ns)
		return PW_BENCH_FAR;
	return PW_BENCH_MIXED;
}

const char *
pw_bench_regime_name(enum pw_bench_regime regime)
{
	static const char *const names[] = {
		[PW_BENCH_NEAR] = "near",
		[PW_BENCH_FAR] = "far",
		[PW_BENCH_UNPROBED] = "unprobed",
		[PW_BENCH_MIXED] = "mixed",
	};

	return names[regime];
}
