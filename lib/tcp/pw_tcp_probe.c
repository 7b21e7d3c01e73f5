/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Tail loss probes, RFC 8985 7: when the last segments of a flight, or their ACKs, are lost,
 * nothing tells of it but a time-out; one segment more makes the peer answer before that.
 */

#include "pw_tcp_priv.h"

#define MAX_ACK_DELAY_US 200000
#define PTO_MIN_US 10000
#define PTO_WITHOUT_RTT_US 1000000

static bool
may_probe(const struct pw_tcp_conn *conn)
{
	const struct pw_tcp_flight *flight = conn->flight;

	return flight != NULL && conn->sack_ok && !pw_tcp_is_recovering(conn) &&
		!flight->probe.is_out && flight->sent.sacked_bytes == 0 &&
		flight->sent.pipe_bytes > 0;
}

/* 7.2. Where the time-out comes first it does the probe's work. */
void
pw_tcp_probe_schedule(struct pw_tcp_conn *conn, uint64_t now_us)
{
	uint64_t pto_us = conn->has_rtt ? 2 * (uint64_t)conn->srtt_us : PTO_WITHOUT_RTT_US;

	conn->probe_due = false;
	pto_us = RTE_MAX(pto_us, (uint64_t)PTO_MIN_US);
	if (pw_tcp_pipe(conn) <= conn->mss)
		pto_us += MAX_ACK_DELAY_US;
	if (!may_probe(conn) || now_us + pto_us >= conn->timers_us[PW_TCP_TIMER_REXMIT])
		pw_tcp_timer_set(conn, PW_TCP_TIMER_PROBE, 0);
	else
		pw_tcp_timer_set(conn, PW_TCP_TIMER_PROBE, now_us + pto_us);
}

/* The last segment again; what lies before it in its record stays in flight. */
static bool
resend_last(struct pw_tcp_conn *conn, uint64_t now_us)
{
	struct pw_tcp_sent *rec = TAILQ_LAST(&conn->flight->sent.all, pw_tcp_sent_list);
	uint32_t len = rec->end - rec->seq, piece = rec->piece_bytes;

	if (len > piece + 1U) { /* with a FIN */
		if (!pw_tcp_sent_split(conn, rec, rec->seq + (len - 1) / piece * piece))
			return false;
		rec = TAILQ_NEXT(rec, by_seq);
	}
	pw_tcp_sent_set_lost(conn, rec);
	return pw_tcp_resend(conn, rec, UINT32_MAX, now_us);
}

/* 7.3. */
void
pw_tcp_probe_timeout(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool is_new;

	if (!may_probe(conn))
		return;
	is_new = pw_tcp_send_new(conn, conn->mss, now_us);
	if (!is_new && !resend_last(conn, now_us))
		return;
	conn->tcp->stats.loss_probes++;
	conn->flight->probe = (struct pw_tcp_probe){
		.end_seq = conn->snd_max, .is_out = true, .is_retrans = !is_new};
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);
}

/* 7.4.2: a probe that filled a gap hid a loss from us. */
void
pw_tcp_probe_ack(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack)
{
	struct pw_tcp_probe *probe = &conn->flight->probe;
	bool was_needless = !probe->is_retrans || ack->dsack;
	bool has_filled = !was_needless && pw_seq_after(conn->snd_una, probe->end_seq);

	if (!probe->is_out || pw_seq_before(conn->snd_una, probe->end_seq))
		return;
	if (!was_needless && !has_filled && !(ack->duplicate && ack->seg->nb_sacks == 0))
		return;
	probe->is_out = false;
	if (!has_filled)
		return;
	conn->tcp->stats.loss_probe_recoveries++;
	if (!pw_tcp_is_recovering(conn))
		pw_tcp_recover_reduce(conn);
}
