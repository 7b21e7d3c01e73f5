/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_seg.h"

#include <netinet/in.h>
#include <netinet/ip.h>

enum pw_gro_parse
pw_gro_seg_parse(struct rte_mbuf *m, struct pw_gro_seg *seg)
{
	uint32_t room = m->data_len;
	uint16_t total, tcp_len;

	seg->eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	seg->ip = (void *)(seg->eth + 1);
	seg->tcp = (void *)(seg->ip + 1);

	if (room < sizeof(*seg->eth) + sizeof(*seg->ip) ||
		seg->eth->ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
		seg->ip->version != IPVERSION || seg->ip->next_proto_id != IPPROTO_TCP)
		return PW_GRO_PARSE_OTHER;

	room -= sizeof(*seg->eth);
	total = rte_be_to_cpu_16(seg->ip->total_length);
	if (seg->ip->ihl != RTE_IPV4_MIN_IHL || m->nb_segs != 1 || total > room ||
		total < sizeof(*seg->ip) + sizeof(*seg->tcp) ||
		(seg->ip->fragment_offset &
			rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) != 0)
		return PW_GRO_PARSE_IP;

	tcp_len = (seg->tcp->data_off >> 4) * 4;
	if (tcp_len < sizeof(*seg->tcp) || total < sizeof(*seg->ip) + tcp_len)
		return PW_GRO_PARSE_IP;

	seg->tcp_len_bytes = tcp_len;
	seg->payload_bytes = total - sizeof(*seg->ip) - tcp_len;
	seg->seq = rte_be_to_cpu_32(seg->tcp->sent_seq);
	return PW_GRO_PARSE_TCP;
}

static bool
verify_ip(struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	uint64_t verdict = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;

	if (verdict == RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN) {
		verdict = rte_raw_cksum(seg->ip, sizeof(*seg->ip)) == 0xffff
			? RTE_MBUF_F_RX_IP_CKSUM_GOOD
			: RTE_MBUF_F_RX_IP_CKSUM_BAD;
		m->ol_flags = (m->ol_flags & ~RTE_MBUF_F_RX_IP_CKSUM_MASK) | verdict;
	}
	return verdict != RTE_MBUF_F_RX_IP_CKSUM_BAD;
}

static bool
verify_tcp(struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	uint64_t verdict = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	if (verdict == RTE_MBUF_F_RX_L4_CKSUM_NONE) {
		/* A guest of this host left it to hardware, and no wire was in between. */
		seg->tcp->cksum = 0;
		seg->tcp->cksum = rte_ipv4_udptcp_cksum(seg->ip, seg->tcp);
		verdict = RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	} else if (verdict == RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN) {
		verdict = rte_ipv4_udptcp_cksum_verify(seg->ip, seg->tcp) == 0
			? RTE_MBUF_F_RX_L4_CKSUM_GOOD
			: RTE_MBUF_F_RX_L4_CKSUM_BAD;
	}
	m->ol_flags = (m->ol_flags & ~RTE_MBUF_F_RX_L4_CKSUM_MASK) | verdict;
	return verdict == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

bool
pw_gro_seg_verify(struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	return verify_ip(m, seg) && verify_tcp(m, seg);
}

static uint32_t
header_sum(const struct pw_gro_seg *seg)
{
	return rte_ipv4_phdr_cksum(seg->ip, 0) + rte_raw_cksum(seg->tcp, seg->tcp_len_bytes);
}

static uint16_t
fold(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

uint16_t
pw_gro_seg_payload_sum(const struct pw_gro_seg *seg)
{
	return ~fold(header_sum(seg));
}

uint16_t
pw_gro_seg_tcp_cksum(const struct pw_gro_seg *seg, uint16_t payload_sum)
{
	/* The header's own checksum field is taken out of the sum. */
	return ~fold(header_sum(seg) + (uint16_t)~seg->tcp->cksum + payload_sum);
}
