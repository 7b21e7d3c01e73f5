/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_cksum.h"

#include "pw_sum.h"

/* RFC 9293, 3.1 and RFC 8200, 8.1. */
static uint64_t
sum_pseudo_header(const uint8_t *header, struct pw_gro_layout at, uint16_t l4_bytes)
{
	uint8_t proto = at.udp ? IPPROTO_UDP : IPPROTO_TCP;

	return pw_sum_bytes(pw_gro_hosts(header, at), pw_gro_hosts_bytes(at)) +
		rte_cpu_to_be_16(proto) + rte_cpu_to_be_16(l4_bytes);
}

static uint64_t
check_ip(uint64_t verdict, const uint8_t *ip)
{
	if (verdict != RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN)
		return verdict;
	return pw_sum_fold(pw_sum_bytes(ip, sizeof(struct rte_ipv4_hdr))) == UINT16_MAX
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
	sum = sum_pseudo_header(header, at, l4_bytes) + pw_sum_packet(m, at.l2 + at.l3, l4_bytes);
	return pw_sum_fold(sum) == UINT16_MAX ? RTE_MBUF_F_RX_L4_CKSUM_GOOD
					      : RTE_MBUF_F_RX_L4_CKSUM_BAD;
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
