/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line behind "--". Parser and help are made from one table. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_build_config.h>
#include <rte_ether.h>

#include "pw_inet.h"
#include "pw_strategy.h"
#include "pw_tcp.h"

struct pw_tcp_service;

#define PW_LISTENS_MAX 16
#define PW_MAX_CONNS_MAX 1048576

/** What connections that pagewheel opens do. */
enum pw_client_kind {
	PW_CLIENT_STREAM,     /**< send all the time */
	PW_CLIENT_RR,	      /**< request, reply, request, ... */
	PW_CLIENT_CRR,	      /**< a connection for each request */
	PW_CLIENT_UDP_RR,     /**< datagrams to an echo and back */
	PW_CLIENT_UDP_STREAM, /**< datagrams all the time */
};

/** Addresses of the ports, in their order; port n may have one of each family. */
struct pw_addresses {
	unsigned count;
	struct pw_inet_address list[RTE_MAX_ETHPORTS];
};

struct pw_options {
	bool interactive;
	bool auto_start;
	bool digest;
	bool stage_cycles;
	bool discard_copy;
	bool help;
	uint32_t stats_period_s; /**< 0: none */
	uint32_t rxq, txq;	 /**< queues a port */
	uint32_t rxd, txd;	 /**< descriptors a queue */
	uint32_t burst;		 /**< packets */
	uint32_t mbuf_size;	 /**< data room of a buffer with headroom, bytes */
	uint32_t total_num_mbufs;
	uint32_t mbcache;	 /**< buffers in rte_mempool's own cache, an lcore */
	uint32_t frag_mib;	 /**< memory for fragments, MiB */
	uint32_t copy_break;	 /**< packets up to so many bytes are copied; 0: none */
	uint32_t max_pkt_len;	 /**< largest frame with its CRC, bytes; 0: the port's own */
	uint32_t gro_types;	 /**< what is merged: PW_GRO_*; 0: what the mode can */
	uint32_t gro_flows;	 /**< held at once by a queue */
	uint32_t gro_flush;	 /**< bursts between flushes; atomic */
	uint32_t gro_timeout_us; /**< longest time that a packet is held; atomic */
	bool no_rx_cksum, no_tx_cksum, no_tso;
	bool enable_scatter;
	bool hw_vlan_strip;
	bool no_lsc_interrupt;
	bool split; /**< lcores of their own receive */
	struct pw_strategy strategy;
	const char *forward_mode;
	const char *cmdline_file;
	struct rte_ether_addr eth_peers[RTE_MAX_ETHPORTS]; /**< whom the mode mac sends to */
	struct pw_addresses ipv4, ipv6;
	struct pw_addr gateway4, gateway6; /**< all zeros: none */
	unsigned nb_listens;
	struct pw_listen {
		const struct pw_tcp_service *service;
		uint16_t port;
	} listens[PW_LISTENS_MAX];
	uint32_t max_conns; /**< of all stacks */
	enum pw_tcp_congestion congestion;
	bool ecn;
	uint32_t keepalive_s;	     /**< 0: off */
	uint32_t http_bytes;	     /**< of the page */
	struct pw_addr connect_addr; /**< all zeros: no connections are opened */
	uint16_t connect_port;
	enum pw_client_kind connect_kind;
	uint32_t connections;
	uint32_t duration_s;		     /**< 0: until it is stopped */
	uint32_t message_bytes;		     /**< of the streams; 0: of no size */
	uint32_t request_bytes, reply_bytes; /**< of PW_CLIENT_RR and _CRR */
};

/**
 * Parse the options, argv[0] being the program.
 *
 * @return 0, or -EINVAL after an error was printed
 */
int pw_options_parse(struct pw_options *options, int argc, char **argv);

/** Print the help on stdout. */
void pw_options_usage(const char *program);

#endif
