/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Receive through GRO, IPv4 and TCP, to the end: applications take the data. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "app.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "pw_gro.h"
#include "pw_inet.h"
#include "tcp_app.h"

#define MAX_CONNS 4096
#define RCVBUF_BYTES (512 << 10)
#define SNDBUF_BYTES (256 << 10)
#define TX_MAX 64
#define MBUF_SIZE_MIN 1024   /* leaves 576 bytes of IP, which every host must take (RFC 1122) */
#define BAD_CKSUMS_SUSPECT 3 /* so many wrong ones and no right one are no accident */

struct pw_tcp_services pw_tcp_services = STAILQ_HEAD_INITIALIZER(pw_tcp_services);

struct stack {
	struct pw_stream *stream;
	struct pw_gro *gro;
	struct pw_inet *inet;
	struct pw_tcp *tcp;
	uint64_t now_us;
	uint64_t next_tick_us;
	uint16_t nb_tx;
	struct rte_mbuf *tx[TX_MAX];
};

static void
flush_tx(struct stack *stack)
{
	if (stack->nb_tx > 0)
		pw_stream_send(stack->stream, stack->tx, stack->nb_tx);
	stack->nb_tx = 0;
}

/* The stages call each other downwards: port, GRO, inet, tcp; and frames go out again. */

static void
gro_output(void *ctx, struct rte_mbuf *m)
{
	struct stack *stack = ctx;

	pw_inet_input(stack->inet, m, stack->now_us);
}

static void
inet_tcp_input(void *ctx, struct rte_mbuf *segment, rte_be32_t src, rte_be32_t dst, uint64_t now_us)
{
	struct stack *stack = ctx;

	pw_tcp_input(stack->tcp, segment, src, dst, now_us);
}

static void
tcp_output(void *ctx, struct rte_mbuf *segment, rte_be32_t dst, uint64_t now_us)
{
	struct stack *stack = ctx;

	pw_inet_output_tcp(stack->inet, segment, dst, now_us);
}

static void
inet_output(void *ctx, struct rte_mbuf *frame)
{
	struct stack *stack = ctx;

	stack->tx[stack->nb_tx++] = frame;
	if (stack->nb_tx == TX_MAX)
		flush_tx(stack);
}

static int
open_gro(struct stack *stack, const struct pw_app *app)
{
	struct pw_gro_params params = {
		.output = gro_output,
		.ctx = stack,
		.socket_id = app->pool->socket_id,
	};

	stack->gro = pw_gro_create(&params);
	return stack->gro == NULL ? -rte_errno : 0;
}

static int
open_inet(struct stack *stack, const struct pw_app *app, const struct pw_port_info *info)
{
	struct pw_inet_params params = {
		.mac = info->mac,
		.ip = app->options.ip,
		.prefix_len = app->options.prefix_len,
		.pool = app->pool,
		.ops = {.output = inet_output, .tcp_input = inet_tcp_input},
		.ctx = stack,
	};

	stack->inet = pw_inet_create(&params);
	return stack->inet == NULL ? -rte_errno : 0;
}

/* What the peer sends has to fit one buffer, with its headroom and Ethernet header. */
static uint16_t
choose_mtu(const struct pw_port_info *info, const struct pw_options *options)
{
	uint32_t room = options->mbuf_size - RTE_PKTMBUF_HEADROOM - RTE_ETHER_HDR_LEN;

	return RTE_MIN((uint32_t)info->mtu_bytes, room);
}

static int
open_tcp(struct stack *stack, const struct pw_app *app, const struct pw_port_info *info)
{
	struct pw_tcp_params params = {
		.output = tcp_output,
		.ctx = stack,
		.pool = app->pool,
		.frags = app->frags,
		.max_conns = MAX_CONNS,
		.rcvbuf_bytes = RCVBUF_BYTES,
		.sndbuf_bytes = SNDBUF_BYTES,
		/* With its reserve 3/4; the port's descriptors and our segments need the rest. */
		.max_held_mbufs = app->options.total_num_mbufs / 2,
		.mtu_bytes = choose_mtu(info, &app->options),
		.secret = rte_rand(),
	};
	struct pw_tcp_service *service;
	int rc = 0;

	stack->tcp = pw_tcp_create(&params);
	if (stack->tcp == NULL)
		return -rte_errno;
	STAILQ_FOREACH (service, &pw_tcp_services, next)
		if (rc == 0)
			rc = pw_tcp_listen(stack->tcp, service->port, &service->app,
				(void *)(uintptr_t)&app->options);
	return rc;
}

static void
close_stack(struct pw_stream *stream)
{
	struct stack *stack = stream->engine_data;

	if (stack->tcp != NULL)
		pw_tcp_destroy(stack->tcp);
	pw_gro_destroy(stack->gro);
	pw_inet_destroy(stack->inet);
	rte_free(stack);
	stream->engine_data = NULL;
}

static int
check_layout(const struct pw_app *app)
{
	if (app->options.mbuf_size < MBUF_SIZE_MIN) {
		pw_error("the mode tcp needs --mbuf-size of at least %u: it is %u", MBUF_SIZE_MIN,
			app->options.mbuf_size);
		return -EINVAL;
	}
	if (app->nb_ports == 1 && app->options.rxq == 1)
		return 0;
	pw_error("the mode tcp serves one port with --rxq=1 for now: there are %u ports with %u RX "
		 "queues",
		app->nb_ports, app->options.rxq);
	return -ENOTSUP;
}

static int
open_stack(struct pw_stream *stream, const struct pw_app *app)
{
	struct stack *stack;
	struct pw_port_info info;
	int rc = check_layout(app);

	if (rc < 0)
		return rc;
	stack = rte_zmalloc("pw_stack", sizeof(*stack), RTE_CACHE_LINE_SIZE);
	if (stack == NULL) {
		pw_error("the mode tcp: out of memory");
		return -ENOMEM;
	}
	stack->stream = stream;
	stream->engine_data = stack;

	rc = stream->rx_port->ops->get_info(stream->rx_port, &info);
	if (rc == 0)
		rc = open_gro(stack, app);
	if (rc == 0)
		rc = open_inet(stack, app, &info);
	if (rc == 0)
		rc = open_tcp(stack, app, &info);
	if (rc < 0) {
		pw_error("the mode tcp does not start, with %u connections: %s", MAX_CONNS,
			strerror(-rc));
		close_stack(stream);
	}
	return rc;
}

static void
receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	struct stack *stack = stream->engine_data;

	stack->now_us = now_us;
	for (uint16_t i = 0; i < n; i++)
		pw_gro_receive(stack->gro, pkts[i]);
	pw_gro_flush(stack->gro);
	flush_tx(stack);
}

static void
tick(struct pw_stream *stream, uint64_t now_us)
{
	struct stack *stack = stream->engine_data;

	if (now_us < stack->next_tick_us)
		return;
	stack->next_tick_us = now_us + 1000;
	pw_inet_tick(stack->inet, now_us);
	pw_tcp_tick(stack->tcp, now_us);
	flush_tx(stack);
}

static struct pw_engine tcp = {
	.name = "tcp",
	.help = "end TCP connections here, through GRO: discard on port 9, echo on port 7",
	.open = open_stack,
	.close = close_stack,
	.receive = receive,
	.tick = tick,
};

PW_ENGINE_REGISTER(tcp)

static const struct stack *
first_stack(const struct pw_app *app)
{
	if (pw_fwd_engine(app->fwd) != &tcp)
		return NULL;
	return pw_fwd_stream(app->fwd, 0)->engine_data;
}

int
pw_engine_tcp_read_gro(const struct pw_app *app, void *stats)
{
	const struct stack *stack = first_stack(app);

	if (stack == NULL)
		return -ENOENT;
	pw_gro_get_stats(stack->gro, stats);
	return 0;
}

int
pw_engine_tcp_read_inet(const struct pw_app *app, void *stats)
{
	const struct stack *stack = first_stack(app);

	if (stack == NULL)
		return -ENOENT;
	pw_inet_get_stats(stack->inet, stats);
	return 0;
}

int
pw_engine_tcp_read_tcp(const struct pw_app *app, void *stats)
{
	const struct stack *stack = first_stack(app);

	if (stack == NULL)
		return -ENOENT;
	pw_tcp_get_stats(stack->tcp, stats);
	return 0;
}

void
pw_engine_tcp_print_cure(const struct pw_app *app)
{
	struct pw_inet_stats stats;

	if (pw_engine_tcp_read_inet(app, &stats) < 0)
		return;
	if (stats.tx_no_route > 0)
		printf("%" PRIu64
		       " answers had no way back: clients outside the prefix of --ip cannot be "
		       "reached yet\n",
			stats.tx_no_route);
	if (stats.rx_bad_l4_cksum < BAD_CKSUMS_SUSPECT || stats.rx_tcp > 0)
		return;
	printf("All %" PRIu64 " TCP segments had wrong checksums. A virtual sender (veth, tap) may "
	       "leave them to\nhardware that is not there: on its side run ethtool -K DEV tx off\n",
		stats.rx_bad_l4_cksum);
}
