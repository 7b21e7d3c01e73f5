/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* ICMP, RFC 792 and RFC 1122 3.2.2: echo; errors are in pw_icmp_error.c. */

#include <netinet/ip_icmp.h>

#include <rte_icmp.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

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
echo(struct pw_inet *inet, struct rte_mbuf *frame, struct rte_icmp_hdr *icmp)
{
	struct rte_ether_addr mac = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *)->src_addr;
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, struct rte_ipv4_hdr *, frame->l2_len);
	rte_be32_t ours = ip->dst_addr;

	inet->stats.rx_icmp_echo++;
	set_type(icmp, RTE_IP_ICMP_ECHO_REPLY);
	ip->dst_addr = ip->src_addr;
	ip->src_addr = ours;
	ip->time_to_live = PW_INET_HOP_LIMIT;
	ip->packet_id = rte_cpu_to_be_16(inet->next_id++);
	ip->fragment_offset = 0;
	ip->hdr_checksum = 0;
	/* rte_ipv4_cksum() covers options too. */
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	pw_inet_forget_offloads(frame);
	rte_pktmbuf_adj(frame, frame->l2_len);
	pw_inet_transmit(inet, frame, &mac);
}

static bool
is_error(uint8_t type)
{
	return type == ICMP_DEST_UNREACH || type == ICMP_TIME_EXCEEDED ||
		type == ICMP_PARAMETERPROB;
}

void
pw_icmp_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	struct rte_mbuf *frame = rx->frame;
	uint32_t offset = pw_inet_l4_offset(frame);
	struct rte_icmp_hdr *icmp = rte_pktmbuf_mtod_offset(frame, struct rte_icmp_hdr *, offset);

	if (frame->data_len < offset + sizeof(*icmp))
		pw_inet_drop(frame, &inet->stats.rx_short);
	else if (pw_chain_sum(frame, offset) != 0xffff)
		pw_inet_drop(frame, &inet->stats.rx_bad_l4_cksum);
	else if (is_error(icmp->icmp_type))
		pw_icmp_error_input(inet, rx);
	else if (icmp->icmp_type == RTE_IP_ICMP_ECHO_REQUEST && icmp->icmp_code == 0)
		echo(inet, frame, icmp);
	else
		pw_inet_drop(frame, &inet->stats.rx_unknown_proto);
}
