/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro.h"
#include "json.h"

static json_t *
cell_json(const struct pw_gro_bench *bench, const struct pw_gro_bench_group *group, unsigned row,
	unsigned c)
{
	const struct pw_gro_bench_merged *merged = &group->merged[row][c];
	json_t *json = json_pack("{s:i, s:s, s:I, s:I, s:f}", "flows", (int)bench->flows.items[row],
		"contender", group->grid.columns[c].name, "packets_in", (json_int_t)merged->in,
		"packets_out", (json_int_t)merged->out, "merge_ratio",
		pw_gro_bench_merge_ratio(&group->grid, row, c));

	json_object_update_new(json, pw_bench_cell_json(pw_bench_cell(&group->grid, row, c)));
	return json;
}

static json_t *
settings_json(const struct pw_gro_bench_settings *settings)
{
	return json_pack("{s:s, s:i, s:s, s:i, s:s, s:i, s:s}", "order",
		pw_gro_bench_order_words[settings->order], "flush", (int)settings->flush_bursts,
		"headers", pw_gro_bench_headers_words[settings->headers], "payload",
		(int)settings->payload_bytes, "cksum", pw_gro_bench_cksum_words[settings->cksum],
		"reorder", (int)settings->reorder_percent, "hash",
		pw_gro_bench_hash_words[settings->hash]);
}

static json_t *
group_json(const struct pw_gro_bench *bench, const struct pw_gro_bench_group *group)
{
	json_t *cells = json_array();

	for (unsigned row = 0; row < group->grid.nb_rows; row++)
		for (unsigned c = 0; c < group->grid.nb_columns; c++)
			json_array_append_new(cells, cell_json(bench, group, row, c));
	return json_pack("{s:o, s:i, s:o}", "settings", settings_json(&group->settings),
		"rounds_begun", (int)group->grid.rounds, "cells", cells);
}

int
pw_gro_bench_print_json(const void *ctx)
{
	const struct pw_gro_bench *bench = ctx;
	json_t *json = pw_bench_run_json(&bench->run, "gro", "ns a packet"), *groups = json_array();

	for (unsigned g = 0; g < bench->nb_groups; g++)
		json_array_append_new(groups, group_json(bench, &bench->groups[g]));
	json_object_update_new(json,
		json_pack("{s:i, s:i, s:I, s:i, s:f, s:o}", "burst_packets",
			(int)PW_GRO_BENCH_BURST, "header_bytes",
			(int)sizeof(struct pw_gro_bench_header), "l2_bytes",
			(json_int_t)bench->rig->l2_bytes, "mbufs", (int)bench->rig->nb_mbufs,
			"clock_cycles", bench->rig->clock_cycles, "groups", groups));
	return pw_bench_json_print(json);
}
