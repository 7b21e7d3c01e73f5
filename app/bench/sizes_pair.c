/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "sizes_pair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "mempool.h"
#include "pw_mempool.h"

#define FRAGS_BYTES (8U << 20)
#define MBUFS 8191
#define MESSAGE_MAX (64U << 10)
#define PORT 9
#define BURST 32
#define TIMEOUT_S 30
#define SENDER 1
#define RECEIVER 2

static void
send_messages(struct pw_sizes_pair *pair, struct pw_tcp_conn *conn)
{
	while (pair->sent_bytes < pair->to_send_bytes) {
		uint32_t left = pair->pending_bytes > 0 ? pair->pending_bytes : pair->message_bytes;
		uint32_t n;

		left = RTE_MIN((uint64_t)left, pair->to_send_bytes - pair->sent_bytes);
		n = pw_tcp_send(conn, pair->message + pair->message_bytes - left, left);
		pair->sent_bytes += n;
		pair->pending_bytes = left - n;
		if (n < left)
			return;
		pair->messages++;
	}
	pw_tcp_shutdown(conn);
}

static void
writable(struct pw_tcp_conn *conn, void *app_ctx)
{
	send_messages(app_ctx, conn);
}

/* Where a read begins and ends within messages tells what bytes must be there. */
static bool
is_right(const struct pw_sizes_pair *pair, uint32_t n)
{
	uint32_t first = pair->received_bytes % pair->message_bytes;
	uint32_t last = (pair->received_bytes + n - 1) % pair->message_bytes;

	return pair->read[0] == pair->message[first] && pair->read[n - 1] == pair->message[last];
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_sizes_pair *pair = app_ctx;
	uint32_t n;

	while ((n = pw_tcp_read(conn, pair->read, MESSAGE_MAX)) > 0) {
		pair->wrong += !is_right(pair, n);
		pair->received_bytes += n;
	}
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

/* The receiver's end: the sender's waits in TIME-WAIT. */
static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_sizes_pair *pair = app_ctx;

	(void)conn;
	pair->closed = true;
}

static void
output(void *ctx, struct rte_mbuf *frame)
{
	struct pw_sizes_wire *wire = ctx;

	if (wire->n == PW_SIZES_WIRE_MAX) {
		wire->dropped++;
		rte_pktmbuf_free(frame);
		return;
	}
	wire->frames[wire->n++] = frame;
}

/* As a card receives it: one buffer, checksums right, all of one flow. NULL: no buffer. */
static struct rte_mbuf *
receive_frame(struct rte_mempool *mp, const struct rte_mbuf *frame)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);
	char *data = m == NULL ? NULL : rte_pktmbuf_append(m, frame->pkt_len);

	if (data == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	for (; frame != NULL; frame = frame->next) {
		memcpy(data, rte_pktmbuf_mtod(frame, const void *), frame->data_len);
		data += frame->data_len;
	}
	pw_bench_mark_good(m, 1);
	return m;
}

static void
deliver(struct pw_sizes_end *from, struct pw_sizes_end *to, uint64_t now_us)
{
	struct pw_sizes_wire *wire = &from->wire;
	struct rte_mbuf *burst[BURST];
	unsigned n = wire->n;

	/* What is answered meanwhile goes the other way. */
	for (unsigned at = 0; at < n;) {
		uint16_t filled = 0;

		for (; at < n && filled < BURST; at++) {
			burst[filled] = receive_frame(to->mp, wire->frames[at]);
			rte_pktmbuf_free(wire->frames[at]);
			if (burst[filled] == NULL)
				wire->dropped++;
			else
				filled++;
		}
		pw_bench_stack_input(&to->stack, burst, filled, now_us);
	}
	wire->n = 0;
}

static void
step(struct pw_sizes_pair *pair)
{
	uint64_t now_us = pw_bench_now_us();

	deliver(&pair->sender, &pair->receiver, now_us);
	deliver(&pair->receiver, &pair->sender, now_us);
	pw_bench_stack_tick(&pair->sender.stack, now_us);
	pw_bench_stack_tick(&pair->receiver.stack, now_us);
}

int
pw_sizes_pair_run(struct pw_sizes_pair *pair, uint32_t message_bytes, uint64_t bytes)
{
	const struct pw_addr from = pw_bench_host_addr(SENDER), to = pw_bench_host_addr(RECEIVER);
	uint64_t deadline = rte_rdtsc() + TIMEOUT_S * rte_get_tsc_hz();
	int rc;

	pair->message_bytes = message_bytes;
	pair->to_send_bytes = bytes;
	pair->sent_bytes = pair->received_bytes = pair->messages = pair->wrong = 0;
	pair->pending_bytes = 0;
	pair->closed = false;
	rc = pw_tcp_connect(pair->sender.stack.tcp, &from, 0, &to, PORT, &pair->sending, pair, NULL,
		pw_bench_now_us());
	while (rc == 0 && !(pair->closed && pair->received_bytes == bytes)) {
		step(pair);
		if (rte_rdtsc() > deadline)
			rc = -ETIMEDOUT;
	}
	return rc;
}

static int
open_end(struct pw_sizes_pair *pair, struct pw_sizes_end *end, pw_bench_host_t host,
	const struct pw_strategy *strategy)
{
	const struct pw_bench_stack_params params = {
		.host = host,
		.frags = pair->frags,
		.output = output,
		.ctx = &end->wire,
	};
	struct pw_bench_stack_params with_pool = params;

	end->mp = pw_bench_pktmbuf_create(PW_MEMPOOL_OPS_NAME, strategy->name, MBUFS, 0);
	if (end->mp == NULL)
		return -rte_errno;
	with_pool.pool = end->mp;
	return pw_bench_stack_open(&end->stack, &with_pool);
}

static int
open_frags(struct pw_sizes_pair *pair, const struct pw_strategy *strategy)
{
	static unsigned number;
	char name[32];
	const struct pw_frag_pool_params params = {
		.name = name,
		.socket_id = (int)rte_socket_id(),
		.strategy = *strategy,
		.bytes = FRAGS_BYTES,
	};

	snprintf(name, sizeof(name), "sizes%u", number++);
	pair->frags = pw_frag_pool_create(&params);
	return pair->frags == NULL ? -rte_errno : 0;
}

int
pw_sizes_pair_open(struct pw_sizes_pair *pair, const struct pw_strategy *strategy)
{
	int rc;

	*pair = (struct pw_sizes_pair){
		.sending = {.name = "sender",
			.opened = writable,
			.writable = writable,
			.readable = readable},
		.receiving = {.name = "receiver", .readable = readable, .closed = closed},
		.message = malloc(MESSAGE_MAX),
		.read = malloc(MESSAGE_MAX),
	};
	rc = pair->message == NULL || pair->read == NULL ? -ENOMEM : open_frags(pair, strategy);
	if (rc == 0)
		rc = open_end(pair, &pair->sender, SENDER, strategy);
	if (rc == 0)
		rc = open_end(pair, &pair->receiver, RECEIVER, strategy);
	if (rc == 0)
		rc = pw_tcp_listen(pair->receiver.stack.tcp, PORT, &pair->receiving, pair);
	if (rc < 0) {
		pw_sizes_pair_close(pair);
		return rc;
	}
	for (uint32_t i = 0; i < MESSAGE_MAX; i++)
		pair->message[i] = i * 131 + (i >> 7);
	return 0;
}

/* Frames on the way are lost with the pair. */
static bool
close_end(struct pw_sizes_end *end)
{
	bool lost;

	pw_bench_stack_close(&end->stack);
	rte_pktmbuf_free_bulk(end->wire.frames, end->wire.n);
	if (end->mp == NULL)
		return false;
	lost = pw_bench_mempool_settle(end->mp) < end->mp->size;
	rte_mempool_free(end->mp);
	return lost;
}

int
pw_sizes_pair_close(struct pw_sizes_pair *pair)
{
	bool lost = close_end(&pair->sender);

	lost |= close_end(&pair->receiver);
	lost |= pw_frag_pool_destroy(pair->frags) < 0;
	free(pair->message);
	free(pair->read);
	return lost ? -EIO : 0;
}

void
pw_sizes_pair_read(const struct pw_sizes_pair *pair, struct pw_sizes_counters *counters)
{
	pw_mempool_get_stats(pair->receiver.mp, &counters->buffers);
	pw_page_cache_get_stats(pw_frag_pool_page_cache(pair->frags), &counters->pages);
	pw_arena_get_stats(pw_frag_pool_arena(pair->frags), &counters->arena);
}
