/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_client.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "app.h"
#include "fwd.h"
#include "notice.h"
#include "tcp_app.h"
#include "tcp_client_priv.h"
#include "tcp_rr.h"
#include "tcp_stack.h"
#include "udp_client.h"
#include "udp_sender.h"

#define RETRY_US 100000 /* after a connection that failed */
/* For a stream to end in order: on a bad line its last segment may be lost six times in a row, and
 * time-outs double from 0.2 s. */
#define LINGER_US 15000000
#define OPEN_BURST 64 /* a poll */

/* A connection. */
struct flow {
	struct pw_tcp_client *client;
	bool opened, ending;
	uint32_t preamble_left; /* bytes of struct pw_rr_sizes to send */
	uint32_t request_left;	/* bytes to send */
	uint32_t reply_left;	/* bytes to receive */
	uint64_t since_tsc;	/* of the transaction */
};

static bool
is_over(const struct pw_tcp_client *client, uint64_t now_us)
{
	return client->end_us != 0 && now_us >= client->end_us;
}

static void
set_end(struct pw_tcp_client *client, uint64_t begin_us)
{
	if (client->options->duration_s > 0)
		client->end_us = begin_us + client->options->duration_s * UINT64_C(1000000);
}

void
pw_tcp_client_begin(struct pw_tcp_client *client, uint64_t now_us)
{
	client->first_us = now_us;
	set_end(client, now_us);
}

static void
begin_transaction(struct flow *flow)
{
	flow->request_left = flow->client->options->request_bytes;
	flow->reply_left = flow->client->options->reply_bytes;
}

/* False: there is no room for all of it. */
static bool
send_preamble(struct flow *flow, struct pw_tcp_conn *conn)
{
	const struct pw_rr_sizes sizes = {
		rte_cpu_to_be_32(flow->client->options->request_bytes),
		rte_cpu_to_be_32(flow->client->options->reply_bytes),
	};
	const char *end = (const char *)(&sizes + 1);

	if (flow->preamble_left > 0)
		flow->preamble_left -= pw_tcp_send(
			conn, end - flow->preamble_left, flow->preamble_left);
	return flow->preamble_left == 0;
}

/* As write() does, which waits until there is room for all. */
static uint64_t
send_messages(struct pw_tcp_conn *conn, uint32_t message_bytes)
{
	uint64_t sent = 0, n = message_bytes;

	while (n == message_bytes && pw_tcp_send_room(conn) >= message_bytes) {
		n = pw_tcp_app_send_zeros(conn, message_bytes);
		sent += n;
	}
	return sent;
}

static void
send_more(struct flow *flow, struct pw_tcp_conn *conn)
{
	struct pw_tcp_client *client = flow->client;
	uint64_t sent;

	if (flow->ending)
		return;
	if (client->options->connect_kind == PW_CLIENT_STREAM) {
		client->stats.out_bytes += client->options->message_bytes > 0
			? send_messages(conn, client->options->message_bytes)
			: pw_tcp_app_send_zeros(conn, pw_tcp_send_room(conn));
		return;
	}
	if (!send_preamble(flow, conn))
		return;
	sent = pw_tcp_app_send_zeros(conn, flow->request_left);
	flow->request_left -= sent;
	client->stats.out_bytes += sent;
}

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct flow *flow = pw_tcp_get_user(conn);
	struct pw_tcp_client *client = app_ctx;
	const struct pw_options *options = client->options;

	flow->opened = true;
	client->stats.opened++;
	client->established++;
	if (client->first_us == 0)
		pw_tcp_client_begin(client, pw_tcp_now(conn));
	if (client->end_us != 0)
		pw_tcp_set_timer(conn, client->end_us);
	if (options->connect_kind != PW_CLIENT_STREAM) {
		flow->preamble_left = sizeof(struct pw_rr_sizes);
		begin_transaction(flow);
	}
	if (options->connect_kind == PW_CLIENT_RR)
		flow->since_tsc = rte_rdtsc();
	send_more(flow, conn);
}

static void
writable(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)app_ctx;
	send_more(pw_tcp_get_user(conn), conn);
}

/* The reply is complete. A connection that has done its work is reset, so that its port can be
 * used again at once. */
static void
end_transaction(struct flow *flow, struct pw_tcp_conn *conn)
{
	struct pw_tcp_client *client = flow->client;
	uint64_t now_tsc = rte_rdtsc();

	pw_histogram_add(&client->latency_ns, (now_tsc - flow->since_tsc) * 1e9 / rte_get_tsc_hz());
	client->stats.transactions++;
	if (client->options->connect_kind == PW_CLIENT_CRR) {
		flow->ending = true;
		pw_tcp_abort(conn);
		return;
	}
	flow->since_tsc = now_tsc;
	begin_transaction(flow);
	send_more(flow, conn);
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct flow *flow = pw_tcp_get_user(conn);
	struct pw_tcp_client *client = app_ctx;
	uint64_t bytes = pw_tcp_app_drop(conn);

	if (!flow->ending)
		client->stats.in_bytes += bytes;
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
	if (client->options->connect_kind == PW_CLIENT_STREAM || flow->ending || bytes == 0)
		return;
	/* A peer that sends more than was asked for speaks something else. */
	if (bytes > flow->reply_left || flow->request_left > 0) {
		client->stats.broken++;
		client->last_error = EPROTO;
		flow->ending = true;
		pw_tcp_abort(conn);
		return;
	}
	flow->reply_left -= bytes;
	if (flow->reply_left == 0)
		end_transaction(flow, conn);
}

/* The end of the run: first in order, then at any cost. */
static void
timer(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct flow *flow = pw_tcp_get_user(conn);
	struct pw_tcp_client *client = app_ctx;

	if (flow->ending || client->options->connect_kind != PW_CLIENT_STREAM) {
		client->stats.cut_off += flow->ending;
		flow->ending = true;
		pw_tcp_abort(conn);
		return;
	}
	flow->ending = true;
	pw_tcp_shutdown(conn);
	pw_tcp_set_timer(conn, pw_tcp_now(conn) + LINGER_US);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct flow *flow = pw_tcp_get_user(conn);
	struct pw_tcp_client *client = app_ctx;
	int error = pw_tcp_get_error(conn);

	client->stats.connections--;
	client->established -= flow->opened;
	if (!flow->opened) {
		client->stats.failed++;
		client->next_open_us = pw_tcp_now(conn) + RETRY_US;
	} else if (error != 0 && !flow->ending) {
		client->stats.broken++;
	}
	if (error != 0 && !flow->ending)
		client->last_error = error;
	free(flow);
}

static const struct pw_tcp_app client_app = {
	.name = "client",
	.opened = opened,
	.readable = readable,
	.writable = writable,
	.timer = timer,
	.closed = closed,
};

static int
open_flow(struct pw_tcp_client *client, uint64_t now_us)
{
	const struct pw_options *options = client->options;
	struct pw_addr local;
	struct flow *flow;
	int rc = pw_inet_source(client->stack->inet, &options->connect_addr, &local);

	if (rc < 0)
		return rc;
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return -ENOMEM;
	flow->client = client;
	flow->since_tsc = rte_rdtsc();
	rc = pw_tcp_connect(client->stack->tcp, &local, 0, &options->connect_addr,
		options->connect_port, &client_app, client, flow, now_us);
	if (rc < 0)
		free(flow);
	return rc;
}

static void
open_flows(struct pw_tcp_client *client, uint64_t now_us)
{
	for (unsigned i = 0; i < OPEN_BURST && client->stats.connections < client->share &&
		now_us >= client->next_open_us;
		i++) {
		int rc = open_flow(client, now_us);

		if (rc == 0) {
			client->stats.connections++;
			continue;
		}
		client->stats.failed++;
		client->last_error = -rc;
		client->next_open_us = now_us + RETRY_US;
	}
}

void
pw_tcp_client_tick(struct pw_tcp_client *client, uint64_t now_us)
{
	if (client->over)
		return;
	if (is_over(client, now_us)) {
		if (client->udp != NULL || client->sender != NULL)
			client->stats.connections = 0;
		__atomic_store_n(&client->over, true, __ATOMIC_RELEASE);
		pw_notice("client: %u s are over", client->options->duration_s);
		return;
	}
	if (client->now_us == 0) /* should no connection ever open */
		set_end(client, now_us);
	client->now_us = now_us;
	if (client->udp != NULL)
		pw_udp_client_tick(client->udp, now_us);
	else if (client->sender != NULL)
		pw_udp_sender_tick(client->sender, now_us);
	else
		open_flows(client, now_us);
}

bool
pw_tcp_client_udp_input(struct pw_tcp_client *client, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us)
{
	return client->udp != NULL && pw_udp_client_input(client->udp, datagram, ip, now_us);
}

/* Nobody connects to himself. */
static bool
may_connect(const struct pw_options *options, unsigned port)
{
	const struct pw_addresses *addresses = pw_addr_is_ipv4(&options->connect_addr)
		? &options->ipv4
		: &options->ipv6;

	return port < addresses->count &&
		!pw_addr_equal(&addresses->list[port].addr, &options->connect_addr);
}

static unsigned
count_ports(const struct pw_options *options, unsigned nb_ports)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nb_ports; i++)
		n += may_connect(options, i);
	return n;
}

unsigned
pw_tcp_client_ports(const struct pw_app *app)
{
	return count_ports(&app->options, app->nb_ports);
}

/* The first ones have one more where it does not come out even. */
static unsigned
share_of(const struct pw_app *app, unsigned port)
{
	const struct pw_options *options = &app->options;
	unsigned n = pw_tcp_client_ports(app);

	if (n == 0 || !may_connect(options, port))
		return 0;
	return options->connections / n +
		(count_ports(options, port) < options->connections % n ? 1 : 0);
}

/* What its kind needs; 0 or -ENOMEM. */
static int
open_kind(struct pw_tcp_client *client)
{
	switch (client->options->connect_kind) {
	case PW_CLIENT_UDP_RR:
		client->udp = pw_udp_client_create(client);
		return client->udp == NULL ? -ENOMEM : 0;
	case PW_CLIENT_UDP_STREAM:
		client->sender = pw_udp_sender_create(client);
		return client->sender == NULL ? -ENOMEM : 0;
	default:
		return 0;
	}
}

struct pw_tcp_client *
pw_tcp_client_create(struct pw_tcp_stack *stack)
{
	struct pw_tcp_client *client = rte_zmalloc("pw_client", sizeof(*client), 0);

	if (client == NULL)
		return NULL;
	client->stack = stack;
	client->options = &stack->app->options;
	client->share = share_of(stack->app, stack->stream->rx_port->id);
	if (open_kind(client) == 0)
		return client;
	rte_free(client);
	return NULL;
}

void
pw_tcp_client_destroy(struct pw_tcp_client *client)
{
	if (client == NULL)
		return;
	pw_udp_client_destroy(client->udp);
	pw_udp_sender_destroy(client->sender);
	rte_free(client);
}
