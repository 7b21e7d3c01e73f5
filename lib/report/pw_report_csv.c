/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <string.h>

#include "pw_report.h"

/* RFC 4180, 2.5 to 2.7: quoted where it must be, quotes doubled. */
static void
write_field(FILE *file, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void
write_samples(FILE *file, const struct pw_report *report, const struct pw_report_section *section,
	unsigned row, unsigned column, unsigned metric)
{
	const struct pw_samples *samples = &pw_report_cell(section, row, column)->metrics[metric];
	const char *const fields[] = {report->experiment, section->title, section->rows[row],
		section->columns[column], section->metrics[metric].key,
		section->metrics[metric].unit};

	for (unsigned i = 0; i < samples->n; i++) {
		for (unsigned f = 0; f < sizeof(fields) / sizeof(*fields); f++) {
			write_field(file, fields[f]);
			fputc(',', file);
		}
		fprintf(file, "%u,%.9g\r\n", i + 1, samples->values[i]);
	}
}

int
pw_report_write_csv(const struct pw_report *report, FILE *file)
{
	const struct pw_report_section *s;

	fputs("experiment,section,row,column,metric,unit,sample,value\r\n", file);
	for (s = report->sections; s != NULL; s = s->next)
		for (unsigned r = 0; r < s->nb_rows; r++)
			for (unsigned c = 0; c < s->nb_columns; c++)
				for (unsigned m = 0; m < s->nb_metrics; m++)
					write_samples(file, report, s, r, c, m);
	return ferror(file) ? -EIO : 0;
}
