/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_GEN_TEMPLATE_H
#define NICSIM_GEN_TEMPLATE_H

/**
 * @file
 * Frames of the generator as they are before they are sent: whole, with right checksums, of flow 0
 * and sequence number 0. What differs from frame to frame is patched in.
 */

#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>

#include "gen_mark.h"

#define GEN_NO_VLAN 4095 /* reserved by IEEE 802.1Q, table 9-2 */

/* A flow is in the 12 low bits of the port, and in the 4 high ones of the last 16 of the source. */
#define GEN_PORT 0xa000
#define GEN_PORT_MASK 0x0fff
#define GEN_SOURCE 1

/** What all frames of a generator have in common, and where it stands in them. */
struct gen_layout {
	uint8_t dst_mac[ETHER_ADDR_LEN], src_mac[ETHER_ADDR_LEN];
	uint16_t vlan; /**< or GEN_NO_VLAN */
	bool ipv6, tcp;
	uint32_t l3, ip_id, source, l4, mark; /**< offsets in the frame */
	uint32_t min_bytes;		      /**< the smallest frame, without CRC */
};

/** Compute the offsets. */
void gen_layout_init(struct gen_layout *layout);

/**
 * Build a frame.
 *
 * @param variant  of the content
 * @return the sum for gen_template_patch_seq()
 */
uint32_t gen_template_build(
	const struct gen_layout *layout, uint8_t *frame, uint32_t len_bytes, uint8_t variant);

/** Make it one of this flow and number; it keeps its checksums. */
static inline void
gen_template_patch(const struct gen_layout *layout, uint8_t *frame, uint16_t flow, uint32_t seq)
{
	uint16_t high = flow & (uint16_t)~GEN_PORT_MASK;

	/* With DF set the ID means nothing (RFC 6864 4.1): it keeps the header's sum. */
	if (!layout->ipv6)
		put_be16(frame + layout->ip_id, (uint16_t)~high);
	put_be16(frame + layout->source, GEN_SOURCE + high);
	put_be16(frame + layout->l4, GEN_PORT | (flow & GEN_PORT_MASK));
	gen_mark_write(frame + layout->mark, flow, seq);
}

/** Make it the TCP segment with this sequence number. @param sum  of gen_template_build() */
void gen_template_patch_seq(
	const struct gen_layout *layout, uint8_t *frame, uint32_t sum, uint32_t tcp_seq);

#endif
