/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Which segments are lost, RFC 8985 6: those sent before another one that was delivered, by more
 * than packets may overtake each other. Sections are of that RFC.
 */

#include "pw_tcp_priv.h"

#define DUP_THRESH 3
#define PERSIST_RECOVERIES 16
#define MIN_RTT_AGE_US 300000000 /* then another path may have a longer one */

/* 6.1: RACK_sent_after(). */
static bool
sent_after(uint64_t a_us, uint32_t a_end, uint64_t b_us, uint32_t b_end)
{
	return a_us > b_us || (a_us == b_us && pw_seq_after(a_end, b_end));
}

/* 6.2, step 2: the answer came too soon for the retransmission, or is of the original. */
static bool
is_ambiguous(
	const struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack, const struct pw_tcp_sent *rec)
{
	if (!rec->retransmitted)
		return false;
	if (conn->ts_ok && ack->seg->has_ts &&
		pw_seq_before(ack->seg->ts_ecr, pw_tcp_ts_at(conn, rec->sent_us)))
		return true;
	return ack->now_us - rec->sent_us < conn->reordering.min_rtt_us;
}

void
pw_tcp_rack_delivered(struct pw_tcp_conn *conn, const struct pw_tcp_ack *ack,
	const struct pw_tcp_sent *rec, uint32_t end)
{
	struct pw_tcp_rack *rack = &conn->flight->rack;

	if (pw_seq_after(end, rack->fack)) {
		rack->fack = end;
	} else if (!rec->retransmitted && pw_seq_before(end, ack->prior_fack)) {
		conn->reordering.seen = true;
		conn->tcp->stats.reorder_seen++;
	}
	if (is_ambiguous(conn, ack, rec) ||
		!sent_after(rec->sent_us, end, rack->xmit_us, rack->end_seq))
		return;
	rack->xmit_us = rec->sent_us;
	rack->end_seq = end;
	rack->rtt_us = RTE_MIN(ack->now_us - rec->sent_us, (uint64_t)PW_TCP_RTO_MAX_US);
}

void
pw_tcp_rack_sample(struct pw_tcp_conn *conn, uint32_t rtt_us, uint64_t now_us)
{
	struct pw_tcp_reordering *path = &conn->reordering;

	if (path->min_rtt_since_us == 0 || rtt_us <= path->min_rtt_us ||
		now_us - path->min_rtt_since_us > MIN_RTT_AGE_US) {
		path->min_rtt_us = rtt_us;
		path->min_rtt_since_us = now_us;
	}
}

/* 6.2, step 4: once a round trip. */
void
pw_tcp_rack_dsack(struct pw_tcp_conn *conn)
{
	struct pw_tcp_reordering *path = &conn->reordering;
	struct pw_tcp_flight *flight = conn->flight;

	if (flight != NULL) {
		struct pw_tcp_rack *rack = &flight->rack;

		if (rack->in_dsack_round && pw_seq_before(conn->snd_una, rack->dsack_round))
			return;
		rack->in_dsack_round = true;
		rack->dsack_round = conn->snd_max;
	}
	path->reo_wnd_mult += path->reo_wnd_mult < UINT8_MAX;
	path->reo_wnd_persist = PERSIST_RECOVERIES;
}

void
pw_tcp_rack_recovered(struct pw_tcp_conn *conn)
{
	struct pw_tcp_reordering *path = &conn->reordering;

	if (path->reo_wnd_persist > 0)
		path->reo_wnd_persist--;
	if (path->reo_wnd_persist == 0)
		path->reo_wnd_mult = 1;
}

/* 6.2, step 4. */
static uint32_t
reordering_window_us(const struct pw_tcp_conn *conn)
{
	const struct pw_tcp_reordering *path = &conn->reordering;
	uint64_t us;

	if (!path->seen &&
		(pw_tcp_is_recovering(conn) ||
			conn->flight->sent.sacked_bytes >= DUP_THRESH * (uint32_t)conn->mss))
		return 0;
	us = (uint64_t)path->min_rtt_us / 4 * path->reo_wnd_mult;
	return RTE_MIN(us, (uint64_t)conn->srtt_us);
}

/* 6.2, step 5. */
bool
pw_tcp_rack_detect(struct pw_tcp_conn *conn, uint64_t now_us)
{
	const struct pw_tcp_rack *rack = &conn->flight->rack;
	uint64_t wait_us = (uint64_t)rack->rtt_us + reordering_window_us(conn), next_us = 0;
	struct pw_tcp_sent *rec;
	bool found = false;

	while ((rec = TAILQ_FIRST(&conn->flight->sent.in_flight)) != NULL &&
		sent_after(rack->xmit_us, rack->end_seq, rec->sent_us, rec->end)) {
		if (rec->sent_us + wait_us > now_us) {
			next_us = rec->sent_us + wait_us;
			break;
		}
		conn->tcp->stats.lost_retransmits += rec->retransmitted;
		pw_tcp_sent_set_lost(conn, rec);
		found = true;
	}
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REORDER, next_us);
	return found;
}

/* 6.3. */
void
pw_tcp_rack_timeout(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->flight == NULL || !pw_tcp_rack_detect(conn, now_us))
		return;
	pw_tcp_recover_enter(conn);
	pw_tcp_output(conn, now_us);
}
