/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_strategy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_string_fns.h>

struct row {
	struct pw_strategy strategy;
	const char *help;
};

/*
 * A new strategy is a new row here. Linux has lists of free pages for each CPU too, but in 2014
 * only for order 0: larger blocks went to the buddy allocator each time.
 */
static const struct row table[] = {
	{{"order0", 0, PW_HOME_CACHE, PW_REUSE_NONE},
		"pages of 4 KiB, empty ones in a list of the lcore that emptied them"},
	{{"order3", 3, PW_HOME_BUDDY, PW_REUSE_NONE},
		"pages of 32 KiB, each home to the buddy allocator when it is empty"},
	{{"cached", 3, PW_HOME_CACHE, PW_REUSE_NONE},
		"pages of 32 KiB, empty ones in a list of the lcore that emptied them"},
	{{"reuse", 3, PW_HOME_BUDDY, PW_REUSE_RESET},
		"pages of 32 KiB, used again in place while their lcore is the only holder"},
	{{"flip", 1, PW_HOME_BUDDY, PW_REUSE_FLIP},
		"halves of pages of 8 KiB, the other one next if it is free by then"},
	{{"page_pool", 0, PW_HOME_RING, PW_REUSE_NONE},
		"pages of 4 KiB, empty ones back to the lcore that took them, by a ring"},
};

static const struct row *
find_row(const char *name, size_t len)
{
	for (unsigned i = 0; i < RTE_DIM(table); i++) {
		const char *row_name = table[i].strategy.name;

		if (strlen(row_name) == len && memcmp(row_name, name, len) == 0)
			return &table[i];
	}
	return NULL;
}

int
pw_strategy_parse(const char *text, struct pw_strategy *out)
{
	const struct row *row;
	size_t len;

	if (text == NULL || text[0] == '\0')
		text = PW_STRATEGY_DEFAULT;

	len = strcspn(text, ":");
	row = find_row(text, len);
	if (row == NULL)
		return -EINVAL;

	if (text[len] == '\0') {
		*out = row->strategy;
		return 0;
	}

	/* An order is one digit: orders go from 0 to 9. */
	if (text[len + 1] < '0' || text[len + 1] > '0' + PW_PAGE_ORDER_MAX || text[len + 2] != '\0')
		return -EINVAL;

	*out = row->strategy;
	out->page_order = text[len + 1] - '0';
	rte_strscpy(out->name, text, sizeof(out->name));
	return 0;
}

const char *
pw_strategy_list(char *buf, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < RTE_DIM(table) && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s", i == 0 ? "" : ", ",
			table[i].strategy.name);
	if (used < size)
		snprintf(buf + used, size - used,
			", each with an optional page order from 0 (4 KiB) to %d (2 MiB), as in reuse:0",
			PW_PAGE_ORDER_MAX);
	return buf;
}

const char *
pw_strategy_help(unsigned i, const char **name)
{
	if (i >= RTE_DIM(table))
		return NULL;
	*name = table[i].strategy.name;
	return table[i].help;
}
