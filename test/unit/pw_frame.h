/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAME_H
#define PW_FRAME_H

/** @file Bytes of an Ethernet frame, as tests read them: no code is shared with what they test. */

#include <stdbool.h>
#include <stdint.h>

/** Where the headers begin, and where the IP packet ends. */
struct pw_frame {
	uint32_t l3, l4, end;
	uint8_t version; /**< 4 or 6, by the frame's type */
	uint8_t proto;	 /**< behind all extension headers */
};

/**
 * Find the headers, behind any number of VLAN tags and extension headers.
 *
 * @return false when it is not IP, or cut before its layer 4
 */
bool pw_frame_read(const uint8_t *data, uint32_t bytes, struct pw_frame *frame);

/**
 * Checksum of a TCP segment or UDP datagram with a pseudo-header of this many bytes of layer 4: 0
 * when it is right, and what has to be in its field when that is 0.
 */
uint16_t pw_frame_l4_cksum(const uint8_t *data, const struct pw_frame *frame);

/** Write the IP header's checksum, and that of TCP or UDP if the packet fits into the frame. */
void pw_frame_fix_cksums(uint8_t *data, uint32_t bytes);

/** Offset of the checksum's field in a TCP or UDP header. */
static inline uint32_t
pw_frame_cksum_offset(const struct pw_frame *frame)
{
	return frame->l4 + (frame->proto == 17 ? 6 : 16);
}

static inline uint16_t
pw_frame_get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline uint32_t
pw_frame_get32(const uint8_t *p)
{
	return (uint32_t)pw_frame_get16(p) << 16 | pw_frame_get16(p + 2);
}

/** A value of so many bytes, big endian. */
static inline void
pw_frame_put(uint8_t *p, uint32_t value, unsigned bytes)
{
	while (bytes-- > 0)
		*p++ = value >> (8 * bytes);
}

#endif
