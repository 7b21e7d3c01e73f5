/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_PACKET_H
#define PW_PACKET_H

/** @file TCP and UDP packets for tests: built from words, and TCP read back into words. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "pw_frame.h"
#include "pw_test.h"

#define PW_PACKET_EXTS 4

/** An extension header of 8 bytes. */
struct pw_packet_ext {
	uint8_t type;	 /**< IPPROTO_HOPOPTS, _ROUTING, _DSTOPTS, _FRAGMENT or another */
	uint8_t data[6]; /**< behind the next header and the length, which is 0 */
};

struct pw_packet_tag {
	uint16_t type; /**< 0x8100 or 0x88a8 */
	uint16_t tci;
};

/** A packet; numbers in host order. */
struct pw_packet {
	const struct pw_packet_tag *tags; /**< in the frame, the outermost first */
	uint16_t nb_tags;
	bool ipv6;     /**< addresses are fd00:: and the IPv4 address */
	bool udp;      /**< seq is the datagram's place in the stream, for its payload */
	bool no_cksum; /**< UDP with checksum 0 */
	uint32_t src_ip, dst_ip;
	uint8_t tos, ttl;			   /**< in IPv6 traffic class and hop limit */
	uint32_t flow_label;			   /**< IPv6 */
	struct pw_packet_ext exts[PW_PACKET_EXTS]; /**< IPv6 */
	uint8_t nb_exts;
	uint16_t ip_id;		  /**< IPv4, as the next two */
	uint16_t ip_frag;	  /**< flags and offset */
	uint8_t ip_options_bytes; /**< NOPs, a multiple of 4 */
	uint16_t src_port, dst_port;
	uint32_t seq, ack;
	uint8_t flags;
	uint8_t reserved; /**< low bits of the data offset's byte */
	uint16_t window;
	uint8_t options[40];
	uint8_t options_bytes;
	uint32_t payload_bytes;
	uint32_t payload_base; /**< sequence number of the stream's first byte */
	uint8_t pad_bytes;     /**< behind the IP packet */
};

/** 10.0.0.1 and 10.0.0.2: the station under test and a peer; with MAC addresses from them. */
#define PW_PACKET_US 0x0a000001u
#define PW_PACKET_PEER 0x0a000002u

/** 02:00 and the IP address. */
struct rte_ether_addr pw_packet_mac(uint32_t ip);

/** Byte of all streams at an offset. */
static inline uint8_t
pw_packet_byte(uint32_t offset)
{
	return (offset * 0x9e3779b1u) >> 24;
}

/** Bytes in front of the IP header. */
static inline uint16_t
pw_packet_l2_bytes(const struct pw_packet *packet)
{
	return RTE_ETHER_HDR_LEN + 4 * packet->nb_tags;
}

/** Bytes in front of the TCP or UDP header. */
static inline uint16_t
pw_packet_l4_offset(const struct pw_packet *packet)
{
	return pw_packet_l2_bytes(packet) +
		(packet->ipv6 ? 40 + 8 * packet->nb_exts : 20 + packet->ip_options_bytes);
}

/** Bytes in front of the payload. */
static inline uint16_t
pw_packet_header_bytes(const struct pw_packet *packet)
{
	return pw_packet_l4_offset(packet) + (packet->udp ? 8 : 20 + packet->options_bytes);
}

/** Append an extension header that has this byte in the last five of its places. */
void pw_packet_add_ext(struct pw_packet *packet, uint8_t type, uint8_t content);

/** Build an Ethernet frame with right checksums. */
struct rte_mbuf *pw_packet_frame(struct rte_mempool *pool, const struct pw_packet *packet);

/** Build a segment that begins with the TCP header, without checksum. */
struct rte_mbuf *pw_packet_segment(struct rte_mempool *pool, const struct pw_packet *packet);

/** Read a segment back; IP fields stay, payload_base is used to check that the payload is right. */
void pw_packet_read_segment(const struct rte_mbuf *m, struct pw_packet *packet);

/** Write IP and TCP or UDP checksums into a frame in one piece that was changed; see pw_frame.h. */
void pw_packet_fix_cksums(struct rte_mbuf *m);

/**
 * Move the bytes into a buffer that ends where they end, so that a sanitizer sees each read behind
 * them. The mbuf is replaced.
 */
struct rte_mbuf *pw_packet_exact(struct rte_mempool *pool, struct rte_mbuf *m);

/** Such buffers that were not freed yet. */
unsigned pw_packet_exact_count(void);

/** Replace the mbuf by a clone, which refers to its data. */
struct rte_mbuf *pw_packet_clone(struct rte_mempool *pool, struct rte_mbuf *m);

/** Bytes of the first mbuf from an offset on move to a new one behind it. */
void pw_packet_split(struct rte_mempool *pool, struct rte_mbuf *m, uint16_t offset);

/** A pool for a test; unique name. */
struct rte_mempool *pw_packet_pool(unsigned mbufs, uint16_t data_bytes);

/** True once in n calls. */
static inline bool
pw_chance(uint64_t *seed, uint32_t n)
{
	return pw_test_random(seed, n) == 0;
}

#endif
