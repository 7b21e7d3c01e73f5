/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Segments that belong to no connection: RFC 9293 3.10.7.1 and 3.10.7.2. */

#include <rte_jhash.h>

#include "pw_tcp_priv.h"

static const struct pw_tcp_listener *
find_listener(const struct pw_tcp *tcp, uint16_t port)
{
	for (unsigned i = 0; i < PW_TCP_LISTENERS_MAX && tcp->listeners[i].port != 0; i++)
		if (tcp->listeners[i].port == port)
			return &tcp->listeners[i];
	return NULL;
}

/* RFC 6528: a clock of 4 us plus a keyed hash of the connection. */
static uint32_t
initial_seq(const struct pw_tcp *tcp, const struct pw_tcp_key *key, uint64_t now_us)
{
	uint32_t hash = rte_jhash_3words(key->peer,
		(uint32_t)key->peer_port << 16 | key->local_port, tcp->params.secret >> 32,
		(uint32_t)tcp->params.secret);

	return hash + (uint32_t)(now_us / 4);
}

/* The smallest shift with which the whole buffer can be offered. */
static uint8_t
choose_wscale(uint32_t rcvbuf_bytes)
{
	uint8_t shift = 0;

	while (rcvbuf_bytes >> shift > UINT16_MAX)
		shift++;
	return shift;
}

static uint16_t
choose_mss(const struct pw_tcp *tcp, const struct pw_tcp_seg *syn)
{
	uint16_t ours = tcp->params.mtu_bytes - 40; /* headers of IPv4 and TCP, RFC 6691 */
	uint16_t peer = syn->has_mss ? syn->mss : PW_TCP_MSS_DEFAULT;

	return RTE_MIN(ours, RTE_MAX(peer, PW_TCP_MSS_MIN));
}

static void
accept_options(struct pw_tcp_conn *conn, const struct pw_tcp_seg *syn, uint64_t now_us)
{
	conn->mss = choose_mss(conn->tcp, syn);
	if (syn->has_wscale) {
		conn->snd_wscale = syn->wscale;
		conn->rcv_wscale = choose_wscale(conn->tcp->params.rcvbuf_bytes);
	}
	if (syn->has_ts) {
		conn->ts_ok = true;
		conn->ts_recent = syn->ts_val;
		conn->ts_offset = conn->iss - (uint32_t)(now_us / 1000);
		/* Each segment carries the option, padded to twelve bytes. */
		conn->mss -= PW_TCP_OPT_TS_BYTES + 2;
	}
}

static void
accept_syn(struct pw_tcp *tcp, const struct pw_tcp_listener *listener, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *syn, uint64_t now_us)
{
	struct pw_tcp_conn *conn = pw_tcp_conn_new(tcp, key);

	if (conn == NULL) {
		tcp->stats.listen_drops++;
		return;
	}
	conn->listener = listener;
	conn->irs = syn->seq;
	conn->rcv_nxt = syn->seq + 1; /* data in a SYN comes again */
	conn->rcv_adv = conn->rcv_nxt + RTE_MIN(tcp->params.rcvbuf_bytes, (uint32_t)UINT16_MAX);
	conn->iss = initial_seq(tcp, key, now_us);
	conn->snd_una = conn->iss;
	conn->snd_nxt = conn->iss + 1;
	conn->snd_max = conn->snd_nxt;
	conn->snd_end = conn->snd_nxt;
	conn->snd_wnd = syn->window; /* never scaled in a SYN */
	conn->snd_wl1 = syn->seq;
	accept_options(conn, syn, now_us);
	pw_tcp_ack_init(conn);
	pw_tcp_send_syn_ack(conn, now_us);
	pw_tcp_timer_set(conn, &conn->rexmit_us, now_us + conn->rto_us);
}

void
pw_tcp_listen_input(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *seg,
	uint64_t now_us)
{
	const struct pw_tcp_listener *listener = find_listener(
		tcp, rte_be_to_cpu_16(key->local_port));

	if (seg->flags & RTE_TCP_RST_FLAG)
		return;
	if (listener == NULL || (seg->flags & RTE_TCP_ACK_FLAG)) {
		pw_tcp_reset_reply(tcp, key, seg, now_us);
		return;
	}
	/* A SYN with FIN is nobody's way to connect. */
	if ((seg->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG)) == RTE_TCP_SYN_FLAG)
		accept_syn(tcp, listener, key, seg, now_us);
}
