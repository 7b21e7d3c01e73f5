/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "json.h"
#include "pool.h"

static json_t *
cell_json(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p,
	unsigned h)
{
	const struct pw_bench_grid *grid = &group->grid;
	json_t *json = json_pack("{s:s, s:s, s:I}", "pattern", grid->rows[p], "handler",
		bench->handlers[h].name, "failed_gets",
		(json_int_t)group->failed_gets[p * grid->nb_columns + h]);

	json_object_update_new(json, pw_bench_cell_json(pw_bench_cell(grid, p, h)));
	return json;
}

/* The rows from first to last. */
static void
add_section(json_t *sections, const struct pw_pool_bench *bench, const struct pw_pool_group *group,
	unsigned first, unsigned last)
{
	bool plain = first >= bench->nb_lcore_patterns;
	json_t *cells;

	if (first >= last)
		return;
	cells = json_array();
	for (unsigned p = first; p < last; p++)
		for (unsigned h = 0; h < bench->nb_handlers; h++)
			json_array_append_new(cells, cell_json(bench, group, p, h));
	json_array_append_new(sections,
		json_pack("{s:i, s:i, s:s, s:i, s:o}", "pool_buffers", (int)group->size,
			"cache_buffers", plain ? 0 : (int)group->cache, "thread",
			plain ? "plain" : "lcore", "rounds_begun", (int)group->grid.rounds, "cells",
			cells));
}

int
pw_pool_print_json(const void *ctx)
{
	const struct pw_pool_bench *bench = ctx;
	json_t *json = pw_bench_run_json(&bench->run, "pool", "ns a buffer"),
	       *sections = json_array();
	unsigned lcore = bench->nb_lcore_patterns;

	for (unsigned g = 0; g < bench->nb_groups; g++) {
		add_section(sections, bench, &bench->groups[g], 0, lcore);
		add_section(
			sections, bench, &bench->groups[g], lcore, bench->groups[g].grid.nb_rows);
	}
	json_object_update_new(json,
		json_pack("{s:i, s:i, s:o}", "patterns_left_out_for_one_lcore",
			(int)bench->two_lcores_left_out, "buffer_bytes", (int)PW_POOL_BUFFER_BYTES,
			"groups", sections));
	return pw_bench_json_print(json);
}
