/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CELL_BYTES 64
#define GAP 2

struct pw_table {
	unsigned columns, n, room;
	char (*cells)[CELL_BYTES];
};

struct pw_table *
pw_table_create(unsigned columns)
{
	struct pw_table *table = calloc(1, sizeof(*table));

	if (table != NULL)
		table->columns = columns;
	return table;
}

void
pw_table_add(struct pw_table *table, const char *format, ...)
{
	va_list args;

	if (table->n == table->room) {
		unsigned room = table->room == 0 ? 64 : 2 * table->room;
		void *cells = realloc(table->cells, (size_t)room * CELL_BYTES);

		if (cells == NULL)
			return;
		table->cells = cells;
		table->room = room;
	}
	va_start(args, format);
	vsnprintf(table->cells[table->n++], CELL_BYTES, format, args);
	va_end(args);
}

/* Characters, not bytes. */
static int
width(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static int
column_width(const struct pw_table *table, unsigned column)
{
	int widest = 0;

	for (unsigned i = column; i < table->n; i += table->columns)
		if (width(table->cells[i]) > widest)
			widest = width(table->cells[i]);
	return widest;
}

void
pw_table_print(struct pw_table *table, FILE *file)
{
	for (unsigned i = 0; i < table->n; i++) {
		unsigned column = i % table->columns;
		int fill = column_width(table, column) - width(table->cells[i]);

		if (column == 0)
			fprintf(file, "%s%*s", table->cells[i], fill, "");
		else
			fprintf(file, "%*s%s", fill + GAP, "", table->cells[i]);
		if (column == table->columns - 1)
			fprintf(file, "\n");
	}
	free(table->cells);
	free(table);
}
