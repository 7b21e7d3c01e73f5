/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_CHECK_H
#define NICSIM_CHECK_H

/**
 * @file
 * What is wrong with frames that a port sent: checksums, and of the generator's frames their
 * content and their order.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "pw_stat.h"

struct check_stats {
	uint64_t frames, bytes;
	uint64_t bad_crc;      /**< frames that a NIC would have dropped; nothing else is checked */
	uint64_t malformed;    /**< headers and lengths do not fit into the frame */
	uint64_t bad_ip_cksum; /**< of the IPv4 header */
	uint64_t bad_l4_cksum; /**< of TCP and UDP */
	uint64_t own;	       /**< frames of the generator */
	uint64_t lost_or_still_under_way; /**< numbers below the highest of their flow */
	uint64_t duplicated;
	uint64_t reordered; /**< came behind a higher number of their flow */
	uint64_t bad_content;
};

/** Rows of a table for a struct group that has a struct check_stats as field. */
/* clang-format off */
#define CHECK_STAT_ROWS(group, field) \
	PW_STAT_AS("frames", group, field.frames, "frames"), \
	PW_STAT_AS("bytes", group, field.bytes, "bytes"), \
	PW_STAT_AS("bad_crc", group, field.bad_crc, "frames"), \
	PW_STAT_AS("malformed", group, field.malformed, "frames"), \
	PW_STAT_AS("bad_ip_cksum", group, field.bad_ip_cksum, "frames"), \
	PW_STAT_AS("bad_l4_cksum", group, field.bad_l4_cksum, "frames"), \
	PW_STAT_AS("own", group, field.own, "frames"), \
	PW_STAT_AS("lost_or_still_under_way", group, field.lost_or_still_under_way, "frames"), \
	PW_STAT_AS("duplicated", group, field.duplicated, "frames"), \
	PW_STAT_AS("reordered", group, field.reordered, "frames"), \
	PW_STAT_AS("bad_content", group, field.bad_content, "frames")
/* clang-format on */

struct check;

/** @param on  false: count frames and bytes only. @return NULL when there is no memory */
struct check *check_create(bool on);

void check_destroy(struct check *check);

/** Take n frames; they are valid during the call. */
void check_frames(struct check *check, const struct frame *frames, unsigned n);

const struct check_stats *check_get_stats(const struct check *check);

/** The first thing that was damaged, as a sentence; NULL: nothing was. */
const char *check_verdict(const struct check *check);

#endif
