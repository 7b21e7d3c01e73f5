/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_INET_PRIV_H
#define PW_INET_PRIV_H

/** @file What the files of lib/inet share. */

#include "pw_inet.h"
#include "pw_neigh.h"

struct pw_inet {
	struct pw_inet_params params;
	rte_be32_t netmask;
	uint16_t next_ip_id;
	struct pw_inet_stats stats;
	struct pw_neigh_table neighbours;
};

/** Count a packet under a reason and free it. */
static inline void
pw_inet_drop(struct rte_mbuf *m, uint64_t *reason)
{
	(*reason)++;
	rte_pktmbuf_free(m);
}

/** Hand a whole frame to the port. */
void pw_inet_send_frame(struct pw_inet *inet, struct rte_mbuf *frame);

/** Put an Ethernet header in front and send; without headroom for it the packet is dropped. */
void pw_inet_send_ether(struct pw_inet *inet, struct rte_mbuf *m, const struct rte_ether_addr *dst,
	uint16_t ether_type);

/** Take an ARP frame; owns it. */
void pw_arp_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Broadcast a request for an address. */
void pw_arp_request(struct pw_inet *inet, rte_be32_t ip);

/** Take an IPv4 frame; owns it. */
void pw_ipv4_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Take a checked IPv4 frame that carries ICMP; owns it. */
void pw_icmp_input(struct pw_inet *inet, struct rte_mbuf *frame);

#endif
