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

struct pw_link {
	bool up;
	uint32_t mbps; /**< UINT32_MAX: unknown */
};

enum pw_port_state {
	PW_PORT_STOPPED,
	PW_PORT_STARTED,
	PW_PORT_CLOSED, /**< for good */
};

struct pw_port_info {
	char name[64];
	char driver[64];
	struct rte_ether_addr mac;
	int socket_id;
	uint16_t mtu_bytes;
	uint16_t max_rxq, max_txq;
	uint16_t nb_rxq, nb_txq;
	uint16_t nb_rxd, nb_txd;
	uint64_t rx_offloads;  /**< in use: RTE_ETH_RX_OFFLOAD_* */
	uint64_t tx_offloads;  /**< in use: RTE_ETH_TX_OFFLOAD_* */
	uint64_t rss_types;    /**< in use: RTE_ETH_RSS_* */
	uint16_t tx_mbufs_max; /**< in a packet to send */
	bool promiscuous;
	struct pw_link link;
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

/**
 * Operations return 0 or a negative errno unless said otherwise; -ENODEV once the port is closed.
 *
 * While a burst runs, only those that read may be called.
 */
struct pw_port_ops {
	/** Receive up to n packets of a queue; one thread a queue. Returns the number. */
	uint16_t (*rx_burst)(
		struct pw_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	/** Send; one thread a queue. Returns the number taken, the rest stays the caller's. */
	uint16_t (*tx_burst)(
		struct pw_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	int (*get_info)(struct pw_port *port, struct pw_port_info *info);
	/** Read the link, without waiting. */
	int (*get_link)(struct pw_port *port, struct pw_link *link);
	int (*set_link)(struct pw_port *port, bool up);
	int (*get_stats)(struct pw_port *port, struct pw_port_stats *stats);
	int (*clear_stats)(struct pw_port *port);
	int (*visit_xstats)(struct pw_port *port, pw_port_xstat_t visit);
	/** Start, with all its settings. Prints its errors. */
	int (*start)(struct pw_port *port);
	int (*stop)(struct pw_port *port);
	/** Reset the device; it has its settings and counters again, and runs if it ran. Prints its
	 * errors. */
	int (*reset)(struct pw_port *port);
	/** Stop and give all buffers back, for good. */
	int (*close)(struct pw_port *port);
	/**
	 * Say whether packets to send need it: the port then fills in checksums, cuts segments,
	 * and takes chains. Otherwise it may take a shorter way. It may restart.
	 */
	int (*set_sending)(struct pw_port *port, bool needs_offloads);
	/** Close, and free the port. */
	void (*destroy)(struct pw_port *port);
};

struct pw_port {
	const struct pw_port_ops *ops;
	uint16_t id; /**< as the user names it */
	enum pw_port_state state;

	bool tells_link; /**< that it changed, by an interrupt */

	/* Kept by link.c. */
	bool link_known;
	struct pw_link link; /**< as it was said last */
	uint64_t link_downs; /**< how often it went down */
};

/** Number of ethdev ports that EAL has found. */
uint16_t pw_port_ethdev_count(void);

/**
 * Configure and start an ethdev port.
 *
 * @param id	   index among the ports found, from 0
 * @param options  outlive the port
 * @return NULL after an error was printed
 */
struct pw_port *pw_port_ethdev_open(
	uint16_t id, const struct pw_options *options, struct rte_mempool *pool);

/**
 * The names of offloads in use, in words.
 *
 * @param name_of  such as rte_eth_dev_rx_offload_name()
 * @return buf, "none" for none
 */
const char *pw_port_offload_names(
	uint64_t offloads, const char *(*name_of)(uint64_t), char *buf, size_t size);

/** The name of one of RTE_ETH_RSS_*, as testpmd has it. */
const char *pw_port_rss_name(uint64_t type);

#endif
