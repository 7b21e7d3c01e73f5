/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef STATS_H
#define STATS_H

/**
 * @file
 * Groups of counters: one description serves "show", and telemetry as /pagewheel/NAME.
 *
 * A group is a struct of uint64_t, read by a function.
 */

#include "pw_stat.h"

struct pw_app;
struct pw_stream;

#define PW_STATS_MAX_BYTES 1024

struct pw_stats_group {
	const char *name;
	const char *help;
	const struct pw_stat *stats; /**< ends as pw_stat.h says */
	const char *absent;	     /**< what to say when there are no such counters */
	/** Fill the struct, of at most PW_STATS_MAX_BYTES. Returns 0 or a negative errno. */
	int (*read)(const struct pw_app *app, void *stats);
	/** Print what follows from the counters. May be NULL. */
	void (*print_more)(const struct pw_app *app, const void *stats);
};

/**
 * Add up structs of uint64_t, of a stream each: some tell what there is now, which adds up too.
 */
void pw_stats_add(void *sums, const void *one, size_t bytes);

/** The same for all streams: read() fills one of so many bytes, at most PW_STATS_MAX_BYTES. */
void pw_stats_sum_streams(const struct pw_app *app, void *sums, size_t bytes,
	void (*read)(const struct pw_app *app, const struct pw_stream *stream, void *stats));

/** Find a group, or NULL. */
const struct pw_stats_group *pw_stats_find(const char *name);

/** Read and print a group. Returns 0, or -ENOENT when the mode has no such stage. */
int pw_stats_show(const struct pw_app *app, const struct pw_stats_group *group);

/** Serve all groups by telemetry. */
void pw_stats_telemetry_start(const struct pw_app *app);

/** Answer no more until it is resumed: what the groups read is about to go or to change. */
void pw_stats_telemetry_pause(void);
void pw_stats_telemetry_resume(const struct pw_app *app);

#endif
