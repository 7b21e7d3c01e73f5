/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "stack.h"

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#define MTU 1500
#define CONNS 64
#define RCVBUF_BYTES (512 << 10)
#define SNDBUF_BYTES (256 << 10)
#define HELD_MBUFS 4096

struct pw_addr
pw_bench_host_addr(pw_bench_host_t host)
{
	/* 198.18.0.0/15: RFC 2544 C.2.2 */
	return pw_addr_from_ipv4(rte_cpu_to_be_32(0xc6120000 | host));
}

struct rte_ether_addr
pw_bench_host_mac(pw_bench_host_t host)
{
	return (struct rte_ether_addr){{0x02, 0, 0, 0, 0, host}};
}

void
pw_bench_mark_good(struct rte_mbuf *frame, uint32_t hash)
{
	frame->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD |
		RTE_MBUF_F_RX_RSS_HASH;
	frame->hash.rss = hash;
}

uint64_t
pw_bench_now_us(void)
{
	static double us_per_cycle;

	if (us_per_cycle == 0)
		us_per_cycle = 1e6 / rte_get_tsc_hz();
	return rte_rdtsc() * us_per_cycle;
}

static void
gro_output(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	struct pw_bench_stack *stack = ctx;

	for (uint16_t i = 0; i < n; i++)
		pw_inet_input(stack->inet, pkts[i], stack->now_us);
}

static void
inet_output(void *ctx, struct rte_mbuf *frame)
{
	struct pw_bench_stack *stack = ctx;

	stack->params.output(stack->params.ctx, frame);
}

static void
tcp_input(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_bench_stack *stack = ctx;

	pw_tcp_input(stack->tcp, segment, ip, now_us);
}

static void
tcp_output(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_bench_stack *stack = ctx;

	pw_inet_output_tcp(stack->inet, segment, ip, now_us);
}

static struct pw_inet *
make_inet(struct pw_bench_stack *stack)
{
	const struct pw_inet_params params = {
		.mac = pw_bench_host_mac(stack->params.host),
		.addresses = {{pw_bench_host_addr(stack->params.host), 24}},
		.nb_addresses = 1,
		.mtu_bytes = MTU,
		.secret = 1,
		.pool = stack->params.pool,
		.tx_offloads = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM,
		.ops = {.output = inet_output, .tcp_input = tcp_input},
		.ctx = stack,
	};

	return pw_inet_create(&params);
}

static struct pw_tcp *
make_tcp(struct pw_bench_stack *stack)
{
	const struct pw_tcp_params params = {
		.output = tcp_output,
		.ctx = stack,
		.pool = stack->params.pool,
		.frags = stack->params.frags,
		.max_conns = CONNS,
		.rcvbuf_bytes = RCVBUF_BYTES,
		.sndbuf_bytes = SNDBUF_BYTES,
		.max_held_mbufs = HELD_MBUFS,
		.mtu_bytes = MTU,
		.secret = {stack->params.host},
	};

	return pw_tcp_create(&params);
}

int
pw_bench_stack_open(struct pw_bench_stack *stack, const struct pw_bench_stack_params *params)
{
	const struct pw_gro_params gro = {
		.output = gro_output, .ctx = stack, .socket_id = (int)rte_socket_id()};
	int rc;

	*stack = (struct pw_bench_stack){.params = *params, .now_us = pw_bench_now_us()};
	stack->gro = pw_gro_create(&gro);
	stack->inet = stack->gro == NULL ? NULL : make_inet(stack);
	stack->tcp = stack->inet == NULL ? NULL : make_tcp(stack);
	if (stack->tcp != NULL)
		return 0;
	rc = -rte_errno;
	pw_bench_stack_close(stack);
	return rc;
}

void
pw_bench_stack_close(struct pw_bench_stack *stack)
{
	if (stack->tcp != NULL)
		pw_tcp_destroy(stack->tcp);
	if (stack->inet != NULL)
		pw_inet_destroy(stack->inet);
	if (stack->gro != NULL)
		pw_gro_destroy(stack->gro);
	stack->tcp = NULL;
	stack->inet = NULL;
	stack->gro = NULL;
}

void
pw_bench_stack_input(
	struct pw_bench_stack *stack, struct rte_mbuf **frames, uint16_t n, uint64_t now_us)
{
	stack->now_us = now_us;
	pw_gro_receive(stack->gro, frames, n, now_us);
	pw_gro_flush(stack->gro);
}

void
pw_bench_stack_tick(struct pw_bench_stack *stack, uint64_t now_us)
{
	stack->now_us = now_us;
	pw_inet_tick(stack->inet, now_us);
	pw_tcp_tick(stack->tcp, now_us);
}
