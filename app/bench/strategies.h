/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_STRATEGIES_H
#define BENCH_STRATEGIES_H

/** @file Recycling strategies as columns. */

#include "grid.h"
#include "options.h"
#include "pw_strategy.h"

/** pw_bench_parse_list() of strategies, each with an optional page order. */
int pw_bench_parse_strategies(void *values, const struct pw_bench_option *option, char *value);

/**
 * Make a column of each.
 *
 * @param list  names that pw_bench_parse_strategies() took; none: those of 2014, and others
 * @param strategies  written as well, of the columns
 * @return how many there are
 */
unsigned pw_bench_strategy_columns(const struct pw_bench_list *list,
	struct pw_bench_column *columns, struct pw_strategy *strategies);

#endif
