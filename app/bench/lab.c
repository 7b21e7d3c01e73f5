/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "lab.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "interrupt.h"
#include "progress.h"
#include "run.h"
#include "tools.h"

/* What the lab is started with: the experiment, and its options. */
static const char *lab_args[PW_BENCH_TOOL_ARGS_MAX + 1];

struct lab_bench {
	struct pw_bench_run run;
	struct pw_bench_tool tool;
	json_t *hello; /* names belong to it */
	struct pw_bench_grid grid;
	struct pw_bench_column columns[PW_BENCH_COLUMNS_MAX];
	struct pw_report_metric metrics[PW_REPORT_METRICS_MAX];
};

int
pw_bench_lab_options(const struct pw_bench_experiment *experiment, int argc, char **argv,
	struct pw_bench_common *common)
{
	char *common_args[PW_BENCH_TOOL_ARGS_MAX + 1] = {argv[0]};
	unsigned nb_common = 1, n = 0;

	lab_args[n++] = experiment->name;
	for (int i = 1; i < argc; i++) {
		if (nb_common == PW_BENCH_TOOL_ARGS_MAX || n + 2 == PW_BENCH_TOOL_ARGS_MAX) {
			pw_bench_error("%d arguments: expected at most %d", argc - 1,
				PW_BENCH_TOOL_ARGS_MAX - 3);
			return -E2BIG;
		}
		if (pw_bench_is_common_option(argv[i]))
			common_args[nb_common++] = argv[i];
		else
			lab_args[n++] = argv[i];
	}
	if (pw_bench_options_parse(NULL, NULL, common, true, nb_common, common_args) < 0)
		return -EINVAL;
	if (common->quick)
		lab_args[n++] = "--quick";
	lab_args[n++] = pw_bench_tools_folder_option();
	return 0;
}

int
pw_bench_lab_usage(const struct pw_bench_experiment *experiment)
{
	char *const args[] = {
		(char *)(uintptr_t)experiment->name, (char *)(uintptr_t) "--help", NULL};

	fflush(stdout);
	return pw_bench_tools_become("lab", args);
}

/* What the lab says next, but for progress, which is shown; NULL after an error was said. */
static json_t *
hear(struct lab_bench *bench)
{
	char *line = NULL;
	size_t room = 0;
	json_t *json = NULL;

	while (json == NULL && getline(&line, &room, bench->tool.from) > 0) {
		const char *progress = NULL;

		json = json_loads(line, 0, NULL);
		if (json_unpack(json, "{s:s}", "progress", &progress) == 0) {
			pw_bench_progress("%s", progress);
			json_decref(json);
			json = NULL;
		}
	}
	free(line);
	return json;
}

static int
read_metric(struct pw_report_metric *metric, json_t *json)
{
	const char *key, *title, *unit, *better;
	int digits;

	if (json_unpack(json, "{s:s, s:s, s:s, s:i, s:s}", "key", &key, "title", &title, "unit",
		    &unit, "digits", &digits, "better", &better) < 0)
		return -EINVAL;
	snprintf(metric->key, sizeof(metric->key), "%s", key);
	snprintf(metric->title, sizeof(metric->title), "%s", title);
	snprintf(metric->unit, sizeof(metric->unit), "%s", unit);
	metric->digits = digits;
	metric->better = strcmp(better, "more") == 0 ? PW_REPORT_MORE
		: strcmp(better, "less") == 0	     ? PW_REPORT_LESS
						     : PW_REPORT_NEITHER;
	return 0;
}

static unsigned
read_names(json_t *array, const char **names, unsigned max)
{
	unsigned n = RTE_MIN(json_array_size(array), max);

	for (unsigned i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(array, i));

		names[i] = name == NULL ? "?" : name;
	}
	return n;
}

static int
read_hello(struct lab_bench *bench)
{
	json_t *metrics = json_object_get(bench->hello, "metrics");
	struct pw_bench_grid *grid = &bench->grid;
	const char *columns[PW_BENCH_COLUMNS_MAX] = {0}, *title = NULL, *rows_are = NULL;

	if (json_unpack(bench->hello, "{s:s, s:s}", "title", &title, "rows_are", &rows_are) < 0)
		return -EINVAL;
	snprintf(grid->title, sizeof(grid->title), "%s", title);
	grid->rows_are = rows_are;
	grid->nb_rows = read_names(
		json_object_get(bench->hello, "rows"), grid->rows, PW_BENCH_ROWS_MAX);
	grid->nb_columns = read_names(
		json_object_get(bench->hello, "columns"), columns, PW_BENCH_COLUMNS_MAX);
	for (unsigned c = 0; c < grid->nb_columns; c++)
		snprintf(bench->columns[c].name, sizeof(bench->columns[c].name), "%s", columns[c]);
	grid->columns = bench->columns;
	grid->metrics = bench->metrics;
	grid->nb_metrics = json_array_size(metrics);
	for (size_t i = 0; i < grid->nb_metrics; i++)
		if (i == PW_REPORT_METRICS_MAX ||
			read_metric(&bench->metrics[i], json_array_get(metrics, i)) < 0)
			return -EINVAL;
	bench->run.environment = json_incref(json_object_get(bench->hello, "environment"));
	json_object_set_new(bench->run.environment, "dpdk", json_string(rte_version()));
	return grid->nb_metrics == 0 ? -EINVAL : pw_bench_grid_open(grid);
}

/* Python has said why, unless it was us. */
static int
lab_is_mute(void)
{
	if (pw_bench_interrupted()) {
		pw_bench_error("interrupted");
		return -EINTR;
	}
	pw_bench_error("the laboratory does not start");
	return -EIO;
}

static int
open_lab(void *ctx)
{
	struct lab_bench *bench = ctx;
	const char *error = NULL;

	if (pw_bench_tool_start(&bench->tool, "lab", lab_args) < 0)
		return -EIO;
	bench->hello = hear(bench);
	if (bench->hello == NULL)
		return lab_is_mute();
	if (json_unpack(bench->hello, "{s:s}", "error", &error) == 0) {
		pw_bench_error("%s", error);
		return -EINVAL;
	}
	if (read_hello(bench) < 0) {
		pw_bench_error("the lab does not say what there is to measure");
		return -EIO;
	}
	return 1;
}

static void
ask(struct lab_bench *bench, unsigned row, unsigned column)
{
	const struct pw_bench_grid *grid = &bench->grid;

	fprintf(bench->tool.to, "{\"row\": %u, \"column\": %u, \"round\": %u, \"warm_up\": %s}\n",
		row, column, grid->rounds + 1, bench->run.warming_up ? "true" : "false");
	fflush(bench->tool.to);
}

static void
record(struct lab_bench *bench, struct pw_bench_cell *cell, json_t *answer)
{
	json_t *values = json_object_get(answer, "values");
	struct pw_bench_timing timing = {0};

	json_object_update(bench->run.environment, json_object_get(answer, "environment"));

	for (unsigned m = 0; m < bench->grid.nb_metrics; m++) {
		json_t *value = json_object_get(values, bench->metrics[m].key);
		double number = json_is_number(value) ? json_number_value(value) : NAN;

		*(m == 0 ? &timing.value : &timing.more[m - 1]) = number;
	}
	pw_bench_run_record(&bench->run, &bench->grid, cell, &timing);
}

/* Without the lab nothing more is measured; when we were interrupted, that is why. */
static void
lab_is_gone(struct lab_bench *bench, unsigned row, unsigned column)
{
	for (unsigned r = 0; r < bench->grid.nb_rows; r++)
		pw_bench_run_fail(&bench->run, &bench->grid, r, column, "the lab has ended",
			r == row && !pw_bench_interrupted());
}

static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	struct lab_bench *bench = ctx;
	const char *error = NULL;
	json_t *answer;

	ask(bench, row, column);
	answer = hear(bench);
	if (answer == NULL && pw_bench_interrupted())
		return;
	if (answer == NULL)
		lab_is_gone(bench, row, column);
	else if (json_unpack(answer, "{s:s}", "error", &error) == 0)
		pw_bench_run_fail(&bench->run, grid, row, column, error, true);
	else
		record(bench, pw_bench_cell(grid, row, column), answer);
	json_decref(answer);
}

static void
run_lab(void *ctx, unsigned i)
{
	struct lab_bench *bench = ctx;

	(void)i;
	pw_bench_run_rounds(&bench->run, &bench->grid, measure_cell, bench);
}

/* When its input ends it takes down what it has set up, also in the middle of a measurement. */
static void
close_lab(void *ctx)
{
	struct lab_bench *bench = ctx;

	pw_bench_tool_end(&bench->tool);
	pw_bench_grid_close(&bench->grid);
	json_decref(bench->hello);
}

#define LAB(symbol, experiment_name, experiment_help)    \
	const struct pw_bench_experiment symbol = {      \
		.name = experiment_name,                 \
		.help = experiment_help,                 \
		.is_lab = true,                          \
		.seconds = true,                         \
		.bench_bytes = sizeof(struct lab_bench), \
		.open = open_lab,                        \
		.run_group = run_lab,                    \
		.close = close_lab,                      \
	}

LAB(pw_bench_stream, "stream", "TCP received by pagewheel: what each recycling strategy costs");
LAB(pw_bench_udp, "udp", "UDP received by pagewheel, where reuse cannot help, and must not cost");
LAB(pw_bench_forward, "forward",
	"packets from port to port, where reuse cannot help, and must not cost");
LAB(pw_bench_udp_stream_on, "udp_stream",
	"messages of 65507 bytes over MTU 9000, in IP fragments, from port to port");
LAB(pw_bench_sizes_on, "sizes", "TCP_STREAM for message sizes, from port to port");
LAB(pw_bench_rr, "rr", "requests and replies over TCP and UDP: transactions a second, latencies");
LAB(pw_bench_throughput, "throughput", "the highest rate without loss, as RFC 2544 defines it");
