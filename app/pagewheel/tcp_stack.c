/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "app.h"
#include "fwd.h"
#include "tcp_app.h"
#include "tcp_stack.h"

#define MAX_CONNS 4096 /* of all stacks */
#define RCVBUF_BYTES (512 << 10)
#define SNDBUF_BYTES (256 << 10)
#define MBUF_SIZE_MIN 1024 /* leaves 576 bytes of IP, which every host must take (RFC 1122) */

struct pw_tcp_services pw_tcp_services = STAILQ_HEAD_INITIALIZER(pw_tcp_services);

void
pw_tcp_stack_flush(struct pw_tcp_stack *stack)
{
	if (stack->nb_tx > 0)
		pw_stream_send(stack->stream, stack->tx, stack->nb_tx);
	stack->nb_tx = 0;
}

/* The stages call each other downwards: port, GRO, inet, tcp; and frames go out again. */

static void
gro_output(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	struct pw_tcp_stack *stack = ctx;

	for (uint16_t i = 0; i < n; i++)
		pw_inet_input(stack->inet, pkts[i], stack->now_us);
}

static void
inet_tcp_input(void *ctx, struct rte_mbuf *segment, rte_be32_t src, rte_be32_t dst, uint64_t now_us)
{
	struct pw_tcp_stack *stack = ctx;

	pw_tcp_input(stack->tcp, segment, src, dst, now_us);
}

static void
tcp_output(void *ctx, struct rte_mbuf *segment, rte_be32_t dst, uint64_t now_us)
{
	struct pw_tcp_stack *stack = ctx;

	pw_inet_output_tcp(stack->inet, segment, dst, now_us);
}

static void
inet_output(void *ctx, struct rte_mbuf *frame)
{
	struct pw_tcp_stack *stack = ctx;

	stack->tx[stack->nb_tx++] = frame;
	if (stack->nb_tx == PW_TCP_STACK_TX_MAX)
		pw_tcp_stack_flush(stack);
}

static int
open_gro(struct pw_tcp_stack *stack, const struct pw_app *app)
{
	struct pw_gro_params params = {
		.output = gro_output,
		.ctx = stack,
		.types = app->options.gro_types,
	};

	return pw_gro_stage_open(&stack->gro, app, &params);
}

/* What the port does, in the words of lib/inet. */
static uint64_t
mbuf_offloads(uint64_t tx_offloads)
{
	uint64_t offloads = 0;

	if (tx_offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM)
		offloads |= RTE_MBUF_F_TX_IP_CKSUM;
	if (tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
		offloads |= RTE_MBUF_F_TX_TCP_CKSUM;
	if (tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_TSO)
		offloads |= RTE_MBUF_F_TX_TCP_SEG;
	return offloads;
}

static int
open_inet(struct pw_tcp_stack *stack, const struct pw_app *app, const struct pw_port_info *info)
{
	const struct pw_address *address = &app->options.addresses[stack->stream->rx_port->id];
	struct pw_inet_params params = {
		.mac = info->mac,
		.ip = address->ip,
		.prefix_len = address->prefix_len,
		.pool = app->pool,
		.tx_offloads = mbuf_offloads(info->tx_offloads),
		.ops = {.output = inet_output, .tcp_input = inet_tcp_input},
		.ctx = stack,
	};

	if (app->options.rxq > 1)
		params.ops.arp_input = pw_tcp_arp_tell;
	stack->inet = pw_inet_create(&params);
	return stack->inet == NULL ? -rte_errno : 0;
}

/* What the peer sends has to fit one buffer, with its headroom and Ethernet header, or several. */
static uint16_t
choose_mtu(const struct pw_port_info *info, const struct pw_options *options)
{
	uint32_t room = options->mbuf_size - RTE_PKTMBUF_HEADROOM - RTE_ETHER_HDR_LEN;
	uint32_t mtu = info->mtu_bytes;

	if (info->rx_offloads & RTE_ETH_RX_OFFLOAD_SCATTER)
		room = UINT16_MAX;
	/* Where net_tap cuts, the Ethernet header counts: longer segments it never sends. */
	if ((info->tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_TSO) &&
		strcmp(info->driver, "net_tap") == 0)
		mtu -= RTE_ETHER_HDR_LEN;
	return RTE_MIN(mtu, room);
}

static unsigned
count_stacks(const struct pw_app *app)
{
	return app->nb_ports * app->options.rxq;
}

static int
open_tcp(struct pw_tcp_stack *stack, const struct pw_app *app, const struct pw_port_info *info)
{
	struct pw_tcp_params params = {
		.output = tcp_output,
		.ctx = stack,
		.pool = app->pool,
		.frags = app->frags,
		.max_conns = RTE_MAX(MAX_CONNS / count_stacks(app), 1U),
		.rcvbuf_bytes = RCVBUF_BYTES,
		.sndbuf_bytes = SNDBUF_BYTES,
		/* With its reserve 3/4; the port's descriptors and our segments need the rest. */
		.max_held_mbufs = app->options.total_num_mbufs / 2 / count_stacks(app),
		.mtu_bytes = choose_mtu(info, &app->options),
		.secret = rte_rand(),
	};
	struct pw_tcp_service *service;
	int rc = 0;

	if (info->tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_TSO) {
		params.tso_max_bytes = UINT16_MAX;
		params.tso_max_mbufs = info->tx_mbufs_max;
	}
	stack->tcp = pw_tcp_create(&params);
	if (stack->tcp == NULL)
		return -rte_errno;
	STAILQ_FOREACH (service, &pw_tcp_services, next)
		if (rc == 0)
			rc = pw_tcp_listen(stack->tcp, service->port, &service->app,
				(void *)(uintptr_t)&app->options);
	return rc;
}

void
pw_tcp_stack_close(struct pw_stream *stream)
{
	struct pw_tcp_stack *stack = stream->engine_data;

	if (stack->tcp != NULL)
		pw_tcp_destroy(stack->tcp);
	pw_gro_stage_close(&stack->gro);
	pw_inet_destroy(stack->inet);
	pw_tcp_arp_close(stack);
	rte_free(stack);
	stream->engine_data = NULL;
}

/* Of the pool a quarter is left to what descriptors hold. */
static int
check_buffers(const struct pw_app *app)
{
	const struct pw_options *options = &app->options;
	uint32_t needed = count_stacks(app) * (options->rxd + options->txd) * 4;

	if (count_stacks(app) == 1 || options->total_num_mbufs >= needed)
		return 0;
	pw_error("the mode tcp on %u queues, of %u RX and %u TX descriptors, needs "
		 "--total-num-mbufs=%u: it is %u",
		count_stacks(app), options->rxd, options->txd, needed, options->total_num_mbufs);
	return -EINVAL;
}

static int
check_layout(const struct pw_app *app)
{
	if (app->options.mbuf_size < MBUF_SIZE_MIN) {
		pw_error("the mode tcp needs --mbuf-size of at least %u: it is %u", MBUF_SIZE_MIN,
			app->options.mbuf_size);
		return -EINVAL;
	}
	if (app->nb_ports > app->options.nb_addresses) {
		pw_error("the mode tcp needs an address for each port, --ip once for each: there "
			 "are %u ports and %u addresses",
			app->nb_ports, app->options.nb_addresses);
		return -EINVAL;
	}
	return check_buffers(app);
}

int
pw_tcp_stack_open(struct pw_stream *stream, const struct pw_app *app)
{
	struct pw_tcp_stack *stack;
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
	stack->app = app;
	stream->engine_data = stack;

	rc = stream->rx_port->ops->get_info(stream->rx_port, &info);
	if (rc == 0)
		rc = pw_tcp_arp_open(stack);
	if (rc == 0)
		rc = open_gro(stack, app);
	if (rc == 0)
		rc = open_inet(stack, app, &info);
	if (rc == 0)
		rc = open_tcp(stack, app, &info);
	if (rc < 0) {
		pw_error("the mode tcp does not start, with %u connections: %s", MAX_CONNS,
			strerror(-rc));
		pw_tcp_stack_close(stream);
	}
	return rc;
}
