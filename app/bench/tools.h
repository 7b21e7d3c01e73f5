/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TOOLS_H
#define BENCH_TOOLS_H

/** @file The scripts beside pagewheel-bench: the laboratory, plots and pages. */

#include <stdio.h>
#include <sys/types.h>

#define PW_BENCH_TOOL_ARGS_MAX 64

/** A script that runs, and the pipes to and from it. */
struct pw_bench_tool {
	pid_t pid; /**< 0: none */
	FILE *to, *from;
};

/**
 * Start one, in a session of its own, so that Ctrl-C does not reach it.
 *
 * @param name  "lab"
 * @param args  ends with NULL
 * @return 0, or a negative errno after pw_bench_error() has said why
 */
int pw_bench_tool_start(struct pw_bench_tool *tool, const char *name, const char *const *args);

/** Let it end by closing its input, wait for it; its exit code, or 128 and the signal. */
int pw_bench_tool_end(struct pw_bench_tool *tool);

/**
 * Run one to its end, with our output and error output.
 *
 * @param arg  its only argument
 * @return 0, or a negative errno after it, or pw_bench_error(), has said why
 */
int pw_bench_tools_run(const char *name, const char *arg);

/** "--folder=" and the folder that this program lies in; valid for good. */
const char *pw_bench_tools_folder_option(void);

/** Become one, which finds this program's path in PAGEWHEEL_BENCH; returns, with a negative errno,
 * only after pw_bench_error() has said why. */
int pw_bench_tools_become(const char *name, char *const *args);

#endif
