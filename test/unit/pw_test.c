/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#define STUCK_SECONDS 10

static int allocs_to_failure = -1;

int
pw_test_eal(void **state)
{
	static char *argv[] = {"unit-test", "--no-huge", "--no-shconf", "--no-telemetry",
		"--no-pci", "-m", "512", "--lcores", "0@0,1@(0-1)", "--log-level=4", NULL};
	static int rc = 1;

	(void)state;
	/* The same in a debug build, which would stop at a wrong put. */
	setenv("PAGEWHEEL_CHECK", "off", 1);
	if (rc == 1)
		rc = rte_eal_init(RTE_DIM(argv) - 1, argv);
	return rc < 0 ? -1 : 0;
}

size_t
pw_test_heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;

	return rte_malloc_get_socket_stats(0, &stats) < 0 ? 0 : stats.heap_allocsz_bytes;
}

static void
count_memzone(const struct rte_memzone *mz, void *count)
{
	(void)mz;
	(*(unsigned *)count)++;
}

unsigned
pw_test_memzones(void)
{
	unsigned count = 0;

	rte_memzone_walk(count_memzone, &count);
	return count;
}

struct pw_test_memory
pw_test_memory(void)
{
	return (struct pw_test_memory){pw_test_heap_bytes(), pw_test_memzones()};
}

void
pw_test_memory_equal(struct pw_test_memory before)
{
	assert_int_equal(pw_test_heap_bytes(), before.heap_bytes);
	assert_int_equal(pw_test_memzones(), before.memzones);
}

void
pw_test_fail_alloc(int k)
{
	allocs_to_failure = k;
}

bool
pw_test_alloc_failed(void)
{
	return allocs_to_failure == -1;
}

/* Count an allocation; true when it is the one to fail. */
static bool
fails_now(void)
{
	if (allocs_to_failure < 0)
		return false;
	return allocs_to_failure-- == 0;
}

/* These stand before DPDK's functions of the same names, and hand on to them. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

void *
rte_zmalloc(const char *type, size_t size, unsigned align)
{
	return fails_now() ? NULL : NEXT(rte_zmalloc)(type, size, align);
}

void *
rte_zmalloc_socket(const char *type, size_t size, unsigned align, int socket)
{
	return fails_now() ? NULL : NEXT(rte_zmalloc_socket)(type, size, align, socket);
}

void *
rte_realloc_socket(void *ptr, size_t size, unsigned align, int socket)
{
	return fails_now() ? NULL : NEXT(rte_realloc_socket)(ptr, size, align, socket);
}

const struct rte_memzone *
rte_memzone_reserve_aligned(
	const char *name, size_t len, int socket_id, unsigned flags, unsigned align)
{
	if (fails_now()) {
		rte_errno = ENOMEM;
		return NULL;
	}
	return NEXT(rte_memzone_reserve_aligned)(name, len, socket_id, flags, align);
}

/* What runs on an lcore, and what shows the thread sanitizer, which cannot see into EAL, its end.
 */
struct job {
	lcore_function_t *run;
	void *arg;
	bool ended; /* atomic */
};

static struct job jobs[RTE_MAX_LCORE];

static int
run_job(void *arg)
{
	struct job *job = arg;
	int rc = job->run(job->arg);

	__atomic_store_n(&job->ended, true, __ATOMIC_RELEASE);
	return rc;
}

int
rte_eal_remote_launch(lcore_function_t *run, void *arg, unsigned lcore)
{
	jobs[lcore] = (struct job){.run = run, .arg = arg};
	return NEXT(rte_eal_remote_launch)(run_job, &jobs[lcore], lcore);
}

int
rte_eal_wait_lcore(unsigned lcore)
{
	int rc = NEXT(rte_eal_wait_lcore)(lcore);

	(void)__atomic_load_n(&jobs[lcore].ended, __ATOMIC_ACQUIRE);
	return rc;
}

void
pw_test_on_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

bool
pw_test_wait(uint64_t *since)
{
	uint64_t now = rte_get_tsc_cycles();

	if (*since == 0)
		*since = now;
	sched_yield(); /* the cores may be busy */
	return now - *since < STUCK_SECONDS * rte_get_tsc_hz();
}

unsigned
pw_test_act_as(unsigned lcore)
{
	unsigned before = rte_lcore_id();

	RTE_PER_LCORE(_lcore_id) = lcore;
	return before;
}
