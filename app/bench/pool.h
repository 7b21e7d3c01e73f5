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
#include "run.h"

#define PW_POOL_HANDLERS_MAX (PW_BENCH_LIST_MAX + 1) /* the floor is one more */

struct pw_pool_options {
	struct pw_bench_list handlers, patterns;
	struct pw_bench_numbers sizes, caches;
};

/** Pools that are alive at the same time: same size, same cache. Rows are patterns. */
struct pw_pool_group {
	struct pw_bench_grid grid;
	uint32_t size;
	uint32_t cache;
	uint64_t *failed_gets; /**< of each cell of the grid */
};

struct pw_pool_bench {
	struct pw_bench_run run;
	struct pw_pool_handler handlers[PW_POOL_HANDLERS_MAX]; /**< the floor is the last one */
	struct pw_bench_column columns[PW_POOL_HANDLERS_MAX];
	unsigned nb_handlers;
	const struct pw_pool_pattern *patterns[PW_BENCH_ROWS_MAX];
	unsigned nb_patterns;
	unsigned nb_lcore_patterns; /**< those first in patterns; plain threads' are the rest */
	struct pw_pool_group *groups;
	unsigned nb_groups;
	unsigned two_lcores_left_out; /**< patterns */
};

/** Make the pools of a group, run its rounds, free the pools. */
void pw_pool_run_group(struct pw_pool_bench *bench, struct pw_pool_group *group);

/** Print all as tables. Here and below ctx is a struct pw_pool_bench: see struct
 * pw_bench_experiment. */
void pw_pool_report(const void *ctx);

/** Print all as JSON; 0 or a negative errno. */
int pw_pool_print_json(const void *ctx);

#endif
