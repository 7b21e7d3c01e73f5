/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_RSS_H
#define NICSIM_RSS_H

/** @file Receive side scaling (datasheet 7.1.2.8): the Toeplitz hash, the redirection table. */

#include <stdbool.h>
#include <stdint.h>

#include "parse.h"
#include "regs.h"

#define RSS_INPUT_BYTES 36 /* IPv6 addresses and ports */

/** The hash of each value of each byte of the input, for a key. */
struct rss {
	uint32_t table[RSS_INPUT_BYTES][256];
};

/** Work out the table for a key of 40 bytes. */
void rss_set_key(struct rss *rss, const uint8_t key[RSSRK_BYTES]);

/** What RSS says of a frame. */
struct rss_result {
	uint32_t hash;
	uint8_t type; /**< as in the descriptor; 0: none, and the frame goes to queue 0 */
	uint8_t queue;
};

/** Hash a frame as MRQC asks, and look up its queue. */
struct rss_result rss_classify(const struct rss *rss, uint32_t mrqc, const uint8_t reta[RETA_BYTES],
	const struct parsed *parsed, const uint8_t *data);

#endif
