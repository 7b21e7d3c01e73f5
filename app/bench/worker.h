/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

/**
 * @file
 * The second lcore. It polls for work, so that it starts at once and its core stays awake.
 *
 * All functions are for the main lcore.
 */

#include <stdbool.h>

/** Work for the second lcore. It must end by itself, whatever the main lcore does. */
typedef void (*pw_bench_work_t)(void *arg);

/**
 * Start it; no error when there is only one lcore.
 *
 * @return 0, or a negative errno: it has said why
 */
int pw_bench_worker_start(void);

/** True when there is a second lcore. */
bool pw_bench_worker_exists(void);

/** Its lcore id, or LCORE_ID_ANY. */
unsigned pw_bench_worker_lcore(void);

/** The first CPU that an lcore may run on; -1: no such lcore. */
int pw_bench_lcore_cpu(unsigned lcore);

/** Give it work; returns at once. */
void pw_bench_worker_begin(pw_bench_work_t work, void *arg);

/** Wait for it. -ETIMEDOUT after a minute: give it no more work then. */
int pw_bench_worker_wait(void);

/** End it; -ETIMEDOUT when it does not. */
int pw_bench_worker_stop(void);

#endif
