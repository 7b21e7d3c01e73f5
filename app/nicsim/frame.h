/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_FRAME_H
#define NICSIM_FRAME_H

/** @file An Ethernet frame on its way between a wire and a port. */

#include <stdint.h>

#define FRAME_MIN_BYTES 60 /**< without the CRC of 4 bytes, as all lengths here */
#define FRAME_MAX_BYTES \
	15868 /**< 15.5 KiB with CRC: what an 82599 takes (datasheet, section 1.3) */
#define FRAME_CRC_BYTES 4
#define FRAME_GAP_BYTES 20 /**< preamble, start delimiter, inter-frame gap */
#define VLAN_BYTES 4
#define ADDRESSES_BYTES 12 /**< destination and source, in front of all else */
#define FRAME_BURST 32	   /**< frames moved at a time */

enum {
	FRAME_BAD_CRC = 1 << 0, /**< the wire damaged it, and the NIC can tell */
};

/** The CRC of a frame, as it stands behind it (IEEE 802.3, 3.2.9). */
uint32_t frame_crc(const uint8_t *data, uint32_t len_bytes);

/** Bytes somewhere: whoever hands a frame out says how long they stay. */
struct frame {
	const uint8_t *data;
	uint32_t len_bytes; /**< without CRC */
	uint32_t flags;
};

#endif
