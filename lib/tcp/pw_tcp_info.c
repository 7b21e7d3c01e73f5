/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What others may know of a connection. */

#include <errno.h>

#include "pw_tcp_priv.h"

static const char *const state_names[] = {
	[PW_TCP_CLOSED] = "CLOSED",
	[PW_TCP_SYN_SENT] = "SYN-SENT",
	[PW_TCP_SYN_RECEIVED] = "SYN-RECEIVED",
	[PW_TCP_ESTABLISHED] = "ESTABLISHED",
	[PW_TCP_FIN_WAIT_1] = "FIN-WAIT-1",
	[PW_TCP_FIN_WAIT_2] = "FIN-WAIT-2",
	[PW_TCP_CLOSE_WAIT] = "CLOSE-WAIT",
	[PW_TCP_CLOSING] = "CLOSING",
	[PW_TCP_LAST_ACK] = "LAST-ACK",
	[PW_TCP_TIME_WAIT] = "TIME-WAIT",
};

void
pw_tcp_set_timer(struct pw_tcp_conn *conn, uint64_t fire_us)
{
	pw_tcp_timer_set(conn, PW_TCP_TIMER_APP, fire_us);
}

uint64_t
pw_tcp_now(const struct pw_tcp_conn *conn)
{
	return conn->tcp->now_us;
}

int
pw_tcp_get_error(const struct pw_tcp_conn *conn)
{
	return conn->error;
}

void
pw_tcp_set_user(struct pw_tcp_conn *conn, void *user)
{
	conn->user = user;
}

void *
pw_tcp_get_user(const struct pw_tcp_conn *conn)
{
	return conn->user;
}

void
pw_tcp_get_peer(const struct pw_tcp_conn *conn, struct pw_addr *addr, uint16_t *port)
{
	*addr = conn->key.peer;
	*port = rte_be_to_cpu_16(conn->key.peer_port);
}

void
pw_tcp_conn_get_info(const struct pw_tcp_conn *conn, struct pw_tcp_conn_info *info)
{
	const struct pw_tcp_app *app = conn->app; /* pw_tcp_peek() may see one that begins */

	*info = (struct pw_tcp_conn_info){
		.local = conn->key.local,
		.peer = conn->key.peer,
		.local_port = rte_be_to_cpu_16(conn->key.local_port),
		.peer_port = rte_be_to_cpu_16(conn->key.peer_port),
		.state = state_names[conn->state],
		.app = app == NULL ? NULL : app->name,
		.age_us = conn->tcp->now_us - conn->born_us,
		.in_bytes = conn->in_bytes,
		.out_bytes = conn->out_bytes,
		.retrans_segs = conn->retrans_segs,
		.rcv_queue_bytes = conn->in_order.bytes,
		.snd_queue_bytes = conn->snd_end - conn->snd_una,
		.srtt_us = conn->srtt_us,
		.rttvar_us = conn->rttvar_us,
		.rto_us = conn->rto_us,
		.cwnd_bytes = conn->cwnd,
		.ssthresh_bytes = conn->ssthresh,
		.snd_wnd_bytes = conn->snd_wnd,
		.rcv_wnd_bytes = conn->rcv_adv - conn->rcv_nxt,
		.mss_bytes = conn->mss,
		.sack = conn->sack_ok,
		.timestamps = conn->ts_ok,
		.ecn = conn->ecn_ok,
	};
}

int
pw_tcp_peek(const struct pw_tcp *tcp, uint32_t slot, struct pw_tcp_conn_info *info)
{
	const struct pw_tcp_conn *conn = &tcp->conns[slot];

	if (slot >= tcp->params.max_conns || conn->state == PW_TCP_CLOSED)
		return -ENOENT;
	pw_tcp_conn_get_info(conn, info);
	return 0;
}
