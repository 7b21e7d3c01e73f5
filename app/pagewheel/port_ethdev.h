/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PORT_ETHDEV_H
#define PORT_ETHDEV_H

/** @file What the files of the ethdev port share; all others see port.h alone. */

#include <rte_ethdev.h>

#include "port.h"

struct pw_options;

/** What a port is configured with, chosen from what it can and what is asked for. */
struct pw_offloads {
	uint64_t rx, tx;    /**< RTE_ETH_RX_OFFLOAD_*, RTE_ETH_TX_OFFLOAD_* */
	uint64_t rss_types; /**< 0: no RSS */
	uint16_t mtu_bytes; /**< 0: the port's own */
};

struct pw_ethdev {
	struct pw_port base;
	uint16_t dev; /**< ethdev's own number */
	uint16_t nb_rxd, nb_txd;
	const struct pw_options *options;
	struct rte_mempool *pool;
	bool configured;     /**< until it is reset, or its offloads change */
	bool needs_offloads; /**< what is sent is not just what was received */
	bool hides_rx_cksum; /**< what it says of checksums is not asked for */
	bool prepares_tx;
	struct pw_offloads offloads;
	struct rte_eth_stats stats_base; /**< counted before the port was reset */
	uint64_t *xstats_base;
	int nb_xstats;
};

static inline struct pw_ethdev *
pw_ethdev(struct pw_port *port)
{
	return (struct pw_ethdev *)(void *)port;
}

/** Choose. Returns 0, or -EINVAL or -ENOTSUP after an error was printed. */
int pw_ethdev_choose_offloads(struct pw_ethdev *port, const struct rte_eth_dev_info *info);

/* port_setup.c: the port's operations start, stop, reset, close. Errors are printed. */

int pw_ethdev_start(struct pw_port *port);
int pw_ethdev_stop(struct pw_port *port);
int pw_ethdev_reset(struct pw_port *port);
int pw_ethdev_close(struct pw_port *port);
int pw_ethdev_set_sending(struct pw_port *port, bool needs_offloads);

/* port_stats.c: the operations on counters. */

int pw_ethdev_get_stats(struct pw_port *port, struct pw_port_stats *stats);
int pw_ethdev_clear_stats(struct pw_port *port);
int pw_ethdev_visit_xstats(struct pw_port *port, pw_port_xstat_t visit);
/** The device is about to forget its counters: keep them. */
void pw_ethdev_keep_stats(struct pw_ethdev *port);

/* port_events.c */

/** Let the device's events reach the main loop (events.h). */
int pw_ethdev_watch(struct pw_ethdev *port);

#endif
