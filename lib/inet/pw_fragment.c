/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Fragments out, by librte_ip_frag: headers of their own in front of mbufs that refer to data. */

#include <errno.h>

#include <rte_ip_frag.h>

#include "pw_inet_priv.h"

#define FRAGMENTS_MAX 128 /* of 65535 bytes where the MTU is 576 */

static int
cut_ipv4(struct pw_inet *inet, struct rte_mbuf *packet, struct rte_mbuf **fragments)
{
	int n = rte_ipv4_fragment_packet(packet, fragments, FRAGMENTS_MAX, inet->params.mtu_bytes,
		inet->params.pool, inet->params.pool);

	for (int i = 0; i < n; i++) {
		struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod(fragments[i], struct rte_ipv4_hdr *);

		/* Whether the port can fill it in was decided for TCP. */
		fragments[i]->ol_flags &= ~RTE_MBUF_F_TX_IP_CKSUM;
		ip->hdr_checksum = 0;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	}
	return n;
}

static int
cut_ipv6(struct pw_inet *inet, struct rte_mbuf *packet, struct rte_mbuf **fragments)
{
	const struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod(packet, const struct rte_ipv6_hdr *);
	struct pw_addr dst = pw_addr_from_ipv6(&ip->dst_addr);
	rte_be32_t id = rte_cpu_to_be_32(inet->next_id++ + pw_inet_id_offset(inet, &dst));
	int n = rte_ipv6_fragment_packet(packet, fragments, FRAGMENTS_MAX, inet->params.mtu_bytes,
		inet->params.pool, inet->params.pool);

	/* All of its IDs are 0. */
	for (int i = 0; i < n; i++)
		rte_pktmbuf_mtod_offset(
			fragments[i], struct rte_ipv6_fragment_ext *, sizeof(struct rte_ipv6_hdr))
			->id = id;
	return n;
}

void
pw_fragment_send(struct pw_inet *inet, struct rte_mbuf *packet, const struct rte_ether_addr *mac)
{
	bool ipv4 = *rte_pktmbuf_mtod(packet, const uint8_t *) >> 4 == 4;
	struct rte_mbuf *fragments[FRAGMENTS_MAX];
	int n = (ipv4 ? cut_ipv4 : cut_ipv6)(inet, packet, fragments);

	if (n < 0) {
		pw_inet_drop(
			packet, n == -ENOMEM ? &inet->stats.tx_no_mbuf : &inet->stats.tx_too_long);
		return;
	}
	rte_pktmbuf_free(packet);
	inet->stats.tx_fragments += n;
	for (int i = 0; i < n; i++)
		pw_inet_send_ether(
			inet, fragments[i], mac, ipv4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
}
