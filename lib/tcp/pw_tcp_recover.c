/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What a loss does to the congestion window, and undoing that when it was none. */

#include "pw_tcp_priv.h"

/* Remember the window as it is before it is reduced for what is in flight now. */
static void
remember(struct pw_tcp_conn *conn)
{
	conn->flight->undo = (struct pw_tcp_undo){
		.can = true,
		.cwnd = conn->cwnd,
		.ssthresh = conn->ssthresh,
		.cc = conn->cc_state,
		.start = conn->snd_una,
		.end = conn->snd_max,
	};
}

void
pw_tcp_recover_enter(struct pw_tcp_conn *conn)
{
	struct pw_tcp_flight *flight = conn->flight;

	if (pw_tcp_is_recovering(conn))
		return;
	conn->tcp->stats.fast_retrans++;
	conn->tcp->stats.sack_recoveries += conn->sack_ok;
	remember(conn);
	flight->prr = (struct pw_tcp_prr){
		.flight_bytes = conn->snd_max - conn->snd_una - flight->sent.sacked_bytes};
	conn->ssthresh = conn->tcp->cc->on_loss(conn);
	conn->cwnd = pw_tcp_pipe(conn) + conn->mss; /* the first resend goes at once */
	conn->recover = conn->snd_max;
	flight->in_recovery = true;
	conn->ecn_cwr |= conn->ecn_ok;
	flight->probe.is_out = false;
	pw_tcp_timer_set(conn, PW_TCP_TIMER_PROBE, 0);
}

/* RFC 5681 3.1: ssthresh stays when the same data times out again. */
void
pw_tcp_recover_timeout(struct pw_tcp_conn *conn)
{
	struct pw_tcp_flight *flight = conn->flight;

	if (!flight->in_loss || pw_seq_after(conn->snd_una, flight->undo.start)) {
		if (!flight->in_recovery)
			remember(conn);
		conn->ssthresh = conn->tcp->cc->on_loss(conn);
		conn->tcp->cc->on_restart(conn);
		flight->undo.start = conn->snd_una;
		flight->undo.end = conn->snd_max;
	}
	conn->cwnd = conn->mss;
	conn->recover = conn->snd_max;
	flight->in_recovery = false;
	flight->in_loss = true;
	conn->ecn_cwr |= conn->ecn_ok;
	flight->probe.is_out = false;
}

/* RFC 6937 3, with the conservative bound where no progress is made (PRR-CRB), else PRR-SSRB. */
static void
reduce_rate(struct pw_tcp_conn *conn, uint32_t delivered_bytes, bool progress)
{
	struct pw_tcp_prr *prr = &conn->flight->prr;
	uint32_t pipe = pw_tcp_pipe(conn), send;

	prr->delivered_bytes += delivered_bytes;
	if (pipe > conn->ssthresh) {
		uint64_t flight = RTE_MAX(prr->flight_bytes, 1U);
		uint64_t may = ((uint64_t)prr->delivered_bytes * conn->ssthresh + flight - 1) /
			flight;

		send = may > prr->out_bytes ? may - prr->out_bytes : 0;
	} else {
		uint32_t behind = prr->delivered_bytes > prr->out_bytes
			? prr->delivered_bytes - prr->out_bytes
			: 0;

		send = RTE_MAX(behind, delivered_bytes) + (progress ? conn->mss : 0);
		send = RTE_MIN(send, conn->ssthresh - pipe);
	}
	if (prr->out_bytes == 0)
		send = RTE_MAX(send, (uint32_t)conn->mss);
	conn->cwnd = RTE_MAX(pipe + send, (uint32_t)conn->mss);
}

static void
leave(struct pw_tcp_conn *conn)
{
	struct pw_tcp_flight *flight = conn->flight;

	if (flight->in_recovery) {
		conn->cwnd = conn->ssthresh;
		pw_tcp_rack_recovered(conn);
	}
	flight->in_recovery = flight->in_loss = false;
	flight->dup_acks = 0;
	flight->dup_acked_bytes = 0;
}

/* The loss was none. */
static void
undo(struct pw_tcp_conn *conn)
{
	struct pw_tcp_undo *u = &conn->flight->undo;

	conn->tcp->stats.spurious_undo++;
	leave(conn);
	conn->cwnd = RTE_MAX(conn->cwnd, u->cwnd);
	conn->ssthresh = RTE_MAX(conn->ssthresh, u->ssthresh);
	conn->cc_state = u->cc;
	u->can = false;
	pw_tcp_sent_set_none_lost(conn);
}

/* RFC 3522: what was sent again is acknowledged by an answer to the original. */
static bool
is_answer_to_original(const struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack)
{
	const struct pw_tcp_undo *u = &conn->flight->undo;

	return u->can && u->has_resent && conn->ts_ok && ack->seg->has_ts &&
		ack->acked_retransmission && pw_seq_before(ack->seg->ts_ecr, u->first_resent_ts);
}

void
pw_tcp_recover_resent(struct pw_tcp_conn *conn, uint32_t bytes, uint64_t now_us)
{
	struct pw_tcp_undo *u = &conn->flight->undo;

	if (!pw_tcp_is_recovering(conn))
		return;
	if (!u->has_resent)
		u->first_resent_ts = pw_tcp_ts_at(conn, now_us);
	u->has_resent = true;
	u->resent_bytes += bytes;
}

/* RFC 2883 and 3708: all that was sent again arrived twice. */
void
pw_tcp_recover_dsack(struct pw_tcp_conn *conn, const struct pw_tcp_sack *block)
{
	struct pw_tcp_undo *u;

	if (conn->flight == NULL)
		return;
	u = &conn->flight->undo;
	if (!u->can || !u->has_resent || pw_seq_before(block->start, u->start) ||
		pw_seq_after(block->end, u->end))
		return;
	u->resent_bytes -= RTE_MIN(u->resent_bytes, block->end - block->start);
	if (u->resent_bytes == 0)
		undo(conn);
}

void
pw_tcp_recover_reduce(struct pw_tcp_conn *conn)
{
	conn->ssthresh = conn->tcp->cc->on_loss(conn);
	conn->cwnd = RTE_MIN(conn->cwnd, conn->ssthresh);
	conn->ecn_cwr |= conn->ecn_ok;
	if (conn->flight != NULL)
		conn->flight->undo.can = false; /* there was a reason to send less */
}

/* RFC 3168 6.1.2: once a round trip, as for a loss. */
void
pw_tcp_recover_ecn(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack)
{
	if (conn->ecn_reduced && pw_seq_after(conn->snd_una, conn->ecn_end))
		conn->ecn_reduced = false;
	/* In a SYN-ACK the flag says what the peer can do (RFC 3168 6.1.1). */
	if (!conn->ecn_ok || conn->ecn_reduced ||
		(ack->seg->flags & (RTE_TCP_ECE_FLAG | RTE_TCP_SYN_FLAG)) != RTE_TCP_ECE_FLAG)
		return;
	conn->ecn_reduced = true;
	conn->ecn_end = conn->snd_max;
	conn->ecn_cwr = true;
	if (pw_tcp_is_recovering(conn))
		return;
	conn->tcp->stats.ecn_reductions++;
	pw_tcp_recover_reduce(conn);
}

void
pw_tcp_recover_ack(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack, bool found)
{
	struct pw_tcp_undo *u = &conn->flight->undo;
	bool progress = conn->snd_una != ack->prior_una;

	if (is_answer_to_original(conn, ack))
		undo(conn);
	else if (found)
		pw_tcp_recover_enter(conn);
	if (pw_tcp_is_recovering(conn) && !pw_seq_before(conn->snd_una, conn->recover))
		leave(conn);
	pw_tcp_recover_ecn(conn, ack);
	if (conn->flight->in_recovery)
		reduce_rate(conn, ack->delivered_bytes, progress);
	else if (!conn->ecn_reduced && ack->delivered_bytes > 0 && progress)
		pw_tcp_cc_acked(conn, ack->delivered_bytes, ack->now_us);
	/* Stay near: half the space of numbers away, behind would become before. */
	if (!pw_tcp_is_recovering(conn) && pw_seq_after(conn->snd_una, conn->recover))
		conn->recover = conn->snd_una - 1;
	if (u->can && pw_seq_after(conn->snd_una, u->end + (1U << 30)))
		u->can = false;
}
