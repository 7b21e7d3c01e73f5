/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_shape.h"

#include <rte_ether.h>

#define IP_BYTES_MAX 65535

/* A bit for each byte of a header. */
typedef unsigned __int128 bytes_t;

static bytes_t
bytes(unsigned at, unsigned n)
{
	return (((bytes_t)1 << n) - 1) << at;
}

static_assert(offsetof(struct rte_mbuf, refcnt) == PW_GRO_MBUF_AT + 2, "refcnt");
static_assert(offsetof(struct rte_mbuf, nb_segs) == PW_GRO_MBUF_AT + 4, "nb_segs");
static_assert(offsetof(struct rte_mbuf, port) == PW_GRO_MBUF_AT + 6, "port");
static_assert(offsetof(struct rte_mbuf, ol_flags) == PW_GRO_MBUF_AT + 8, "ol_flags");
static_assert(offsetof(struct rte_mbuf, pkt_len) == PW_GRO_MBUF_AT + 20, "pkt_len");
static_assert(offsetof(struct rte_mbuf, data_len) == PW_GRO_MBUF_AT + 24, "data_len");
static_assert(offsetof(struct rte_mbuf, vlan_tci) == PW_GRO_MBUF_AT + 26, "vlan_tci");

#define MBUF_DATA_OFF bytes(0, 2)
#define MBUF_PORT bytes(6, 2)
#define MBUF_TAG bytes(26, 2)
#define MBUF_REST (bytes(2, 4) | bytes(8, 8) | bytes(20, 6)) /* refcnt, nb_segs, flags, lengths */

/* What two segments of a packet do not have in common, and comparing does not look at. */
static bytes_t
free_bytes(struct pw_gro_layout at)
{
	unsigned l4 = at.l2 + at.l3;
	bytes_t free = 0;

	if (!at.ipv6) /* ID; checksum */
		free |= bytes(at.l2 + 4, 2) | bytes(at.l2 + 10, 2);
	if (at.udp) /* checksum */
		free |= bytes(l4 + 6, 2);
	else /* sequence number; checksum */
		free |= bytes(l4 + 4, 4) | bytes(l4 + 16, 2);
	return free;
}

static void
set_care(struct pw_gro_care *care, bytes_t header, bytes_t mbuf)
{
	for (unsigned i = 0; i < RTE_DIM(care->header); i++)
		care->header[i] = header >> (32 * i);
	care->mbuf = mbuf;
}

static void
set_next_care(struct pw_gro_shape *shape, const struct rte_mbuf *m)
{
	bytes_t mbuf = MBUF_DATA_OFF | MBUF_PORT | MBUF_REST;

	/* Without its flag it says nothing. */
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		mbuf |= MBUF_TAG;
	set_care(&shape->next, bytes(0, shape->header_bytes) & ~free_bytes(shape->at), mbuf);
}

/* An outer tag lies outside of what is compared, and of UDP those without a checksum are few. */
static bool
is_fast(const struct pw_gro_shape *shape, const struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	return m->nb_segs == 1 && m->buf_len - m->data_off >= PW_GRO_LOOK_BYTES &&
		shape->header_bytes <= PW_GRO_LOOK_BYTES &&
		(m->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED) == 0 &&
		!pw_gro_has_no_cksum(seg->header, seg->at);
}

/* Without DF, IDs must count up (RFC 6864, 4.1). */
static uint8_t
choose_id_steps(const struct pw_gro_seg *seg, bool exact_tso)
{
	const uint8_t *ip = seg->header + seg->at.l2;

	if (seg->at.ipv6)
		return PW_GRO_ID_STAYS;
	if (exact_tso || (ip[6] & RTE_IPV4_HDR_DF_FLAG >> 8) == 0)
		return PW_GRO_ID_COUNTS;
	return PW_GRO_ID_COUNTS | PW_GRO_ID_STAYS;
}

void
pw_gro_shape_init(struct pw_gro_shape *shape, const struct rte_mbuf *m,
	const struct pw_gro_seg *seg, bool exact_tso, uint16_t mbufs_max)
{
	struct pw_gro_layout at = seg->at;
	uint32_t fit = (IP_BYTES_MAX - at.l3 - at.l4) / seg->payload_bytes;
	uint8_t ports_at = at.l2 + at.l3;

	at.unvouched = !pw_gro_is_vouched(m, at);
	*shape = (struct pw_gro_shape){
		.at = at,
		.payload_bytes = seg->payload_bytes,
		.mbufs_max = RTE_MIN(
			RTE_MIN(fit, at.udp ? PW_GRO_UDP_SEGMENTS_MAX : fit), mbufs_max),
		.header_bytes = pw_gro_header_bytes(at),
		.ports_at = ports_at,
		.seq_at = ports_at + offsetof(struct rte_tcp_hdr, sent_seq),
		.id_at = at.l2 + (at.ipv6 ? 0 : offsetof(struct rte_ipv4_hdr, packet_id)),
		.id_steps = choose_id_steps(seg, exact_tso),
		.has_cksums = at.unvouched || at.udp,
	};
	shape->is_fast = is_fast(shape, m, seg);
	if (shape->is_fast)
		set_next_care(shape, m);
}

/* Types and lengths, and what decides whether a segment may be held; TCP only. */
static bytes_t
kind_bytes(struct pw_gro_layout at)
{
	unsigned l4 = at.l2 + at.l3;
	bytes_t care = 0;

	for (unsigned type = 2 * RTE_ETHER_ADDR_LEN; type < at.l2; type += RTE_VLAN_HLEN)
		care |= bytes(type, 2);
	if (at.ipv6) /* version; length; next header */
		care |= bytes(at.l2, 1) | bytes(at.l2 + 4, 3);
	else /* version and header length; length; flags and fragment offset; protocol */
		care |= bytes(at.l2, 1) | bytes(at.l2 + 2, 2) | bytes(at.l2 + 6, 2) |
			bytes(at.l2 + 9, 1);
	return care | bytes(l4 + 12, 2); /* header length; flags */
}

void
pw_gro_kind_learn(
	struct pw_gro_kind *kind, const struct rte_mbuf *m, const struct pw_gro_shape *shape)
{
	struct pw_gro_layout at = shape->at;

	/* Whether an external buffer is shared, comparing does not tell. */
	if (!shape->is_fast || RTE_MBUF_HAS_EXTBUF(m) || at.udp ||
		(at.ipv6 && at.l3 > sizeof(struct rte_ipv6_hdr)))
		return;
	memcpy(kind->header, rte_pktmbuf_mtod(m, const void *), PW_GRO_LOOK_BYTES);
	memcpy(kind->mbuf, (const char *)m + PW_GRO_MBUF_AT, PW_GRO_MBUF_BYTES);
	set_care(&kind->care, kind_bytes(at), MBUF_REST);
	kind->shape = *shape;
}
