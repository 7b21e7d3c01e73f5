/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "pw_inet_priv.h"

static bool
are_valid_offloads(uint64_t offloads)
{
	uint64_t cksums = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;

	/* Who cuts segments has to fill in both checksums of each. */
	return (offloads & ~(cksums | RTE_MBUF_F_TX_TCP_SEG)) == 0 &&
		((offloads & RTE_MBUF_F_TX_TCP_SEG) == 0 || (offloads & cksums) == cksums);
}

struct pw_inet *
pw_inet_create(const struct pw_inet_params *params)
{
	struct pw_inet *inet;

	if (params->prefix_len > 32 || !are_valid_offloads(params->tx_offloads)) {
		rte_errno = EINVAL;
		return NULL;
	}
	inet = rte_zmalloc("pw_inet", sizeof(*inet), RTE_CACHE_LINE_SIZE);
	if (inet == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	inet->params = *params;
	if (params->prefix_len > 0)
		inet->netmask = rte_cpu_to_be_32(UINT32_MAX << (32 - params->prefix_len));
	return inet;
}

void
pw_inet_destroy(struct pw_inet *inet)
{
	if (inet == NULL)
		return;
	pw_neigh_clear(&inet->neighbours);
	rte_free(inet);
}

void
pw_inet_send_frame(struct pw_inet *inet, struct rte_mbuf *frame)
{
	inet->stats.tx_frames++;
	inet->params.ops.output(inet->params.ctx, frame);
}

void
pw_inet_send_ether(struct pw_inet *inet, struct rte_mbuf *m, const struct rte_ether_addr *dst,
	uint16_t ether_type)
{
	struct rte_ether_hdr *eth = (void *)rte_pktmbuf_prepend(m, sizeof(*eth));

	if (eth == NULL) {
		pw_inet_drop(m, &inet->stats.tx_no_mbuf);
		return;
	}
	eth->dst_addr = *dst;
	eth->src_addr = inet->params.mac;
	eth->ether_type = rte_cpu_to_be_16(ether_type);
	pw_inet_send_frame(inet, m);
}

static bool
is_for_us(const struct pw_inet *inet, const struct rte_ether_hdr *eth)
{
	/* Only ARP has business with everybody (RFC 1122 3.3.6). */
	return rte_is_same_ether_addr(&eth->dst_addr, &inet->params.mac) ||
		(rte_is_multicast_ether_addr(&eth->dst_addr) &&
			eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP));
}

void
pw_inet_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *);

	inet->stats.rx_frames++;
	if (frame->data_len < sizeof(*eth)) {
		pw_inet_drop(frame, &inet->stats.rx_short);
		return;
	}
	if (!is_for_us(inet, eth)) {
		pw_inet_drop(frame, &inet->stats.rx_other_mac);
		return;
	}

	switch (rte_be_to_cpu_16(eth->ether_type)) {
	case RTE_ETHER_TYPE_ARP:
		pw_arp_input(inet, frame, now_us);
		break;
	case RTE_ETHER_TYPE_IPV4:
		pw_ipv4_input(inet, frame, now_us);
		break;
	default:
		pw_inet_drop(frame, &inet->stats.rx_unknown_type);
		break;
	}
}

void
pw_inet_get_stats(const struct pw_inet *inet, struct pw_inet_stats *stats)
{
	*stats = inet->stats;
}
