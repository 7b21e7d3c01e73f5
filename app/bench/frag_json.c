/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag.h"
#include "frag_rig.h"
#include "json.h"

static json_t *
why_json(const struct pw_bfrag_why *why)
{
	json_t *json = json_pack("{s:I}", "fragments", (json_int_t)why->fragments);

	for (const struct pw_bfrag_why_row *row = pw_bfrag_why_rows; row->key != NULL; row++)
		json_object_set_new(json, row->key, json_real(pw_bfrag_why_value(why, row)));
	return json;
}

static json_t *
cell_json(const struct pw_bfrag_group *group, unsigned p, unsigned a)
{
	const struct pw_bfrag_why *why = &pw_bfrag_cell(group, p, a)->why;
	json_t *json = json_pack("{s:s, s:s}", "pattern", group->grid.rows[p], "allocator",
		group->grid.columns[a].name);

	json_object_update_new(json, pw_bench_cell_json(pw_bench_cell(&group->grid, p, a)));
	if (why->fragments > 0)
		json_object_set_new(json, "why", why_json(why));
	return json;
}

static json_t *
group_json(const struct pw_bfrag_group *group)
{
	json_t *cells = json_array();

	for (unsigned p = 0; p < group->grid.nb_rows; p++)
		for (unsigned a = 0; a < group->grid.nb_columns; a++)
			json_array_append_new(cells, cell_json(group, p, a));
	return json_pack("{s:i, s:i, s:i, s:o}", "min_bytes",
		(int)(group->mixed ? PW_BFRAG_SIZE_MIN : group->size_bytes), "max_bytes",
		(int)group->size_bytes, "rounds_begun", (int)group->grid.rounds, "cells", cells);
}

int
pw_bfrag_print_json(const void *ctx)
{
	const struct pw_bfrag_bench *bench = ctx;
	json_t *json = pw_bench_run_json(&bench->run, "frag", "ns a fragment"),
	       *groups = json_array();

	for (unsigned g = 0; g < bench->nb_groups; g++)
		json_array_append_new(groups, group_json(&bench->groups[g]));
	json_object_update_new(json,
		json_pack("{s:i, s:i, s:i, s:i, s:o}", "patterns_left_out_for_one_lcore",
			(int)bench->two_lcores_left_out, "pool_bytes", (int)PW_BFRAG_POOL_BYTES,
			"mempool_objects", (int)PW_BFRAG_OBJECTS, "mempool_cache",
			(int)PW_BFRAG_CACHE, "groups", groups));
	return pw_bench_json_print(json);
}
