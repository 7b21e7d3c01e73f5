/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_WAIT_H
#define BENCH_WAIT_H

/**
 * @file
 * What measured loops of two lcores share: rings on which one waits for the other, but neither
 * waits longer than it should, nor for one that has given up.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ring.h>

#define PW_BENCH_WAIT_MAX_S 20
/** Lines are fetched in pairs: what two lcores write is that far apart. */
#define PW_BENCH_APART 128

struct pw_bench_wait {
	uint64_t deadline; /**< TSC */
	bool stop;	   /**< atomic: one side has given up */
};

static inline void
pw_bench_wait_begin(struct pw_bench_wait *wait)
{
	wait->deadline = rte_rdtsc() + PW_BENCH_WAIT_MAX_S * rte_get_tsc_hz();
	wait->stop = false;
}

/** Tell the other side. */
static inline void
pw_bench_give_up(struct pw_bench_wait *wait)
{
	__atomic_store_n(&wait->stop, true, __ATOMIC_RELAXED);
}

/* The clock is read now and then only. */
static inline bool
pw_bench_must_give_up(struct pw_bench_wait *wait, unsigned *spins)
{
	if (++*spins % 1024 != 0)
		return false;
	return __atomic_load_n(&wait->stop, __ATOMIC_RELAXED) || rte_rdtsc() > wait->deadline;
}

/** Get n from a ring that another lcore fills; 0 or -ETIMEDOUT. */
static __rte_always_inline int
pw_bench_ring_get(struct pw_bench_wait *wait, struct rte_ring *ring, void **objs, unsigned n)
{
	unsigned spins = 0;

	while (rte_ring_sc_dequeue_bulk(ring, objs, n, NULL) == 0)
		if (pw_bench_must_give_up(wait, &spins))
			return -ETIMEDOUT;
	return 0;
}

/** Put n on a ring that another lcore empties; 0 or -ETIMEDOUT. */
static __rte_always_inline int
pw_bench_ring_put(struct pw_bench_wait *wait, struct rte_ring *ring, void **objs, unsigned n)
{
	unsigned spins = 0;

	while (rte_ring_sp_enqueue_bulk(ring, objs, n, NULL) == 0)
		if (pw_bench_must_give_up(wait, &spins))
			return -ETIMEDOUT;
	return 0;
}

/** The compiler must take it that somebody looks at objs and at all of memory here. */
static __rte_always_inline void
pw_bench_keep(const void *objs)
{
	__asm__ volatile("" : : "r"(objs) : "memory");
}

#endif
