/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line behind "--". Parser and help are made from one table. */

#include <stdbool.h>
#include <stdint.h>

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
	uint32_t mbcache;    /**< buffers in rte_mempool's own cache, an lcore */
	uint32_t frag_mib;   /**< memory for fragments, MiB */
	uint32_t copy_break; /**< packets up to so many bytes are copied; 0: none */
	struct pw_strategy strategy;
	const char *forward_mode;
	const char *cmdline_file;
	rte_be32_t ip;
	uint8_t prefix_len;
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
