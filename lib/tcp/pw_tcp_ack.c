/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_priv.h"

#define DUP_ACKS_LOSS 3 /* RFC 5681 3.2 */
#define CWND_MAX (1U << 30)
#define INITIAL_SEGMENTS 10 /* RFC 6928 */

void
pw_tcp_ack_init(struct pw_tcp_conn *conn)
{
	conn->cwnd = INITIAL_SEGMENTS * conn->mss;
	conn->ssthresh = CWND_MAX;
	conn->recover = conn->iss;
}

static uint32_t
half_of_flight(const struct pw_tcp_conn *conn)
{
	return RTE_MAX((conn->snd_max - conn->snd_una) / 2, 2U * conn->mss);
}

void
pw_tcp_ack_timeout(struct pw_tcp_conn *conn)
{
	conn->ssthresh = half_of_flight(conn);
	conn->cwnd = conn->mss;
	conn->recover = conn->snd_max;
	conn->in_recovery = false;
	conn->dup_acks = 0;
	conn->timing = false;
	conn->snd_nxt = conn->snd_una;
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

/* The time-out without back-off. */
static void
set_rto(struct pw_tcp_conn *conn)
{
	uint32_t rto_us = conn->srtt_us + 4 * conn->rttvar_us;

	if (!conn->has_rtt)
		rto_us = PW_TCP_RTO_INITIAL_US;
	conn->rto_us = RTE_MIN(
		RTE_MAX(rto_us, (uint32_t)PW_TCP_RTO_MIN_US), (uint32_t)PW_TCP_RTO_MAX_US);
}

static void
update_rto(struct pw_tcp_conn *conn, uint32_t ack, uint64_t now_us)
{
	if (conn->timing && !pw_seq_before(ack, conn->timed_seq)) {
		conn->timing = false;
		sample_rtt(
			conn, RTE_MIN(now_us - conn->timed_since_us, (uint64_t)PW_TCP_RTO_MAX_US));
	}
	if (conn->has_rtt)
		set_rto(conn);
}

/* The probes backed off, not what is sent now, or was before the window closed. */
static void
end_probing(struct pw_tcp_conn *conn, uint64_t now_us)
{
	set_rto(conn);
	if (conn->rexmit_us > now_us + conn->rto_us)
		pw_tcp_timer_set(conn, &conn->rexmit_us, now_us + conn->rto_us);
}

/* RFC 5681 3.1: slow start up to ssthresh, then one segment a round trip. */
static void
grow_cwnd(struct pw_tcp_conn *conn, uint32_t acked)
{
	if (conn->cwnd < conn->ssthresh)
		conn->cwnd += RTE_MIN(acked, conn->cwnd);
	else
		conn->cwnd += RTE_MAX(1U, (uint32_t)((uint64_t)conn->mss * conn->mss / conn->cwnd));
	conn->cwnd = RTE_MIN(conn->cwnd, CWND_MAX);
}

/* RFC 6582 3.2, step 3. */
static void
recovery_ack(struct pw_tcp_conn *conn, uint32_t acked, uint64_t now_us)
{
	if (!pw_seq_before(conn->snd_una, conn->recover)) {
		conn->in_recovery = false;
		conn->dup_acks = 0;
		conn->cwnd = conn->ssthresh;
		return;
	}
	conn->cwnd -= RTE_MIN(acked, conn->cwnd);
	conn->cwnd += conn->mss;
	pw_tcp_retransmit(conn, now_us);
}

static void
new_ack(struct pw_tcp_conn *conn, uint32_t ack, uint64_t now_us)
{
	uint32_t acked = ack - conn->snd_una;

	update_rto(conn, ack, now_us);
	conn->snd_una = ack;
	if (pw_seq_before(conn->snd_nxt, ack))
		conn->snd_nxt = ack;
	conn->retries = 0;
	pw_tcp_send_acked(conn);

	if (conn->in_recovery) {
		recovery_ack(conn, acked, now_us);
	} else {
		conn->dup_acks = 0;
		grow_cwnd(conn, acked);
		/* Stay near: half the space of numbers away, behind would become before. */
		if (pw_seq_after(ack, conn->recover))
			conn->recover = ack - 1;
	}
	/* RFC 6298 5.2 and 5.3. */
	pw_tcp_timer_set(
		conn, &conn->rexmit_us, conn->snd_una == conn->snd_max ? 0 : now_us + conn->rto_us);
}

/* RFC 5681 3.2 and RFC 6582: the third duplicate tells of a loss. */
static void
duplicate_ack(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->in_recovery) {
		conn->cwnd = RTE_MIN(conn->cwnd + conn->mss, CWND_MAX);
		return;
	}
	if (++conn->dup_acks < DUP_ACKS_LOSS || !pw_seq_after(conn->snd_una, conn->recover))
		return;
	conn->tcp->stats.fast_retrans++;
	conn->ssthresh = half_of_flight(conn);
	conn->recover = conn->snd_max;
	conn->in_recovery = true;
	conn->cwnd = conn->ssthresh + DUP_ACKS_LOSS * conn->mss;
	pw_tcp_retransmit(conn, now_us);
}

void
pw_tcp_ack_input(struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg, uint64_t now_us)
{
	uint32_t window = (uint32_t)seg->window << conn->snd_wscale;
	bool is_new = pw_seq_after(seg->ack, conn->snd_una);

	if (pw_seq_before(seg->ack, conn->snd_una)) /* it was overtaken */
		return;
	if (is_new)
		new_ack(conn, seg->ack, now_us);
	else if (seg->payload_bytes == 0 && pw_tcp_seg_end(seg) == seg->seq &&
		window == conn->snd_wnd && conn->snd_una != conn->snd_max)
		duplicate_ack(conn, now_us);

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
		pw_tcp_timer_set(conn, &conn->rexmit_us, 0);
}
