/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line behind "--". Parser and help are made from one table. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_build_config.h>
#include <rte_byteorder.h>

#include "pw_strategy.h"

struct pw_options {
	bool interactive;
	bool auto_start;
	bool digest;
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
	struct pw_strategy strategy;
	const char *forward_mode;
	const char *cmdline_file;
	unsigned nb_addresses; /**< one for each port, in their order */
	struct pw_address {
		rte_be32_t ip;
		uint8_t prefix_len;
	} addresses[RTE_MAX_ETHPORTS];
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
