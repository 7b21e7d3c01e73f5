/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The life of an ethdev port: configured, started, stopped, reset, closed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "options.h"
#include "port_ethdev.h"

static int
check_queues(const struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	const struct pw_options *options = port->options;

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

static void
fill_conf(struct pw_ethdev *port, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	const struct pw_offloads *offloads = &port->offloads;
	bool lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) && !port->options->no_lsc_interrupt;

	*conf = (struct rte_eth_conf){
		.rxmode.offloads = offloads->rx,
		.rxmode.mtu = offloads->mtu_bytes,
		.txmode.offloads = offloads->tx,
		.intr_conf.lsc = lsc,
		.intr_conf.rmv = (*info->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0,
	};
	if (offloads->rss_types != 0) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf = offloads->rss_types;
	}
	port->base.tells_link = lsc;
	port->prepares_tx = (offloads->tx & ~RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	port->hides_rx_cksum = port->options->no_rx_cksum;
}

static int
setup_queues(struct pw_ethdev *port)
{
	unsigned socket = rte_eth_dev_socket_id(port->dev);
	int rc = 0;

	for (uint16_t q = 0; q < port->options->rxq && rc == 0; q++)
		rc = rte_eth_rx_queue_setup(port->dev, q, port->nb_rxd, socket, NULL, port->pool);
	for (uint16_t q = 0; q < port->options->txq && rc == 0; q++)
		rc = rte_eth_tx_queue_setup(port->dev, q, port->nb_txd, socket, NULL);
	return rc;
}

static int
configure_device(struct pw_ethdev *port, const struct rte_eth_dev_info *info)
{
	const struct pw_options *options = port->options;
	struct rte_eth_conf conf;
	int rc;

	fill_conf(port, info, &conf);
	port->nb_rxd = options->rxd;
	port->nb_txd = options->txd;
	rc = rte_eth_dev_configure(port->dev, options->rxq, options->txq, &conf);
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->dev, &port->nb_rxd, &port->nb_txd);
	return rc == 0 ? setup_queues(port) : rc;
}

static void
say_failure(const struct pw_ethdev *port, int rc)
{
	pw_error("port %u does not start with %u RX and %u TX queues, %u and %u descriptors, "
		 "buffers of %u bytes: %s",
		port->base.id, port->options->rxq, port->options->txq, port->nb_rxd, port->nb_txd,
		port->options->mbuf_size, strerror(-rc));
}

static int
configure(struct pw_ethdev *port)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port->dev, &info);

	if (rc < 0) {
		say_failure(port, rc);
		return rc;
	}
	rc = check_queues(port, &info);
	if (rc == 0)
		rc = pw_ethdev_choose_offloads(port, &info);
	if (rc < 0)
		return rc;
	rc = configure_device(port, &info);
	if (rc < 0)
		say_failure(port, rc);
	port->configured = rc == 0;
	return rc;
}

int
pw_ethdev_start(struct pw_port *base)
{
	struct pw_ethdev *port = pw_ethdev(base);
	int rc = port->configured ? 0 : configure(port);

	if (rc < 0)
		return rc;
	rc = rte_eth_dev_start(port->dev);
	if (rc == 0) {
		base->state = PW_PORT_STARTED;
		rc = rte_eth_promiscuous_enable(port->dev);
		if (rc == -ENOTSUP)
			rc = 0;
	}
	if (rc < 0)
		say_failure(port, rc);
	return rc;
}

/* An 82599 forgets what was not read of its counters. */
int
pw_ethdev_stop(struct pw_port *base)
{
	uint16_t dev = pw_ethdev(base)->dev;
	struct rte_eth_stats stats;
	int rc;

	rte_eth_stats_get(dev, &stats);
	rc = rte_eth_dev_stop(dev);
	if (rc == 0)
		base->state = PW_PORT_STOPPED;
	return rc;
}

/* A driver without an own reset, as those of software, is configured anew: no error. */
int
pw_ethdev_reset(struct pw_port *base)
{
	struct pw_ethdev *port = pw_ethdev(base);
	bool started = base->state == PW_PORT_STARTED;
	int rc;

	rc = started ? pw_ethdev_stop(base) : 0;
	pw_ethdev_keep_stats(port);
	if (rc == 0)
		rc = rte_eth_dev_reset(port->dev);
	if (rc < 0 && rc != -ENOTSUP) {
		pw_error("port %u cannot be reset: %s", base->id, strerror(-rc));
		return rc;
	}
	port->configured = false;
	return started ? pw_ethdev_start(base) : 0;
}

int
pw_ethdev_close(struct pw_port *base)
{
	struct pw_ethdev *port = pw_ethdev(base);
	int rc;

	if (base->state == PW_PORT_CLOSED)
		return 0;
	if (base->state == PW_PORT_STARTED)
		pw_ethdev_stop(base);
	base->state = PW_PORT_CLOSED;
	rc = rte_eth_dev_close(port->dev);
	/* ixgbe hands on how many callbacks it unregistered. */
	return rc > 0 ? 0 : rc;
}

int
pw_ethdev_set_sending(struct pw_port *base, bool needs_offloads)
{
	struct pw_ethdev *port = pw_ethdev(base);
	bool started = base->state == PW_PORT_STARTED;
	int rc = 0;

	if (port->needs_offloads == needs_offloads || base->state == PW_PORT_CLOSED)
		return 0;
	port->needs_offloads = needs_offloads;
	port->configured = false;
	if (started)
		rc = pw_ethdev_stop(base);
	return rc == 0 && started ? pw_ethdev_start(base) : rc;
}
