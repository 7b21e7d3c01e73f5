/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_flow.h"

#define TRIES_OPEN 6  /* as Linux: about a minute */
#define TRIES_DATA 10 /* RFC 9293 3.8.3: at least 100 s; this is longer, as timeouts double */

void
tcp_flow_init(struct tcp_flow *flow, const struct tcp_flow_config *config,
	struct tcp_flow_stats *stats, uint32_t iss)
{
	*flow = (struct tcp_flow){
		.config = config,
		.stats = stats,
		.iss = iss,
		.fin = config->bytes == 0 ? UINT64_MAX / 2 : 1 + config->bytes,
		.rtt.rto_ns = TCP_RTO_FIRST_NS,
		.deadline_ns = TCP_NO_DEADLINE,
	};
}

void
tcp_flow_fail(struct tcp_flow *flow, const char *failure)
{
	flow->state = TCP_FLOW_FAILED;
	flow->failure = failure;
	flow->deadline_ns = TCP_NO_DEADLINE;
	flow->ack_pending = false;
	flow->stats->connections_failed++;
}

static void
timeout_opening(struct tcp_flow *flow)
{
	if (++flow->tries == TRIES_OPEN) {
		tcp_flow_fail(flow, "no answer to SYN");
		return;
	}
	flow->stats->timeouts++;
	flow->rtt.rto_ns = tcp_rtt_back_off(flow->rtt.rto_ns);
	flow->timed_end = 0;
	flow->next = 0;
}

/* RFC 9293 3.8.6.1: the peer may stay closed for as long as it answers. */
static void
timeout_probe(struct tcp_flow *flow)
{
	flow->probe = true;
	flow->probe_wait_ns = tcp_rtt_back_off(flow->probe_wait_ns);
}

/* RFC 6298 5.4 to 5.6: begin again at the first that is not acknowledged. */
static void
timeout_data(struct tcp_flow *flow)
{
	flow->stats->timeouts++;
	tcp_reno_timeout(&flow->reno, flow->max, flow->next - flow->una, flow->tries > 1);
	flow->rtt.rto_ns = tcp_rtt_back_off(flow->rtt.rto_ns);
	flow->timed_end = 0;
	flow->next = flow->una;
	flow->resend = false;
}

void
tcp_flow_timeout(struct tcp_flow *flow, uint64_t now_ns)
{
	if (flow->deadline_ns > now_ns)
		return;
	flow->deadline_ns = TCP_NO_DEADLINE;
	switch (flow->state) {
	case TCP_FLOW_OPENING:
		timeout_opening(flow);
		break;
	case TCP_FLOW_OPEN:
		if (++flow->tries > TRIES_DATA)
			tcp_flow_fail(flow, "the peer does not answer any more");
		else if (flow->next == flow->una)
			timeout_probe(flow);
		else
			timeout_data(flow);
		break;
	case TCP_FLOW_WAITING:
		tcp_flow_fail(flow, "the peer does not close");
		break;
	case TCP_FLOW_CLOSED:
	case TCP_FLOW_FAILED:
		break;
	}
}
