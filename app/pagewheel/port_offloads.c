/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Which offloads, queues by RSS and MTU a port is configured with. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "options.h"
#include "port_ethdev.h"

#define RX_CKSUMS                                                       \
	(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | \
		RTE_ETH_RX_OFFLOAD_UDP_CKSUM)
#define TX_CKSUMS                                                       \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | \
		RTE_ETH_TX_OFFLOAD_UDP_CKSUM)
/* A port that cuts segments fills in both of their checksums. */
#define TSO \
	(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

/* Header and CRC, and what else a port counts in; as in testpmd. */
static uint32_t
overhead_bytes(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

static int
choose_mtu(struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	uint32_t overhead = overhead_bytes(info), frame = port->options->max_pkt_len;
	uint32_t max = RTE_MIN((uint32_t)info->max_mtu + overhead, info->max_rx_pktlen);
	uint32_t min = RTE_MAX(info->min_mtu, (uint16_t)RTE_ETHER_MIN_MTU) + overhead;

	port->offloads.mtu_bytes = 0;
	if (frame == 0)
		return 0;
	if (frame < min || frame > max) {
		pw_error("--max-pkt-len=%u: port %u takes %u to %u bytes", frame, port->base.id,
			min, max);
		return -EINVAL;
	}
	port->offloads.mtu_bytes = frame - overhead;
	return 0;
}

/* Can a frame be larger than a buffer? With two VLAN tags, as ixgbe reckons. */
static bool
needs_scatter(const struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	uint32_t mtu = port->offloads.mtu_bytes == 0 ? RTE_ETHER_MTU : port->offloads.mtu_bytes;
	uint32_t room = port->options->mbuf_size - RTE_PKTMBUF_HEADROOM;

	return mtu + overhead_bytes(info) + 2 * RTE_VLAN_HLEN > room;
}

static int
choose_scatter(struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	const struct pw_options *options = port->options;
	bool needed = needs_scatter(port, info);

	if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) {
		if (needed || options->enable_scatter)
			port->offloads.rx |= RTE_ETH_RX_OFFLOAD_SCATTER;
		return 0;
	}
	if (options->enable_scatter) {
		pw_error("--enable-scatter: port %u cannot put a frame into several buffers",
			port->base.id);
		return -ENOTSUP;
	}
	/* Without the option frames are cut, as they always were, and inet counts them. */
	if (!needed || options->max_pkt_len == 0)
		return 0;
	pw_error("--max-pkt-len=%u: port %u cannot put a frame into several buffers: give it "
		 "larger ones, --mbuf-size=%u",
		options->max_pkt_len, port->base.id,
		options->max_pkt_len + 2 * RTE_VLAN_HLEN + RTE_PKTMBUF_HEADROOM);
	return -ENOTSUP;
}

static int
choose_rx(struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	const struct pw_options *options = port->options;

	port->offloads.rx = 0;
	if (!options->no_rx_cksum)
		port->offloads.rx |= info->rx_offload_capa & RX_CKSUMS;
	if (options->hw_vlan_strip) {
		if ((info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) == 0) {
			pw_error("--enable-hw-vlan-strip: port %u cannot take VLAN tags off",
				port->base.id);
			return -ENOTSUP;
		}
		port->offloads.rx |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	}
	return choose_scatter(port, info);
}

/* net_tap's own sum is wrong where a piece of a chain has an odd length: it would be sent again for
 * ever. Its TSO is librte_gso with that sum. */
static bool
fills_wrong_cksums(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, "net_tap") == 0;
}

/* Each offload may lead a driver the longer way, ixgbe's does: none that nobody needs. */
static void
choose_tx(struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	const struct pw_options *options = port->options;
	uint64_t capa = info->tx_offload_capa, tx = 0;

	if (fills_wrong_cksums(info))
		capa &= ~(TX_CKSUMS | TSO);
	if (port->needs_offloads || (port->offloads.rx & RTE_ETH_RX_OFFLOAD_SCATTER))
		tx |= capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	/* A tag that was taken off, and goes out again. */
	if (port->needs_offloads && options->hw_vlan_strip)
		tx |= capa & RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	if (port->needs_offloads && !options->no_tx_cksum)
		tx |= capa & TX_CKSUMS;
	if ((tx & TX_CKSUMS) != 0 && (capa & TSO) == TSO && !options->no_tso)
		tx |= RTE_ETH_TX_OFFLOAD_TCP_TSO;
	port->offloads.tx = tx;
}

int
pw_ethdev_choose_offloads(struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	int rc = choose_mtu(port, info);

	if (rc == 0)
		rc = choose_rx(port, info);
	if (rc < 0)
		return rc;
	choose_tx(port, info);
	port->offloads.rss_types = 0;
	if (port->options->rxq > 1)
		port->offloads.rss_types = info->flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	return 0;
}

const char *
pw_port_offload_names(uint64_t offloads, const char *(*name_of)(uint64_t), char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "none");
	for (; offloads != 0; offloads &= offloads - 1)
		if (used < size)
			used += snprintf(buf + used, size - used, "%s%s", used == 0 ? "" : " ",
				name_of(offloads & -offloads));
	return buf;
}

const char *
pw_port_rss_name(uint64_t type)
{
	static const struct {
		uint64_t type;
		const char *name;
	} names[] = {
		{RTE_ETH_RSS_IPV4, "ipv4"},
		{RTE_ETH_RSS_FRAG_IPV4, "ipv4-frag"},
		{RTE_ETH_RSS_NONFRAG_IPV4_TCP, "ipv4-tcp"},
		{RTE_ETH_RSS_NONFRAG_IPV4_UDP, "ipv4-udp"},
		{RTE_ETH_RSS_NONFRAG_IPV4_OTHER, "ipv4-other"},
		{RTE_ETH_RSS_IPV6, "ipv6"},
		{RTE_ETH_RSS_FRAG_IPV6, "ipv6-frag"},
		{RTE_ETH_RSS_NONFRAG_IPV6_TCP, "ipv6-tcp"},
		{RTE_ETH_RSS_NONFRAG_IPV6_UDP, "ipv6-udp"},
		{RTE_ETH_RSS_NONFRAG_IPV6_OTHER, "ipv6-other"},
		{RTE_ETH_RSS_IPV6_EX, "ipv6-ex"},
		{RTE_ETH_RSS_IPV6_TCP_EX, "ipv6-tcp-ex"},
		{RTE_ETH_RSS_IPV6_UDP_EX, "ipv6-udp-ex"},
	};

	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return "unknown";
}
