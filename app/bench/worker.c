/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "worker.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "bench.h"

#define TIMEOUT_S 60

/* Each side writes a line of its own. */
static struct {
	struct {
		uint32_t begun; /* atomic: number of the work that waits */
		pw_bench_work_t work;
		void *arg;
	} ask __rte_cache_aligned;
	struct {
		uint32_t ended; /* atomic: number of the work done last */
	} answer __rte_cache_aligned;
} mailbox;

static unsigned worker_lcore = LCORE_ID_ANY;

/* NULL as work ends it. */
static int
worker_loop(void *arg)
{
	uint32_t number = 0;

	(void)arg;
	for (;;) {
		pw_bench_work_t work;

		while (__atomic_load_n(&mailbox.ask.begun, __ATOMIC_ACQUIRE) == number)
			rte_pause();
		number++;
		work = mailbox.ask.work;
		if (work != NULL)
			work(mailbox.ask.arg);
		__atomic_store_n(&mailbox.answer.ended, number, __ATOMIC_RELEASE);
		if (work == NULL)
			return 0;
	}
}

/* Both poll, so each needs a CPU of its own. */
static bool
share_cpus(unsigned a, unsigned b)
{
	rte_cpuset_t cpus_a = rte_lcore_cpuset(a), cpus_b = rte_lcore_cpuset(b), both;

	CPU_AND(&both, &cpus_a, &cpus_b);
	return CPU_COUNT(&both) > 0;
}

int
pw_bench_lcore_cpu(unsigned lcore)
{
	rte_cpuset_t cpus;

	if (lcore >= RTE_MAX_LCORE)
		return -1;
	cpus = rte_lcore_cpuset(lcore);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			return cpu;
	return -1;
}

int
pw_bench_worker_start(void)
{
	unsigned main_lcore = rte_get_main_lcore();
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	int rc;

	if (lcore >= RTE_MAX_LCORE)
		return 0;
	if (share_cpus(main_lcore, lcore)) {
		pw_bench_error(
			"lcores %u and %u share a CPU: expected one for each, as in -- -l 0,1",
			main_lcore, lcore);
		return -EINVAL;
	}
	rc = rte_eal_remote_launch(worker_loop, NULL, lcore);
	if (rc < 0) {
		pw_bench_error("lcore %u does not start: %s", lcore, strerror(-rc));
		return rc;
	}
	worker_lcore = lcore;
	return 0;
}

bool
pw_bench_worker_exists(void)
{
	return worker_lcore != LCORE_ID_ANY;
}

unsigned
pw_bench_worker_lcore(void)
{
	return worker_lcore;
}

void
pw_bench_worker_begin(pw_bench_work_t work, void *arg)
{
	mailbox.ask.work = work;
	mailbox.ask.arg = arg;
	__atomic_store_n(&mailbox.ask.begun, mailbox.ask.begun + 1, __ATOMIC_RELEASE);
}

int
pw_bench_worker_wait(void)
{
	uint64_t deadline = rte_rdtsc() + TIMEOUT_S * rte_get_tsc_hz();

	while (__atomic_load_n(&mailbox.answer.ended, __ATOMIC_ACQUIRE) != mailbox.ask.begun) {
		if (rte_rdtsc() > deadline) {
			pw_bench_error(
				"lcore %u does not answer for %u s", worker_lcore, TIMEOUT_S);
			return -ETIMEDOUT;
		}
		rte_pause();
	}
	return 0;
}

int
pw_bench_worker_stop(void)
{
	if (!pw_bench_worker_exists())
		return 0;
	if (__atomic_load_n(&mailbox.answer.ended, __ATOMIC_ACQUIRE) != mailbox.ask.begun)
		return -ETIMEDOUT; /* the wait for it has failed before */
	pw_bench_worker_begin(NULL, NULL);
	if (pw_bench_worker_wait() < 0)
		return -ETIMEDOUT;
	rte_eal_wait_lcore(worker_lcore);
	worker_lcore = LCORE_ID_ANY;
	return 0;
}
