/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_PACKET_H
#define PW_PACKET_H

/** @file TCP/IPv4 packets for tests: built from words, and read back into words. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "pw_test.h"

/** A packet; numbers in host order. */
struct pw_packet {
	uint32_t src_ip, dst_ip;
	uint8_t tos, ttl;
	uint16_t ip_id;
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

/** Build an Ethernet frame with right checksums. */
struct rte_mbuf *pw_packet_frame(struct rte_mempool *pool, const struct pw_packet *packet);

/** Build a segment that begins with the TCP header, without checksum. */
struct rte_mbuf *pw_packet_segment(struct rte_mempool *pool, const struct pw_packet *packet);

/** Read a segment back; IP fields stay, payload_base is used to check that the payload is right. */
void pw_packet_read_segment(const struct rte_mbuf *m, struct pw_packet *packet);

/** Write IP and TCP checksums into a frame in one piece that was changed; TCP only if it fits. */
void pw_packet_fix_cksums(struct rte_mbuf *m);

/**
 * Move the bytes into a buffer that ends where they end, so that a sanitizer sees each read behind
 * them. The mbuf is replaced.
 */
struct rte_mbuf *pw_packet_exact(struct rte_mempool *pool, struct rte_mbuf *m);

/** Such buffers that were not freed yet. */
unsigned pw_packet_exact_count(void);

/** Bytes of the first mbuf from an offset on move to a new one behind it. */
void pw_packet_split(struct rte_mempool *pool, struct rte_mbuf *m, uint16_t offset);

/** A value of an IPv4 header or a TCP option, big endian. */
void pw_packet_put(uint8_t *p, uint32_t value, unsigned bytes);

/** A pool for a test; unique name. */
struct rte_mempool *pw_packet_pool(unsigned mbufs, uint16_t data_bytes);

/** True once in n calls. */
static inline bool
pw_chance(uint64_t *seed, uint32_t n)
{
	return pw_test_random(seed, n) == 0;
}

#endif
