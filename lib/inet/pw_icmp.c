/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* ICMP echo, RFC 792 and RFC 1122 3.2.2.6. */

#include <stdbool.h>

#include <rte_icmp.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

static bool
has_right_cksum(const struct rte_mbuf *frame, uint32_t icmp_offset)
{
	return pw_chain_sum(frame, icmp_offset) == 0xffff;
}

/* RFC 1624, equation 3: HC' = ~(~HC + ~m + m'), for the word of type and code. */
static void
set_type(struct rte_icmp_hdr *icmp, uint8_t type)
{
	uint32_t sum = (uint16_t)~icmp->icmp_cksum;

	sum += (uint16_t)~rte_cpu_to_be_16(icmp->icmp_type << 8 | icmp->icmp_code);
	icmp->icmp_type = type;
	sum += rte_cpu_to_be_16(icmp->icmp_type << 8 | icmp->icmp_code);
	icmp->icmp_cksum = ~__rte_raw_cksum_reduce(sum);
}

/* The request, turned round in place, is the reply. */
static void
turn_round(struct pw_inet *inet, struct rte_mbuf *frame, struct rte_ipv4_hdr *ip)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, struct rte_ether_hdr *);

	eth->dst_addr = eth->src_addr;
	eth->src_addr = inet->params.mac;
	ip->dst_addr = ip->src_addr;
	ip->src_addr = inet->params.ip;
	ip->time_to_live = 64;
	ip->packet_id = rte_cpu_to_be_16(inet->next_ip_id++);
	ip->hdr_checksum = 0;
	/* rte_ipv4_cksum() covers options too. */
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

void
pw_icmp_input(struct pw_inet *inet, struct rte_mbuf *frame)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, struct rte_ipv4_hdr *, frame->l2_len);
	uint32_t offset = frame->l2_len + frame->l3_len;
	struct rte_icmp_hdr *icmp = rte_pktmbuf_mtod_offset(frame, struct rte_icmp_hdr *, offset);

	if (frame->data_len < offset + sizeof(*icmp)) {
		pw_inet_drop(frame, &inet->stats.rx_short);
		return;
	}
	if (!has_right_cksum(frame, offset)) {
		pw_inet_drop(frame, &inet->stats.rx_bad_l4_cksum);
		return;
	}
	if (icmp->icmp_type != RTE_IP_ICMP_ECHO_REQUEST || icmp->icmp_code != 0) {
		pw_inet_drop(frame, &inet->stats.rx_unknown_proto);
		return;
	}

	inet->stats.rx_icmp_echo++;
	set_type(icmp, RTE_IP_ICMP_ECHO_REPLY);
	turn_round(inet, frame, ip);
	/* What the NIC said of the request is not true of the reply. */
	frame->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	pw_inet_send_frame(inet, frame);
}
