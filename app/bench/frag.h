/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_FRAG_H
#define BENCH_FRAG_H

/** @file The experiment "frag": what its files share. */

#include <stdbool.h>
#include <stdint.h>

#include "frag_allocator.h"
#include "frag_patterns.h"
#include "frag_why.h"
#include "options.h"
#include "run.h"

#define PW_BFRAG_ALLOCATORS_MAX (PW_BENCH_LIST_MAX + 1) /* the floor is one more */

struct pw_bfrag_options {
	struct pw_bench_list allocators, patterns;
	struct pw_bench_numbers sizes;
	bool why;
};

/** What is known of a cell beside its times. */
struct pw_bfrag_cell {
	double pace_ns; /**< a fragment, as it took lately; 0: unknown */
	struct pw_bfrag_why why;
};

/** Fragments of one size, or of random ones. Rows are patterns. */
struct pw_bfrag_group {
	struct pw_bench_grid grid;
	uint32_t size_bytes; /**< the largest one */
	bool mixed;
	char label[16];
	const struct pw_bfrag_pattern *patterns[PW_BENCH_ROWS_MAX];
	struct pw_bfrag_cell *cells; /**< as those of the grid */
};

struct pw_bfrag_bench {
	struct pw_bench_run run;
	struct pw_bfrag_allocator allocators[PW_BFRAG_ALLOCATORS_MAX]; /**< the floor is the last */
	struct pw_bench_column columns[PW_BFRAG_ALLOCATORS_MAX];
	unsigned nb_allocators;
	const struct pw_bfrag_pattern *patterns[PW_BENCH_ROWS_MAX];
	unsigned nb_patterns;
	struct pw_bfrag_group groups[PW_BENCH_LIST_MAX + 1]; /**< random sizes are the last */
	unsigned nb_groups;
	unsigned two_lcores_left_out; /**< patterns */
	bool all_why;
};

static inline struct pw_bfrag_cell *
pw_bfrag_cell(const struct pw_bfrag_group *group, unsigned row, unsigned column)
{
	return &group->cells[row * group->grid.nb_columns + column];
}

/** Reserve the memory of a group, run its rounds, give it back. */
void pw_bfrag_run_group(struct pw_bfrag_bench *bench, struct pw_bfrag_group *group);

/** Print all as tables. Here and below ctx is a struct pw_bfrag_bench: see struct
 * pw_bench_experiment. */
void pw_bfrag_report(const void *ctx);

/** Print all as JSON; 0 or a negative errno. */
int pw_bfrag_print_json(const void *ctx);

#endif
