/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "pw_inet_priv.h"

#define PW_INET_MTU_MIN 576 /* RFC 1122 3.3.3 */
#define VLAN_ID_MASK 0xfff

static bool
are_valid_offloads(uint64_t offloads)
{
	uint64_t cksums = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;

	/* Who cuts segments has to fill in both checksums of each. */
	return (offloads & ~(cksums | RTE_MBUF_F_TX_TCP_SEG)) == 0 &&
		((offloads & RTE_MBUF_F_TX_TCP_SEG) == 0 || (offloads & cksums) == cksums);
}

static int
open_inet(struct pw_inet *inet, const struct pw_inet_params *params)
{
	inet->params = *params;
	inet->next_id = params->secret;
	inet->neighbours.secret = params->secret;
	if (params->mtu_bytes < PW_INET_MTU_MIN || !are_valid_offloads(params->tx_offloads) ||
		!pw_inet_set_addresses(inet))
		return -EINVAL;
	return pw_reasm_open(&inet->reasm);
}

struct pw_inet *
pw_inet_create(const struct pw_inet_params *params)
{
	struct pw_inet *inet = rte_zmalloc("pw_inet", sizeof(*inet), RTE_CACHE_LINE_SIZE);
	int rc = inet == NULL ? -ENOMEM : open_inet(inet, params);

	if (rc == 0)
		return inet;
	rte_free(inet);
	rte_errno = -rc;
	return NULL;
}

void
pw_inet_destroy(struct pw_inet *inet)
{
	if (inet == NULL)
		return;
	pw_neigh_clear(&inet->neighbours);
	pw_reasm_close(&inet->reasm);
	rte_free(inet);
}

struct rte_mbuf *
pw_inet_new_packet(struct pw_inet *inet, uint16_t len_bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(inet->params.pool);
	void *data = m == NULL ? NULL : rte_pktmbuf_append(m, len_bytes);

	if (data == NULL) {
		pw_inet_drop(m, &inet->stats.tx_no_mbuf);
		return NULL;
	}
	memset(data, 0, len_bytes);
	return m;
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

/* Only ARP and ND have business with everybody (RFC 1122 3.3.6). */
static bool
is_for_us(const struct pw_inet *inet, const struct rte_ether_hdr *eth)
{
	if (rte_is_multicast_ether_addr(&eth->src_addr))
		return false;
	if (rte_is_same_ether_addr(&eth->dst_addr, &inet->params.mac))
		return true;
	if (eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6))
		return eth->dst_addr.addr_bytes[0] == 0x33 && eth->dst_addr.addr_bytes[1] == 0x33;
	return rte_is_multicast_ether_addr(&eth->dst_addr) &&
		eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP);
}

/* IEEE 802.1Q: VLAN 0 is none, only a priority. */
static bool
strip_priority(struct rte_mbuf *frame)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *);
	const struct rte_vlan_hdr *vlan = (const void *)(eth + 1);
	char *start = rte_pktmbuf_mtod(frame, char *);

	if ((frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) &&
		(frame->vlan_tci & VLAN_ID_MASK) != 0)
		return false;
	if (eth->ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN))
		return true;
	if (frame->data_len < sizeof(*eth) + sizeof(*vlan) ||
		(rte_be_to_cpu_16(vlan->vlan_tci) & VLAN_ID_MASK) != 0)
		return false;
	memmove(start + sizeof(*vlan), start, 2 * RTE_ETHER_ADDR_LEN);
	rte_pktmbuf_adj(frame, sizeof(*vlan));
	return true;
}

static void
input_by_type(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *);

	if (!is_for_us(inet, eth)) {
		pw_inet_drop(frame, &inet->stats.rx_other_mac);
		return;
	}
	frame->l2_len = sizeof(*eth);
	switch (rte_be_to_cpu_16(eth->ether_type)) {
	case RTE_ETHER_TYPE_ARP:
		pw_arp_input(inet, frame, now_us);
		break;
	case RTE_ETHER_TYPE_IPV4:
		pw_ipv4_input(inet, frame, now_us);
		break;
	case RTE_ETHER_TYPE_IPV6:
		pw_ipv6_input(inet, frame, now_us);
		break;
	default:
		pw_inet_drop(frame, &inet->stats.rx_unknown_type);
		break;
	}
}

void
pw_inet_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	inet->stats.rx_frames++;
	if (frame->data_len < sizeof(struct rte_ether_hdr))
		pw_inet_drop(frame, &inet->stats.rx_short);
	else if (!strip_priority(frame))
		pw_inet_drop(frame, &inet->stats.rx_vlan);
	else
		input_by_type(inet, frame, now_us);
}

void
pw_inet_tick(struct pw_inet *inet, uint64_t now_us)
{
	pw_neigh_tick(inet, now_us);
	pw_reasm_tick(inet, now_us);
}

void
pw_inet_get_stats(const struct pw_inet *inet, struct pw_inet_stats *stats)
{
	*stats = inet->stats;
}
