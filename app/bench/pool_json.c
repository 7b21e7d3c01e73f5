/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "bench.h"
#include "environment.h"
#include "pool.h"

/* Figures have at least five digits that mean nothing anyhow. */
#define DIGITS 7

static json_t *
samples_json(const struct pw_bench_samples *samples)
{
	struct pw_bench_summary summary = pw_bench_samples_summary(samples);
	json_t *values = json_array();

	for (unsigned i = 0; i < samples->n; i++)
		json_array_append_new(values, json_real(samples->values[i]));
	return json_pack("{s:i, s:f, s:f, s:f, s:o}", "rounds", (int)samples->n, "median_ns",
		summary.median, "q1_ns", summary.q1, "q3_ns", summary.q3, "samples_ns", values);
}

static json_t *
cell_json(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned p,
	unsigned h)
{
	const struct pw_pool_cell *cell = pw_pool_cell(bench, group, p, h);
	json_t *json = json_pack("{s:s, s:s, s:i, s:I}", "pattern", bench->patterns[p]->name,
		"handler", bench->handlers[h].name, "mixed_rounds", (int)cell->mixed, "failed_gets",
		(json_int_t)cell->failed_gets);

	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
		if (cell->ns[r].n > 0)
			json_object_set_new(
				json, pw_bench_regime_name(r), samples_json(&cell->ns[r]));
	if (cell->reason[0] != '\0')
		json_object_set_new(json, "reason", json_string(cell->reason));
	return json;
}

static void
add_section(json_t *sections, const struct pw_pool_bench *bench, const struct pw_pool_group *group,
	bool plain)
{
	json_t *cells = json_array();

	for (unsigned p = 0; p < bench->nb_patterns; p++) {
		if (bench->patterns[p]->plain != plain)
			continue;
		for (unsigned h = 0; h < bench->nb_handlers; h++)
			json_array_append_new(cells, cell_json(bench, group, p, h));
	}
	if (json_array_size(cells) == 0) {
		json_decref(cells);
		return;
	}
	json_array_append_new(sections,
		json_pack("{s:i, s:i, s:s, s:i, s:o}", "pool_buffers", (int)group->size,
			"cache_buffers", plain ? 0 : (int)group->cache, "thread",
			plain ? "plain" : "lcore", "rounds_begun", (int)group->rounds, "cells",
			cells));
}

static json_t *
bench_json(const struct pw_pool_bench *bench)
{
	json_t *sections = json_array();

	for (unsigned g = 0; g < bench->nb_groups; g++) {
		add_section(sections, bench, &bench->groups[g], false);
		if (bench->groups[g].plain)
			add_section(sections, bench, &bench->groups[g], true);
	}
	return json_pack("{s:s, s:s, s:b, s:I, s:i, s:b, s:i, s:i, s:o, s:o}", "experiment", "pool",
		"unit", "ns a buffer", "passed", !bench->failed, "seed",
		(json_int_t)bench->common->seed, "rounds_wanted", (int)bench->common->rounds,
		"short_of_rounds", bench->short_of_rounds, "patterns_left_out_for_one_lcore",
		(int)bench->two_lcores_left_out, "buffer_bytes", (int)PW_POOL_BUFFER_BYTES,
		"environment",
		pw_bench_environment_json(bench->common, bench->probes, bench->mixed), "groups",
		sections);
}

int
pw_pool_print_json(const struct pw_pool_bench *bench)
{
	json_t *json = bench_json(bench);
	int rc = json == NULL
		? -1
		: json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));

	json_decref(json);
	if (rc < 0) {
		pw_bench_error("no JSON: no memory, or the output could not be written");
		return -EIO;
	}
	printf("\n");
	return 0;
}
