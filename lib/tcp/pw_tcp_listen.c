/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Segments that belong to no connection: RFC 9293 3.10.7.1 and 3.10.7.2. */

#include "pw_tcp_priv.h"

static const struct pw_tcp_listener *
find_listener(const struct pw_tcp *tcp, uint16_t port)
{
	for (unsigned i = 0; i < PW_TCP_LISTENERS_MAX && tcp->listeners[i].port != 0; i++)
		if (tcp->listeners[i].port == port)
			return &tcp->listeners[i];
	return NULL;
}

uint8_t
pw_tcp_wscale(const struct pw_tcp *tcp)
{
	uint8_t shift = 0;

	while (tcp->params.rcvbuf_bytes >> shift > UINT16_MAX)
		shift++;
	return shift;
}

static uint16_t
choose_mss(const struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *syn)
{
	uint16_t ours = pw_tcp_mss_of_mtu(key, tcp->params.mtu_bytes);
	uint16_t peer = syn->has_mss ? syn->mss : PW_TCP_MSS_DEFAULT;

	return RTE_MIN(ours, RTE_MAX(peer, PW_TCP_MSS_MIN));
}

void
pw_tcp_accept_options(struct pw_tcp_conn *conn, const struct pw_tcp_seg *syn)
{
	conn->mss = choose_mss(conn->tcp, &conn->key, syn);
	conn->sack_ok = syn->has_sack_ok;
	conn->wscale_ok = syn->has_wscale;
	if (syn->has_wscale) {
		conn->snd_wscale = syn->wscale;
		conn->rcv_wscale = pw_tcp_wscale(conn->tcp);
	}
	conn->ts_ok = syn->has_ts;
	if (syn->has_ts) {
		conn->ts_recent = syn->ts_val;
		conn->ts_recent_s = conn->tcp->now_us / 1000000;
		/* Each segment carries the option, padded to twelve bytes. */
		conn->mss -= PW_TCP_OPT_TS_BYTES + 2;
	}
}

void
pw_tcp_set_numbers(struct pw_tcp_conn *conn, uint32_t iss, const struct pw_tcp_seg *syn)
{
	const struct pw_tcp_params *params = &conn->tcp->params;

	conn->rcv_nxt = syn->seq + 1; /* data in a SYN comes again */
	conn->rcv_adv = conn->rcv_nxt + RTE_MIN(params->rcvbuf_bytes, (uint32_t)UINT16_MAX);
	conn->iss = iss;
	conn->snd_una = iss;
	conn->snd_max = iss + 1;
	conn->snd_end = conn->snd_max;
	conn->snd_wnd = syn->window; /* never scaled in a SYN */
	conn->snd_wl1 = syn->seq;
}

/* A connection in SYN-RECEIVED, of a SYN that came now or that a cookie stands for. */
static struct pw_tcp_conn *
half_open(struct pw_tcp *tcp, const struct pw_tcp_listener *listener, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *syn, uint32_t iss, enum pw_tcp_room room)
{
	struct pw_tcp_conn *conn = pw_tcp_conn_new(tcp, key, false, room);

	if (conn == NULL) {
		tcp->stats.listen_drops++;
		return NULL;
	}
	conn->app = listener->app;
	conn->app_ctx = listener->app_ctx;
	conn->ts_offset = pw_tcp_ts_offset(tcp, key);
	pw_tcp_set_numbers(conn, iss, syn);
	pw_tcp_accept_options(conn, syn);
	conn->ecn_ok = pw_tcp_syn_asks_ecn(syn);
	pw_tcp_ack_init(conn);
	/* Also where an ACK is on its way in: its segment may turn out to be unacceptable. */
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, tcp->now_us + conn->rto_us);
	return conn;
}

static void
syn_input(struct pw_tcp *tcp, const struct pw_tcp_listener *listener, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *syn, uint32_t iss, uint64_t now_us)
{
	bool is_full = TAILQ_EMPTY(&tcp->free_conns) &&
		TAILQ_EMPTY(&tcp->lists[PW_TCP_LIST_TIME_WAIT]);
	struct pw_tcp_conn *conn;

	/* An ACK may still take the place of one that is half open. */
	if (tcp->stats.curr_half_open >= tcp->params.max_half_open ||
		(is_full && tcp->stats.curr_half_open > 0)) {
		pw_tcp_cookie_send(tcp, key, syn, now_us);
		return;
	}
	conn = half_open(tcp, listener, key, syn, iss, PW_TCP_ROOM_TIME_WAIT);
	if (conn == NULL)
		return;
	pw_tcp_send_syn(conn, now_us);
}

static struct pw_tcp_conn *
ack_input(struct pw_tcp *tcp, const struct pw_tcp_listener *listener, const struct pw_tcp_key *key,
	const struct pw_tcp_seg *seg, uint64_t now_us)
{
	struct pw_tcp_conn *conn;
	struct pw_tcp_seg syn;

	if ((seg->flags & RTE_TCP_SYN_FLAG) || !pw_tcp_cookie_check(tcp, key, seg, &syn, now_us)) {
		pw_tcp_reset_reply(tcp, key, seg, now_us);
		return NULL;
	}
	conn = half_open(tcp, listener, key, &syn, seg->ack - 1, PW_TCP_ROOM_HALF_OPEN);
	tcp->stats.syncookies_recv += conn != NULL;
	return conn;
}

struct pw_tcp_conn *
pw_tcp_listen_input(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *seg,
	uint64_t now_us)
{
	const struct pw_tcp_listener *listener = find_listener(
		tcp, rte_be_to_cpu_16(key->local_port));

	if (seg->flags & RTE_TCP_RST_FLAG)
		return NULL;
	if (listener == NULL)
		pw_tcp_reset_reply(tcp, key, seg, now_us);
	else if (seg->flags & RTE_TCP_ACK_FLAG)
		return ack_input(tcp, listener, key, seg, now_us);
	/* A SYN with FIN is nobody's way to connect. */
	else if ((seg->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG)) == RTE_TCP_SYN_FLAG)
		syn_input(tcp, listener, key, seg, pw_tcp_isn(tcp, key, now_us), now_us);
	return NULL;
}

bool
pw_tcp_is_listening(const struct pw_tcp *tcp, const struct pw_tcp_key *key)
{
	return find_listener(tcp, rte_be_to_cpu_16(key->local_port)) != NULL;
}

/* RFC 9293 3.10.7.4: what is still on its way of the old connection must not fit the new one. */
void
pw_tcp_listen_again(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *syn,
	uint32_t old_snd_max, uint64_t now_us)
{
	uint32_t iss = pw_tcp_isn(tcp, key, now_us);

	if (!pw_seq_after(iss, old_snd_max + UINT16_MAX))
		iss = old_snd_max + UINT16_MAX + 1;
	syn_input(
		tcp, find_listener(tcp, rte_be_to_cpu_16(key->local_port)), key, syn, iss, now_us);
}
