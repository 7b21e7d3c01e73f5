/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "json.h"

#include <errno.h>
#include <stdio.h>

#include "bench.h"
#include "environment.h"

/* Figures have at least five digits that mean nothing anyhow. */
#define DIGITS 7

static json_t *
samples_json(const struct pw_samples *samples)
{
	struct pw_summary summary = pw_samples_summary(samples);
	json_t *values = json_array();

	for (unsigned i = 0; i < samples->n; i++)
		json_array_append_new(values, json_real(samples->values[i]));
	return json_pack("{s:i, s:f, s:f, s:f, s:o}", "rounds", (int)samples->n, "median_ns",
		summary.median, "q1_ns", summary.q1, "q3_ns", summary.q3, "samples_ns", values);
}

json_t *
pw_bench_cell_json(const struct pw_bench_cell *cell)
{
	json_t *json = json_pack("{s:i}", "mixed_rounds", (int)cell->mixed);

	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
		if (cell->samples[r][0].n > 0)
			json_object_set_new(
				json, pw_bench_regime_name(r), samples_json(&cell->samples[r][0]));
	if (cell->reason[0] != '\0')
		json_object_set_new(json, "reason", json_string(cell->reason));
	return json;
}

json_t *
pw_bench_run_json(const struct pw_bench_run *run, const char *experiment, const char *unit)
{
	return json_pack("{s:s, s:s, s:b, s:I, s:i, s:b, s:o}", "experiment", experiment, "unit",
		unit, "passed", !run->failed, "seed", (json_int_t)run->common->seed,
		"rounds_wanted", (int)run->common->rounds, "short_of_rounds", run->short_of_rounds,
		"environment", pw_bench_environment_json(run->common, run->probes, run->mixed));
}

int
pw_bench_json_print(json_t *json)
{
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
