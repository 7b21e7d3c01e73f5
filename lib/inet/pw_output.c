/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Packets out: IP headers and checksums. */

#include <errno.h>
#include <netinet/in.h>

#include <rte_tcp.h>
#include <rte_udp.h>

#include "pw_inet_priv.h"

static uint16_t
next_id(struct pw_inet *inet, const struct pw_ip_info *info, uint16_t n)
{
	uint32_t id = inet->next_id;

	inet->next_id += n;
	return id + pw_inet_id_offset(inet, &info->dst);
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

static void
fill_ipv4(struct pw_inet *inet, struct rte_mbuf *m, const struct pw_ip_info *info, uint8_t proto)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod(m, struct rte_ipv4_hdr *);
	uint16_t segments = count_segments(m);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = info->tos,
		.total_length = rte_cpu_to_be_16(m->pkt_len),
		.packet_id = rte_cpu_to_be_16(next_id(inet, info, segments)),
		.time_to_live = PW_INET_HOP_LIMIT,
		.next_proto_id = proto,
		.src_addr = pw_addr_to_ipv4(&info->src),
		.dst_addr = pw_addr_to_ipv4(&info->dst),
	};
	/* RFC 1191 3: TCP finds out what fits; others have to arrive. */
	if (proto == IPPROTO_TCP)
		ip->fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
	if ((m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) == 0)
		ip->hdr_checksum = rte_ipv4_cksum(ip);
}

static void
fill_ipv6(struct rte_mbuf *m, const struct pw_ip_info *info, uint8_t proto)
{
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod(m, struct rte_ipv6_hdr *);

	ip->vtc_flow = rte_cpu_to_be_32(6u << 28 | (uint32_t)info->tos << RTE_IPV6_HDR_TC_SHIFT);
	ip->payload_len = rte_cpu_to_be_16(m->pkt_len - sizeof(*ip));
	ip->proto = proto;
	ip->hop_limits = PW_INET_HOP_LIMIT;
	memcpy(&ip->src_addr, info->src.bytes, sizeof(info->src));
	memcpy(&ip->dst_addr, info->dst.bytes, sizeof(info->dst));
}

static uint16_t
ip_header_len(const struct pw_ip_info *info)
{
	return pw_addr_is_ipv4(&info->dst) ? sizeof(struct rte_ipv4_hdr)
					   : sizeof(struct rte_ipv6_hdr);
}

/* Frees the packet and returns false where there is no room. */
static bool
push_header(struct pw_inet *inet, struct rte_mbuf *m, const struct pw_ip_info *info, uint8_t proto)
{
	if (rte_pktmbuf_prepend(m, ip_header_len(info)) == NULL) {
		pw_inet_drop(m, &inet->stats.tx_no_mbuf);
		return false;
	}
	if (pw_addr_is_ipv4(&info->dst))
		fill_ipv4(inet, m, info, proto);
	else
		fill_ipv6(m, info, proto);
	return true;
}

void
pw_inet_output(struct pw_inet *inet, struct rte_mbuf *m, const struct pw_ip_info *info,
	uint8_t proto, const struct pw_addr *next_hop, uint64_t now_us)
{
	if (push_header(inet, m, info, proto))
		pw_neigh_send(inet, m, next_hop, now_us);
}

/* What the port needs to fill in checksums (rte_net_intel_cksum_prepare()). */
static void
ask_for_offloads(const struct pw_inet *inet, struct rte_mbuf *m, const struct pw_ip_info *info)
{
	const struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod(m, const struct rte_tcp_hdr *);
	uint64_t offloads = inet->params.tx_offloads & ~RTE_MBUF_F_TX_TCP_SEG;
	bool ipv4 = pw_addr_is_ipv4(&info->dst);

	if (!ipv4)
		offloads &= ~RTE_MBUF_F_TX_IP_CKSUM;
	if (offloads == 0)
		return;
	m->ol_flags |= offloads | (ipv4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6);
	m->l2_len = sizeof(struct rte_ether_hdr);
	m->l3_len = ip_header_len(info);
	m->l4_len = (tcp->data_off >> 4) * 4;
}

/* A port begins with the sum of the pseudo header. */
static void
prepare_tcp_cksum(struct rte_mbuf *m, const struct pw_ip_info *info)
{
	void *ip = rte_pktmbuf_mtod(m, void *);
	struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(m, void *, m->l3_len);

	tcp->cksum = pw_addr_is_ipv4(&info->dst) ? rte_ipv4_phdr_cksum(ip, m->ol_flags)
						 : rte_ipv6_phdr_cksum(ip, m->ol_flags);
}

void
pw_inet_output_tcp(struct pw_inet *inet, struct rte_mbuf *segment, const struct pw_ip_info *info,
	uint64_t now_us)
{
	struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod(segment, struct rte_tcp_hdr *);
	const struct pw_addr *next_hop = pw_inet_next_hop(inet, &info->dst);

	if (next_hop == NULL) {
		pw_inet_drop(segment, &inet->stats.tx_no_route);
		return;
	}
	ask_for_offloads(inet, segment, info);
	tcp->cksum = 0;
	if ((segment->ol_flags & RTE_MBUF_F_TX_L4_MASK) == 0)
		tcp->cksum = ~pw_l4_sum(segment, 0, info, IPPROTO_TCP);
	if (!push_header(inet, segment, info, IPPROTO_TCP))
		return;
	if (segment->ol_flags & RTE_MBUF_F_TX_L4_MASK)
		prepare_tcp_cksum(segment, info);
	pw_neigh_send(inet, segment, next_hop, now_us);
}

void
pw_inet_output_udp(struct pw_inet *inet, struct rte_mbuf *datagram, const struct pw_ip_info *info,
	uint64_t now_us)
{
	struct rte_udp_hdr *udp = rte_pktmbuf_mtod(datagram, struct rte_udp_hdr *);
	uint32_t max = UINT16_MAX;
	const struct pw_addr *next_hop = pw_inet_next_hop(inet, &info->dst);

	if (pw_addr_is_ipv4(&info->dst))
		max -= sizeof(struct rte_ipv4_hdr);
	if (datagram->pkt_len > max) {
		pw_inet_drop(datagram, &inet->stats.tx_too_long);
		return;
	}
	if (next_hop == NULL) {
		pw_inet_drop(datagram, &inet->stats.tx_no_route);
		return;
	}
	udp->dgram_len = rte_cpu_to_be_16(datagram->pkt_len);
	udp->dgram_cksum = 0;
	udp->dgram_cksum = ~pw_l4_sum(datagram, 0, info, IPPROTO_UDP);
	/* RFC 768: 0 says that there is none. */
	if (udp->dgram_cksum == 0)
		udp->dgram_cksum = UINT16_MAX;
	pw_inet_output(inet, datagram, info, IPPROTO_UDP, next_hop, now_us);
}

void
pw_inet_transmit(struct pw_inet *inet, struct rte_mbuf *packet, const struct rte_ether_addr *mac)
{
	bool ipv4 = *rte_pktmbuf_mtod(packet, const uint8_t *) >> 4 == 4;

	if (packet->pkt_len > inet->params.mtu_bytes &&
		(packet->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0)
		pw_fragment_send(inet, packet, mac);
	else
		pw_inet_send_ether(
			inet, packet, mac, ipv4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
}
