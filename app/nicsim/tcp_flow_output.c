/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What a connection sends next. */

#include <netinet/tcp.h>

#include "pattern.h"
#include "tcp_flow.h"

#define OUR_WINDOW 0xffff /* as nothing is kept, it is always open */
#define OUR_WSCALE 0
#define NS_PER_MS 1000000

static uint64_t
min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Make a segment that begins at a position; it acknowledges all that came. */
static void
make(struct tcp_flow *flow, uint64_t now_ns, uint64_t position, uint64_t data_bytes,
	struct tcp_segment *segment)
{
	*segment = (struct tcp_segment){
		.seq = flow->iss + (uint32_t)position,
		.ack = flow->rcv_next,
		.data_bytes = (uint32_t)data_bytes,
		.place = position == 0 ? 0 : (uint32_t)((position - 1) % PATTERN_PERIOD),
		.flags = TH_ACK,
		.window = OUR_WINDOW,
		.has_ts = flow->has_ts,
		.ts_val = (uint32_t)(now_ns / NS_PER_MS),
		.ts_ecr = flow->ts_recent,
	};
	if (data_bytes > 0 && position + data_bytes == flow->fin)
		segment->flags |= TH_PUSH;
	flow->ack_pending = false;
	flow->stats->segments++;
}

/* What ends at a position is sent: count it, time it, and wait for its acknowledgement. */
static void
note_sent(struct tcp_flow *flow, uint64_t now_ns, uint64_t position, uint64_t end)
{
	if (position < flow->max)
		flow->stats->retransmitted++;
	else if (flow->timed_end == 0) {
		flow->timed_end = end;
		flow->timed_ns = now_ns;
	}
	if (end > flow->max) {
		/* SYN and FIN are no bytes of data. */
		if (flow->max > 0 && flow->max < flow->fin)
			flow->stats->bytes_sent += end - flow->max;
		flow->max = end;
	}
	if (flow->deadline_ns == TCP_NO_DEADLINE)
		flow->deadline_ns = now_ns + flow->rtt.rto_ns;
}

/* RFC 7323 2.2 and 3.2: both options are offered. */
static void
send_syn(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	make(flow, now_ns, 0, 0, segment);
	segment->flags = TH_SYN;
	segment->ack = 0;
	segment->has_ts = true;
	segment->has_mss = true;
	segment->mss = flow->config->mss_bytes;
	segment->has_wscale = true;
	segment->wscale = OUR_WSCALE;
	note_sent(flow, now_ns, 0, 1);
	flow->next = 1;
}

/* The first that is not acknowledged, again. */
static void
send_again(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	uint64_t end = min(min(flow->una + flow->mss_bytes, flow->max), flow->fin);

	flow->resend = false;
	flow->timed_end = 0; /* Karn: RFC 6298 3 */
	make(flow, now_ns, flow->una, end - flow->una, segment);
	note_sent(flow, now_ns, flow->una, end);
}

/* RFC 9293 3.8.6.1: what the window has room for, or else a byte more than that. */
static void
send_probe(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	uint64_t data = min(min(flow->peer_window, flow->mss_bytes), flow->fin - flow->una);

	data = data == 0 ? 1 : data;
	flow->probe = false;
	flow->stats->window_probes++;
	make(flow, now_ns, flow->una, data, segment);
	if (flow->una + data > flow->max) {
		flow->stats->bytes_sent += flow->una + data - flow->max;
		flow->max = flow->una + data;
	}
	flow->deadline_ns = now_ns + flow->probe_wait_ns;
}

/* How much data may be sent now; RFC 9293 3.8.6.2.1: no small segments. */
static uint64_t
find_room(const struct tcp_flow *flow)
{
	uint64_t window = min(flow->peer_window, flow->config->window_bytes);
	uint64_t end = flow->una + min(window, flow->reno.cwnd_bytes);
	uint64_t data = min(flow->mss_bytes, flow->fin - flow->next);

	if (end <= flow->next)
		return 0;
	if (end - flow->next >= data)
		return data;
	return flow->next == flow->una && 2 * window >= flow->peer_window_max ? end - flow->next
									      : 0;
}

static bool
send_data(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	uint64_t data = find_room(flow);

	if (data == 0) {
		if (flow->next == flow->una && flow->deadline_ns == TCP_NO_DEADLINE) {
			flow->probe_wait_ns = flow->rtt.rto_ns;
			flow->deadline_ns = now_ns + flow->probe_wait_ns;
		}
		return false;
	}
	make(flow, now_ns, flow->next, data, segment);
	note_sent(flow, now_ns, flow->next, flow->next + data);
	flow->next += data;
	return true;
}

static void
send_fin(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	make(flow, now_ns, flow->fin, 0, segment);
	segment->flags |= TH_FIN;
	note_sent(flow, now_ns, flow->fin, flow->fin + 1);
	flow->next = flow->fin + 1;
}

/* Data, or FIN when it is all acknowledged. */
static bool
send_open(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	if (flow->next > flow->fin)
		return false;
	if (flow->una == flow->fin)
		send_fin(flow, now_ns, segment);
	else if (flow->resend)
		send_again(flow, now_ns, segment);
	else if (flow->probe)
		send_probe(flow, now_ns, segment);
	else
		return flow->next < flow->fin && send_data(flow, now_ns, segment);
	return true;
}

bool
tcp_flow_output(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment)
{
	if (flow->state == TCP_FLOW_OPENING) {
		if (flow->next > 0)
			return false;
		send_syn(flow, now_ns, segment);
		return true;
	}
	if (flow->state == TCP_FLOW_OPEN && send_open(flow, now_ns, segment))
		return true;
	if (!flow->ack_pending)
		return false;
	make(flow, now_ns, flow->next, 0, segment);
	return true;
}
