/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_patterns.h"

#define REQUEST_BYTES 64
#define BURST_SEGMENTS 32
#define CHAINS 2
#define CHAIN_SEGMENTS 20

/* Numbers of the peers that connect, behind those of the active ones, and how many there are. */
#define CALLERS_FIRST (1U << 22)
#define CALLERS 65536U

void
pw_tcp_bench_pass_exchange(struct pw_tcp_bench_pass *pass, bool acks)
{
	pass->cycles += pw_tcp_bench_exchange(
		pass->peers, &pass->burst, acks ? &pass->burst : NULL);
	pass->exchanges++;
}

static void
send_fresh(struct pw_tcp_bench_pass *pass, uint8_t flags, uint32_t payload_bytes)
{
	struct pw_tcp_bench_peers *peers = pass->peers;

	for (unsigned i = 0; i < PW_TCP_BENCH_FRESH; i++)
		pw_tcp_bench_peer_send(peers, &peers->fresh[i], flags, payload_bytes, &pass->burst);
}

/* All of their lives: the endpoint sends SYN-ACK, ACK and answer, FIN. */
static void
accept_step(struct pw_tcp_bench_pass *pass)
{
	pw_tcp_bench_peers_renew(pass->peers, CALLERS_FIRST + pass->turn % CALLERS);
	pass->turn += PW_TCP_BENCH_FRESH;
	send_fresh(pass, RTE_TCP_SYN_FLAG, 0);
	pw_tcp_bench_pass_exchange(pass, false);
	send_fresh(pass, RTE_TCP_ACK_FLAG, 0);
	send_fresh(pass, RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG, REQUEST_BYTES);
	pw_tcp_bench_pass_exchange(pass, false);
	send_fresh(pass, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG, 0);
	pw_tcp_bench_pass_exchange(pass, false);
	send_fresh(pass, RTE_TCP_ACK_FLAG, 0);
	pw_tcp_bench_pass_exchange(pass, false);
	pass->pieces += PW_TCP_BENCH_FRESH;
}

static void
request_step(struct pw_tcp_bench_pass *pass)
{
	struct pw_tcp_bench_peers *peers = pass->peers;

	for (unsigned i = 0; i < BURST_SEGMENTS; i++)
		pw_tcp_bench_peer_send(peers, &peers->active[pass->turn++ % PW_TCP_BENCH_ACTIVE],
			RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG, REQUEST_BYTES, &pass->burst);
	pw_tcp_bench_pass_exchange(pass, false);
	pass->pieces += BURST_SEGMENTS;
}

static void
segment_step(struct pw_tcp_bench_pass *pass)
{
	for (unsigned i = 0; i < BURST_SEGMENTS; i++)
		pw_tcp_bench_peer_send(pass->peers, &pass->peers->active[0], RTE_TCP_ACK_FLAG,
			PW_TCP_BENCH_SEGMENT_BYTES, &pass->burst);
	pw_tcp_bench_pass_exchange(pass, false);
	pass->pieces += BURST_SEGMENTS;
}

static void
merged_step(struct pw_tcp_bench_pass *pass)
{
	for (unsigned i = 0; i < CHAINS; i++)
		pw_tcp_bench_peer_send_merged(
			pass->peers, &pass->peers->active[0], CHAIN_SEGMENTS, &pass->burst);
	pw_tcp_bench_pass_exchange(pass, false);
	pass->pieces += CHAINS * CHAIN_SEGMENTS;
}

/* A request makes the application send; from then on ACKs do. */
static void
send_step(struct pw_tcp_bench_pass *pass)
{
	struct pw_tcp_bench_peers *peers = pass->peers;
	uint64_t before = peers->received_bytes;

	if (pass->burst.n == 0)
		pw_tcp_bench_peer_send(peers, &peers->active[0],
			RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG, REQUEST_BYTES, &pass->burst);
	pw_tcp_bench_pass_exchange(pass, true);
	pass->pieces += (double)(peers->received_bytes - before) / PW_TCP_BENCH_SEGMENT_BYTES;
}

const struct pw_tcp_bench_pattern pw_tcp_bench_patterns[PW_TCP_BENCH_PATTERNS] = {
	{"accept", "connection", "a connection for a request of 64 bytes, which the peer closes", 0,
		PW_TCP_BENCH_ANSWER, accept_step},
	{"request", "request", "64 bytes in, 64 bytes out, on 64 connections in turn", 0,
		PW_TCP_BENCH_ANSWER, request_step},
	{"segment", "segment", "a stream in, segment by segment; its buffers are handed over",
		PW_TCP_BENCH_SEGMENT_BYTES, PW_TCP_BENCH_TAKE, segment_step},
	{"copied", "segment", "the same, copied into the reader's memory",
		PW_TCP_BENCH_SEGMENT_BYTES, PW_TCP_BENCH_COPY, segment_step},
	{"merged", "segment", "a stream in as GRO makes it, 20 segments a chain; handed over",
		PW_TCP_BENCH_SEGMENT_BYTES, PW_TCP_BENCH_TAKE, merged_step},
	{"send", "segment", "a stream out in 64 KiB that the port cuts, copied from the sender",
		PW_TCP_BENCH_SEGMENT_BYTES, PW_TCP_BENCH_SEND, send_step},
};
