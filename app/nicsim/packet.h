/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PACKET_H
#define NICSIM_PACKET_H

/** @file A frame as a stack that trusts nothing sees it: its headers, lengths and checksums. */

#include <stdint.h>

#include "frame.h"

enum packet_kind {
	PACKET_NOT_IP,
	PACKET_MALFORMED, /**< its headers and lengths do not fit into it */
	PACKET_BAD_IP_CKSUM,
	PACKET_IP, /**< right so far: a fragment, or neither TCP nor UDP */
	PACKET_BAD_L4_CKSUM,
	PACKET_L4, /**< TCP or UDP, and right */
};

/** Where things are. From ip on only with IP, from l4 on only with PACKET_L4 and its bad sum. */
struct packet {
	uint16_t ether_type; /**< behind VLAN tags */
	uint8_t ip_version;
	uint8_t proto;
	const uint8_t *l3;
	uint32_t l3_bytes; /**< to the end of the frame */
	const uint8_t *l4;
	uint32_t l4_bytes; /**< with payload */
	const uint8_t *payload;
	uint32_t payload_bytes;
};

/** Read a frame. */
enum packet_kind packet_read(const struct frame *frame, struct packet *packet);

#endif
