/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PARSE_H
#define NICSIM_PARSE_H

/** @file Headers of a frame, as far as the card looks at them (datasheet 7.1.2.8, 7.1.11). */

#include <stdbool.h>
#include <stdint.h>

/** What a frame is. Offsets are in its bytes; all that they span lies inside the frame. */
struct parsed {
	uint16_t l3_offset;
	uint16_t l4_offset;
	uint32_t l4_bytes;	 /**< header and payload, by the IP header's length */
	uint32_t type;		 /**< RXD_TYPE_... */
	uint16_t vlan;		 /**< tag, if has_vlan */
	uint16_t network_offset; /**< of the EtherType behind the tag */
	bool has_vlan;
	bool is_fragment; /**< its L4 header, if any, says nothing of the whole */
};

/** Parse a frame of at least 14 bytes. */
void parse_frame(struct parsed *parsed, const uint8_t *data, uint32_t len_bytes);

/** Status and error bits for checksums: those that the card looked at, and those that are wrong. */
uint32_t parse_checksums(const struct parsed *parsed, const uint8_t *data);

#endif
