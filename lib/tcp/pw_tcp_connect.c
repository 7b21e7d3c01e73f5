/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Connections that we open: RFC 9293 3.10.1 and 3.10.7.3. */

#include <errno.h>

#include "pw_tcp_priv.h"

#define PORT_MIN 49152
#define PORTS 16384

/* RFC 6056 3.3.3: a walk from a place that differs for each peer and nobody foresees. */
static int
choose_port(struct pw_tcp *tcp, struct pw_tcp_key *key)
{
	uint32_t offset;

	key->local_port = 0;
	offset = (uint32_t)pw_tcp_hash(tcp, key, PW_TCP_HASH_PORT, 0);
	for (unsigned i = 0; i < PORTS; i++) {
		key->local_port = rte_cpu_to_be_16(
			PORT_MIN + (offset + tcp->next_ephemeral++) % PORTS);
		if (pw_tcp_conn_find(tcp, key) == NULL)
			return 0;
	}
	return -EADDRINUSE;
}

static void
start(struct pw_tcp_conn *conn, uint64_t now_us)
{
	conn->iss = pw_tcp_isn(conn->tcp, &conn->key, now_us);
	conn->snd_una = conn->iss;
	conn->snd_max = conn->iss + 1;
	conn->snd_end = conn->snd_max;
	conn->ts_offset = pw_tcp_ts_offset(conn->tcp, &conn->key);
	conn->mss = PW_TCP_MSS_DEFAULT;
	conn->ecn_ok = conn->tcp->params.ecn;
	pw_tcp_ack_init(conn);
	pw_tcp_send_syn(conn, now_us);
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);
}

int
pw_tcp_connect(struct pw_tcp *tcp, const struct pw_addr *local, uint16_t local_port,
	const struct pw_addr *peer, uint16_t peer_port, const struct pw_tcp_app *app, void *app_ctx,
	void *user, uint64_t now_us)
{
	struct pw_tcp_key key = {
		.peer = *peer,
		.local = *local,
		.peer_port = rte_cpu_to_be_16(peer_port),
		.local_port = rte_cpu_to_be_16(local_port),
	};
	struct pw_tcp_conn *conn;

	tcp->now_us = now_us;
	if (local_port == 0 && choose_port(tcp, &key) < 0)
		return -EADDRINUSE;
	if (pw_tcp_conn_find(tcp, &key) != NULL)
		return -EADDRINUSE;
	if (tcp->is_ending)
		return -ENOMEM;
	conn = pw_tcp_conn_new(tcp, &key, true, PW_TCP_ROOM_HALF_OPEN);
	if (conn == NULL)
		return -ENOMEM;
	conn->app = app;
	conn->app_ctx = app_ctx;
	conn->user = user;
	conn->tell_closed = true;
	start(conn, now_us);
	return 0;
}

/* The peer's SYN: with an ACK of ours we are connected; without, both opened at once. */
static void
syn_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	bool is_ack = (seg->flags & RTE_TCP_ACK_FLAG) != 0;

	pw_tcp_set_numbers(conn, conn->iss, seg);
	pw_tcp_accept_options(conn, seg);
	/* A SYN-ACK grants ECN with ECE alone; both flags are echoed by what knows no ECN. */
	conn->ecn_ok = conn->ecn_ok && (seg->flags & RTE_TCP_ECE_FLAG) != 0 &&
		((seg->flags & RTE_TCP_CWR_FLAG) != 0) != is_ack;
	pw_tcp_ack_init(conn);
	if (!is_ack) {
		pw_tcp_conn_set_state(conn, PW_TCP_SYN_RECEIVED);
		pw_tcp_send_syn(conn, now_us);
		return;
	}
	conn->ack_now = true;
	pw_tcp_conn_set_state(conn, PW_TCP_ESTABLISHED);
	pw_tcp_ack_input(conn, seg, now_us);
	pw_tcp_conn_opened(conn, now_us);
}

void
pw_tcp_syn_sent_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	bool is_ack = (seg->flags & RTE_TCP_ACK_FLAG) != 0;

	if (is_ack && seg->ack != conn->snd_max) {
		if ((seg->flags & RTE_TCP_RST_FLAG) == 0)
			pw_tcp_reset_reply(conn->tcp, &conn->key, seg, now_us);
		return;
	}
	if (seg->flags & RTE_TCP_RST_FLAG) {
		if (is_ack)
			pw_tcp_conn_fail(conn, ECONNREFUSED);
		return;
	}
	if ((seg->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG)) == RTE_TCP_SYN_FLAG)
		syn_input(conn, seg, now_us);
}
