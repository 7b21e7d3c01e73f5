/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef ENGINE_GRO_H
#define ENGINE_GRO_H

/** @file Counters of the engine gro, summed over its streams. -ENOENT when another engine runs. */

struct pw_app;

/** @param stats a struct pw_gso_stats */
int pw_engine_gro_read_gso(const struct pw_app *app, void *stats);

#endif
