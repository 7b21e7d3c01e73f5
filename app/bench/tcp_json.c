/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "json.h"
#include "tcp.h"

static json_t *
cell_json(const struct pw_tcp_bench *bench, unsigned row, unsigned c)
{
	const struct pw_tcp_bench_pattern *pattern = bench->patterns[c];
	double ns = pw_bench_shown_ns(&bench->grid, row, c);
	json_t *json = json_pack("{s:i, s:s, s:s, s:i, s:f}", "idle", (int)bench->idle.items[row],
		"pattern", pattern->name, "piece", pattern->piece, "piece_bytes",
		(int)pattern->piece_bytes, "pieces_per_s", ns > 0 ? 1e9 / ns : 0);

	json_object_update_new(json, pw_bench_cell_json(pw_bench_cell(&bench->grid, row, c)));
	return json;
}

static json_t *
group_json(const struct pw_tcp_bench *bench)
{
	json_t *cells = json_array();

	for (unsigned row = 0; row < bench->grid.nb_rows; row++)
		for (unsigned c = 0; c < bench->grid.nb_columns; c++)
			json_array_append_new(cells, cell_json(bench, row, c));
	return json_pack("{s:{s:s, s:i}, s:i, s:o}", "settings", "family", "ipv4", "step_us",
		(int)PW_TCP_BENCH_STEP_US, "rounds_begun", (int)bench->grid.rounds, "cells", cells);
}

static json_t *
memory_json(const struct pw_tcp_bench *bench)
{
	json_t *memory = json_array();

	for (unsigned row = 0; row < bench->grid.nb_rows; row++)
		json_array_append_new(memory,
			json_pack("{s:i, s:i, s:I, s:f}", "idle", (int)bench->idle.items[row],
				"max_conns", (int)bench->endpoints[row]->max_conns, "bytes",
				(json_int_t)bench->endpoints[row]->heap_bytes, "bytes_a_connection",
				pw_tcp_bench_conn_bytes(bench, row)));
	return memory;
}

int
pw_tcp_bench_print_json(const void *ctx)
{
	const struct pw_tcp_bench *bench = ctx;
	json_t *json = pw_bench_run_json(&bench->run, "tcp", "ns a piece");

	json_object_update_new(json,
		json_pack("{s:i, s:i, s:i, s:f, s:o, s:[o]}", "active", (int)PW_TCP_BENCH_ACTIVE,
			"segment_bytes", (int)PW_TCP_BENCH_SEGMENT_BYTES, "bursts",
			(int)PW_TCP_BENCH_EXCHANGES, "clock_cycles", bench->rig->clock_cycles,
			"memory", memory_json(bench), "groups", group_json(bench)));
	return pw_bench_json_print(json);
}
