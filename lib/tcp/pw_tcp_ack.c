/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_priv.h"

#define DUP_ACKS_LOSS 3 /* RFC 5681 3.2 */

void
pw_tcp_ack_init(struct pw_tcp_conn *conn)
{
	pw_tcp_cc_init(conn);
	conn->mss_max = conn->mss;
	conn->recover = conn->iss;
	conn->reordering.reo_wnd_mult = 1;
}

void
pw_tcp_ack_timeout(struct pw_tcp_conn *conn)
{
	struct pw_tcp_flight *flight = conn->flight;

	pw_tcp_recover_timeout(conn);
	pw_tcp_mtu_timeout(conn);
	pw_tcp_sent_set_all_lost(conn);
	flight->nb_peer_sacks = 0;
	flight->dup_acks = 0;
	flight->dup_acked_bytes = 0;
	conn->timing = false;
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REORDER, 0);
	pw_tcp_timer_set(conn, PW_TCP_TIMER_PROBE, 0);
}

/* RFC 6298 2.2 to 2.4, with the gains 1/8 and 1/4. */
static void
sample_rtt(struct pw_tcp_conn *conn, uint32_t rtt_us)
{
	if (!conn->has_rtt) {
		conn->srtt_us = rtt_us;
		conn->rttvar_us = rtt_us / 2;
		conn->has_rtt = true;
	} else {
		uint32_t error = rtt_us > conn->srtt_us ? rtt_us - conn->srtt_us
							: conn->srtt_us - rtt_us;

		conn->rttvar_us = conn->rttvar_us - conn->rttvar_us / 4 + error / 4;
		conn->srtt_us = conn->srtt_us - conn->srtt_us / 8 + rtt_us / 8;
	}
}

void
pw_tcp_ack_set_rto(struct pw_tcp_conn *conn)
{
	uint32_t rto_us = conn->srtt_us + 4 * conn->rttvar_us;

	if (!conn->has_rtt)
		rto_us = PW_TCP_RTO_INITIAL_US;
	conn->rto_us = RTE_MIN(
		RTE_MAX(rto_us, (uint32_t)PW_TCP_RTO_MIN_US), (uint32_t)PW_TCP_RTO_MAX_US);
}

/*
 * One sample an ACK: from what was sent once (Karn), the first of it, or else from the timestamp
 * (RFC 7323 4). Only a SYN is timed apart: it has no record.
 */
static bool
measure(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack, uint64_t *rtt_us)
{
	const struct pw_tcp_seg *seg = ack->seg;

	if (conn->timing && pw_seq_after(seg->ack, conn->iss)) {
		conn->timing = false;
		*rtt_us = ack->now_us - conn->born_us;
		return true;
	}
	if (ack->first_sent_us != 0 && !ack->acked_retransmission) {
		*rtt_us = ack->now_us - ack->first_sent_us;
		return true;
	}
	if (conn->ts_ok && seg->has_ts && seg->ts_ecr != 0) {
		uint32_t rtt_ms = pw_tcp_ts_at(conn, ack->now_us) - seg->ts_ecr;

		*rtt_us = (uint64_t)rtt_ms * 1000;
		return rtt_ms <= PW_TCP_RTO_MAX_US / 1000;
	}
	return false;
}

static void
update_rto(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack)
{
	uint64_t rtt_us;

	if (measure(conn, ack, &rtt_us)) {
		rtt_us = RTE_MIN(rtt_us, (uint64_t)PW_TCP_RTO_MAX_US);
		sample_rtt(conn, rtt_us);
		pw_tcp_rack_sample(conn, rtt_us, ack->now_us);
	}
	if (conn->has_rtt)
		pw_tcp_ack_set_rto(conn);
}

/* The probes backed off, not what is sent now, or was before the window closed. */
static void
end_probing(struct pw_tcp_conn *conn, uint64_t now_us)
{
	pw_tcp_ack_set_rto(conn);
	if (conn->timers_us[PW_TCP_TIMER_REXMIT] > now_us + conn->rto_us)
		pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);
}

/* Drop the records of what is acknowledged. */
static void
drop_acked(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack)
{
	struct pw_tcp_sent *rec;

	if (conn->flight == NULL) /* it acknowledges our SYN */
		return;
	while ((rec = TAILQ_FIRST(&conn->flight->sent.all)) != NULL &&
		pw_seq_before(rec->seq, conn->snd_una)) {
		uint32_t end = pw_seq_before(rec->end, conn->snd_una) ? rec->end : conn->snd_una;

		ack->acked_retransmission |= rec->retransmitted;
		if (rec->state != PW_TCP_SACKED) {
			ack->delivered_bytes += end - rec->seq;
			if (!rec->retransmitted && ack->first_sent_us == 0)
				ack->first_sent_us = rec->sent_us;
			pw_tcp_rack_delivered(conn, ack, rec, end);
		}
		pw_tcp_sent_trim(conn, rec, end);
	}
}

static void
new_ack(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack)
{
	conn->snd_una = ack->seg->ack;
	drop_acked(conn, ack);
	update_rto(conn, ack);
	conn->retries = 0;
	pw_tcp_send_acked(conn);
	conn->probe_due = true;
	/* RFC 6298 5.2 and 5.3. */
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT,
		conn->snd_una == conn->snd_max ? 0 : ack->now_us + conn->rto_us);
}

/* Without SACK each duplicate ACK stands for a segment that arrived, and a new one for the rest. */
static void
count_duplicates(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack)
{
	struct pw_tcp_flight *flight = conn->flight;
	uint32_t mss = conn->mss, out = conn->snd_max - conn->snd_una;
	uint32_t most = out > mss ? out - mss : 0;

	if (flight->in_loss)
		return;
	if (ack->duplicate) {
		flight->dup_acks += flight->dup_acks < UINT8_MAX;
		flight->dup_acked_bytes += mss;
		ack->delivered_bytes += mss;
	} else if (conn->snd_una != ack->prior_una) {
		uint32_t acked = conn->snd_una - ack->prior_una;
		uint32_t known = RTE_MIN(flight->dup_acked_bytes, acked > mss ? acked - mss : 0);

		flight->dup_acked_bytes -= known;
		ack->delivered_bytes -= RTE_MIN(ack->delivered_bytes, known);
		if (!flight->in_recovery)
			flight->dup_acks = flight->dup_acked_bytes = 0;
	}
	flight->dup_acked_bytes = RTE_MIN(flight->dup_acked_bytes, most);
}

/* RFC 5681 3.2 and RFC 6582: the third duplicate tells of a loss, then each partial ACK. */
static bool
newreno_detect(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack)
{
	const struct pw_tcp_flight *flight = conn->flight;

	count_duplicates(conn, ack);
	if (flight->in_recovery)
		return conn->snd_una != ack->prior_una &&
			pw_seq_before(conn->snd_una, conn->recover) &&
			pw_tcp_sent_set_first_lost(conn, conn->mss);
	return ack->duplicate && !flight->in_loss && flight->dup_acks >= DUP_ACKS_LOSS &&
		pw_seq_after(conn->snd_una, conn->recover) &&
		pw_tcp_sent_set_first_lost(conn, conn->mss);
}

/* The most in flight, round trip by round trip. */
static void
count_rounds(struct pw_tcp_conn *conn)
{
	struct pw_tcp_flight *flight = conn->flight;

	if (pw_seq_before(conn->snd_una, flight->round_end))
		return;
	flight->round_end = conn->snd_max;
	flight->round_flight = pw_tcp_pipe(conn);
	flight->cwnd_limited = false;
}

/* What is acknowledged, what is lost, and what follows for the congestion window. */
static void
account(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack)
{
	bool found;

	if (conn->sack_ok)
		pw_tcp_sack_input(conn, ack);
	if (conn->flight == NULL) {
		pw_tcp_recover_ecn(conn, ack);
		return;
	}
	if (conn->sack_ok)
		found = pw_tcp_rack_detect(conn, ack->now_us);
	else
		found = newreno_detect(conn, ack);
	pw_tcp_probe_ack(conn, ack);
	pw_tcp_recover_ack(conn, ack, found);
	count_rounds(conn);
	if (conn->snd_una == conn->snd_max)
		pw_tcp_flight_end(conn);
}

void
pw_tcp_ack_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	uint32_t window = seg->window_bytes;
	bool is_new = pw_seq_after(seg->ack, conn->snd_una);
	struct pw_tcp_ack ack = {.seg = seg,
		.now_us = now_us,
		.prior_una = conn->snd_una,
		.prior_fack = conn->flight == NULL ? 0 : conn->flight->rack.fack};

	if (pw_seq_before(seg->ack, conn->snd_una)) /* it was overtaken */
		return;
	ack.duplicate = !is_new && pw_tcp_seg_end(seg) == seg->seq && window == conn->snd_wnd &&
		conn->snd_una != conn->snd_max;
	if (is_new)
		new_ack(conn, &ack);
	account(conn, &ack);

	/*
	 * RFC 9293 3.10.7.4: only from a segment that is not older than the last one used. With a
	 * new ACK it is not, even where its number fills a gap. SND.WL2 could be at most snd_una.
	 */
	if (is_new || !pw_seq_after(conn->snd_wl1, seg->seq)) {
		if (conn->snd_wnd == 0 && window > 0)
			end_probing(conn, now_us);
		conn->snd_wnd = window;
		conn->snd_wl1 = seg->seq;
	}
	/* A peer that answers window probes is alive; an open window needs no more of them. */
	if (conn->snd_una == conn->snd_max || conn->snd_wnd == 0)
		conn->retries = 0;
	if (conn->snd_una == conn->snd_max && conn->snd_wnd > 0)
		pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, 0);
}
