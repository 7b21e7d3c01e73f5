/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What a connection makes of a segment (RFC 9293 3.10.7). */

#include <netinet/tcp.h>

#include "tcp_flow.h"

#define OUR_WINDOW 0xffff
#define MSS_DEFAULT 536 /* RFC 9293 3.7.1, when the peer says nothing */
#define MSS_MIN 48	/* a peer that says less gets more: as Linux */
#define CLOSE_WAIT_NS 60000000000ULL

static uint64_t
min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Sequence numbers wrap: a is before b when it is less than half the space behind it. */
static bool
is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static void
set_window(struct tcp_flow *flow, uint64_t window)
{
	if (window == 0 && flow->peer_window > 0)
		flow->stats->zero_windows++;
	flow->peer_window = window;
	if (window > flow->peer_window_max)
		flow->peer_window_max = window;
}

/* Our SYN is answered: from here on its options count. */
static void
open_with(struct tcp_flow *flow, uint64_t now_ns, const struct tcp_segment *segment)
{
	uint32_t mss = segment->has_mss ? segment->mss : MSS_DEFAULT;

	mss = mss < MSS_MIN ? MSS_MIN : mss;
	flow->mss_bytes = (uint32_t)min(mss, flow->config->mss_bytes);
	flow->has_ts = segment->has_ts;
	flow->ts_recent = segment->ts_val;
	/* RFC 6691: options take of it. */
	if (flow->has_ts)
		flow->mss_bytes -= TCPOLEN_TSTAMP_APPA;
	flow->peer_wscale = segment->has_wscale ? segment->wscale : 0;
	flow->rcv_next = segment->seq + 1;
	set_window(flow, segment->window); /* RFC 7323 2.2: not scaled in SYN */
	tcp_reno_init(&flow->reno, flow->mss_bytes, flow->config->window_bytes);
	if (flow->timed_end != 0)
		tcp_rtt_sample(&flow->rtt, now_ns - flow->timed_ns);
	flow->timed_end = 0;
	flow->una = 1;
	flow->next = 1;
	flow->tries = 0;
	flow->deadline_ns = TCP_NO_DEADLINE;
	flow->ack_pending = true;
	flow->state = TCP_FLOW_OPEN;
	flow->stats->connections_opened++;
}

static void
input_opening(struct tcp_flow *flow, uint64_t now_ns, const struct tcp_segment *segment)
{
	if (!(segment->flags & TH_ACK) || segment->ack != flow->iss + 1 || flow->max == 0)
		return;
	if (segment->flags & TH_RST)
		tcp_flow_fail(flow, "the peer refused");
	else if (segment->flags & TH_SYN)
		open_with(flow, now_ns, segment);
}

static uint32_t
find_end(const struct tcp_segment *segment)
{
	return segment->seq + segment->data_bytes + !!(segment->flags & TH_FIN);
}

/* Whether to go on with it: sequence number, RST, SYN, timestamp, in the order of the RFCs. */
static bool
is_acceptable(struct tcp_flow *flow, const struct tcp_segment *segment)
{
	bool is_in_window = !is_before(find_end(segment), flow->rcv_next) &&
		is_before(segment->seq, flow->rcv_next + OUR_WINDOW);

	if (segment->flags & TH_RST) {
		/* RFC 5961 3.2: only who knows the exact number resets; others are asked. */
		if (segment->seq == flow->rcv_next)
			tcp_flow_fail(flow, "the peer reset");
		else
			flow->ack_pending = is_in_window;
		return false;
	}
	/* RFC 7323 5.3, and 3.2: from now on all segments have timestamps. */
	if (flow->has_ts && !segment->has_ts)
		return false;
	if (!is_in_window || (segment->flags & TH_SYN) ||
		(flow->has_ts && is_before(segment->ts_val, flow->ts_recent))) {
		flow->ack_pending = true;
		return false;
	}
	if (flow->has_ts && !is_before(flow->rcv_next, segment->seq))
		flow->ts_recent = segment->ts_val;
	return segment->flags & TH_ACK;
}

/* All is acknowledged, FIN too. */
static void
finish(struct tcp_flow *flow, uint64_t now_ns)
{
	if (flow->fin_received) {
		flow->state = TCP_FLOW_CLOSED;
		flow->deadline_ns = TCP_NO_DEADLINE;
		flow->stats->connections_closed++;
	} else {
		flow->state = TCP_FLOW_WAITING;
		flow->deadline_ns = now_ns + CLOSE_WAIT_NS;
	}
}

static void
advance(struct tcp_flow *flow, uint64_t now_ns, uint64_t position)
{
	uint64_t acked = position - flow->una;

	flow->stats->bytes_acked += min(position, flow->fin) - min(flow->una, flow->fin);
	flow->una = position;
	flow->tries = 0;
	flow->probe = false;
	flow->resend = false;
	if (flow->next < position)
		flow->next = position;
	if (flow->timed_end != 0 && position >= flow->timed_end) {
		tcp_rtt_sample(&flow->rtt, now_ns - flow->timed_ns);
		flow->timed_end = 0;
	}
	/* RFC 6298 5.2, 5.3. */
	flow->deadline_ns = flow->next > position ? now_ns + flow->rtt.rto_ns : TCP_NO_DEADLINE;
	if (tcp_reno_ack(&flow->reno, position, acked, flow->next - position))
		flow->resend = true;
	if (position > flow->fin)
		finish(flow, now_ns);
}

/* RFC 5681 2: data is under way, and the segment says nothing else. */
static bool
is_dup_ack(const struct tcp_flow *flow, const struct tcp_segment *segment, uint64_t window)
{
	return flow->next > flow->una && segment->data_bytes == 0 && !(segment->flags & TH_FIN) &&
		window == flow->peer_window;
}

static void
dup_ack(struct tcp_flow *flow)
{
	flow->stats->dup_acks++;
	if (tcp_reno_dup_ack(&flow->reno, flow->una, flow->max, flow->next - flow->una)) {
		flow->stats->fast_retransmits++;
		flow->resend = true;
	}
}

/* The peer's answer to a probe, though it takes nothing. */
static void
keep_waiting(struct tcp_flow *flow)
{
	if (flow->next == flow->una)
		flow->tries = 0;
}

/* The window opened: no more probes. */
static void
stop_probes(struct tcp_flow *flow)
{
	if (flow->next == flow->una) {
		flow->probe = false;
		flow->deadline_ns = TCP_NO_DEADLINE;
	}
}

static void
input_ack(struct tcp_flow *flow, uint64_t now_ns, const struct tcp_segment *segment)
{
	int32_t ahead = (int32_t)(segment->ack - (flow->iss + (uint32_t)flow->una));
	uint64_t window = (uint64_t)segment->window << flow->peer_wscale;

	if (ahead < 0)
		return;
	/* RFC 9293 3.10.7.4: it acknowledges what was never sent. */
	if ((uint32_t)ahead > flow->max - flow->una) {
		flow->ack_pending = true;
		return;
	}
	if (ahead > 0)
		advance(flow, now_ns, flow->una + (uint32_t)ahead);
	else if (is_dup_ack(flow, segment, window))
		dup_ack(flow);
	else
		keep_waiting(flow);
	if (window > flow->peer_window && flow->state == TCP_FLOW_OPEN)
		stop_probes(flow);
	set_window(flow, window);
}

/* Data is taken and forgotten; what comes out of order has to come again. */
static void
input_data(struct tcp_flow *flow, uint64_t now_ns, const struct tcp_segment *segment)
{
	uint32_t end = find_end(segment);

	if (end == segment->seq)
		return;
	flow->ack_pending = true;
	if (is_before(flow->rcv_next, segment->seq) || !is_before(flow->rcv_next, end))
		return;
	flow->rcv_next = end;
	if (!(segment->flags & TH_FIN))
		return;
	flow->fin_received = true;
	if (flow->state == TCP_FLOW_WAITING)
		finish(flow, now_ns);
}

void
tcp_flow_input(struct tcp_flow *flow, uint64_t now_ns, const struct tcp_segment *segment)
{
	switch (flow->state) {
	case TCP_FLOW_OPENING:
		input_opening(flow, now_ns, segment);
		break;
	case TCP_FLOW_OPEN:
	case TCP_FLOW_WAITING:
		if (!is_acceptable(flow, segment))
			break;
		input_ack(flow, now_ns, segment);
		input_data(flow, now_ns, segment);
		break;
	case TCP_FLOW_CLOSED:
		/* Our last ACK was lost. */
		flow->ack_pending = segment->flags & TH_FIN;
		break;
	case TCP_FLOW_FAILED:
		break;
	}
}
