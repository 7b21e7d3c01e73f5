/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "environment.h"
#include "interrupt.h"
#include "tools.h"

/* Figures have at least three digits that mean nothing anyhow. */
#define DIGITS 9

static const struct pw_report_metric only_ns = {
	.key = "ns", .title = "time", .unit = "ns", .digits = 2, .better = PW_REPORT_LESS};

static void
copy_samples(struct pw_samples *to, const struct pw_samples *from)
{
	for (unsigned i = 0; i < from->n; i++)
		pw_samples_add(to, from->values[i]);
}

/* Of the regime that the row shows. */
static void
copy_cell(
	struct pw_report_cell *to, const struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	const struct pw_bench_cell *from = pw_bench_cell(grid, row, column);
	enum pw_bench_regime regime = pw_bench_shown_regime(grid, row);

	snprintf(to->reason, sizeof(to->reason), "%s", from->reason);
	for (unsigned m = 0; regime != PW_BENCH_MIXED && m < pw_bench_metrics(grid); m++)
		copy_samples(&to->metrics[m], &from->samples[regime][m]);
}

static int
add_grid(struct pw_report *report, const struct pw_bench_grid *grid)
{
	const struct pw_report_metric *metrics = grid->metrics == NULL ? &only_ns : grid->metrics;
	char *columns[PW_BENCH_COLUMNS_MAX], *rows[PW_BENCH_ROWS_MAX];
	struct pw_report_section *section,
		spec = {
			.title = (char *)(uintptr_t)grid->title,
			.rows_are = (char *)(uintptr_t)(grid->rows_are ? grid->rows_are
								       : "pattern"),
			.rows = rows,
			.nb_rows = grid->nb_rows,
			.columns = columns,
			.nb_columns = grid->nb_columns,
			.nb_metrics = pw_bench_metrics(grid),
			.baseline = grid->columns[0].side == PW_BENCH_ALONE ? grid->nb_columns
									    : grid->baseline,
		};

	for (unsigned c = 0; c < grid->nb_columns; c++)
		columns[c] = (char *)(uintptr_t)grid->columns[c].name;
	for (unsigned r = 0; r < grid->nb_rows; r++)
		rows[r] = (char *)(uintptr_t)grid->rows[r];
	memcpy(spec.metrics, metrics, spec.nb_metrics * sizeof(*metrics));
	section = pw_report_add_section(report, &spec);
	if (section == NULL)
		return -ENOMEM;
	for (unsigned r = 0; r < grid->nb_rows; r++)
		for (unsigned c = 0; c < grid->nb_columns; c++)
			copy_cell(pw_report_cell(section, r, c), grid, r, c);
	return 0;
}

static json_t *
environment_of(const struct pw_bench_run *run)
{
	json_t *environment = run->environment != NULL
		? json_copy(run->environment)
		: pw_bench_environment_json(run->common, run->probes, run->mixed);
	time_t now = time(NULL);
	char date[32];
	struct tm utc;

	strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
	json_object_set_new(environment, "date", json_string(date));
	return environment;
}

struct pw_report *
pw_bench_result(const struct pw_bench_experiment *experiment, const struct pw_bench_run *run)
{
	struct pw_report *report = pw_report_create(experiment->name, experiment->help,
		run->common->confidence_percent, run->common->half_width_percent);

	if (report == NULL)
		return NULL;
	report->failed = run->failed;
	report->interrupted = pw_bench_interrupted();
	json_object_update_new(report->environment, environment_of(run));
	if (run->profiles != NULL)
		json_array_extend(report->profiles, run->profiles);
	for (unsigned i = 0; i < run->nb_reported; i++)
		if (add_grid(report, run->reported[i]) < 0) {
			pw_report_free(report);
			return NULL;
		}
	return report;
}

/* Texts and numbers; what is nested is for machines. */
static void
print_environment(json_t *environment, FILE *file)
{
	const char *key, *gap = "";
	json_t *value;

	json_object_foreach (environment, key, value) {
		if (json_is_string(value))
			fprintf(file, "%s%s %s", gap, key, json_string_value(value));
		else if (json_is_number(value))
			fprintf(file, "%s%s %.10g", gap, key, json_number_value(value));
		else
			continue;
		gap = "; ";
	}
	fprintf(file, "\n");
}

void
pw_bench_result_print(const struct pw_report *report, FILE *file)
{
	fprintf(file, "%s: %s\n", report->experiment, report->title);
	print_environment(report->environment, file);
	pw_report_write_text(report, file);
}

/* "FOLDER/EXPERIMENT.SUFFIX", for writing; NULL after an error was said. */
static FILE *
open_file(const struct pw_report *report, const char *folder, const char *suffix)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%s", folder, report->experiment, suffix);
	file = fopen(path, "w");
	if (file == NULL)
		pw_bench_error("--out=%s: cannot write %s: %s", folder, path, strerror(errno));
	return file;
}

static int
close_file(FILE *file, const char *folder)
{
	bool failed = ferror(file) != 0;

	if (fclose(file) == 0 && !failed)
		return 0;
	pw_bench_error("--out=%s: the files could not be written", folder);
	return -EIO;
}

static void
write_json(const struct pw_report *report, FILE *file)
{
	json_t *json = pw_report_json(report);

	if (json == NULL ||
		json_dumpf(json, file, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS)) < 0)
		pw_bench_error("no JSON: no memory");
	json_decref(json);
	fputc('\n', file);
}

static void
write_csv(const struct pw_report *report, FILE *file)
{
	pw_report_write_csv(report, file);
}

int
pw_bench_result_write(const struct pw_report *report, const char *folder)
{
	static const struct {
		const char *suffix;
		void (*write)(const struct pw_report *report, FILE *file);
	} kinds[] = {{"json", write_json}, {"csv", write_csv}, {"txt", pw_bench_result_print}};

	if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
		pw_bench_error("--out=%s: cannot make the folder: %s", folder, strerror(errno));
		return -errno;
	}
	for (unsigned i = 0; i < RTE_DIM(kinds); i++) {
		FILE *file = open_file(report, folder, kinds[i].suffix);

		if (file == NULL)
			return -EIO;
		kinds[i].write(report, file);
		if (close_file(file, folder) < 0)
			return -EIO;
	}
	return pw_bench_tools_run("report", folder);
}
