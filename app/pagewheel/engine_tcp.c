/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Receive through GRO, IP and TCP, to the end: applications take the data. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "app.h"
#include "engine.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "stages.h"
#include "stats.h"
#include "tcp_app.h"
#include "tcp_client.h"
#include "tcp_stack.h"

#define BAD_CKSUMS_SUSPECT 3 /* so many wrong ones and no right one are no accident */

static void
receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	struct pw_tcp_stack *stack = stream->engine_data;
	enum pw_stage before;

	stack->now_us = now_us;
	/* First: when another queue has answered the peer's ARP request, its SYN comes at once. */
	pw_tcp_news_read(stack, now_us);
	before = pw_stage_enter(PW_STAGE_GRO);
	pw_gro_stage_receive(&stack->gro, pkts, n, now_us);
	pw_stage_enter(before);
	pw_tcp_stack_flush(stack);
}

static void
tick_applications(struct pw_tcp_stack *stack, uint64_t now_us)
{
	if (stack->client != NULL)
		pw_tcp_client_tick(stack->client, now_us);
	for (unsigned i = 0; i < stack->nb_ticking; i++)
		stack->ticking[i]->tick(stack, now_us);
}

static void
tick(struct pw_stream *stream, uint64_t now_us)
{
	struct pw_tcp_stack *stack = stream->engine_data;

	stack->now_us = now_us;
	pw_tcp_news_read(stack, now_us);
	pw_gro_stage_tick(&stack->gro, now_us);
	if (now_us >= stack->next_tick_us) {
		stack->next_tick_us = now_us + 1000;
		pw_inet_tick(stack->inet, now_us);
		pw_tcp_tick(stack->tcp, now_us);
	}
	tick_applications(stack, now_us);
	pw_tcp_stack_flush(stack);
}

static void
drain(struct pw_stream *stream, uint64_t now_us)
{
	struct pw_tcp_stack *stack = stream->engine_data;

	stack->now_us = now_us;
	pw_gro_stage_flush(&stack->gro);
	pw_tcp_stack_flush(stack);
	pw_tcp_stack_drop(stack);
}

static const struct pw_gro_stage *
gro(const struct pw_stream *stream)
{
	return &((const struct pw_tcp_stack *)stream->engine_data)->gro;
}

static struct pw_engine tcp = {
	.name = "tcp",
	.help = "end TCP connections here, through GRO: services, and --connect",
	.makes_packets = true,
	.needs_offloads = true,
	.open = pw_tcp_stack_open,
	.close = pw_tcp_stack_close,
	.receive = receive,
	.tick = tick,
	.drain = drain,
	.gro = gro,
};

PW_ENGINE_REGISTER(tcp)

bool
pw_engine_tcp_runs(const struct pw_app *app)
{
	return pw_fwd_engine(app->fwd) == &tcp;
}

static void
read_inet(const struct pw_app *app, const struct pw_stream *stream, void *stats)
{
	(void)app;
	pw_inet_get_stats(((const struct pw_tcp_stack *)stream->engine_data)->inet, stats);
}

static void
read_tcp(const struct pw_app *app, const struct pw_stream *stream, void *stats)
{
	(void)app;
	pw_tcp_get_stats(((const struct pw_tcp_stack *)stream->engine_data)->tcp, stats);
}

int
pw_engine_tcp_read_inet(const struct pw_app *app, void *stats)
{
	if (!pw_engine_tcp_runs(app))
		return -ENOENT;
	pw_stats_sum_streams(app, stats, sizeof(struct pw_inet_stats), read_inet);
	return 0;
}

int
pw_engine_tcp_read_tcp(const struct pw_app *app, void *stats)
{
	if (!pw_engine_tcp_runs(app))
		return -ENOENT;
	pw_stats_sum_streams(app, stats, sizeof(struct pw_tcp_stats), read_tcp);
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
		       " packets had no way: clients outside the prefix of --ip need a --gateway\n",
			stats.tx_no_route);
	if (stats.rx_bad_l4_cksum < BAD_CKSUMS_SUSPECT || stats.rx_tcp > 0)
		return;
	printf("All %" PRIu64 " TCP segments had wrong checksums. A virtual sender (veth, tap) may "
	       "leave them to\nhardware that is not there: on its side run ethtool -K DEV tx off\n",
		stats.rx_bad_l4_cksum);
}
