/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_stat.h"

#include <rte_telemetry.h>

#include "pw_compat.h"

void
pw_stat_add_to_dict(struct rte_tel_data *dict, const struct pw_stat *table, const void *stats)
{
	for (; table->name != NULL; table++)
		rte_tel_data_add_dict_uint(dict, table->name, pw_stat_value(table, stats));
}
