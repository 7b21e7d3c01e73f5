/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

/** @file What a run has measured, as a report, and its files. */

#include "bench.h"
#include "pw_report.h"
#include "run.h"

/** The report of a run, with all of its grids; NULL: no memory. */
struct pw_report *pw_bench_result(
	const struct pw_bench_experiment *experiment, const struct pw_bench_run *run);

/** Print title, environment and figures of a report. */
void pw_bench_result_print(const struct pw_report *report, FILE *file);

/**
 * Write a report into a folder, which is made if it is not there: NAME.json, NAME.csv, NAME.txt,
 * and plots and index.html of all that is in the folder.
 *
 * @return 0, or a negative errno after pw_bench_error() has said why
 */
int pw_bench_result_write(const struct pw_report *report, const char *folder);

#endif
