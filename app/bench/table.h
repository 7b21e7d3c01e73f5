/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

/** @file A table of text: the first column left-aligned, the others right-aligned. */

#include <rte_common.h>

struct pw_bench_table;

/** NULL: no memory. */
struct pw_bench_table *pw_bench_table_create(unsigned columns);

/** The next cell of the row, or the first one of the next row. UTF-8. */
__rte_format_printf(2, 3) void pw_bench_table_add(
	struct pw_bench_table *table, const char *format, ...);

/** Print and free it. */
void pw_bench_table_print(struct pw_bench_table *table);

#endif
