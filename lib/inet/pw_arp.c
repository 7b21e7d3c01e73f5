/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Address resolution, RFC 826, with the rules of RFC 1122 2.3.2. */

#include <stdbool.h>
#include <string.h>

#include <rte_arp.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

static bool
is_valid(const struct rte_mbuf *m, const struct rte_arp_hdr *arp)
{
	return m->data_len >= sizeof(*arp) &&
		arp->arp_hardware == rte_cpu_to_be_16(RTE_ARP_HRD_ETHER) &&
		arp->arp_protocol == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) &&
		arp->arp_hlen == RTE_ETHER_ADDR_LEN && arp->arp_plen == sizeof(rte_be32_t) &&
		(arp->arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REQUEST) ||
			arp->arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REPLY)) &&
		rte_is_valid_assigned_ether_addr(&arp->arp_data.arp_sha);
}

/* RFC 826: update an entry that exists; make one only when somebody asks for us, or answers. */
static void
learn(struct pw_inet *inet, const struct rte_arp_ipv4 *data, bool for_us, uint64_t now_us)
{
	struct pw_inet_heard heard = {
		.sender = pw_addr_from_ipv4(data->arp_sip),
		.target = pw_addr_from_ipv4(data->arp_tip),
		.mac = data->arp_sha,
		.flags = PW_HEARD_CONFIRMS | PW_HEARD_OVERRIDES | (for_us ? PW_HEARD_CREATES : 0),
	};

	pw_neigh_learn(inet, &heard, now_us);
}

static bool
is_ours(const struct pw_inet *inet, rte_be32_t ip)
{
	struct pw_addr addr = pw_addr_from_ipv4(ip);

	return pw_inet_is_ours(inet, &addr);
}

static void
fill_arp(const struct pw_inet *inet, struct rte_arp_hdr *arp, uint16_t opcode, rte_be32_t our_ip,
	const struct rte_ether_addr *target_mac, rte_be32_t target_ip)
{
	arp->arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = RTE_ETHER_ADDR_LEN;
	arp->arp_plen = sizeof(rte_be32_t);
	arp->arp_opcode = rte_cpu_to_be_16(opcode);
	arp->arp_data.arp_sha = inet->params.mac;
	arp->arp_data.arp_sip = our_ip;
	arp->arp_data.arp_tha = *target_mac;
	arp->arp_data.arp_tip = target_ip;
}

static void
reply(struct pw_inet *inet, struct rte_mbuf *m)
{
	struct rte_arp_hdr *arp = rte_pktmbuf_mtod(m, struct rte_arp_hdr *);
	struct rte_ether_addr mac = arp->arp_data.arp_sha;

	fill_arp(inet, arp, RTE_ARP_OP_REPLY, arp->arp_data.arp_tip, &mac, arp->arp_data.arp_sip);
	inet->stats.tx_arp_replies++;
	pw_inet_send_ether(inet, m, &mac, RTE_ETHER_TYPE_ARP);
}

void
pw_arp_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	struct rte_arp_hdr *arp = (void *)rte_pktmbuf_adj(frame, sizeof(struct rte_ether_hdr));
	bool for_us;

	if (!is_valid(frame, arp)) {
		pw_inet_drop(frame, &inet->stats.rx_bad_arp);
		return;
	}
	inet->stats.rx_arp++;
	for_us = is_ours(inet, arp->arp_data.arp_tip);
	learn(inet, &arp->arp_data, for_us, now_us);

	/* A gratuitous request asks for the sender's own address: nobody else answers. */
	if (arp->arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REQUEST) && for_us &&
		!is_ours(inet, arp->arp_data.arp_sip)) {
		pw_chain_cut(frame, sizeof(*arp));
		pw_inet_forget_offloads(frame);
		reply(inet, frame);
	} else {
		rte_pktmbuf_free(frame);
	}
}

void
pw_arp_request(struct pw_inet *inet, rte_be32_t ip, const struct rte_ether_addr *mac)
{
	static const struct rte_ether_addr unknown;
	struct pw_addr target = pw_addr_from_ipv4(ip), source;
	struct rte_mbuf *m;

	if (pw_inet_source(inet, &target, &source) < 0)
		return;
	m = pw_inet_new_packet(inet, sizeof(struct rte_arp_hdr));
	if (m == NULL)
		return;
	fill_arp(inet, rte_pktmbuf_mtod(m, struct rte_arp_hdr *), RTE_ARP_OP_REQUEST,
		pw_addr_to_ipv4(&source), &unknown, ip);
	inet->stats.tx_arp_requests++;
	pw_inet_send_ether(inet, m, mac != NULL ? mac : &broadcast, RTE_ETHER_TYPE_ARP);
}
