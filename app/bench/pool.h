/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

/** @file The experiment "pool": what its files share. */

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "pool_handler.h"
#include "pool_patterns.h"
#include "regime.h"
#include "samples.h"

#define PW_POOL_HANDLERS_MAX (PW_BENCH_LIST_MAX + 1) /* the floor is one more */
#define PW_POOL_PATTERNS_MAX 32

struct pw_pool_options {
	struct pw_bench_list handlers, patterns;
	struct pw_bench_numbers sizes, caches;
};

/** All rounds of a pattern with a handler. */
struct pw_pool_cell {
	struct pw_bench_samples ns[PW_BENCH_REGIMES]; /**< a buffer */
	unsigned mixed;				      /**< rounds discarded */
	uint64_t failed_gets;
	char reason[256]; /**< why it is not measured (any more); "": it is */
};

/** Pools that are alive at the same time: same size, same cache. */
struct pw_pool_group {
	uint32_t size;
	uint32_t cache;
	bool plain;		    /**< the patterns of plain threads are run too */
	unsigned rounds;	    /**< begun */
	struct pw_pool_cell *cells; /**< [pattern][handler] */
};

struct pw_pool_bench {
	const struct pw_bench_common *common;
	struct pw_pool_handler handlers[PW_POOL_HANDLERS_MAX]; /**< the floor is the last one */
	unsigned nb_handlers;
	const struct pw_pool_pattern *patterns[PW_POOL_PATTERNS_MAX];
	unsigned nb_patterns;
	struct pw_pool_group *groups;
	unsigned nb_groups;
	struct pw_bench_samples probes[PW_BENCH_REGIMES]; /**< one-way ns */
	unsigned mixed;
	unsigned two_lcores_left_out; /**< patterns */
	uint64_t deadline;	      /**< TSC */
	bool short_of_rounds;	      /**< some cell has fewer than wanted */
	bool failed;		      /**< exit code */
};

static inline struct pw_pool_cell *
pw_pool_cell(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned pattern,
	unsigned handler)
{
	return &group->cells[pattern * bench->nb_handlers + handler];
}

/** Make the pools of a group, run its rounds until the TSC says so, free the pools. */
void pw_pool_run_group(struct pw_pool_bench *bench, struct pw_pool_group *group, uint64_t deadline);

/** The regime to show of a pattern: near, if all its cells have samples of it. */
enum pw_bench_regime pw_pool_shown_regime(
	const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned pattern);

/** The handler of the default strategy, or the first one of ours; nb_handlers: none. */
unsigned pw_pool_our_handler(const struct pw_pool_bench *bench);

/** Print all as tables. */
void pw_pool_report(const struct pw_pool_bench *bench);

/** Print all as JSON; 0 or a negative errno. */
int pw_pool_print_json(const struct pw_pool_bench *bench);

#endif
