/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_SEG_H
#define PW_GRO_SEG_H

/** @file A TCP segment as GRO sees it: parsed once, bounds checked. Internal to lib/gro. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

struct pw_gro_seg {
	struct rte_ether_hdr *eth;
	struct rte_ipv4_hdr *ip;
	struct rte_tcp_hdr *tcp;
	uint16_t tcp_len_bytes; /**< TCP header with options */
	uint16_t payload_bytes;
	uint32_t seq;
};

enum pw_gro_parse {
	PW_GRO_PARSE_OTHER, /**< not TCP over IPv4, or malformed: seg is not filled in */
	PW_GRO_PARSE_IP,    /**< IPv4 that cannot be merged: only eth and ip are filled in */
	PW_GRO_PARSE_TCP,
};

/** Parse a frame; reads nothing behind its data. */
enum pw_gro_parse pw_gro_seg_parse(struct rte_mbuf *m, struct pw_gro_seg *seg);

/**
 * Are the IP and TCP checksums right? Trusts the NIC's verdict; without one it verifies and leaves
 * its own verdict in the mbuf's RX flags. A TCP checksum that was not filled in is now.
 */
bool pw_gro_seg_verify(struct rte_mbuf *m, const struct pw_gro_seg *seg);

/** Bytes in front of the payload. */
static inline uint16_t
pw_gro_seg_header_bytes(const struct pw_gro_seg *seg)
{
	return sizeof(*seg->eth) + sizeof(*seg->ip) + seg->tcp_len_bytes;
}

/**
 * One's complement sum of the payload of a segment whose checksum is right, worked out from the
 * headers alone: the whole segment sums up to zero.
 */
uint16_t pw_gro_seg_payload_sum(const struct pw_gro_seg *seg);

/** The TCP checksum for the header as it stands and a payload with that sum. */
uint16_t pw_gro_seg_tcp_cksum(const struct pw_gro_seg *seg, uint16_t payload_sum);

#endif
