/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_SHAPE_H
#define PW_GRO_SHAPE_H

/**
 * @file
 * Comparing instead of parsing. Internal to lib/gro.
 *
 * What matters of a frame is the begin of its header and the part of its mbuf that a driver fills
 * in. Both are compared with those of a frame that was parsed before; a bit for each byte says
 * whether it matters.
 */

#include <assert.h>

#include <rte_mbuf.h>

#include "pw_gro_seg.h"

/** So much of the header is compared; with timestamps, IPv6 and two tags it has 94 bytes. */
#define PW_GRO_LOOK_BYTES 96
/** So much of the mbuf, from data_off on. */
#define PW_GRO_MBUF_BYTES 32
#define PW_GRO_MBUF_AT offsetof(struct rte_mbuf, data_off)

/** Which bytes matter. */
struct pw_gro_care {
	uint32_t header[PW_GRO_LOOK_BYTES / 32];
	uint32_t mbuf;
};

/** What is the same for all flows whose segments have the same layout and length. */
struct pw_gro_shape {
	struct pw_gro_care next; /**< what the next segment has to have like the first one */
	struct pw_gro_layout at;
	uint16_t payload_bytes; /**< of a segment, but for the last one */
	uint16_t mbufs_max;	/**< of mbufs with that payload */
	uint8_t header_bytes;
	uint8_t ports_at, seq_at; /**< seen from the frame's begin */
	/** IPv6 has no ID: two bytes that are the same in all segments stand for it. */
	uint8_t id_at;
	uint8_t id_steps; /**< PW_GRO_ID_* that the first segment allows */
	bool is_fast;	  /**< comparing does, for the segments behind it */
	bool has_cksums;  /**< which comparing does not do for: not vouched for, or UDP's */
};

/** A frame that was found fit to be held: another one like it is so too. */
struct pw_gro_kind {
	uint8_t header[PW_GRO_LOOK_BYTES];
	uint8_t mbuf[PW_GRO_MBUF_BYTES];
	struct pw_gro_care care; /**< all 0: none is like it */
	struct pw_gro_shape shape;
} __rte_cache_aligned;

#define PW_GRO_UDP_SEGMENTS_MAX 64u /* Linux's UDP_GRO_CNT_MAX */

/* What the IP ID of the next segment may be: as the last one's, or one more. */
#define PW_GRO_ID_STAYS (1u << 0)
#define PW_GRO_ID_COUNTS (1u << 1)

/**
 * Fill in a shape.
 *
 * @param exact_tso, mbufs_max  as in struct pw_gro_params
 */
void pw_gro_shape_init(struct pw_gro_shape *shape, const struct rte_mbuf *m,
	const struct pw_gro_seg *seg, bool exact_tso, uint16_t mbufs_max);

/** Remember the frame, if others like it can be told by comparing. */
void pw_gro_kind_learn(
	struct pw_gro_kind *kind, const struct rte_mbuf *m, const struct pw_gro_shape *shape);

/** Does the NIC vouch for both checksums, or have they been left to hardware on this host? */
static inline bool
pw_gro_is_vouched(const struct rte_mbuf *m, struct pw_gro_layout at)
{
	uint64_t ip = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint64_t l4 = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	return (l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD || l4 == RTE_MBUF_F_RX_L4_CKSUM_NONE) &&
		(at.ipv6 || ip == RTE_MBUF_F_RX_IP_CKSUM_GOOD || ip == RTE_MBUF_F_RX_IP_CKSUM_NONE);
}

#endif
