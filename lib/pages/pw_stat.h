/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STAT_H
#define PW_STAT_H

/**
 * @file
 * Names and units of counters: one description of a struct of uint64_t serves all who show it.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One counter. A table of them ends with a row of which the name is NULL. */
struct pw_stat {
	const char *name;
	const char *unit;
	size_t offset; /**< in the struct */
};

/* clang-format off */
/** A row for a field of struct group. */
#define PW_STAT(group, field, unit) {#field, unit, offsetof(struct group, field)}
/** The same under another name. */
#define PW_STAT_AS(name, group, field, unit) {name, unit, offsetof(struct group, field)}
#define PW_STAT_END {NULL, NULL, 0}
/* clang-format on */

/** Value of a counter. */
uint64_t pw_stat_value(const struct pw_stat *stat, const void *stats);

/** Print each counter as "  name: value unit". */
void pw_stat_print(FILE *out, const struct pw_stat *table, const void *stats);

struct rte_tel_data;

/** Add each counter to a telemetry dictionary that was begun. */
void pw_stat_add_to_dict(struct rte_tel_data *dict, const struct pw_stat *table, const void *stats);

#ifdef __cplusplus
}
#endif

#endif
