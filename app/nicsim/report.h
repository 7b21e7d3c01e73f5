/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_REPORT_H
#define NICSIM_REPORT_H

/** @file What all parts of the model counted, and what a frame cost it. */

#include <stdio.h>

#include <jansson.h>

#include "sim.h"

/** All of it; a new reference, or NULL without memory. */
json_t *report_json(const struct sim *sim);

/** Counters that are not 0, for people. */
void report_print(FILE *out, const struct sim *sim);

/** Write it where --json said. @return 0, or -EIO after an error was printed */
int report_write(const struct sim *sim);

#endif
