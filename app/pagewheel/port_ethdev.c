/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_string_fns.h>

#include "app.h"
#include "options.h"
#include "port.h"

struct ethdev_port {
	struct pw_port base;
	uint16_t dev; /* ethdev's own number */
	uint16_t nb_rxd, nb_txd;
};

static struct ethdev_port *
ethdev(struct pw_port *port)
{
	return (struct ethdev_port *)(void *)port;
}

static uint16_t
rx_burst(struct pw_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_rx_burst(ethdev(port)->dev, queue, pkts, n);
}

static uint16_t
tx_burst(struct pw_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_tx_burst(ethdev(port)->dev, queue, pkts, n);
}

static int
get_info(struct pw_port *port, struct pw_port_info *info)
{
	uint16_t dev = ethdev(port)->dev;
	struct rte_eth_dev_info dev_info;
	struct rte_eth_link link;
	int rc = rte_eth_dev_info_get(dev, &dev_info);

	if (rc < 0)
		return rc;
	*info = (struct pw_port_info){
		.socket_id = rte_eth_dev_socket_id(dev),
		.max_rxq = dev_info.max_rx_queues,
		.max_txq = dev_info.max_tx_queues,
		.nb_rxq = dev_info.nb_rx_queues,
		.nb_txq = dev_info.nb_tx_queues,
		.nb_rxd = ethdev(port)->nb_rxd,
		.nb_txd = ethdev(port)->nb_txd,
		.promiscuous = rte_eth_promiscuous_get(dev) == 1,
	};
	rte_eth_dev_get_name_by_port(dev, info->name);
	rte_strscpy(info->driver, dev_info.driver_name, sizeof(info->driver));
	rte_eth_macaddr_get(dev, &info->mac);
	rte_eth_dev_get_mtu(dev, &info->mtu_bytes);
	if (rte_eth_link_get_nowait(dev, &link) == 0) {
		info->link_up = link.link_status == RTE_ETH_LINK_UP;
		info->link_mbps = link.link_speed;
	}
	return 0;
}

static int
get_stats(struct pw_port *port, struct pw_port_stats *stats)
{
	struct rte_eth_stats eth;
	int rc = rte_eth_stats_get(ethdev(port)->dev, &eth);

	if (rc < 0)
		return rc;
	*stats = (struct pw_port_stats){
		.rx_packets = eth.ipackets,
		.rx_bytes = eth.ibytes,
		.rx_missed = eth.imissed,
		.rx_errors = eth.ierrors,
		.rx_nombuf = eth.rx_nombuf,
		.tx_packets = eth.opackets,
		.tx_bytes = eth.obytes,
		.tx_errors = eth.oerrors,
	};
	return 0;
}

static int
clear_stats(struct pw_port *port)
{
	int rc = rte_eth_stats_reset(ethdev(port)->dev);

	return rc < 0 ? rc : rte_eth_xstats_reset(ethdev(port)->dev);
}

static int
visit_xstats(struct pw_port *port, pw_port_xstat_t visit)
{
	uint16_t dev = ethdev(port)->dev;
	int count = rte_eth_xstats_get_names(dev, NULL, 0);
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;

	if (count < 0)
		return count;
	names = calloc(count, sizeof(*names));
	values = calloc(count, sizeof(*values));
	if (names != NULL && values != NULL &&
		rte_eth_xstats_get_names(dev, names, count) == count &&
		rte_eth_xstats_get(dev, values, count) == count)
		for (int i = 0; i < count; i++)
			visit(names[values[i].id].name, values[i].value);
	free(names);
	free(values);
	return 0;
}

static void
close_port(struct pw_port *port)
{
	rte_eth_dev_stop(ethdev(port)->dev);
	rte_eth_dev_close(ethdev(port)->dev);
	free(port);
}

static const struct pw_port_ops ops = {
	.rx_burst = rx_burst,
	.tx_burst = tx_burst,
	.get_info = get_info,
	.get_stats = get_stats,
	.clear_stats = clear_stats,
	.visit_xstats = visit_xstats,
	.close = close_port,
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

static int
check_queues(const struct ethdev_port *port, const struct pw_options *options,
	const struct rte_eth_dev_info *info)
{
	if (options->rxq > info->max_rx_queues) {
		pw_error("--rxq=%u: port %u has %u RX queues", options->rxq, port->base.id,
			info->max_rx_queues);
		return -EINVAL;
	}
	if (options->txq > info->max_tx_queues) {
		pw_error("--txq=%u: port %u has %u TX queues", options->txq, port->base.id,
			info->max_tx_queues);
		return -EINVAL;
	}
	return 0;
}

static int
configure(struct ethdev_port *port, const struct pw_options *options,
	const struct rte_eth_dev_info *info)
{
	struct rte_eth_conf conf = {0};
	int rc;

	if (options->rxq > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
		if (conf.rx_adv_conf.rss_conf.rss_hf == 0)
			conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	}
	rc = rte_eth_dev_configure(port->dev, options->rxq, options->txq, &conf);
	if (rc < 0)
		return rc;
	return rte_eth_dev_adjust_nb_rx_tx_desc(port->dev, &port->nb_rxd, &port->nb_txd);
}

static int
setup_queues(struct ethdev_port *port, const struct pw_options *options, struct rte_mempool *pool)
{
	unsigned socket = rte_eth_dev_socket_id(port->dev);
	int rc = 0;

	for (uint16_t q = 0; q < options->rxq && rc == 0; q++)
		rc = rte_eth_rx_queue_setup(port->dev, q, port->nb_rxd, socket, NULL, pool);
	for (uint16_t q = 0; q < options->txq && rc == 0; q++)
		rc = rte_eth_tx_queue_setup(port->dev, q, port->nb_txd, socket, NULL);
	return rc;
}

static int
start(struct ethdev_port *port, const struct pw_options *options, struct rte_mempool *pool)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port->dev, &info);

	if (rc == 0)
		rc = check_queues(port, options, &info);
	if (rc < 0)
		return rc;
	rc = configure(port, options, &info);
	if (rc == 0)
		rc = setup_queues(port, options, pool);
	if (rc == 0)
		rc = rte_eth_dev_start(port->dev);
	if (rc == 0) {
		rc = rte_eth_promiscuous_enable(port->dev);
		if (rc == -ENOTSUP)
			rc = 0;
	}
	if (rc < 0)
		pw_error("port %u does not start with %u RX and %u TX queues, %u and %u "
			 "descriptors, buffers of %u bytes: %s",
			port->base.id, options->rxq, options->txq, port->nb_rxd, port->nb_txd,
			options->mbuf_size, strerror(-rc));
	return rc;
}

struct pw_port *
pw_port_ethdev_open(uint16_t id, const struct pw_options *options, struct rte_mempool *pool)
{
	struct ethdev_port *port = calloc(1, sizeof(*port));

	if (port == NULL) {
		pw_error("port %u: out of memory", id);
		return NULL;
	}
	port->base.ops = &ops;
	port->base.id = id;
	port->dev = find_dev(id);
	port->nb_rxd = options->rxd;
	port->nb_txd = options->txd;
	if (start(port, options, pool) < 0) {
		close_port(&port->base);
		return NULL;
	}
	return &port->base;
}
