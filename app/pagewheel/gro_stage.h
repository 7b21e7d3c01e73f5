/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef GRO_STAGE_H
#define GRO_STAGE_H

/**
 * @file
 * GRO as a stage of an engine: what it merges and when it lets packets go, as the options and the
 * commands "set gro" say.
 */

#include <stddef.h>
#include <stdint.h>

#include "pw_gro.h"

struct pw_app;
struct pw_options;

#define PW_GRO_FLUSH_MAX 64 /* bursts */
#define PW_GRO_TIMEOUT_US_MAX 1000000

struct pw_gro_stage {
	struct pw_gro *gro;
	const struct pw_options *options;
	uint32_t types;	 /**< what it merges: PW_GRO_* */
	uint32_t bursts; /**< since it was flushed by their number */
};

/**
 * @param params  what the engine chooses; where to allocate and how many flows is filled in
 * @return 0 or a negative errno
 */
int pw_gro_stage_open(
	struct pw_gro_stage *stage, const struct pw_app *app, struct pw_gro_params *params);

/** Free it and the packets it holds. One that was not opened is allowed. */
void pw_gro_stage_close(struct pw_gro_stage *stage);

/** Take a burst of received packets; owns them. */
void pw_gro_stage_receive(
	struct pw_gro_stage *stage, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us);

/** At each poll: let go what was held for too long. */
void pw_gro_stage_tick(struct pw_gro_stage *stage, uint64_t now_us);

/** Let all go. */
void pw_gro_stage_flush(struct pw_gro_stage *stage);

/**
 * The counters of all streams, summed up; a reader of struct pw_stats_group.
 *
 * @param stats a struct pw_gro_stats
 * @return 0, or -ENOENT: the engine has no such stage
 */
int pw_gro_stage_read(const struct pw_app *app, void *stats);

/** Read names of types with commas between. Returns 0 or -EINVAL. */
int pw_gro_types_parse(const char *text, uint32_t *types);

/** Their names, with commas. Returns buf. */
const char *pw_gro_types_names(uint32_t types, char *buf, size_t size);

#endif
