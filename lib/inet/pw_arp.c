/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Address resolution, RFC 826, with the rules of RFC 1122 2.3.2. */

#include <stdbool.h>
#include <string.h>

#include <rte_arp.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

#define REQUEST_INTERVAL_US 1000000 /* RFC 1122 2.3.2.1: at most one a second */
#define REQUESTS_MAX 3

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

static bool
is_on_link(const struct pw_inet *inet, rte_be32_t ip)
{
	return ip != 0 && ip != inet->params.ip && ((ip ^ inet->params.ip) & inet->netmask) == 0;
}

/* RFC 826: update an entry that exists; make one only when somebody asks for us. */
static void
learn(struct pw_inet *inet, const struct pw_inet_arp *arp, uint64_t now_us)
{
	struct pw_neigh *neigh = pw_neigh_find(&inet->neighbours, arp->sender_ip);
	struct rte_mbuf *waiting;

	if (neigh == NULL) {
		if (arp->target_ip != inet->params.ip || !is_on_link(inet, arp->sender_ip))
			return;
		neigh = pw_neigh_add(&inet->neighbours, arp->sender_ip, &waiting);
		if (waiting != NULL)
			pw_inet_drop(waiting, &inet->stats.tx_no_neighbour);
	}

	neigh->state = PW_NEIGH_KNOWN;
	neigh->mac = arp->sender_mac;
	neigh->requests = 0;
	neigh->confirmed_us = now_us;
	waiting = neigh->queue;
	neigh->queue = NULL;
	if (waiting != NULL)
		pw_inet_send_ether(inet, waiting, &neigh->mac, RTE_ETHER_TYPE_IPV4);
}

void
pw_inet_hear_arp(struct pw_inet *inet, const struct pw_inet_arp *arp, uint64_t now_us)
{
	learn(inet, arp, now_us);
}

static void
learn_and_tell(struct pw_inet *inet, const struct rte_arp_ipv4 *data, uint64_t now_us)
{
	struct pw_inet_arp arp = {
		.sender_ip = data->arp_sip,
		.target_ip = data->arp_tip,
		.sender_mac = data->arp_sha,
	};

	learn(inet, &arp, now_us);
	if (inet->params.ops.arp_input != NULL)
		inet->params.ops.arp_input(inet->params.ctx, &arp);
}

static void
fill_arp(const struct pw_inet *inet, struct rte_arp_hdr *arp, uint16_t opcode,
	const struct rte_ether_addr *target_mac, rte_be32_t target_ip)
{
	arp->arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = RTE_ETHER_ADDR_LEN;
	arp->arp_plen = sizeof(rte_be32_t);
	arp->arp_opcode = rte_cpu_to_be_16(opcode);
	arp->arp_data.arp_sha = inet->params.mac;
	arp->arp_data.arp_sip = inet->params.ip;
	arp->arp_data.arp_tha = *target_mac;
	arp->arp_data.arp_tip = target_ip;
}

static void
reply(struct pw_inet *inet, struct rte_mbuf *m)
{
	struct rte_arp_hdr *arp = rte_pktmbuf_mtod(m, struct rte_arp_hdr *);
	struct rte_ether_addr mac = arp->arp_data.arp_sha;

	fill_arp(inet, arp, RTE_ARP_OP_REPLY, &mac, arp->arp_data.arp_sip);
	inet->stats.tx_arp_replies++;
	pw_inet_send_ether(inet, m, &mac, RTE_ETHER_TYPE_ARP);
}

void
pw_arp_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	struct rte_arp_hdr *arp = (void *)rte_pktmbuf_adj(frame, sizeof(struct rte_ether_hdr));

	if (!is_valid(frame, arp)) {
		pw_inet_drop(frame, &inet->stats.rx_bad_arp);
		return;
	}
	inet->stats.rx_arp++;
	learn_and_tell(inet, &arp->arp_data, now_us);

	/* A gratuitous request asks for the sender's own address: nobody else answers. */
	if (arp->arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REQUEST) &&
		arp->arp_data.arp_tip == inet->params.ip &&
		arp->arp_data.arp_sip != inet->params.ip) {
		pw_chain_cut(frame, sizeof(*arp));
		reply(inet, frame);
	} else {
		rte_pktmbuf_free(frame);
	}
}

void
pw_arp_request(struct pw_inet *inet, rte_be32_t ip)
{
	static const struct rte_ether_addr unknown;
	struct rte_mbuf *m = rte_pktmbuf_alloc(inet->params.pool);
	struct rte_arp_hdr *arp;

	if (m == NULL) {
		inet->stats.tx_no_mbuf++;
		return;
	}
	arp = (void *)rte_pktmbuf_append(m, sizeof(*arp));
	if (arp == NULL) {
		pw_inet_drop(m, &inet->stats.tx_no_mbuf);
		return;
	}
	fill_arp(inet, arp, RTE_ARP_OP_REQUEST, &unknown, ip);
	inet->stats.tx_arp_requests++;
	pw_inet_send_ether(inet, m, &broadcast, RTE_ETHER_TYPE_ARP);
}

static void
give_up(struct pw_inet *inet, struct pw_neigh *neigh)
{
	if (neigh->queue != NULL)
		pw_inet_drop(neigh->queue, &inet->stats.tx_no_neighbour);
	memset(neigh, 0, sizeof(*neigh));
}

static void
ask_again(struct pw_inet *inet, struct pw_neigh *neigh, uint64_t now_us)
{
	if (neigh->state != PW_NEIGH_ASKED || now_us - neigh->requested_us < REQUEST_INTERVAL_US)
		return;
	if (neigh->requests >= REQUESTS_MAX) {
		give_up(inet, neigh);
		return;
	}
	neigh->requests++;
	neigh->requested_us = now_us;
	pw_arp_request(inet, neigh->ip);
}

void
pw_inet_tick(struct pw_inet *inet, uint64_t now_us)
{
	for (unsigned i = 0; i < PW_NEIGH_SETS; i++)
		for (unsigned j = 0; j < PW_NEIGH_WAYS; j++)
			ask_again(inet, &inet->neighbours.entries[i][j], now_us);
}
