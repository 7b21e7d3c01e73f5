/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "strategies.h"

#include <stdio.h>

int
pw_bench_parse_strategies(void *values, const struct pw_bench_option *option, char *value)
{
	const struct pw_bench_list *list = (void *)((char *)values + option->offset);
	struct pw_strategy strategy;
	char expected[256];
	int rc = pw_bench_parse_list(values, option, value);

	for (unsigned i = 0; rc == 0 && i < list->n; i++)
		if (pw_strategy_parse(list->items[i], &strategy) < 0)
			rc = pw_bench_wrong_value(option, list->items[i],
				pw_strategy_list(expected, sizeof(expected)));
	return rc;
}

unsigned
pw_bench_strategy_columns(const struct pw_bench_list *list, struct pw_bench_column *columns,
	struct pw_strategy *strategies)
{
	static const struct pw_bench_list preset = {
		6, {"order0", "order3", "cached", "reuse", "flip", "page_pool"}};

	if (list->n == 0)
		list = &preset;
	for (unsigned i = 0; i < list->n; i++) {
		columns[i] = (struct pw_bench_column){.side = PW_BENCH_OURS};
		snprintf(columns[i].name, sizeof(columns[i].name), "%s", list->items[i]);
		pw_strategy_parse(list->items[i], &strategies[i]);
	}
	return list->n;
}
