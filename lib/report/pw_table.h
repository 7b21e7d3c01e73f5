/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TABLE_H
#define PW_TABLE_H

/** @file A table of text: the first column left-aligned, the others right-aligned. */

#include <stdio.h>

#include <rte_common.h>

struct pw_table;

/** NULL: no memory. */
struct pw_table *pw_table_create(unsigned columns);

/** The next cell of the row, or the first one of the next row. UTF-8. */
__rte_format_printf(2, 3) void pw_table_add(struct pw_table *table, const char *format, ...);

/** Print it into a file, and free it. */
void pw_table_print(struct pw_table *table, FILE *file);

#endif
