/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_REPORT_H
#define PW_REPORT_H

/**
 * @file
 * The results of an experiment: sections of rows, columns and metrics, with every sample; as text,
 * CSV and JSON. docs/report.schema.json describes the JSON.
 *
 * A column is what is compared, as a recycling strategy; a row a setting, as a message size; of
 * each cell one or more metrics are measured, of which the first is the one that decides when there
 * are rounds enough. One thread at a time.
 */

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "pw_samples.h"

#define PW_REPORT_METRICS_MAX 32
#define PW_REPORT_REASON_MAX 256

enum pw_report_better {
	PW_REPORT_NEITHER,
	PW_REPORT_MORE,
	PW_REPORT_LESS,
};

struct pw_report_metric {
	char key[32];	 /**< "cycles_per_byte": in JSON and CSV */
	char title[48];	 /**< "cost" */
	char unit[24];	 /**< "cycles/byte"; "": a count */
	unsigned digits; /**< behind the point, in text */
	enum pw_report_better better;
};

struct pw_report_cell {
	struct pw_samples metrics[PW_REPORT_METRICS_MAX];
	char reason[PW_REPORT_REASON_MAX]; /**< why it is not measured (any more); "": it is */
};

struct pw_report_section {
	char *title;	/**< "flush each burst, headers cold"; "" if it is the only one */
	char *rows_are; /**< "message bytes"; "" if there is one row without a name */
	char **rows, **columns;
	unsigned nb_rows, nb_columns, nb_metrics;
	unsigned baseline; /**< the column that percents are of; nb_columns: none */
	struct pw_report_metric metrics[PW_REPORT_METRICS_MAX];
	struct pw_report_cell *cells; /**< [row][column] */
	struct pw_report_section *next;
};

struct pw_report {
	char *experiment;	       /**< "stream" */
	char *title;		       /**< one line: what was done */
	double confidence_percent;     /**< of half-widths */
	double half_width_max_percent; /**< above it, a figure has a star */
	bool interrupted;	       /**< there are fewer rounds than wanted */
	bool failed;
	json_t *environment; /**< object: what figures depend on beside the code */
	json_t *profiles;    /**< array of {"title", "lines": [text]}: where the time went */
	struct pw_report_section *sections;
};

/**
 * Make one without sections, with an empty environment.
 *
 * @return NULL: no memory
 */
struct pw_report *pw_report_create(const char *experiment, const char *title,
	double confidence_percent, double half_width_max_percent);

/** Free it and all that belongs to it; NULL is allowed. */
void pw_report_free(struct pw_report *report);

/**
 * Add a section behind the others.
 *
 * @param spec  what it is like; names are copied, cells and next are not looked at
 * @return the section, with empty cells; NULL: no memory, or more metrics than there may be
 */
struct pw_report_section *pw_report_add_section(
	struct pw_report *report, const struct pw_report_section *spec);

struct pw_report_cell *pw_report_cell(
	const struct pw_report_section *section, unsigned row, unsigned column);

/** Whether a metric's half-width is within the limit; false with fewer than two samples. */
bool pw_report_is_confident(const struct pw_report *report, const struct pw_samples *samples);

/** A cell's mean in percent of its row's baseline; NAN: there is none, or one of
 * them has no samples, or is 0. */
double pw_report_percent(
	const struct pw_report_section *section, unsigned row, unsigned column, unsigned metric);

/**
 * Write it as text: value, difference to the baseline in percent, star, and the half-width beneath.
 * With fewer rows than metrics each row has a table with the metrics as lines; else the other way
 * round.
 *
 * @return 0, or -EIO
 */
int pw_report_write_text(const struct pw_report *report, FILE *file);

/** Write it as CSV (RFC 4180), a line for each sample. 0, or -EIO. */
int pw_report_write_csv(const struct pw_report *report, FILE *file);

/** The report as JSON, a new reference; NULL: no memory. */
json_t *pw_report_json(const struct pw_report *report);

#endif
