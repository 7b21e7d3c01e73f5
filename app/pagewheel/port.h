/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PORT_H
#define PORT_H

/**
 * @file
 * A port, as the lcore loop and the engines see it: a few operations. ethdev is one implementation
 * (port_ethdev.c).
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

struct pw_options;
struct pw_port;

struct pw_port_info {
	char name[64];
	char driver[64];
	struct rte_ether_addr mac;
	int socket_id;
	uint16_t mtu_bytes;
	uint16_t max_rxq, max_txq;
	uint16_t nb_rxq, nb_txq;
	uint16_t nb_rxd, nb_txd;
	bool promiscuous;
	bool link_up;
	uint32_t link_mbps; /**< UINT32_MAX: unknown */
};

/** Counters since they were cleared last. Bytes are frame lengths without CRC. */
struct pw_port_stats {
	uint64_t rx_packets, rx_bytes;
	uint64_t rx_missed; /**< no descriptor was free */
	uint64_t rx_errors;
	uint64_t rx_nombuf; /**< no buffer was free */
	uint64_t tx_packets, tx_bytes;
	uint64_t tx_errors;
};

/** Called once for each counter of the port's own kind. */
typedef void (*pw_port_xstat_t)(const char *name, uint64_t value);

/** Operations return 0 or a negative errno unless said otherwise. */
struct pw_port_ops {
	/** Receive up to n packets of a queue; one thread a queue. Returns the number. */
	uint16_t (*rx_burst)(
		struct pw_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	/** Send; one thread a queue. Returns the number taken, the rest stays the caller's. */
	uint16_t (*tx_burst)(
		struct pw_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	int (*get_info)(struct pw_port *port, struct pw_port_info *info);
	int (*get_stats)(struct pw_port *port, struct pw_port_stats *stats);
	int (*clear_stats)(struct pw_port *port);
	int (*visit_xstats)(struct pw_port *port, pw_port_xstat_t visit);
	/** Stop, give all buffers back, free the port. */
	void (*close)(struct pw_port *port);
};

struct pw_port {
	const struct pw_port_ops *ops;
	uint16_t id; /**< as the user names it */
};

/** Number of ethdev ports that EAL has found. */
uint16_t pw_port_ethdev_count(void);

/**
 * Configure and start an ethdev port.
 *
 * @param id  index among the ports found, from 0
 * @return NULL after an error was printed
 */
struct pw_port *pw_port_ethdev_open(
	uint16_t id, const struct pw_options *options, struct rte_mempool *pool);

#endif
