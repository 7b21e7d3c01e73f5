/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_cksum.h"

/* The compiler makes vectors of the loop: of 32 bytes where the CPU has them. */
#if defined(__x86_64__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

#define VECTOR_WORDS_MIN 16

/* Halves are added apart, so that 2^16 words fit. */
FOR_EACH_CPU static uint32_t
sum_words(const uint8_t *data, size_t words)
{
	uint32_t low = 0, high = 0;

	for (size_t i = 0; i < words; i++) {
		uint32_t word = pw_gro_load32(data + 4 * i);

		low += word & 0xffff;
		high += word >> 16;
	}
	/* Each below 2^16 * 2^14: a packet has at most 65535 bytes. */
	return low + high;
}

/* Modulo 65535, not folded. Vectors do not pay for a header. */
static uint64_t
sum_bytes(const uint8_t *data, uint32_t len_bytes)
{
	uint32_t words = len_bytes / 4, last = 0;
	uint64_t sum = 0;

	if (words >= VECTOR_WORDS_MIN)
		sum = sum_words(data, words);
	else
		for (uint32_t i = 0; i < words; i++)
			sum += pw_gro_load32(data + 4 * i);
	memcpy(&last, data + len_bytes / 4 * 4, len_bytes % 4);
	return sum + last;
}

/* To 1 to 65535; 0 stays 0. */
static uint16_t
fold(uint64_t sum)
{
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

/* RFC 9293, 3.1 and RFC 8200, 8.1. */
static uint64_t
sum_pseudo_header(const uint8_t *header, struct pw_gro_layout at, uint16_t l4_bytes)
{
	uint8_t proto = at.udp ? IPPROTO_UDP : IPPROTO_TCP;

	return sum_bytes(pw_gro_hosts(header, at), pw_gro_hosts_bytes(at)) +
		rte_cpu_to_be_16(proto) + rte_cpu_to_be_16(l4_bytes);
}

/* A packet's bytes from an offset on, in the mbufs where they lie. */
static uint64_t
sum_packet(const struct rte_mbuf *m, uint32_t offset, uint32_t len_bytes)
{
	uint64_t sum = 0;
	unsigned shift = 0;

	for (; len_bytes > 0; m = m->next) {
		uint32_t skip = RTE_MIN(offset, m->data_len);
		uint32_t here = RTE_MIN(m->data_len - skip, len_bytes);

		sum += sum_bytes(rte_pktmbuf_mtod_offset(m, const uint8_t *, skip), here) << shift;
		offset -= skip;
		len_bytes -= here;
		shift ^= here % 2 * 8;
	}
	return sum;
}

static uint64_t
check_ip(uint64_t verdict, const uint8_t *ip)
{
	if (verdict != RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN)
		return verdict;
	return fold(sum_bytes(ip, sizeof(struct rte_ipv4_hdr))) == UINT16_MAX
		? RTE_MBUF_F_RX_IP_CKSUM_GOOD
		: RTE_MBUF_F_RX_IP_CKSUM_BAD;
}

static uint64_t
check_l4(uint64_t verdict, const struct rte_mbuf *m, const uint8_t *header, struct pw_gro_layout at,
	uint16_t payload_bytes)
{
	uint16_t l4_bytes = at.l4 + payload_bytes;
	uint64_t sum;

	/* RFC 768: none; RFC 8200, 8.1: not over IPv6. */
	if (pw_gro_has_no_cksum(header, at) && verdict != RTE_MBUF_F_RX_L4_CKSUM_NONE)
		return at.ipv6 ? RTE_MBUF_F_RX_L4_CKSUM_BAD : verdict;
	if (verdict != RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
		return verdict;
	sum = sum_pseudo_header(header, at, l4_bytes) + sum_packet(m, at.l2 + at.l3, l4_bytes);
	return fold(sum) == UINT16_MAX ? RTE_MBUF_F_RX_L4_CKSUM_GOOD : RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

uint64_t
pw_gro_cksum_check(const struct rte_mbuf *m, const uint8_t *header, struct pw_gro_layout at,
	uint16_t payload_bytes)
{
	uint64_t flags = m->ol_flags;
	uint64_t ip = flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint64_t l4 = flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	if (!at.ipv6)
		ip = check_ip(ip, header + at.l2);
	if (at.ipv6 || ip != RTE_MBUF_F_RX_IP_CKSUM_BAD)
		l4 = check_l4(l4, m, header, at, payload_bytes);
	return (flags & ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)) | ip | l4;
}
