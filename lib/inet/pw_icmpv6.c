/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* ICMPv6, RFC 4443: echo; errors are in pw_icmp_error.c, and neighbours in pw_nd.c. */

#include <netinet/icmp6.h>

#include <rte_icmp.h>

#include "pw_inet_priv.h"

/* The request, turned round in place, is the reply; to one for all from an address of ours. */
static void
echo(struct pw_inet *inet, struct pw_inet_rx *rx, struct rte_icmp_hdr *icmp)
{
	struct rte_mbuf *frame = rx->frame;
	struct rte_ether_addr mac = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *)->src_addr;
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, struct rte_ipv6_hdr *, frame->l2_len);
	struct pw_ip_info reply = {.src = rx->ip.dst, .dst = rx->ip.src};

	inet->stats.rx_icmp_echo++;
	if (pw_addr_is_multicast(&reply.src) && pw_inet_source(inet, &reply.dst, &reply.src) < 0) {
		pw_inet_drop(frame, &inet->stats.tx_no_route);
		return;
	}
	memcpy(&ip->src_addr, reply.src.bytes, sizeof(reply.src));
	memcpy(&ip->dst_addr, reply.dst.bytes, sizeof(reply.dst));
	ip->hop_limits = PW_INET_HOP_LIMIT;
	icmp->icmp_type = ICMP6_ECHO_REPLY;
	icmp->icmp_cksum = 0;
	icmp->icmp_cksum = ~pw_l4_sum(frame, pw_inet_l4_offset(frame), &reply, IPPROTO_ICMPV6);
	pw_inet_forget_offloads(frame);
	rte_pktmbuf_adj(frame, frame->l2_len);
	pw_inet_transmit(inet, frame, &mac);
}

static bool
is_nd(uint8_t type)
{
	return type >= ND_ROUTER_SOLICIT && type <= ND_REDIRECT;
}

void
pw_icmpv6_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	struct rte_mbuf *frame = rx->frame;
	uint32_t offset = pw_inet_l4_offset(frame);
	struct rte_icmp_hdr *icmp = rte_pktmbuf_mtod_offset(frame, struct rte_icmp_hdr *, offset);

	if (frame->data_len < offset + sizeof(*icmp))
		pw_inet_drop(frame, &inet->stats.rx_short);
	else if (pw_l4_sum(frame, offset, &rx->ip, IPPROTO_ICMPV6) != 0xffff)
		pw_inet_drop(frame, &inet->stats.rx_bad_l4_cksum);
	else if (is_nd(icmp->icmp_type))
		pw_nd_input(inet, rx);
	else if (pw_addr_is_none(&rx->ip.src))
		pw_inet_drop(frame, &inet->stats.rx_bad_ip);
	else if (icmp->icmp_type >= ICMP6_DST_UNREACH && icmp->icmp_type <= ICMP6_PARAM_PROB)
		pw_icmp_error_input(inet, rx);
	else if (icmp->icmp_type == ICMP6_ECHO_REQUEST && icmp->icmp_code == 0)
		echo(inet, rx, icmp);
	else
		pw_inet_drop(frame, &inet->stats.rx_unknown_proto);
}
