/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

/** @file JSON of what all experiments have. */

#include <jansson.h>

#include "run.h"

/** What is known of a cell, every sample too; a new reference. */
json_t *pw_bench_cell_json(const struct pw_bench_cell *cell);

/** What is known of a run, but for its grids; a new reference. */
json_t *pw_bench_run_json(const struct pw_bench_run *run, const char *experiment, const char *unit);

/**
 * Print and free it.
 *
 * @param json  NULL: there was no memory for it
 * @return 0, or -EIO: it has said why
 */
int pw_bench_json_print(json_t *json);

#endif
