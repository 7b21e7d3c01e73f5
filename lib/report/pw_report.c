/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pw_report *
pw_report_create(const char *experiment, const char *title, double confidence_percent,
	double half_width_max_percent)
{
	struct pw_report *report = calloc(1, sizeof(*report));

	if (report == NULL)
		return NULL;
	report->experiment = strdup(experiment);
	report->title = strdup(title);
	report->confidence_percent = confidence_percent;
	report->half_width_max_percent = half_width_max_percent;
	report->environment = json_object();
	report->profiles = json_array();
	if (report->experiment != NULL && report->title != NULL && report->environment != NULL &&
		report->profiles != NULL)
		return report;
	pw_report_free(report);
	return NULL;
}

static void
free_names(char **names, unsigned n)
{
	for (unsigned i = 0; names != NULL && i < n; i++)
		free(names[i]);
	free(names);
}

static void
free_cells(struct pw_report_section *section)
{
	unsigned n = section->nb_rows * section->nb_columns;

	for (unsigned i = 0; section->cells != NULL && i < n; i++)
		for (unsigned m = 0; m < section->nb_metrics; m++)
			pw_samples_free(&section->cells[i].metrics[m]);
	free(section->cells);
}

static void
free_section(struct pw_report_section *section)
{
	free_cells(section);
	free_names(section->rows, section->nb_rows);
	free_names(section->columns, section->nb_columns);
	free(section->title);
	free(section->rows_are);
	free(section);
}

void
pw_report_free(struct pw_report *report)
{
	struct pw_report_section *section, *next;

	if (report == NULL)
		return;
	for (section = report->sections; section != NULL; section = next) {
		next = section->next;
		free_section(section);
	}
	json_decref(report->environment);
	json_decref(report->profiles);
	free(report->experiment);
	free(report->title);
	free(report);
}

static char **
copy_names(char **names, unsigned n)
{
	char **copy = calloc(n + 1, sizeof(*copy));

	for (unsigned i = 0; copy != NULL && i < n; i++) {
		copy[i] = strdup(names[i]);
		if (copy[i] == NULL) {
			free_names(copy, n);
			return NULL;
		}
	}
	return copy;
}

static bool
copy_spec(struct pw_report_section *section, const struct pw_report_section *spec)
{
	*section = *spec;
	section->next = NULL;
	section->title = strdup(spec->title);
	section->rows_are = strdup(spec->rows_are);
	section->rows = copy_names(spec->rows, spec->nb_rows);
	section->columns = copy_names(spec->columns, spec->nb_columns);
	section->cells = calloc(
		(size_t)spec->nb_rows * spec->nb_columns + 1, sizeof(*section->cells));
	return section->title != NULL && section->rows_are != NULL && section->rows != NULL &&
		section->columns != NULL && section->cells != NULL;
}

struct pw_report_section *
pw_report_add_section(struct pw_report *report, const struct pw_report_section *spec)
{
	struct pw_report_section **link = &report->sections, *section;

	if (spec->nb_metrics > PW_REPORT_METRICS_MAX)
		return NULL;
	section = calloc(1, sizeof(*section));
	if (section == NULL)
		return NULL;
	if (!copy_spec(section, spec)) {
		free_section(section);
		return NULL;
	}
	while (*link != NULL)
		link = &(*link)->next;
	*link = section;
	return section;
}

struct pw_report_cell *
pw_report_cell(const struct pw_report_section *section, unsigned row, unsigned column)
{
	return &section->cells[row * section->nb_columns + column];
}

bool
pw_report_is_confident(const struct pw_report *report, const struct pw_samples *samples)
{
	return samples->n > 1 &&
		pw_samples_estimate(samples, report->confidence_percent).half_width_percent <=
		report->half_width_max_percent;
}

double
pw_report_percent(
	const struct pw_report_section *section, unsigned row, unsigned column, unsigned metric)
{
	const struct pw_samples *samples = &pw_report_cell(section, row, column)->metrics[metric];
	const struct pw_samples *base;
	double base_mean;

	if (section->baseline >= section->nb_columns)
		return NAN;
	base = &pw_report_cell(section, row, section->baseline)->metrics[metric];
	base_mean = pw_samples_estimate(base, 50).mean;
	if (samples->n == 0 || base->n == 0 || base_mean == 0)
		return NAN;
	return 100 * pw_samples_estimate(samples, 50).mean / base_mean;
}
