/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "bench.h"
#include "environment.h"
#include "grid.h"

#define RCVBUF_BYTES (512 << 10)
/* Four segments of 64 KiB, which the port cuts, are on their way at once. */
#define SNDBUF_BYTES (256 << 10)
#define TSO_MAX_BYTES UINT16_MAX
#define TSO_MAX_MBUFS 40
#define HELD_MBUFS 2048
#define MTU_BYTES 1500
/* An estimate, for the message when there is no memory. */
#define CONN_BYTES 768

/* What the application sends, and where it copies to. */
static char memory[TSO_MAX_BYTES + 1];

static void
copy_out(const struct rte_mbuf *m)
{
	uint32_t used = 0;

	for (; m != NULL && used + m->data_len <= sizeof(memory); m = m->next) {
		memcpy(memory + used, rte_pktmbuf_mtod(m, const void *), m->data_len);
		used += m->data_len;
	}
}

static uint32_t
take(struct pw_tcp_bench_endpoint *endpoint, struct pw_tcp_conn *conn)
{
	struct rte_mbuf *m;
	uint32_t bytes = 0;

	while ((m = pw_tcp_recv(conn)) != NULL) {
		bytes += m->pkt_len;
		if (endpoint->work == PW_TCP_BENCH_COPY)
			copy_out(m);
		rte_pktmbuf_free(m);
	}
	endpoint->taken_bytes += bytes;
	return bytes;
}

static void
give(struct pw_tcp_bench_endpoint *endpoint, struct pw_tcp_conn *conn, uint32_t bytes)
{
	while (bytes > 0) {
		uint32_t n = pw_tcp_send(conn, memory, RTE_MIN(bytes, sizeof(memory)));

		if (n == 0)
			return;
		endpoint->given_bytes += n;
		bytes -= n;
	}
}

static void
on_writable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_bench_endpoint *endpoint = app_ctx;

	if (endpoint->work == PW_TCP_BENCH_SEND)
		give(endpoint, conn, pw_tcp_send_room(conn));
}

static void
on_readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_bench_endpoint *endpoint = app_ctx;
	uint32_t bytes = take(endpoint, conn);

	if (endpoint->work == PW_TCP_BENCH_ANSWER)
		give(endpoint, conn, bytes);
	on_writable(conn, app_ctx);
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
on_output(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_bench_endpoint *endpoint = ctx;
	unsigned n = endpoint->nb_out++;

	(void)now_us;
	if (n >= PW_TCP_BENCH_OUT_MAX) {
		rte_pktmbuf_free(segment);
		return;
	}
	endpoint->out[n] = segment;
	endpoint->out_dst[n] = ip->dst;
}

static size_t
heap_bytes(void)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < rte_socket_count(); i++) {
		struct rte_malloc_socket_stats stats;

		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	}
	return bytes;
}

static void
say_failure(uint32_t max_conns)
{
	char reason[PW_BENCH_REASON_MAX], what[64];

	if (rte_errno != ENOMEM) {
		pw_bench_error(
			"no endpoint of %u connections: %s", max_conns, rte_strerror(rte_errno));
		return;
	}
	snprintf(what, sizeof(what), "an endpoint of %u connections", max_conns);
	pw_bench_explain_memory(reason, sizeof(reason), what,
		(((unsigned long)max_conns * CONN_BYTES) >> 21) + 2, "less --idle");
	pw_bench_error("%s", reason);
}

static struct pw_tcp *
create_tcp(struct pw_tcp_bench_endpoint *endpoint, const struct pw_tcp_bench_rig *rig)
{
	const struct pw_tcp_params params = {
		.output = on_output,
		.ctx = endpoint,
		.pool = rig->mp,
		.frags = rig->frags,
		.max_conns = endpoint->max_conns,
		.rcvbuf_bytes = RCVBUF_BYTES,
		.sndbuf_bytes = SNDBUF_BYTES,
		.max_held_mbufs = HELD_MBUFS,
		.mtu_bytes = MTU_BYTES,
		.tso_max_bytes = TSO_MAX_BYTES,
		.tso_max_mbufs = TSO_MAX_MBUFS,
		.secret = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	};

	return pw_tcp_create(&params);
}

struct pw_tcp_bench_endpoint *
pw_tcp_bench_endpoint_create(const struct pw_tcp_bench_rig *rig, uint32_t idle)
{
	struct pw_tcp_bench_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	size_t before = heap_bytes();

	if (endpoint == NULL) {
		pw_bench_error("no memory");
		return NULL;
	}
	endpoint->max_conns = idle + PW_TCP_BENCH_MORE_CONNS;
	endpoint->now_us = 1000000;
	endpoint->app = (struct pw_tcp_app){
		.name = "bench", .readable = on_readable, .writable = on_writable};
	endpoint->tcp = create_tcp(endpoint, rig);
	endpoint->heap_bytes = heap_bytes() - before;
	if (endpoint->tcp != NULL &&
		pw_tcp_listen(endpoint->tcp, PW_TCP_BENCH_PORT, &endpoint->app, endpoint) == 0)
		return endpoint;
	say_failure(endpoint->max_conns);
	pw_tcp_bench_endpoint_destroy(endpoint);
	return NULL;
}

void
pw_tcp_bench_endpoint_destroy(struct pw_tcp_bench_endpoint *endpoint)
{
	if (endpoint == NULL)
		return;
	pw_tcp_destroy(endpoint->tcp);
	free(endpoint);
}

/* The clock waits for what was written before, which is not ours to pay, and for what we wrote. */
uint64_t
pw_tcp_bench_endpoint_run(
	struct pw_tcp_bench_endpoint *endpoint, const struct pw_tcp_bench_burst *burst)
{
	uint64_t begin;

	endpoint->now_us += PW_TCP_BENCH_STEP_US;
	begin = rte_rdtsc_precise();
	for (unsigned i = 0; i < burst->n; i++)
		pw_tcp_input(endpoint->tcp, burst->segments[i], burst->ips[i], endpoint->now_us);
	pw_tcp_tick(endpoint->tcp, endpoint->now_us);
	return rte_rdtsc_precise() - begin;
}
