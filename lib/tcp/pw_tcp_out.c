/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_priv.h"

#define PIECES_MAX 64 /* of a segment that the port cuts */

/* Our FIN goes out for the first time. */
static void
fin_sent(struct pw_tcp_conn *conn)
{
	if (conn->state == PW_TCP_ESTABLISHED)
		pw_tcp_conn_set_state(conn, PW_TCP_FIN_WAIT_1);
	else if (conn->state == PW_TCP_CLOSE_WAIT)
		pw_tcp_conn_set_state(conn, PW_TCP_LAST_ACK);
}

/* What was sent needs an ACK, or the time-out. */
static void
was_sent(struct pw_tcp_conn *conn, uint32_t bytes, uint64_t now_us)
{
	struct pw_tcp_flight *flight = conn->flight;

	flight->prr.out_bytes += bytes;
	conn->last_sent_us = now_us;
	flight->round_flight = RTE_MAX(flight->round_flight, pw_tcp_pipe(conn));
	conn->probe_due = true;
	if (!pw_tcp_timer_is_on(conn, PW_TCP_TIMER_REXMIT))
		pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);
}

/* Send len bytes of new data, with a FIN behind them or not, and move on. */
static bool
send_at_max(struct pw_tcp_conn *conn, uint32_t len_bytes, bool fin, uint64_t now_us)
{
	uint32_t data_end = conn->snd_max + len_bytes;
	uint8_t flags = fin ? RTE_TCP_FIN_FLAG : 0;

	if (data_end == conn->snd_end)
		flags |= RTE_TCP_PSH_FLAG;
	if (!pw_tcp_send_segment(conn, conn->snd_max, len_bytes, flags, now_us))
		return false;

	conn->tcp->stats.out_bytes += len_bytes;
	conn->out_bytes += len_bytes;
	pw_tcp_sent_add(conn, data_end + fin, now_us);
	conn->snd_max = data_end + fin;
	was_sent(conn, len_bytes + fin, now_us);
	if (fin)
		fin_sent(conn);
	return true;
}

/* Payload of the largest segment we may send, whole pieces of a segment's size. */
static uint32_t
longest(const struct pw_tcp_conn *conn)
{
	uint32_t headers = sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_tcp_hdr) +
		(conn->ts_ok ? PW_TCP_OPT_TS_BYTES + 2 : 0);
	uint32_t max = conn->tcp->params.tso_max_bytes, mss = RTE_MAX((uint32_t)conn->mss, 1U);

	if (max < headers + 2 * mss)
		return mss;
	return RTE_MIN((max - headers) / mss, (uint32_t)PIECES_MAX) * mss;
}

/*
 * How much to send from a number on. Cut by the port, it makes the segments that we would send one
 * by one: a short one only at the end of the queue.
 */
static uint32_t
choose_len(const struct pw_tcp_conn *conn, uint32_t seq, uint32_t queued, uint32_t usable)
{
	uint32_t len = RTE_MIN(RTE_MIN(queued, longest(conn)), usable);

	if (len <= conn->mss)
		return len;
	len = pw_tcp_send_reach(conn, seq, len, conn->tcp->params.tso_max_mbufs - 1);
	len = RTE_MAX(len, (uint32_t)conn->mss);
	return len == queued ? len : len - len % conn->mss;
}

/* How much of usable the peer's window leaves for what begins at a number. */
static uint32_t
in_window(const struct pw_tcp_conn *conn, uint32_t seq, uint32_t usable)
{
	uint32_t ahead = seq - conn->snd_una;

	return conn->snd_wnd > ahead ? RTE_MIN(usable, conn->snd_wnd - ahead) : 0;
}

bool
pw_tcp_send_new(struct pw_tcp_conn *conn, uint32_t usable_bytes, uint64_t now_us)
{
	uint32_t queued, len;
	bool fin;

	if (pw_seq_after(conn->snd_max, conn->snd_end)) /* the FIN is out */
		return false;
	queued = conn->snd_end - conn->snd_max;
	len = choose_len(conn, conn->snd_max, queued, in_window(conn, conn->snd_max, usable_bytes));
	fin = conn->fin_queued && len == queued;
	if (len == 0 && !fin)
		return false;
	/* RFC 9293 3.8.6.2.1: not a small piece of more, unless nothing else would make progress.
	 */
	if (len < queued && len < conn->mss && conn->snd_una != conn->snd_max)
		return false;
	if (!pw_tcp_sent_has_room(conn) || !pw_tcp_flight_begin(conn)) {
		conn->starved = true;
		return false;
	}
	if (send_at_max(conn, len, fin, now_us))
		return true;
	if (conn->snd_una == conn->snd_max)
		pw_tcp_flight_end(conn);
	return false;
}

bool
pw_tcp_resend(
	struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t usable_bytes, uint64_t now_us)
{
	uint32_t data, len;
	uint8_t flags = 0;
	bool fin, whole;

	pw_tcp_sent_gather(conn, rec, longest(conn));
	fin = pw_seq_after(rec->end, conn->snd_end);
	data = rec->end - rec->seq - fin;
	len = choose_len(conn, rec->seq, data, in_window(conn, rec->seq, usable_bytes));
	if (len == 0 && data > 0)
		return false;
	if (len < data && len < conn->mss && conn->flight->sent.pipe_bytes > 0)
		return false;
	fin = fin && len == data;
	/* Without a record for the rest one segment goes out, but all counts as lost still. */
	whole = len == data || pw_tcp_sent_split(conn, rec, rec->seq + len);
	if (!whole)
		len = RTE_MIN(len, (uint32_t)conn->mss);
	if (fin)
		flags |= RTE_TCP_FIN_FLAG;
	if (rec->seq + len == conn->snd_end)
		flags |= RTE_TCP_PSH_FLAG;
	if (!pw_tcp_send_segment(conn, rec->seq, len, flags, now_us))
		return false;
	conn->tcp->stats.retrans_segs += pw_tcp_pieces(len, conn->mss);
	conn->retrans_segs += pw_tcp_pieces(len, conn->mss);
	if (rec->seq == conn->snd_una) /* RFC 6675 5, step 4.3 */
		pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);
	if (whole)
		pw_tcp_sent_again(conn, rec, now_us);
	rec->retransmitted = true;
	pw_tcp_recover_resent(conn, len, now_us);
	was_sent(conn, len + fin, now_us);
	return whole;
}

/* Send the next segment that windows allow, what is lost before what is new; false: none. */
static bool
send_next(struct pw_tcp_conn *conn, uint64_t now_us)
{
	struct pw_tcp_flight *flight = conn->flight;
	struct pw_tcp_sent *lost = flight == NULL ? NULL : TAILQ_FIRST(&flight->sent.lost);
	uint32_t pipe = pw_tcp_pipe(conn);
	uint32_t usable = conn->cwnd > pipe ? conn->cwnd - pipe : 0;

	if (flight != NULL && usable < conn->mss) {
		flight->cwnd_limited = true;
		flight->round_end = conn->snd_max;
	}
	if (lost != NULL)
		return pw_tcp_resend(conn, lost, usable, now_us);
	return pw_tcp_send_new(conn, usable, now_us);
}

/* Data, lost or new, as windows allow. */
static bool
send_data(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool sent = false;

	if (conn->snd_una == conn->snd_max)
		pw_tcp_cc_restart_after_idle(conn, now_us);
	pw_tcp_mtu_raise(conn, now_us);
	while (send_next(conn, now_us))
		sent = true;
	return sent;
}

static void
acknowledge(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (pw_tcp_window_ack_due(conn)) {
		conn->tcp->stats.window_updates += !conn->ack_now && conn->unacked_bytes == 0;
		pw_tcp_send_ack(conn, now_us);
	} else if (conn->unacked_bytes > 0 && !pw_tcp_timer_is_on(conn, PW_TCP_TIMER_DELACK)) {
		pw_tcp_timer_set(conn, PW_TCP_TIMER_DELACK, now_us + PW_TCP_DELACK_US);
	}
}

void
pw_tcp_output(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->state == PW_TCP_SYN_RECEIVED)
		return;
	if (conn->state == PW_TCP_TIME_WAIT || !send_data(conn, now_us))
		acknowledge(conn, now_us);
	/* No ACK would tell the application that there are fragments again. */
	if (conn->starved && !pw_tcp_timer_is_on(conn, PW_TCP_TIMER_STARVED))
		pw_tcp_timer_set(conn, PW_TCP_TIMER_STARVED, now_us + PW_TCP_STARVED_US);
	/* Something waits, and nothing is on its way that would bring an ACK: probe, or try again.
	 */
	if (!pw_tcp_timer_is_on(conn, PW_TCP_TIMER_REXMIT) && conn->snd_una == conn->snd_max &&
		conn->snd_max != conn->snd_end + conn->fin_queued)
		pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);
	if (conn->probe_due)
		pw_tcp_probe_schedule(conn, now_us);
}
