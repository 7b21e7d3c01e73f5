/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A segment of a connection, step by step: RFC 9293 3.10.7.4, with RFC 5961 and RFC 7323. */

#include <errno.h>

#include "pw_tcp_priv.h"

#define PAWS_EXPIRY_S (24 * 24 * 3600) /* RFC 7323 5.5 */

/* RFC 5961 7: forged segments must not make us send without end, nor two hosts each other. */
static bool
may_challenge(struct pw_tcp_conn *conn, uint64_t now_us)
{
	uint32_t now_s = now_us / 1000000;

	if (conn->challenges_s != now_s) {
		conn->challenges_s = now_s;
		conn->challenges = 0;
	}
	if (conn->challenges >= PW_TCP_CHALLENGES_MAX) {
		conn->tcp->stats.challenge_limited++;
		return false;
	}
	conn->challenges++;
	return true;
}

/* An answer that shows the peer where we stand. */
static void
challenge(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (!may_challenge(conn, now_us))
		return;
	conn->tcp->stats.challenge_acks++;
	pw_tcp_send_ack(conn, now_us);
}

/* RFC 9293 3.10.7.4, first step. Data is always answered: it comes again because an ACK was lost.
 */
static void
answer_unacceptable(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	/* Eighth step: a FIN that comes again tells that our last ACK was lost. */
	if (conn->state == PW_TCP_TIME_WAIT && (seg->flags & RTE_TCP_FIN_FLAG))
		pw_tcp_timer_set(conn, PW_TCP_TIMER_LINGER, now_us + PW_TCP_TIME_WAIT_US);
	if (seg->payload_bytes > 0 || (seg->flags & RTE_TCP_FIN_FLAG) ||
		may_challenge(conn, now_us))
		pw_tcp_send_ack(conn, now_us);
}

/*
 * First step: is there anything in the window? As in Linux, a segment that ends beyond the right
 * edge is dropped whole: honest senders make none, and a window probe asks for just that answer.
 */
static bool
is_acceptable(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	uint32_t end = pw_tcp_seg_end(seg);

	if (pw_seq_before(end, conn->rcv_nxt) || (end == conn->rcv_nxt && end != seg->seq)) {
		conn->tcp->stats.rcv_old++;
		pw_tcp_sack_twice(conn, seg->seq, seg->seq + seg->payload_bytes);
		return false;
	}
	if (pw_seq_after(seg->seq, conn->rcv_adv) ||
		pw_seq_after(seg->seq + seg->payload_bytes, conn->rcv_adv)) {
		conn->tcp->stats.rcv_beyond_window++;
		return false;
	}
	return true;
}

/* RFC 7323 5.3, R1. */
static bool
is_old_duplicate(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	uint32_t age_s = (uint32_t)(conn->tcp->now_us / 1000000) - conn->ts_recent_s;

	if (!conn->ts_ok || !seg->has_ts || !pw_seq_before(seg->ts_val, conn->ts_recent))
		return false;
	if (age_s >= PAWS_EXPIRY_S) {
		conn->ts_recent = seg->ts_val;
		return false;
	}
	conn->tcp->stats.paws_drop++;
	return true;
}

/* RFC 5961 3.2: only a reset with exactly the next sequence number is believed. */
static void
reset_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (conn->state == PW_TCP_TIME_WAIT) /* RFC 1337 */
		return;
	if (seg->seq == conn->rcv_nxt) {
		pw_tcp_conn_fail(
			conn, conn->state == PW_TCP_SYN_RECEIVED ? ECONNREFUSED : ECONNRESET);
	} else if (!pw_seq_before(seg->seq, conn->rcv_nxt) &&
		pw_seq_before(seg->seq, conn->rcv_adv)) {
		challenge(conn, now_us);
	}
}

/* RFC 5961 4.2; a SYN that comes again before the handshake ends gets its answer again. */
static void
syn_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (conn->state == PW_TCP_SYN_RECEIVED && seg->seq == conn->rcv_nxt - 1 &&
		(seg->flags & RTE_TCP_ACK_FLAG) == 0)
		pw_tcp_send_syn(conn, now_us);
	else
		challenge(conn, now_us);
}

/* RFC 9293 3.5, figure 8: both SYN-ACKs cross, and each does for the ACK that the other waits for.
 */
static bool
ends_simultaneous_open(const struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	return conn->state == PW_TCP_SYN_RECEIVED && conn->is_active &&
		seg->seq == conn->rcv_nxt - 1 &&
		(seg->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)) ==
		(RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG);
}

/* RFC 5961 5.2: not of what was never sent, nor older than any window of the peer's reaches. */
static bool
is_possible_ack(const struct pw_tcp_conn *conn, uint32_t ack)
{
	return !pw_seq_after(ack, conn->snd_max) &&
		!pw_seq_before(ack, conn->snd_una - conn->snd_wnd_max);
}

/* The checks before the ACK field; true when the segment may go on. */
static bool
passes_checks(struct pw_tcp_conn *conn, struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (ends_simultaneous_open(conn, seg)) {
		seg->flags &= ~RTE_TCP_SYN_FLAG;
		seg->seq++;
	}
	if (seg->flags & RTE_TCP_RST_FLAG) {
		reset_input(conn, seg, now_us);
		return false;
	}
	if (seg->flags & RTE_TCP_SYN_FLAG) {
		syn_input(conn, seg, now_us);
		return false;
	}
	if (is_old_duplicate(conn, seg) || !is_acceptable(conn, seg)) {
		answer_unacceptable(conn, seg, now_us);
		return false;
	}
	if ((seg->flags & RTE_TCP_ACK_FLAG) == 0)
		return false;
	if (conn->state != PW_TCP_SYN_RECEIVED && !is_possible_ack(conn, seg->ack)) {
		challenge(conn, now_us);
		return false;
	}
	return true;
}

/* The ACK that ends the handshake. */
static bool
establish(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (seg->ack != conn->snd_max) {
		pw_tcp_reset_reply(conn->tcp, &conn->key, seg, now_us);
		return false;
	}
	pw_tcp_conn_opened(conn, now_us);
	return true;
}

/* Our FIN is acknowledged: RFC 9293 3.10.7.4, fifth step. */
static void
fin_acked(struct pw_tcp_conn *conn, uint64_t now_us)
{
	switch (conn->state) {
	case PW_TCP_FIN_WAIT_1:
		pw_tcp_conn_set_state(conn, PW_TCP_FIN_WAIT_2);
		pw_tcp_timer_set(conn, PW_TCP_TIMER_LINGER, now_us + PW_TCP_TIME_WAIT_US);
		break;
	case PW_TCP_CLOSING:
		pw_tcp_conn_set_state(conn, PW_TCP_TIME_WAIT);
		pw_tcp_timer_set(conn, PW_TCP_TIMER_LINGER, now_us + PW_TCP_TIME_WAIT_US);
		break;
	case PW_TCP_LAST_ACK:
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
		break;
	default:
		break;
	}
}

/* The peer's FIN, with all data before it: eighth step. */
static void
fin_received(struct pw_tcp_conn *conn, uint64_t now_us)
{
	conn->fin_received = true;
	conn->rcv_nxt++;
	conn->ack_now = true;
	switch (conn->state) {
	case PW_TCP_ESTABLISHED:
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSE_WAIT);
		break;
	case PW_TCP_FIN_WAIT_1:
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSING);
		break;
	case PW_TCP_FIN_WAIT_2:
		pw_tcp_conn_set_state(conn, PW_TCP_TIME_WAIT);
		pw_tcp_timer_set(conn, PW_TCP_TIMER_LINGER, now_us + PW_TCP_TIME_WAIT_US);
		break;
	default:
		break;
	}
}

static bool
can_receive(const struct pw_tcp_conn *conn)
{
	return conn->state == PW_TCP_ESTABLISHED || conn->state == PW_TCP_FIN_WAIT_1 ||
		conn->state == PW_TCP_FIN_WAIT_2;
}

/* The largest segment seen, of merged ones too: every second such one is acknowledged at once. */
static void
learn_rcv_mss(struct pw_tcp_conn *conn, const struct rte_mbuf *m)
{
	uint32_t bytes = m->pkt_len;

	if ((m->ol_flags & RTE_MBUF_F_RX_LRO) && m->tso_segsz > 0)
		bytes = RTE_MIN(bytes, (uint32_t)m->tso_segsz);
	if (bytes > conn->rcv_mss)
		conn->rcv_mss = RTE_MIN(bytes, (uint32_t)conn->tcp->params.mtu_bytes);
}

/* Payload and FIN; owns m. */
static void
text_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (!can_receive(conn)) {
		/* What comes after the end of the stream is an old FIN, which wants its ACK. */
		conn->ack_now |= pw_tcp_seg_end(seg) != seg->seq;
		rte_pktmbuf_free(m);
		return;
	}
	if ((seg->flags & RTE_TCP_FIN_FLAG) && !conn->has_fin) {
		conn->has_fin = true;
		conn->fin_seq = seg->seq + seg->payload_bytes;
		conn->ack_now = true;
	}
	if (seg->payload_bytes > 0) {
		learn_rcv_mss(conn, m);
		pw_tcp_recv_data(conn, m, seg->seq);
	} else {
		rte_pktmbuf_free(m);
	}
	if (conn->has_fin && conn->rcv_nxt == conn->fin_seq)
		fin_received(conn, now_us);
}

/* RFC 3168 6.1.3. A change is told at once, as in RFC 8257 3.2: the sender need not wait for it. */
static void
ecn_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	bool echo = conn->ecn_echo;

	if (seg->flags & RTE_TCP_CWR_FLAG)
		conn->ecn_echo = false;
	if (seg->ecn == PW_ECN_CE) {
		conn->tcp->stats.ecn_ce++;
		conn->ecn_echo = true;
	}
	conn->ack_now |= conn->ecn_echo != echo && seg->payload_bytes > 0;
}

static void
accepted_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	uint32_t rcv_nxt = conn->rcv_nxt, snd_una = conn->snd_una;

	/* RFC 7323 4.3: the timestamp to echo is of the segment that moved the window. */
	if (conn->ts_ok && seg->has_ts && !pw_seq_after(seg->seq, conn->last_ack_sent) &&
		!pw_seq_before(seg->ts_val, conn->ts_recent)) {
		conn->ts_recent = seg->ts_val;
		conn->ts_recent_s = now_us / 1000000;
	}

	pw_tcp_ack_input(conn, seg, now_us);
	conn->snd_wnd_max = RTE_MAX(conn->snd_wnd_max, conn->snd_wnd);
	if (conn->fin_queued && conn->snd_una == conn->snd_end + 1)
		fin_acked(conn, now_us);
	if (conn->ecn_ok)
		ecn_input(conn, seg);
	text_input(conn, m, seg, now_us);
	/* The peer still sends: it is not gone. */
	if (conn->state == PW_TCP_FIN_WAIT_2 && conn->rcv_nxt != rcv_nxt)
		pw_tcp_timer_set(conn, PW_TCP_TIMER_LINGER, now_us + PW_TCP_TIME_WAIT_US);
	if (conn->rcv_nxt != rcv_nxt)
		pw_tcp_conn_tell(conn, conn->app->readable);
	if (conn->snd_una != snd_una)
		pw_tcp_conn_tell(conn, conn->app->writable);
}

/*
 * RFC 9293 3.10.7.4, TIME-WAIT: a new connection may take the place of the old one. A later
 * timestamp tells it from an old SYN as well as a later number does (RFC 6191 2).
 */
static bool
is_reopening(const struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	return conn->state == PW_TCP_TIME_WAIT && pw_tcp_is_listening(conn->tcp, &conn->key) &&
		(seg->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)) ==
		RTE_TCP_SYN_FLAG &&
		(pw_seq_after(seg->seq, conn->rcv_nxt) ||
			(conn->ts_ok && seg->has_ts && pw_seq_after(seg->ts_val, conn->ts_recent)));
}

void
pw_tcp_conn_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, struct pw_tcp_seg *seg, uint64_t now_us)
{
	struct pw_tcp *tcp = conn->tcp;

	if (is_reopening(conn, seg)) {
		struct pw_tcp_key key = conn->key;
		uint32_t old_snd_max = conn->snd_max;

		pw_tcp_conn_release(conn);
		pw_tcp_listen_again(tcp, &key, seg, old_snd_max, now_us);
		rte_pktmbuf_free(m);
		return;
	}

	seg->window_bytes = seg->window;
	if ((seg->flags & RTE_TCP_SYN_FLAG) == 0) /* RFC 7323 2.2 */
		seg->window_bytes <<= conn->snd_wscale;
	conn->heard_ms = (uint32_t)(now_us / 1000);
	conn->keepalives = 0;
	if (conn->state == PW_TCP_SYN_SENT) {
		pw_tcp_syn_sent_input(conn, seg, now_us);
		rte_pktmbuf_free(m);
		pw_tcp_conn_finish(conn, now_us);
		return;
	}
	if (passes_checks(conn, seg, now_us) &&
		(conn->state != PW_TCP_SYN_RECEIVED || establish(conn, seg, now_us)))
		accepted_input(conn, m, seg, now_us);
	else
		rte_pktmbuf_free(m);

	pw_tcp_conn_finish(conn, now_us);
}
