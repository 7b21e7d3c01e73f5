/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_stat.h"

#include <inttypes.h>
#include <string.h>

uint64_t
pw_stat_value(const struct pw_stat *stat, const void *stats)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + stat->offset, sizeof(value));
	return value;
}

void
pw_stat_print(FILE *out, const struct pw_stat *table, const void *stats)
{
	for (; table->name != NULL; table++)
		fprintf(out, "  %s: %" PRIu64 " %s\n", table->name, pw_stat_value(table, stats),
			table->unit);
}
