/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRO_H
#define BENCH_GRO_H

/** @file The experiment "gro": what its files share. */

#include <stdint.h>

#include "gro_contender.h"
#include "gro_rig.h"
#include "gro_settings.h"
#include "run.h"

/** Packets of a cell, all rounds together. */
struct pw_gro_bench_merged {
	uint64_t in, out;
};

/** Same settings. Rows are numbers of flows, columns the contenders that are for the settings. */
struct pw_gro_bench_group {
	struct pw_bench_grid grid;
	struct pw_gro_bench_settings settings;
	const struct pw_gro_bench_kind *kinds; /**< of the columns */
	struct pw_gro_bench_merged merged[PW_BENCH_ROWS_MAX][PW_GRO_BENCH_CONTENDERS];
};

struct pw_gro_bench {
	struct pw_bench_run run;
	struct pw_gro_bench_rig *rig;
	struct pw_bench_numbers flows;
	char flow_names[PW_BENCH_LIST_MAX][12];
	struct pw_bench_column columns[PW_GRO_BENCH_CONTENDERS];
	struct pw_gro_bench_group *groups;
	unsigned nb_groups;
};

/** Packets in for each one out; 0: unknown. */
double pw_gro_bench_merge_ratio(const struct pw_bench_grid *grid, unsigned row, unsigned column);

/** Open the contenders of a group, run its rounds, close them. */
void pw_gro_bench_run_group(struct pw_gro_bench *bench, struct pw_gro_bench_group *group);

/** Print all as tables. Here and below ctx is a struct pw_gro_bench: see struct
 * pw_bench_experiment. */
void pw_gro_bench_report(const void *ctx);

/** Print all as JSON; 0 or a negative errno. */
int pw_gro_bench_print_json(const void *ctx);

#endif
