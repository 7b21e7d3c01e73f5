/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TSO_H
#define NICSIM_TSO_H

/** @file What Linux left to the hardware: a checksum, and cutting TCP into segments. */

#include <stdbool.h>
#include <stdint.h>

/** A long frame that is cut. */
struct tso {
	const uint8_t *data;
	uint32_t len_bytes;
	uint32_t l3_at, l4_at, payload_at;
	uint32_t segment_bytes; /**< of payload */
	uint32_t done_bytes;	/**< of payload */
	uint32_t nb_done;	/**< segments */
	bool is_ip6;
};

/**
 * Begin to cut a frame, which must stay.
 *
 * @return false when it is not whole TCP over IPv4 or IPv6, or segments would be too long
 */
bool tso_begin(struct tso *tso, const uint8_t *data, uint32_t len_bytes, uint32_t segment_bytes);

/** Whether all is cut. */
bool tso_is_done(const struct tso *tso);

/** The next segment, with all checksums; the buffer takes FRAME_MAX_BYTES. @return its length */
uint32_t tso_next(struct tso *tso, uint8_t *segment);

/**
 * Fill in a checksum over start to the end, where that of the pseudo-header is already.
 *
 * @return false when it is not inside of the frame
 */
bool tso_fill_cksum(uint8_t *data, uint32_t len_bytes, uint32_t start, uint32_t offset);

#endif
