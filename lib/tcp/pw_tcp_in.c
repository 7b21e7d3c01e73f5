/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A segment of a connection, step by step: RFC 9293 3.10.7.4, with RFC 5961 and RFC 7323. */

#include "pw_tcp_priv.h"

/* An answer that shows the peer where we stand. */
static void
challenge(struct pw_tcp_conn *conn, uint64_t now_us)
{
	conn->tcp->stats.challenge_acks++;
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
	if (!conn->ts_ok || !seg->has_ts || !pw_seq_before(seg->ts_val, conn->ts_recent))
		return false;
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
		conn->tcp->stats.estab_resets += conn->state != PW_TCP_SYN_RECEIVED;
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	} else if (!pw_seq_before(seg->seq, conn->rcv_nxt) &&
		pw_seq_before(seg->seq, conn->rcv_adv)) {
		challenge(conn, now_us);
	}
}

/* RFC 5961 4.2; a SYN that comes again before the handshake ends gets its answer again. */
static void
syn_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (conn->state == PW_TCP_SYN_RECEIVED && seg->seq == conn->irs &&
		(seg->flags & RTE_TCP_ACK_FLAG) == 0)
		pw_tcp_send_syn_ack(conn, now_us);
	else
		challenge(conn, now_us);
}

/* The checks before the ACK field; true when the segment may go on. */
static bool
passes_checks(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (seg->flags & RTE_TCP_RST_FLAG) {
		reset_input(conn, seg, now_us);
		return false;
	}
	if (seg->flags & RTE_TCP_SYN_FLAG) {
		syn_input(conn, seg, now_us);
		return false;
	}
	if (is_old_duplicate(conn, seg) || !is_acceptable(conn, seg)) {
		pw_tcp_send_ack(conn, now_us);
		return false;
	}
	if ((seg->flags & RTE_TCP_ACK_FLAG) == 0)
		return false;
	if (conn->state != PW_TCP_SYN_RECEIVED && pw_seq_after(seg->ack, conn->snd_max)) {
		challenge(conn, now_us); /* it acknowledges what was never sent */
		return false;
	}
	return true;
}

/* The ACK that ends the handshake. */
static bool
establish(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	if (seg->ack != conn->snd_nxt) {
		pw_tcp_reset_reply(conn->tcp, &conn->key, seg, now_us);
		return false;
	}
	pw_tcp_conn_set_state(conn, PW_TCP_ESTABLISHED);
	conn->tcp->stats.passive_opens++;
	conn->retries = 0;
	conn->was_opened = true;
	pw_tcp_conn_tell(conn, conn->listener->app->opened);
	return true;
}

/* Our FIN is acknowledged: RFC 9293 3.10.7.4, fifth step. */
static void
fin_acked(struct pw_tcp_conn *conn, uint64_t now_us)
{
	switch (conn->state) {
	case PW_TCP_FIN_WAIT_1:
		pw_tcp_conn_set_state(conn, PW_TCP_FIN_WAIT_2);
		pw_tcp_timer_set(conn, &conn->linger_us, now_us + PW_TCP_TIME_WAIT_US);
		break;
	case PW_TCP_CLOSING:
		pw_tcp_conn_set_state(conn, PW_TCP_TIME_WAIT);
		pw_tcp_timer_set(conn, &conn->linger_us, now_us + PW_TCP_TIME_WAIT_US);
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
		pw_tcp_timer_set(conn, &conn->linger_us, now_us + PW_TCP_TIME_WAIT_US);
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
	if (seg->payload_bytes > 0)
		pw_tcp_recv_data(conn, m, seg->seq);
	else
		rte_pktmbuf_free(m);
	if (conn->has_fin && conn->rcv_nxt == conn->fin_seq)
		fin_received(conn, now_us);
}

static void
accepted_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	uint32_t rcv_nxt = conn->rcv_nxt, snd_una = conn->snd_una;

	/* RFC 7323 4.3: the timestamp to echo is of the segment that moved the window. */
	if (conn->ts_ok && seg->has_ts && !pw_seq_after(seg->seq, conn->last_ack_sent) &&
		!pw_seq_before(seg->ts_val, conn->ts_recent))
		conn->ts_recent = seg->ts_val;

	pw_tcp_ack_input(conn, seg, now_us);
	if (conn->fin_queued && conn->snd_una == conn->snd_end + 1)
		fin_acked(conn, now_us);
	text_input(conn, m, seg, now_us);
	if (conn->rcv_nxt != rcv_nxt)
		pw_tcp_conn_tell(conn, conn->listener->app->readable);
	if (conn->snd_una != snd_una)
		pw_tcp_conn_tell(conn, conn->listener->app->writable);
}

/* RFC 9293 3.10.7.4, TIME-WAIT: a new connection may take the place of the old one. */
static bool
is_reopening(const struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	return conn->state == PW_TCP_TIME_WAIT &&
		(seg->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)) ==
		RTE_TCP_SYN_FLAG &&
		pw_seq_after(seg->seq, conn->rcv_nxt);
}

void
pw_tcp_conn_input(
	struct pw_tcp_conn *conn, struct rte_mbuf *m, struct pw_tcp_seg *seg, uint64_t now_us)
{
	struct pw_tcp *tcp = conn->tcp;

	if (is_reopening(conn, seg)) {
		struct pw_tcp_key key = conn->key;

		pw_tcp_conn_release(conn);
		pw_tcp_listen_input(tcp, &key, seg, now_us);
		rte_pktmbuf_free(m);
		return;
	}

	if (passes_checks(conn, seg, now_us) &&
		(conn->state != PW_TCP_SYN_RECEIVED || establish(conn, seg, now_us)))
		accepted_input(conn, m, seg, now_us);
	else
		rte_pktmbuf_free(m);

	pw_tcp_conn_finish(conn, now_us);
}
