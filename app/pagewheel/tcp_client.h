/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_CLIENT_H
#define TCP_CLIENT_H

/**
 * @file
 * A closed-loop generator of TCP traffic: a number of connections, each of which does the next
 * thing when the last one is done (--connect). Each stack has its share of them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pw_inet.h"
#include "pw_stat.h"

struct pw_app;
struct pw_tcp_client;
struct pw_tcp_stack;

/** Results, since the first connection was open. */
struct pw_tcp_client_stats {
	uint64_t running_us;
	uint64_t connections; /**< open now */
	uint64_t opened;
	uint64_t failed;       /**< never opened; of udp_stream: messages without memory */
	uint64_t broken;       /**< reset by the peer or timed out later */
	uint64_t cut_off;      /**< streams reset 15 s after the run's end, as they had not ended in
				  order */
	uint64_t timeouts;     /**< requests of udp_rr whose reply did not come */
	uint64_t transactions; /**< of udp_stream: messages sent */
	uint64_t in_bytes;
	uint64_t out_bytes; /**< taken by the send queues */
	uint64_t latency_min_ns;
	uint64_t latency_p50_ns;
	uint64_t latency_p99_ns;
	uint64_t latency_p999_ns;
	uint64_t latency_max_ns;
};

/** Describes them; ends as pw_stat.h says. */
extern const struct pw_stat pw_tcp_client_stat_table[];

/** Of the ports, those that may connect: it is not their own address. */
unsigned pw_tcp_client_ports(const struct pw_app *app);

/** @return NULL: out of memory */
struct pw_tcp_client *pw_tcp_client_create(struct pw_tcp_stack *stack);

/** Free it, after its connections. NULL is allowed. */
void pw_tcp_client_destroy(struct pw_tcp_client *client);

/** A datagram for it; as udp_input() of struct pw_inet_ops. */
bool pw_tcp_client_udp_input(struct pw_tcp_client *client, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us);

/** Open what has to be opened; call it after each poll. */
void pw_tcp_client_tick(struct pw_tcp_client *client, uint64_t now_us);

/** Sum over all stacks: a struct pw_tcp_client_stats. Any thread. -ENOENT: there is no client. */
int pw_tcp_client_read(const struct pw_app *app, void *stats);

/** Print rates and latencies. */
void pw_tcp_client_print(const struct pw_app *app, const void *stats);

/**
 * When --duration is over, print the results, once. Without commands there is nothing left to do
 * when its connections have ended, and the program quits. Main lcore.
 */
void pw_tcp_client_report(struct pw_app *app);

#endif
