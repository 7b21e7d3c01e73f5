/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "app.h"
#include "engine.h"
#include "port_ethdev.h"

/* Drivers set the flags whether they were asked to check or not: ixgbe says "good". */
static void
hide_cksum_flags(struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		pkts[i]->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
}

static uint16_t
rx_burst(struct pw_port *base, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct pw_ethdev *port = pw_ethdev(base);
	uint16_t got = rte_eth_rx_burst(port->dev, queue, pkts, n);

	if (unlikely(port->hides_rx_cksum))
		hide_cksum_flags(pkts, got);
	return got;
}

/* lib/inet has done what a driver's prepare mostly does; some want more. */
static uint16_t
tx_burst(struct pw_port *base, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct pw_ethdev *port = pw_ethdev(base);

	if (port->prepares_tx)
		n = rte_eth_tx_prepare(port->dev, queue, pkts, n);
	return rte_eth_tx_burst(port->dev, queue, pkts, n);
}

static int
get_link(struct pw_port *base, struct pw_link *link)
{
	struct rte_eth_link eth;
	int rc = rte_eth_link_get_nowait(pw_ethdev(base)->dev, &eth);

	if (rc < 0)
		return rc;
	*link = (struct pw_link){
		.up = eth.link_status == RTE_ETH_LINK_UP,
		.mbps = eth.link_speed,
	};
	return 0;
}

static int
set_link(struct pw_port *base, bool up)
{
	uint16_t dev = pw_ethdev(base)->dev;

	return up ? rte_eth_dev_set_link_up(dev) : rte_eth_dev_set_link_down(dev);
}

static int
get_info(struct pw_port *base, struct pw_port_info *info)
{
	const struct pw_ethdev *port = pw_ethdev(base);
	uint16_t dev = port->dev;
	struct rte_eth_dev_info dev_info;
	int rc = base->state == PW_PORT_CLOSED ? -ENODEV : rte_eth_dev_info_get(dev, &dev_info);

	if (rc < 0)
		return rc;
	*info = (struct pw_port_info){
		.socket_id = rte_eth_dev_socket_id(dev),
		.max_rxq = dev_info.max_rx_queues,
		.max_txq = dev_info.max_tx_queues,
		.nb_rxq = dev_info.nb_rx_queues,
		.nb_txq = dev_info.nb_tx_queues,
		.nb_rxd = port->nb_rxd,
		.nb_txd = port->nb_txd,
		.rx_offloads = port->offloads.rx,
		.tx_offloads = port->offloads.tx,
		.rss_types = port->offloads.rss_types,
		.tx_mbufs_max = dev_info.tx_desc_lim.nb_seg_max,
		.promiscuous = rte_eth_promiscuous_get(dev) == 1,
	};
	rte_eth_dev_get_name_by_port(dev, info->name);
	rte_strscpy(info->driver, dev_info.driver_name, sizeof(info->driver));
	rte_eth_macaddr_get(dev, &info->mac);
	rte_eth_dev_get_mtu(dev, &info->mtu_bytes);
	return get_link(base, &info->link);
}

static void
destroy_port(struct pw_port *base)
{
	pw_ethdev_close(base);
	free(pw_ethdev(base)->xstats_base);
	free(base);
}

static const struct pw_port_ops ops = {
	.rx_burst = rx_burst,
	.tx_burst = tx_burst,
	.get_info = get_info,
	.get_link = get_link,
	.set_link = set_link,
	.get_stats = pw_ethdev_get_stats,
	.clear_stats = pw_ethdev_clear_stats,
	.visit_xstats = pw_ethdev_visit_xstats,
	.start = pw_ethdev_start,
	.stop = pw_ethdev_stop,
	.reset = pw_ethdev_reset,
	.close = pw_ethdev_close,
	.set_sending = pw_ethdev_set_sending,
	.destroy = destroy_port,
};

uint16_t
pw_port_ethdev_count(void)
{
	return rte_eth_dev_count_avail();
}

static uint16_t
find_dev(uint16_t id)
{
	uint16_t dev;

	RTE_ETH_FOREACH_DEV (dev) {
		if (id-- == 0)
			return dev;
	}
	return RTE_MAX_ETHPORTS;
}

struct pw_port *
pw_port_ethdev_open(uint16_t id, const struct pw_options *options, struct rte_mempool *pool)
{
	struct pw_ethdev *port = calloc(1, sizeof(*port));

	if (port == NULL) {
		pw_error("port %u: out of memory", id);
		return NULL;
	}
	port->base.ops = &ops;
	port->base.id = id;
	port->dev = find_dev(id);
	port->options = options;
	port->pool = pool;
	port->needs_offloads = pw_engine_find(options->forward_mode)->needs_offloads;
	if (pw_ethdev_watch(port) < 0 || pw_ethdev_start(&port->base) < 0) {
		destroy_port(&port->base);
		return NULL;
	}
	return &port->base;
}
