/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_udp.h>
#include <sodium.h>

#include "app.h"
#include "fwd.h"
#include "stages.h"
#include "tcp_app.h"
#include "tcp_client.h"
#include "tcp_stack.h"

#define RCVBUF_BYTES (512 << 10)
#define SNDBUF_BYTES (256 << 10)
#define MBUF_SIZE_MIN 1024 /* leaves 576 bytes of IP, which every host must take (RFC 1122) */

void
pw_tcp_stack_flush(struct pw_tcp_stack *stack)
{
	uint16_t sent;

	if (stack->nb_tx == 0)
		return;
	sent = pw_stream_try_send(stack->stream, stack->tx, stack->nb_tx);
	stack->nb_tx -= sent;
	if (unlikely(stack->nb_tx > 0))
		memmove(stack->tx, stack->tx + sent, stack->nb_tx * sizeof(stack->tx[0]));
}

void
pw_tcp_stack_drop(struct pw_tcp_stack *stack)
{
	stack->stream->tx_dropped += stack->nb_tx;
	rte_pktmbuf_free_bulk(stack->tx, stack->nb_tx);
	stack->nb_tx = 0;
}

/* The stages call each other downwards: port, GRO, inet, tcp; and frames go out again. */

static void
gro_output(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	struct pw_tcp_stack *stack = ctx;
	enum pw_stage before = pw_stage_enter(PW_STAGE_INET);

	for (uint16_t i = 0; i < n; i++)
		pw_inet_input(stack->inet, pkts[i], stack->now_us);
	pw_stage_enter(before);
}

static void
inet_tcp_input(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_stack *stack = ctx;
	enum pw_stage before = pw_stage_enter(PW_STAGE_TCP);

	pw_tcp_input(stack->tcp, segment, ip, now_us);
	pw_stage_enter(before);
}

/* To the service at its port, or the generator. False: there is none. */
static bool
give_datagram(struct pw_tcp_stack *stack, struct rte_mbuf *datagram, const struct pw_ip_info *ip,
	uint64_t now_us)
{
	const struct pw_options *options = &stack->app->options;
	uint16_t port = rte_be_to_cpu_16(
		rte_pktmbuf_mtod(datagram, struct rte_udp_hdr *)->dst_port);

	for (unsigned i = 0; i < options->nb_listens; i++)
		if (options->listens[i].port == port &&
			options->listens[i].service->udp_input != NULL)
			return options->listens[i].service->udp_input(stack, datagram, ip, now_us);
	return stack->client != NULL &&
		pw_tcp_client_udp_input(stack->client, datagram, ip, now_us);
}

static bool
inet_udp_input(void *ctx, struct rte_mbuf *datagram, const struct pw_ip_info *ip, uint64_t now_us)
{
	enum pw_stage before = pw_stage_enter(PW_STAGE_READER);
	bool taken = give_datagram(ctx, datagram, ip, now_us);

	pw_stage_enter(before);
	return taken;
}

static void
tcp_output(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_stack *stack = ctx;
	enum pw_stage before = pw_stage_enter(PW_STAGE_INET);

	pw_inet_output_tcp(stack->inet, segment, ip, now_us);
	pw_stage_enter(before);
}

static void
inet_output(void *ctx, struct rte_mbuf *frame)
{
	struct pw_tcp_stack *stack = ctx;

	if (stack->nb_tx == PW_TCP_STACK_TX_MAX)
		pw_tcp_stack_flush(stack);
	if (unlikely(stack->nb_tx == PW_TCP_STACK_TX_MAX)) {
		stack->stream->tx_dropped++;
		rte_pktmbuf_free(frame);
		return;
	}
	stack->tx[stack->nb_tx++] = frame;
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

/* What the peer sends has to fit one buffer, with its headroom and Ethernet header, or several. */
static uint16_t
choose_mtu(const struct pw_port_info *info, const struct pw_options *options)
{
	uint32_t room = options->mbuf_size - RTE_PKTMBUF_HEADROOM - RTE_ETHER_HDR_LEN;
	uint32_t mtu = info->mtu_bytes;

	if (info->rx_offloads & RTE_ETH_RX_OFFLOAD_SCATTER)
		room = UINT16_MAX;
	return RTE_MIN(mtu, room);
}

static int
open_inet(struct pw_tcp_stack *stack, const struct pw_app *app, const struct pw_port_info *info)
{
	const struct pw_options *options = &app->options;
	unsigned port = stack->stream->rx_port->id;
	struct pw_inet_params params = {
		.mac = info->mac,
		.gateway4 = options->gateway4,
		.gateway6 = options->gateway6,
		.mtu_bytes = choose_mtu(info, &app->options),
		.secret = rte_rand(),
		.pool = app->pool,
		.tx_offloads = mbuf_offloads(info->tx_offloads),
		.ops = {.output = inet_output,
			.tcp_input = inet_tcp_input,
			.udp_input = inet_udp_input,
			.error_input = pw_tcp_news_error},
		.ctx = stack,
	};

	if (port < options->ipv4.count)
		params.addresses[params.nb_addresses++] = options->ipv4.list[port];
	if (port < options->ipv6.count)
		params.addresses[params.nb_addresses++] = options->ipv6.list[port];
	if (options->rxq > 1)
		params.ops.heard = pw_tcp_news_heard;
	stack->inet = pw_inet_create(&params);
	return stack->inet == NULL ? -rte_errno : 0;
}

static unsigned
count_stacks(const struct pw_app *app)
{
	return app->nb_ports * app->options.rxq;
}

static uint32_t
conns_of_stack(const struct pw_app *app)
{
	return RTE_MAX(app->options.max_conns / count_stacks(app), 1U);
}

static int
open_services(struct pw_tcp_stack *stack, const struct pw_options *options)
{
	int rc = 0;

	for (unsigned i = 0; i < options->nb_listens && rc == 0; i++) {
		const struct pw_listen *listen = &options->listens[i];

		if (listen->service->open != NULL)
			rc = listen->service->open(options);
		if (listen->service->tick != NULL)
			stack->ticking[stack->nb_ticking++] = listen->service;
		if (rc == 0 && options->stage_cycles) {
			pw_tcp_timed_wrap(&stack->timed[i], listen->service, options);
			rc = pw_tcp_listen(
				stack->tcp, listen->port, &stack->timed[i].app, &stack->timed[i]);
		} else if (rc == 0) {
			rc = pw_tcp_listen(stack->tcp, listen->port, &listen->service->app,
				(void *)(uintptr_t)options);
		}
	}
	return rc;
}

static int
open_tcp(struct pw_tcp_stack *stack, const struct pw_app *app, const struct pw_port_info *info)
{
	const struct pw_options *options = &app->options;
	struct pw_tcp_params params = {
		.output = tcp_output,
		.ctx = stack,
		.pool = app->pool,
		.frags = app->frags,
		.max_conns = conns_of_stack(app),
		.rcvbuf_bytes = RCVBUF_BYTES,
		.sndbuf_bytes = SNDBUF_BYTES,
		/* With its reserve 3/4; the port's descriptors and our segments need the rest. */
		.max_held_mbufs = options->total_num_mbufs / 2 / count_stacks(app),
		.max_queued_bytes = ((uint64_t)options->frag_mib << 20) / 2 / count_stacks(app),
		.mtu_bytes = choose_mtu(info, options),
		.congestion = options->congestion,
		.ecn = options->ecn,
		.keepalive_s = options->keepalive_s,
	};

	randombytes_buf(params.secret, sizeof(params.secret));
	if (info->tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_TSO) {
		params.tso_max_bytes = UINT16_MAX;
		params.tso_max_mbufs = info->tx_mbufs_max;
	}
	stack->max_conns = params.max_conns;
	stack->tcp = pw_tcp_create(&params);
	return stack->tcp == NULL ? -rte_errno : open_services(stack, options);
}

static int
open_client(struct pw_tcp_stack *stack, const struct pw_app *app)
{
	if (pw_addr_is_none(&app->options.connect_addr))
		return 0;
	stack->client = pw_tcp_client_create(stack);
	return stack->client == NULL ? -ENOMEM : 0;
}

void
pw_tcp_stack_close(struct pw_stream *stream)
{
	struct pw_tcp_stack *stack = stream->engine_data;

	pw_tcp_stack_drop(stack);
	if (stack->tcp != NULL)
		pw_tcp_destroy(stack->tcp);
	pw_gro_stage_close(&stack->gro);
	pw_inet_destroy(stack->inet);
	pw_tcp_client_destroy(stack->client);
	pw_tcp_news_close(stack);
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
	if (app->nb_ports > RTE_MAX(app->options.ipv4.count, app->options.ipv6.count)) {
		pw_error("the mode tcp needs an address for each port, --ip once for each: there "
			 "are %u ports, %u IPv4 addresses and %u IPv6 addresses",
			app->nb_ports, app->options.ipv4.count, app->options.ipv6.count);
		return -EINVAL;
	}
	if (!pw_addr_is_none(&app->options.connect_addr) && pw_tcp_client_ports(app) == 0) {
		pw_error("--connect: no port could connect there: one needs an address of the same "
			 "family that is not the one to connect to");
		return -EINVAL;
	}
	return check_buffers(app);
}

static void
explain(const struct pw_app *app, int error)
{
	struct pw_tcp_params params = {.max_conns = conns_of_stack(app)};
	uint64_t bytes = pw_tcp_memory(&params, params.max_conns) * count_stacks(app);

	if (error == ENOMEM)
		pw_error("the mode tcp does not start: --max-conns=%u needs up to %u MiB of "
			 "hugepages, beside what buffers and fragments need: allow more, or ask "
			 "for fewer connections",
			app->options.max_conns, (unsigned)(bytes >> 20) + 1);
	else
		pw_error("the mode tcp does not start: %s", strerror(error));
}

static int
open_stages(struct pw_tcp_stack *stack, const struct pw_app *app)
{
	struct pw_port *port = stack->stream->rx_port;
	struct pw_port_info info;
	int rc = port->ops->get_info(port, &info);

	if (rc == 0)
		rc = pw_tcp_news_open(stack);
	if (rc == 0)
		rc = open_gro(stack, app);
	if (rc == 0)
		rc = open_inet(stack, app, &info);
	if (rc == 0)
		rc = open_tcp(stack, app, &info);
	if (rc == 0)
		rc = open_client(stack, app);
	return rc;
}

int
pw_tcp_stack_open(struct pw_stream *stream, const struct pw_app *app)
{
	struct pw_tcp_stack *stack;
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
	rc = open_stages(stack, app);
	if (rc < 0) {
		explain(app, -rc);
		pw_tcp_stack_close(stream);
	}
	return rc;
}
