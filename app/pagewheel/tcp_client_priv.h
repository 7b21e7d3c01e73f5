/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_CLIENT_PRIV_H
#define TCP_CLIENT_PRIV_H

/** @file The client of a stack, for what runs it and what reads its results. */

#include "histogram.h"
#include "tcp_client.h"

struct pw_options;

struct pw_tcp_client {
	struct pw_tcp_stack *stack;
	const struct pw_options *options;
	struct pw_udp_client *udp;	  /**< of udp_rr; NULL: another kind */
	struct pw_udp_sender *sender;	  /**< of udp_stream; NULL: another kind */
	unsigned share;			  /**< connections open at once */
	unsigned established;		  /**< and not closed yet */
	struct pw_tcp_client_stats stats; /**< running_us and latencies are made when it is read */
	struct pw_histogram latency_ns;
	uint64_t first_us;     /**< when the first connection was open; 0: none was */
	uint64_t now_us;       /**< of the last tick of the run */
	uint64_t end_us;       /**< of the run; 0: not known, or never */
	uint64_t next_open_us; /**< not before */
	int last_error;	       /**< errno of the last failure */
	bool over;	       /**< the run is; set with release */
	bool told;	       /**< and printed */
};

/** The first connection is open, or the first reply there: the run begins. */
void pw_tcp_client_begin(struct pw_tcp_client *client, uint64_t now_us);

#endif
