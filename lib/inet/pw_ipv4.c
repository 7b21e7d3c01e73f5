/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* IPv4, RFC 791 and RFC 1122 3.2.1. */

#include <netinet/in.h>
#include <netinet/ip.h>

#include <rte_tcp.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

#define CONFIRM_INTERVAL_US 60000000 /* RFC 1122 2.3.2.1: entries are checked again */

/* Network part of a source address that no host has: 0/8, 127/8, 224/3. */
static bool
is_impossible_source(const struct pw_inet *inet, rte_be32_t src)
{
	uint8_t first = rte_be_to_cpu_32(src) >> 24;

	return first == 0 || first == 127 || first >= 224 || src == inet->params.ip;
}

static bool
refuse(uint64_t **reason, uint64_t *counter)
{
	*reason = counter;
	return false;
}

/* Is the header right? If not, tells the counter to drop the frame under. */
static bool
check(struct pw_inet *inet, const struct rte_mbuf *frame, const struct rte_ipv4_hdr *ip,
	uint64_t **reason)
{
	struct pw_inet_stats *stats = &inet->stats;
	uint32_t room = frame->pkt_len - sizeof(struct rte_ether_hdr);
	uint64_t cksum = frame->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint16_t total;

	if (frame->data_len < sizeof(struct rte_ether_hdr) + sizeof(*ip))
		return refuse(reason, &stats->rx_short);
	if (ip->version != IPVERSION || ip->ihl < RTE_IPV4_MIN_IHL ||
		frame->data_len < sizeof(struct rte_ether_hdr) + rte_ipv4_hdr_len(ip))
		return refuse(reason, &stats->rx_bad_ip);

	total = rte_be_to_cpu_16(ip->total_length);
	if (total < rte_ipv4_hdr_len(ip) || total > room)
		return refuse(reason, &stats->rx_bad_length);
	if (cksum == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
		(cksum == RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN &&
			rte_raw_cksum(ip, rte_ipv4_hdr_len(ip)) != 0xffff))
		return refuse(reason, &stats->rx_bad_ip_cksum);
	if (is_impossible_source(inet, ip->src_addr))
		return refuse(reason, &stats->rx_bad_ip);
	if (ip->dst_addr != inet->params.ip)
		return refuse(reason, &stats->rx_other_ip);
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK))
		return refuse(reason, &stats->rx_fragment);
	return true;
}

/* One's complement sum of the pseudo header and all from offset on. */
static uint16_t
tcp_sum(const struct rte_mbuf *m, const struct rte_ipv4_hdr *ip, uint32_t offset)
{
	uint32_t sum = (uint32_t)rte_ipv4_phdr_cksum(ip, 0) + pw_chain_sum(m, offset);

	return (sum >> 16) + (sum & 0xffff);
}

static bool
has_right_tcp_cksum(const struct rte_mbuf *frame, const struct rte_ipv4_hdr *ip)
{
	uint64_t cksum = frame->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	if (cksum != RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
		return cksum != RTE_MBUF_F_RX_L4_CKSUM_BAD;
	return tcp_sum(frame, ip, frame->l2_len + frame->l3_len) == 0xffff;
}

static void
tcp_input(struct pw_inet *inet, struct rte_mbuf *frame, const struct rte_ipv4_hdr *ip,
	uint64_t now_us)
{
	rte_be32_t src = ip->src_addr, dst = ip->dst_addr;
	uint32_t offset = frame->l2_len + frame->l3_len;

	if (frame->pkt_len == offset) {
		pw_inet_drop(frame, &inet->stats.rx_short);
		return;
	}
	if (!has_right_tcp_cksum(frame, ip)) {
		pw_inet_drop(frame, &inet->stats.rx_bad_l4_cksum);
		return;
	}
	inet->stats.rx_tcp++;
	frame = pw_chain_trim_front(frame, offset);
	inet->params.ops.tcp_input(inet->params.ctx, frame, src, dst, now_us);
}

void
pw_ipv4_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
	uint64_t *reason;

	if (!check(inet, frame, ip, &reason)) {
		pw_inet_drop(frame, reason);
		return;
	}
	frame->l2_len = sizeof(struct rte_ether_hdr);
	frame->l3_len = rte_ipv4_hdr_len(ip);
	/* Short frames are padded to 60 bytes: what is behind the IP length is not data. */
	pw_chain_cut(frame, frame->l2_len + rte_be_to_cpu_16(ip->total_length));

	switch (ip->next_proto_id) {
	case IPPROTO_ICMP:
		pw_icmp_input(inet, frame);
		break;
	case IPPROTO_TCP:
		tcp_input(inet, frame, ip, now_us);
		break;
	default:
		pw_inet_drop(frame, &inet->stats.rx_unknown_proto);
		break;
	}
}

/* Send to a neighbour, or ask for it and keep one packet meanwhile (RFC 1122 2.3.2.2). */
static void
send_to_neighbour(struct pw_inet *inet, struct rte_mbuf *m, rte_be32_t ip, uint64_t now_us)
{
	struct pw_neigh *neigh = pw_neigh_find(&inet->neighbours, ip);
	struct rte_mbuf *dropped = NULL;
	bool ask = false;

	if (neigh == NULL) {
		neigh = pw_neigh_add(&inet->neighbours, ip, &dropped);
		ask = true;
	} else if (neigh->state == PW_NEIGH_KNOWN) {
		ask = now_us - neigh->confirmed_us > CONFIRM_INTERVAL_US &&
			now_us - neigh->requested_us > CONFIRM_INTERVAL_US;
	}
	if (dropped != NULL)
		pw_inet_drop(dropped, &inet->stats.tx_no_neighbour);

	if (ask) {
		neigh->requested_us = now_us;
		neigh->requests++;
		pw_arp_request(inet, ip);
	}
	if (neigh->state == PW_NEIGH_KNOWN) {
		pw_inet_send_ether(inet, m, &neigh->mac, RTE_ETHER_TYPE_IPV4);
		return;
	}
	if (neigh->queue != NULL)
		pw_inet_drop(neigh->queue, &inet->stats.tx_no_neighbour);
	neigh->queue = m;
}

/* Both checksums, or what the port needs to fill them in (rte_net_intel_cksum_prepare()). */
static void
fill_cksums(const struct pw_inet *inet, struct rte_mbuf *m, struct rte_ipv4_hdr *ip)
{
	uint64_t offloads = inet->params.tx_offloads & ~RTE_MBUF_F_TX_TCP_SEG;
	struct rte_tcp_hdr *tcp = (void *)(ip + 1);

	if (offloads != 0) {
		m->ol_flags |= RTE_MBUF_F_TX_IPV4 | offloads;
		m->l2_len = sizeof(struct rte_ether_hdr);
		m->l3_len = sizeof(*ip);
		m->l4_len = (tcp->data_off >> 4) * 4;
	}
	if ((offloads & RTE_MBUF_F_TX_IP_CKSUM) == 0)
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	tcp->cksum = 0;
	if (offloads & RTE_MBUF_F_TX_TCP_CKSUM)
		tcp->cksum = rte_ipv4_phdr_cksum(ip, m->ol_flags);
	else
		tcp->cksum = ~tcp_sum(m, ip, sizeof(*ip));
}

/* A port that cuts a segment counts the IDs up from the first one's. */
static uint16_t
count_segments(const struct rte_mbuf *m)
{
	if ((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0)
		return 1;
	return (m->pkt_len - sizeof(struct rte_ipv4_hdr) - m->l4_len + m->tso_segsz - 1) /
		m->tso_segsz;
}

void
pw_inet_output_tcp(struct pw_inet *inet, struct rte_mbuf *segment, rte_be32_t dst, uint64_t now_us)
{
	struct rte_ipv4_hdr *ip = (void *)rte_pktmbuf_prepend(segment, sizeof(*ip));

	if (ip == NULL) {
		pw_inet_drop(segment, &inet->stats.tx_no_mbuf);
		return;
	}
	if (((dst ^ inet->params.ip) & inet->netmask) != 0) {
		pw_inet_drop(segment, &inet->stats.tx_no_route);
		return;
	}

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(segment->pkt_len),
		.packet_id = rte_cpu_to_be_16(inet->next_ip_id),
		.fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_TCP,
		.src_addr = inet->params.ip,
		.dst_addr = dst,
	};
	inet->next_ip_id += count_segments(segment);
	fill_cksums(inet, segment, ip);
	send_to_neighbour(inet, segment, dst, now_us);
}
