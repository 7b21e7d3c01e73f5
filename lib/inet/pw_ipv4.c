/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* IPv4 in, RFC 791 and RFC 1122 3.2.1. */

#include <netinet/in.h>
#include <netinet/ip.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

static bool
check_addresses(struct pw_inet *inet, const struct rte_ipv4_hdr *ip, uint64_t **reason)
{
	struct pw_addr src = pw_addr_from_ipv4(ip->src_addr), dst = pw_addr_from_ipv4(ip->dst_addr);

	if (!pw_inet_is_peer(inet, &src))
		return pw_inet_refuse(reason, &inet->stats.rx_bad_ip);
	return pw_inet_is_ours(inet, &dst) || pw_inet_refuse(reason, &inet->stats.rx_other_ip);
}

/* Is the header right? If not, tells the counter to drop the frame under. */
static bool
check(struct pw_inet *inet, const struct rte_mbuf *frame, const struct rte_ipv4_hdr *ip,
	uint64_t **reason)
{
	struct pw_inet_stats *stats = &inet->stats;
	uint32_t room = frame->pkt_len - frame->l2_len;
	uint64_t cksum = frame->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint16_t total;

	if (frame->data_len < frame->l2_len + sizeof(*ip))
		return pw_inet_refuse(reason, &stats->rx_short);
	if (ip->version != IPVERSION || ip->ihl < RTE_IPV4_MIN_IHL ||
		frame->data_len < frame->l2_len + rte_ipv4_hdr_len(ip))
		return pw_inet_refuse(reason, &stats->rx_bad_ip);

	total = rte_be_to_cpu_16(ip->total_length);
	if (total < rte_ipv4_hdr_len(ip) || total > room)
		return pw_inet_refuse(reason, &stats->rx_bad_length);
	if (cksum == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
		(cksum == RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN &&
			rte_raw_cksum(ip, rte_ipv4_hdr_len(ip)) != 0xffff))
		return pw_inet_refuse(reason, &stats->rx_bad_ip_cksum);
	return check_addresses(inet, ip, reason);
}

static const struct rte_ipv4_hdr *
ipv4_of(const struct rte_mbuf *frame)
{
	return rte_pktmbuf_mtod_offset(frame, const struct rte_ipv4_hdr *, frame->l2_len);
}

void
pw_ipv4_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	const struct rte_ipv4_hdr *ip = ipv4_of(frame);
	struct pw_inet_rx rx = {.now_us = now_us};
	uint64_t *reason;

	if (!check(inet, frame, ip, &reason)) {
		pw_inet_drop(frame, reason);
		return;
	}
	frame->l3_len = rte_ipv4_hdr_len(ip);
	/* Short frames are padded to 60 bytes: what is behind the IP length is not data. */
	pw_chain_cut(frame, frame->l2_len + rte_be_to_cpu_16(ip->total_length));

	if (rte_ipv4_frag_pkt_is_fragmented(ip)) {
		frame = pw_reasm_ipv4(inet, frame, now_us);
		if (frame == NULL)
			return;
		ip = ipv4_of(frame);
	}
	rx.frame = frame;
	rx.ip.src = pw_addr_from_ipv4(ip->src_addr);
	rx.ip.dst = pw_addr_from_ipv4(ip->dst_addr);
	rx.ip.tos = ip->type_of_service;
	rx.proto = ip->next_proto_id;
	pw_l4_input(inet, &rx);
}
