/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_LINE_H
#define NICSIM_LINE_H

/**
 * @file
 * The line between port and wire: its rate each way, and what a bad network does to frames. What
 * has no impairments passes without a copy.
 *
 * Directions are the port's: rx is what the port receives.
 */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "param.h"
#include "pw_stat.h"
#include "wire.h"

/** How a direction is impaired; all 0: it is not, and as fast as both ends. */
struct line_config {
	uint64_t rate_bps;    /**< bits on the wire a second, with CRC and gap; 0: no limit */
	uint64_t rate_fps;    /**< frames a second; 0: no limit */
	uint64_t delay_ns;    /**< that each frame takes */
	uint64_t jitter_ns;   /**< up to so much more, order kept */
	double loss;	      /**< probability that a frame is lost */
	double reorder;	      /**< that a frame is overtaken by up to reorder_gap later ones */
	uint64_t reorder_gap; /**< frames */
	double duplicate;     /**< that a frame comes twice */
	double corrupt;	      /**< that one bit is changed, under a right CRC */
	double bad_crc;	      /**< that one bit is changed, and the CRC tells */
	double bad_cksum;     /**< that a TCP or UDP (else IPv4) checksum is made wrong */
	double truncate;      /**< that its end is cut off, down to 14 bytes, under a right CRC */
	double oversize;      /**< that it is made longer, up to FRAME_MAX_BYTES */
};

struct line_stats {
	uint64_t frames, bytes; /**< that arrived at the end of the line, duplicates too */
	uint64_t lost, reordered, duplicated, corrupted, bad_crc, bad_cksum, truncated, oversized;
	uint64_t overflows; /**< frames lost as the line's own store of delayed frames was full */
	uint64_t held;	    /**< frames on the line now */
};

enum line_way { LINE_RX, LINE_TX, LINE_WAYS };

struct line;

/** Settings of struct line_config, without rx- or tx- in front. */
extern const struct param line_params[];

/** Names of struct line_stats. */
extern const struct pw_stat line_stats_table[];

/** A direction as it is unless asked otherwise: 10 Gbit/s and nothing else. */
extern const struct line_config line_config_default;

/**
 * Make a line. It does not own the wire.
 *
 * @return NULL when there is no memory
 */
struct line *line_create(
	struct wire *wire, const struct line_config config[LINE_WAYS], uint64_t seed);

/** Free it, and all frames on it. */
void line_destroy(struct line *line);

/** Change a direction while frames are on the line; those on it keep their time. */
void line_configure(struct line *line, enum line_way way, const struct line_config *config);

/** How a direction is configured. */
const struct line_config *line_get_config(const struct line *line, enum line_way way);

/**
 * Whether frames come at a rate, whether or not the port takes them. If not, the port asks for
 * only as many as it has room for.
 */
bool line_is_paced(const struct line *line);

/**
 * Frames that reach the port now, at most n (up to FRAME_BURST); valid until the next call with
 * this line. now_ns never goes back.
 */
unsigned line_receive(struct line *line, uint64_t now_ns, struct frame *frames, unsigned n);

/** Nobody listens for now: what could have come meanwhile does not come later. */
void line_rest(struct line *line);

/** How many frames the port may send now: as the rate and the wire allow, at most FRAME_BURST. */
unsigned line_room(struct line *line, uint64_t now_ns);

/** Send frames, as many as line_room() said at most. They are valid during the call. */
void line_send(struct line *line, uint64_t now_ns, const struct frame *frames, unsigned n);

/** Let frames that were delayed towards the wire go on when it is time; cheap when none is. */
void line_tick(struct line *line, uint64_t now_ns);

/** Counters of a direction. */
const struct line_stats *line_get_stats(const struct line *line, enum line_way way);

#endif
