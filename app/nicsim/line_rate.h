/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_LINE_RATE_H
#define NICSIM_LINE_RATE_H

/**
 * @file
 * How fast a line is. It keeps the time at which the line is free again: a frame may begin when
 * that has come, and moves it on by the time the frame takes.
 */

#include <stdbool.h>
#include <stdint.h>

/** A poller that comes later than this has lost the rest. */
#define LINE_LATE_MAX_NS 10000000

/** Bits and frames, each with a limit of its own. */
struct line_limit {
	double ns_each;	 /**< of a byte, or a frame; 0: no limit */
	double ahead_ns; /**< from at_ns until the line is free; below 0: since when it was */
};

struct line_rate {
	struct line_limit bytes, frames;
	double mean_bytes; /**< of the last frames, as on the wire */
	uint64_t at_ns;	   /**< last time that somebody asked */
	bool has_limit, has_begun;
};

/** Set the limits, 0: none. Of what passed before, nothing is owed. */
void line_rate_set(struct line_rate *rate, uint64_t bps, uint64_t fps);

/** How many frames may begin now, at most n. The lengths of the last ones are the guess. */
unsigned line_rate_allows(struct line_rate *rate, uint64_t now_ns, unsigned n);

/** Frames of so many bytes together, without CRC, pass. */
void line_rate_charge(struct line_rate *rate, unsigned n, uint64_t bytes);

/** Time until it is asked the next time does not count. */
void line_rate_rest(struct line_rate *rate);

/** When asked last, there were fewer frames than allowed: time before that cannot be made up. */
void line_rate_idle(struct line_rate *rate);

#endif
