/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_SEG_H
#define PW_GRO_SEG_H

/** @file A segment as GRO sees it: parsed once, bounds checked. Internal to lib/gro. */

#include <endian.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "pw_gro.h"

#define PW_GRO_TAGS_MAX 2

/** Headers may be as long. Of TCP up to 60 bytes are left for IPv6 extension headers and tags. */
#define PW_GRO_HEADER_MAX 192

/** Where the headers of a frame lie, in bytes. */
struct pw_gro_layout {
	uint8_t l2; /**< with VLAN tags */
	uint8_t l3; /**< with extension headers */
	uint8_t l4; /**< with options */
	bool ipv6 : 1;
	bool udp : 1;
	bool unvouched : 1; /**< for its checksums, by the NIC */
};

struct pw_gro_seg {
	const uint8_t *header; /**< in the mbuf, or a copy */
	struct pw_gro_layout at;
	uint16_t payload_bytes;
	bool has_hosts; /**< at.l2 and at.ipv6 are right, and both addresses are there */
	uint8_t copy[PW_GRO_HEADER_MAX];
};

/**
 * Parse a frame; reads nothing behind its data.
 *
 * @return NULL, or the counter to let it pass under: then only what has_hosts tells is filled in
 */
uint64_t *pw_gro_parse(
	struct rte_mbuf *m, uint32_t types, struct pw_gro_seg *seg, struct pw_gro_stats *stats);

static inline uint16_t
pw_gro_load16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static inline uint32_t
pw_gro_load32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static inline uint64_t
pw_gro_load64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static inline uint16_t
pw_gro_load_be16(const uint8_t *p)
{
	return be16toh(pw_gro_load16(p));
}

static inline uint32_t
pw_gro_load_be32(const uint8_t *p)
{
	return be32toh(pw_gro_load32(p));
}

/** 802.1Q and 802.1ad, and the type that 802.1ad's outer tags had before. */
static inline bool
pw_gro_is_vlan(rte_be16_t ether_type)
{
	return ether_type == RTE_BE16(RTE_ETHER_TYPE_VLAN) ||
		ether_type == RTE_BE16(RTE_ETHER_TYPE_QINQ) || ether_type == RTE_BE16(0x9100);
}

/** Bytes in front of the payload. */
static inline uint16_t
pw_gro_header_bytes(struct pw_gro_layout at)
{
	return at.l2 + at.l3 + at.l4;
}

/** The addresses lie behind each other. */
static inline const uint8_t *
pw_gro_hosts(const uint8_t *header, struct pw_gro_layout at)
{
	return header + at.l2 +
		(at.ipv6 ? offsetof(struct rte_ipv6_hdr, src_addr)
			 : offsetof(struct rte_ipv4_hdr, src_addr));
}

static inline size_t
pw_gro_hosts_bytes(struct pw_gro_layout at)
{
	return at.ipv6 ? 32 : 8;
}

/** TCP or UDP header. */
static inline const uint8_t *
pw_gro_l4(const uint8_t *header, struct pw_gro_layout at)
{
	return header + at.l2 + at.l3;
}

/** Where the checksum lies, seen from the frame's begin. */
static inline uint16_t
pw_gro_cksum_at(struct pw_gro_layout at)
{
	return at.l2 + at.l3 +
		(at.udp ? offsetof(struct rte_udp_hdr, dgram_cksum)
			: offsetof(struct rte_tcp_hdr, cksum));
}

/** UDP's 0, RFC 768. */
static inline bool
pw_gro_has_no_cksum(const uint8_t *header, struct pw_gro_layout at)
{
	return at.udp && pw_gro_load16(header + pw_gro_cksum_at(at)) == 0;
}

#endif
