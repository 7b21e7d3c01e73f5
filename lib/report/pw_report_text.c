/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "pw_report.h"
#include "pw_table.h"

static const struct pw_samples *
samples_of(const struct pw_report_section *section, unsigned row, unsigned column, unsigned metric)
{
	return &pw_report_cell(section, row, column)->metrics[metric];
}

/* Value, difference to the baseline, star. */
static void
add_value(struct pw_table *table, const struct pw_report *report,
	const struct pw_report_section *section, unsigned row, unsigned column, unsigned metric)
{
	const struct pw_samples *samples = samples_of(section, row, column, metric);
	double percent = pw_report_percent(section, row, column, metric);
	const char *star = pw_report_is_confident(report, samples) ? " " : "*";
	struct pw_estimate estimate = pw_samples_estimate(samples, report->confidence_percent);
	int digits = section->metrics[metric].digits;

	if (samples->n == 0)
		pw_table_add(table, "- ");
	else if (column == section->baseline || isnan(percent))
		pw_table_add(table, "%.*f%s", digits, estimate.mean, star);
	else
		pw_table_add(table, "%.*f  %+.1f %%%s", digits, estimate.mean, percent - 100, star);
}

static void
add_half_width(
	struct pw_table *table, const struct pw_report *report, const struct pw_samples *samples)
{
	struct pw_estimate estimate = pw_samples_estimate(samples, report->confidence_percent);

	if (samples->n < 2)
		pw_table_add(table, " ");
	else if (isinf(estimate.half_width_percent))
		pw_table_add(table, "±%.3g ", estimate.half_width);
	else
		pw_table_add(table, "±%.1f %% ", estimate.half_width_percent);
}

/* Counts are mostly the same each time. */
static bool
has_spread(const struct pw_report_section *section, unsigned row, unsigned metric)
{
	for (unsigned c = 0; c < section->nb_columns; c++) {
		const struct pw_samples *samples = samples_of(section, row, c, metric);

		for (unsigned i = 1; i < samples->n; i++)
			if (samples->values[i] != samples->values[0])
				return true;
	}
	return false;
}

/* Columns that are printed beside each other; more of them get a table of their own. */
#define ACROSS 6

struct columns {
	unsigned first, end;
};

/* A line of values, and one of half-widths beneath. */
static void
add_lines(struct pw_table *table, const struct pw_report *report,
	const struct pw_report_section *section, struct columns columns, const char *name,
	unsigned row, unsigned metric)
{
	pw_table_add(table, "%s", name);
	for (unsigned c = columns.first; c < columns.end; c++)
		add_value(table, report, section, row, c, metric);
	if (!has_spread(section, row, metric))
		return;
	pw_table_add(table, " ");
	for (unsigned c = columns.first; c < columns.end; c++)
		add_half_width(table, report, samples_of(section, row, c, metric));
}

static struct pw_table *
begin_table(const struct pw_report_section *section, struct columns columns, const char *first)
{
	struct pw_table *table = pw_table_create(1 + columns.end - columns.first);

	if (table == NULL)
		return NULL;
	pw_table_add(table, "%s", first);
	for (unsigned c = columns.first; c < columns.end; c++)
		pw_table_add(table, "%s ", section->columns[c]);
	return table;
}

static void
metric_name(const struct pw_report_metric *metric, char *name, size_t size)
{
	if (metric->unit[0] == '\0')
		snprintf(name, size, "%s", metric->title);
	else
		snprintf(name, size, "%s [%s]", metric->title, metric->unit);
}

/* Nobody has measured it in this place. */
static bool
is_empty(const struct pw_report_section *section, unsigned metric)
{
	for (unsigned r = 0; r < section->nb_rows; r++)
		for (unsigned c = 0; c < section->nb_columns; c++)
			if (samples_of(section, r, c, metric)->n > 0)
				return false;
	return true;
}

/* Of one row, the metrics as lines. */
static void
write_metrics(const struct pw_report *report, const struct pw_report_section *section,
	struct columns columns, unsigned row, FILE *file)
{
	struct pw_table *table = begin_table(section, columns, section->rows[row]);
	char name[80];

	if (table == NULL)
		return;
	for (unsigned m = 0; m < section->nb_metrics; m++) {
		if (m > 0 && is_empty(section, m))
			continue;
		metric_name(&section->metrics[m], name, sizeof(name));
		add_lines(table, report, section, columns, name, row, m);
	}
	pw_table_print(table, file);
}

static void
write_rows(const struct pw_report *report, const struct pw_report_section *section,
	struct columns columns, unsigned metric, FILE *file)
{
	struct pw_table *table = begin_table(section, columns, section->rows_are);
	char name[80];

	if (table == NULL)
		return;
	metric_name(&section->metrics[metric], name, sizeof(name));
	fprintf(file, "%s\n\n", name);
	for (unsigned r = 0; r < section->nb_rows; r++)
		add_lines(table, report, section, columns, section->rows[r], r, metric);
	pw_table_print(table, file);
}

/* Whatever there is less of, rows or metrics, has a table each. */
static void
write_tables(const struct pw_report *report, const struct pw_report_section *section, FILE *file)
{
	bool by_row = section->nb_rows < section->nb_metrics;
	const char *gap = "";

	for (unsigned i = 0; i < (by_row ? section->nb_rows : section->nb_metrics); i++)
		for (struct columns c = {0, 0}; c.end < section->nb_columns; c.first = c.end) {
			c.end = RTE_MIN(c.first + ACROSS, section->nb_columns);
			if (!by_row && i > 0 && is_empty(section, i))
				continue;
			fprintf(file, "%s", gap);
			gap = "\n";
			if (by_row)
				write_metrics(report, section, c, i, file);
			else
				write_rows(report, section, c, i, file);
		}
}

/* A reason that several cells share is said once. */
static bool
is_said(const struct pw_report_section *section, unsigned cell)
{
	for (unsigned i = 0; i < cell; i++)
		if (strcmp(section->cells[i].reason, section->cells[cell].reason) == 0)
			return true;
	return false;
}

static void
write_reasons(const struct pw_report_section *section, FILE *file)
{
	for (unsigned i = 0; i < section->nb_rows * section->nb_columns; i++)
		if (section->cells[i].reason[0] != '\0' && !is_said(section, i))
			fprintf(file, "- %s%s%s: %s\n", section->columns[i % section->nb_columns],
				section->nb_rows > 1 ? ", " : "",
				section->nb_rows > 1 ? section->rows[i / section->nb_columns] : "",
				section->cells[i].reason);
}

static void
write_section(const struct pw_report *report, const struct pw_report_section *section, FILE *file)
{
	fprintf(file, "\n");
	if (section->title[0] != '\0')
		fprintf(file, "%s\n\n", section->title);
	write_tables(report, section, file);
	write_reasons(section, file);
}

static void
write_profiles(const struct pw_report *report, FILE *file)
{
	json_t *profile, *line;
	size_t p, l;

	json_array_foreach (report->profiles, p, profile) {
		fprintf(file, "\n%s\n", json_string_value(json_object_get(profile, "title")));
		json_array_foreach (json_object_get(profile, "lines"), l, line)
			fprintf(file, "  %s\n", json_string_value(line));
	}
}

static void
write_legend(const struct pw_report *report, FILE *file)
{
	const struct pw_report_section *first = report->sections;

	fprintf(file,
		"\n±: half-width at %g %% confidence, in percent of the value; *: it is above %g %%",
		report->confidence_percent, report->half_width_max_percent);
	if (first != NULL && first->baseline < first->nb_columns)
		fprintf(file, "; + and -: against %s", first->columns[first->baseline]);
	fprintf(file, "\n");
}

int
pw_report_write_text(const struct pw_report *report, FILE *file)
{
	const struct pw_report_section *section;

	for (section = report->sections; section != NULL; section = section->next)
		write_section(report, section, file);
	write_profiles(report, file);
	write_legend(report, file);
	if (report->interrupted)
		fprintf(file, "Interrupted: there are fewer rounds than wanted\n");
	return ferror(file) ? -EIO : 0;
}
