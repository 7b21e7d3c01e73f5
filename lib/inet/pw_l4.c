/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* From IP packets of either family to what they carry. */

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <rte_udp.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

uint16_t
pw_l4_sum(
	const struct rte_mbuf *m, uint32_t offset_bytes, const struct pw_ip_info *ip, uint8_t proto)
{
	bool ipv4 = pw_addr_is_ipv4(&ip->src);
	uint8_t skip = ipv4 ? 12 : 0, len = 16 - skip;
	uint32_t l4_bytes = m->pkt_len - offset_bytes;
	uint32_t sum = rte_cpu_to_be_16(l4_bytes) + rte_cpu_to_be_16(proto);

	sum += rte_raw_cksum(ip->src.bytes + skip, len) + rte_raw_cksum(ip->dst.bytes + skip, len);
	return __rte_raw_cksum_reduce(sum + pw_chain_sum(m, offset_bytes));
}

/* NONE: known to be right, though not what is in the packet (lib/gro). */
static bool
has_right_cksum(const struct pw_inet_rx *rx)
{
	uint64_t cksum = rx->frame->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	if (cksum != RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
		return cksum != RTE_MBUF_F_RX_L4_CKSUM_BAD;
	return pw_l4_sum(rx->frame, pw_inet_l4_offset(rx->frame), &rx->ip, rx->proto) == 0xffff;
}

static void
tcp_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	uint32_t offset = pw_inet_l4_offset(rx->frame);

	if (rx->frame->pkt_len == offset) {
		pw_inet_drop(rx->frame, &inet->stats.rx_short);
		return;
	}
	if (!has_right_cksum(rx)) {
		pw_inet_drop(rx->frame, &inet->stats.rx_bad_l4_cksum);
		return;
	}
	inet->stats.rx_tcp++;
	rx->frame = pw_chain_trim_front(rx->frame, offset);
	inet->params.ops.tcp_input(inet->params.ctx, rx->frame, &rx->ip, rx->now_us);
}

/* RFC 768, and RFC 8200 8.1: in IPv6 no datagram goes without a checksum. */
static bool
check_udp(struct pw_inet *inet, struct pw_inet_rx *rx, uint64_t **reason)
{
	uint32_t offset = pw_inet_l4_offset(rx->frame);
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(
		rx->frame, const struct rte_udp_hdr *, offset);
	uint16_t len;

	*reason = &inet->stats.rx_short;
	if (rx->frame->data_len < offset + sizeof(*udp))
		return false;
	*reason = &inet->stats.rx_bad_length;
	len = rte_be_to_cpu_16(udp->dgram_len);
	if (len < sizeof(*udp) || len > rx->frame->pkt_len - offset)
		return false;
	pw_chain_cut(rx->frame, offset + len);
	*reason = &inet->stats.rx_bad_l4_cksum;
	if (udp->dgram_cksum == 0)
		return pw_addr_is_ipv4(&rx->ip.src);
	return has_right_cksum(rx);
}

static void
udp_refuse(struct pw_inet *inet, struct pw_inet_rx *rx, const void *header, uint16_t header_len)
{
	struct pw_icmp_error error = {ICMP_DEST_UNREACH, ICMP_PORT_UNREACH, 0};

	if (!pw_addr_is_ipv4(&rx->ip.src))
		error = (struct pw_icmp_error){1, 4, 0}; /* RFC 4443 3.1 */
	pw_icmp_error_send(inet, rx, &error, header, header_len, rx->frame, 0);
	pw_inet_drop(rx->frame, &inet->stats.rx_no_port);
}

static void
udp_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	const struct pw_inet_ops *ops = &inet->params.ops;
	uint16_t header_len = rx->frame->l3_len;
	uint8_t header[60];
	uint64_t *reason;

	if (!check_udp(inet, rx, &reason)) {
		pw_inet_drop(rx->frame, reason);
		return;
	}
	/* An ICMP error will quote it. */
	memcpy(header, rte_pktmbuf_mtod_offset(rx->frame, void *, rx->frame->l2_len), header_len);
	rx->frame = pw_chain_trim_front(rx->frame, pw_inet_l4_offset(rx->frame));
	if (ops->udp_input != NULL &&
		ops->udp_input(inet->params.ctx, rx->frame, &rx->ip, rx->now_us))
		inet->stats.rx_udp++;
	else
		udp_refuse(inet, rx, header, header_len);
}

/* RFC 1122 3.2.2.1. What IPv6 does not know it has found already. */
static void
proto_refuse(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	static const struct pw_icmp_error error = {ICMP_DEST_UNREACH, ICMP_PROT_UNREACH, 0};
	const struct rte_mbuf *frame = rx->frame;

	if (pw_addr_is_ipv4(&rx->ip.src))
		pw_icmp_error_send(inet, rx, &error,
			rte_pktmbuf_mtod_offset(frame, void *, frame->l2_len), frame->l3_len, frame,
			pw_inet_l4_offset(frame));
	pw_inet_drop(rx->frame, &inet->stats.rx_unknown_proto);
}

void
pw_l4_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	bool ipv4 = pw_addr_is_ipv4(&rx->ip.src);

	if (ipv4 && rx->proto == IPPROTO_ICMP)
		pw_icmp_input(inet, rx);
	else if (!ipv4 && rx->proto == IPPROTO_ICMPV6)
		pw_icmpv6_input(inet, rx);
	/* Groups are for ICMPv6, and only that may come from nobody. */
	else if (pw_addr_is_multicast(&rx->ip.dst) || pw_addr_is_none(&rx->ip.src))
		pw_inet_drop(rx->frame, &inet->stats.rx_other_ip);
	else if (rx->proto == IPPROTO_TCP)
		tcp_input(inet, rx);
	else if (rx->proto == IPPROTO_UDP)
		udp_input(inet, rx);
	else
		proto_refuse(inet, rx);
}
