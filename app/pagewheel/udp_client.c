/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "udp_client.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_udp.h>

#include "options.h"
#include "tcp_client_priv.h"
#include "tcp_stack.h"
#include "udp_send.h"

#define FIRST_PORT 49152
#define TIMEOUT_US 200000
#define SEND_BURST 64 /* a poll */

struct flow {
	uint64_t since_tsc;   /* of the request that waits */
	uint64_t deadline_us; /* of its reply; 0: none waits */
	rte_be32_t number;    /* which a request begins with, as far as it has room */
};

struct pw_udp_client {
	struct pw_tcp_client *client;
	unsigned next; /* flow to look at */
	struct flow flows[];
};

static uint32_t
head_bytes(const struct pw_tcp_client *client)
{
	return RTE_MIN(client->options->request_bytes, sizeof(rte_be32_t));
}

static void
send_request(struct pw_udp_client *udp, unsigned i, uint64_t now_us)
{
	struct pw_tcp_client *client = udp->client;
	const struct pw_options *options = client->options;
	struct flow *flow = &udp->flows[i];
	struct pw_udp_ends ends = {
		.ip.dst = options->connect_addr,
		.src_port = rte_cpu_to_be_16(FIRST_PORT + i),
		.dst_port = rte_cpu_to_be_16(options->connect_port),
	};
	int rc = pw_inet_source(client->stack->inet, &options->connect_addr, &ends.ip.src);

	flow->deadline_us = now_us + TIMEOUT_US;
	if (rc < 0) {
		client->stats.failed++;
		client->last_error = -rc;
		return;
	}
	flow->since_tsc = rte_rdtsc();
	flow->number = rte_cpu_to_be_32(rte_be_to_cpu_32(flow->number) + 1);
	if (pw_udp_send(client->stack, &ends, &flow->number, head_bytes(client),
		    options->request_bytes, now_us))
		client->stats.out_bytes += options->request_bytes;
}

/* A first request finds out the way, alone: others would be dropped until it is known. */
static unsigned
active_flows(const struct pw_tcp_client *client)
{
	return client->first_us == 0 ? RTE_MIN(client->share, 1U) : client->share;
}

void
pw_udp_client_tick(struct pw_udp_client *udp, uint64_t now_us)
{
	struct pw_tcp_client *client = udp->client;
	unsigned n = active_flows(client);

	client->stats.connections = n;
	for (unsigned i = 0; i < RTE_MIN(n, SEND_BURST); i++) {
		unsigned at = udp->next++ % n;
		struct flow *flow = &udp->flows[at];

		if (now_us < flow->deadline_us)
			continue;
		if (flow->deadline_us > 0)
			client->stats.timeouts++;
		send_request(udp, at, now_us);
	}
}

/* Whether it answers the request that waits: not one that was given up. */
static bool
is_reply(const struct pw_udp_client *udp, const struct flow *flow, const struct rte_mbuf *datagram,
	const struct pw_ip_info *ip)
{
	const struct pw_options *options = udp->client->options;
	const struct rte_udp_hdr *udp_hdr = rte_pktmbuf_mtod(datagram, const struct rte_udp_hdr *);
	rte_be32_t copy;
	const void *head = rte_pktmbuf_read(
		datagram, sizeof(*udp_hdr), head_bytes(udp->client), &copy);

	return head != NULL && udp_hdr->src_port == rte_cpu_to_be_16(options->connect_port) &&
		pw_addr_equal(&ip->src, &options->connect_addr) && flow->deadline_us > 0 &&
		datagram->pkt_len == sizeof(*udp_hdr) + options->request_bytes &&
		memcmp(head, &flow->number, head_bytes(udp->client)) == 0;
}

static void
end_transaction(struct pw_udp_client *udp, unsigned i, uint64_t now_us)
{
	struct pw_tcp_client *client = udp->client;

	if (client->first_us == 0)
		pw_tcp_client_begin(client, now_us);
	pw_histogram_add(&client->latency_ns,
		(rte_rdtsc() - udp->flows[i].since_tsc) * 1e9 / rte_get_tsc_hz());
	client->stats.transactions++;
	client->stats.in_bytes += client->options->request_bytes;
	send_request(udp, i, now_us);
}

bool
pw_udp_client_input(struct pw_udp_client *udp, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us)
{
	unsigned i = rte_be_to_cpu_16(rte_pktmbuf_mtod(datagram, struct rte_udp_hdr *)->dst_port) -
		FIRST_PORT;
	bool ours;

	if (i >= udp->client->share)
		return false;
	ours = is_reply(udp, &udp->flows[i], datagram, ip);
	rte_pktmbuf_free(datagram);
	if (ours && !udp->client->over)
		end_transaction(udp, i, now_us);
	return true;
}

struct pw_udp_client *
pw_udp_client_create(struct pw_tcp_client *client)
{
	struct pw_udp_client *udp = rte_zmalloc(
		"pw_udp", sizeof(*udp) + client->share * sizeof(struct flow), 0);

	if (udp != NULL)
		udp->client = client;
	return udp;
}

void
pw_udp_client_destroy(struct pw_udp_client *udp)
{
	rte_free(udp);
}
