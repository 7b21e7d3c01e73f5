/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef ENGINE_TCP_H
#define ENGINE_TCP_H

/** @file Counters of the engine tcp, summed over its streams. -ENOENT when another engine runs. */

#include <stdbool.h>

struct pw_app;

/** The engine tcp is chosen: its stacks are there. */
bool pw_engine_tcp_runs(const struct pw_app *app);

/** @param stats a struct pw_inet_stats */
int pw_engine_tcp_read_inet(const struct pw_app *app, void *stats);
/** @param stats a struct pw_tcp_stats */
int pw_engine_tcp_read_tcp(const struct pw_app *app, void *stats);

/** When checksums are wrong throughout, say what helps. */
void pw_engine_tcp_print_cure(const struct pw_app *app);

#endif
