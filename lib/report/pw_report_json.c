/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <math.h>

#include "pw_report.h"

/* JSON has no infinity and no NaN. */
static json_t *
number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
values_json(const struct pw_samples *samples)
{
	json_t *values = json_array();

	for (unsigned i = 0; i < samples->n; i++)
		json_array_append_new(values, number_or_null(samples->values[i]));
	return values;
}

static json_t *
figure_json(const struct pw_report *report, const struct pw_report_section *section, unsigned row,
	unsigned column, unsigned metric)
{
	const struct pw_samples *samples = &pw_report_cell(section, row, column)->metrics[metric];
	struct pw_estimate estimate = pw_samples_estimate(samples, report->confidence_percent);
	struct pw_summary summary = pw_samples_summary(samples);

	return json_pack("{s:i, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "n", (int)samples->n,
		"mean", number_or_null(estimate.mean), "half_width",
		number_or_null(estimate.half_width), "half_width_percent",
		number_or_null(estimate.half_width_percent), "confident",
		pw_report_is_confident(report, samples), "percent_of_baseline",
		number_or_null(pw_report_percent(section, row, column, metric)), "median",
		number_or_null(summary.median), "q1", number_or_null(summary.q1), "q3",
		number_or_null(summary.q3), "samples", values_json(samples));
}

static json_t *
cell_json(const struct pw_report *report, const struct pw_report_section *section, unsigned row,
	unsigned column)
{
	const struct pw_report_cell *cell = pw_report_cell(section, row, column);
	json_t *figures = json_object();

	for (unsigned m = 0; m < section->nb_metrics; m++)
		if (cell->metrics[m].n > 0)
			json_object_set_new(figures, section->metrics[m].key,
				figure_json(report, section, row, column, m));
	return json_pack("{s:s, s:s, s:s, s:o}", "row", section->rows[row], "column",
		section->columns[column], "reason", cell->reason, "metrics", figures);
}

static json_t *
metrics_json(const struct pw_report_section *section)
{
	static const char *const better[] = {"neither", "more", "less"};
	json_t *metrics = json_array();

	for (unsigned m = 0; m < section->nb_metrics; m++) {
		const struct pw_report_metric *metric = &section->metrics[m];

		json_array_append_new(metrics,
			json_pack("{s:s, s:s, s:s, s:i, s:s}", "key", metric->key, "title",
				metric->title, "unit", metric->unit, "digits", (int)metric->digits,
				"better", better[metric->better]));
	}
	return metrics;
}

static json_t *
names_json(char *const *names, unsigned n)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(array, json_string(names[i]));
	return array;
}

static json_t *
section_json(const struct pw_report *report, const struct pw_report_section *section)
{
	json_t *cells = json_array();

	for (unsigned r = 0; r < section->nb_rows; r++)
		for (unsigned c = 0; c < section->nb_columns; c++)
			json_array_append_new(cells, cell_json(report, section, r, c));
	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:o}", "title", section->title, "rows_are",
		section->rows_are, "rows", names_json(section->rows, section->nb_rows), "columns",
		names_json(section->columns, section->nb_columns), "baseline",
		section->baseline < section->nb_columns ? section->columns[section->baseline] : "",
		"metrics", metrics_json(section), "cells", cells);
}

json_t *
pw_report_json(const struct pw_report *report)
{
	const struct pw_report_section *section;
	json_t *sections = json_array();

	for (section = report->sections; section != NULL; section = section->next)
		json_array_append_new(sections, section_json(report, section));
	return json_pack("{s:s, s:s, s:s, s:f, s:f, s:b, s:b, s:O, s:O, s:o}", "format",
		"pagewheel-report-1", "experiment", report->experiment, "title", report->title,
		"confidence_percent", report->confidence_percent, "half_width_max_percent",
		report->half_width_max_percent, "interrupted", report->interrupted, "failed",
		report->failed, "environment", report->environment, "profiles", report->profiles,
		"sections", sections);
}
