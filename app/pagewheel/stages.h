/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef STAGES_H
#define STAGES_H

/**
 * @file
 * Where an lcore's cycles go, with --stage-cycles: its clock runs for one stage at a time, and a
 * stage that calls another stands still meanwhile. Polls without packets are not counted, as for
 * "busy".
 *
 * The TSC is read with a fence, so that a stage pays for what it loads itself; that costs some 50
 * cycles each time, which are in the figures.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_per_lcore.h>

#include "pw_stat.h"

struct pw_app;
struct rte_mempool;

enum pw_stage {
	PW_STAGE_DRIVER, /**< bursts in and out, without the pool that they call */
	PW_STAGE_POOL,
	PW_STAGE_GRO,
	PW_STAGE_INET,
	PW_STAGE_TCP,
	PW_STAGE_READER, /**< applications */
	PW_STAGE_OTHER,
	PW_STAGES,
};

struct pw_stage_clock {
	enum pw_stage stage;
	uint64_t since;		   /* TSC */
	uint64_t poll[PW_STAGES];  /* cycles of this poll */
	uint64_t total[PW_STAGES]; /* of all that brought packets */
};

/** The clock of this lcore; NULL: it has none. */
RTE_DECLARE_PER_LCORE(struct pw_stage_clock *, pw_stage_clock);

/** Go over to a stage; tells the one before, to go back to. */
static inline enum pw_stage
pw_stage_enter(enum pw_stage stage)
{
	struct pw_stage_clock *clock = RTE_PER_LCORE(pw_stage_clock);
	enum pw_stage before;
	uint64_t now;

	if (likely(clock == NULL))
		return stage;
	now = rte_rdtsc_precise();
	before = clock->stage;
	clock->poll[before] += now - clock->since;
	clock->since = now;
	clock->stage = stage;
	return before;
}

/** Let the clock of this lcore run from now on, if there are clocks. */
void pw_stages_begin(void);

/** pw_stages_end_poll() of an lcore that has a clock. */
void pw_stages_count_poll(struct pw_stage_clock *clock, bool busy);

/** A poll has ended: what it took is counted if it was busy. */
static inline void
pw_stages_end_poll(bool busy)
{
	struct pw_stage_clock *clock = RTE_PER_LCORE(pw_stage_clock);

	if (unlikely(clock != NULL))
		pw_stages_count_poll(clock, busy);
}

/**
 * Make the clocks, and let a pool's handler run under one. Before the pool has any buffers.
 *
 * @return 0, or a negative errno
 */
int pw_stages_open(struct rte_mempool *pool);

/** Counters in a struct pw_stage_stats. -ENOENT without --stage-cycles. */
int pw_stages_read(const struct pw_app *app, void *stats);

struct pw_stage_stats {
	uint64_t cycles[PW_STAGES];
	uint64_t rx_packets; /**< on which they were spent */
	uint64_t rx_bytes;   /**< of TCP, in order; 0 in other modes */
};

extern const struct pw_stat pw_stage_stat_table[];

/** Print cycles a packet and a byte. */
void pw_stages_print(const struct pw_app *app, const void *stats);

#endif
