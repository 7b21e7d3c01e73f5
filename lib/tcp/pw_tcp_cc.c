/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_cc.h"

#include "pw_tcp_priv.h"

#define INITIAL_SEGMENTS 10 /* RFC 6928 */

/* RFC 5681 3.1, by bytes (RFC 3465): a segment for each window acknowledged. */
static void
newreno_on_ack(struct pw_tcp_conn *conn, uint32_t acked_bytes, uint64_t now_us)
{
	(void)now_us;
	conn->cc_state.count += acked_bytes;
	if (conn->cc_state.count < conn->cwnd)
		return;
	conn->cc_state.count -= conn->cwnd;
	conn->cwnd += conn->mss;
}

/* RFC 5681 3.1, equation 4. */
static uint32_t
newreno_on_loss(struct pw_tcp_conn *conn)
{
	conn->cc_state.count = 0;
	return RTE_MAX((conn->snd_max - conn->snd_una) / 2, 2U * conn->mss);
}

static void
newreno_on_restart(struct pw_tcp_conn *conn)
{
	conn->cc_state.count = 0;
}

const struct pw_tcp_cc pw_tcp_cc_newreno = {
	.on_ack = newreno_on_ack,
	.on_loss = newreno_on_loss,
	.on_restart = newreno_on_restart,
};

uint32_t
pw_tcp_cc_initial_window(const struct pw_tcp_conn *conn)
{
	return INITIAL_SEGMENTS * conn->mss;
}

const struct pw_tcp_cc *
pw_tcp_cc_of(enum pw_tcp_congestion congestion)
{
	return congestion == PW_TCP_NEWRENO ? &pw_tcp_cc_newreno : &pw_tcp_cc_cubic;
}

void
pw_tcp_cc_init(struct pw_tcp_conn *conn)
{
	conn->cwnd = pw_tcp_cc_initial_window(conn);
	conn->ssthresh = PW_TCP_CWND_MAX;
}

/* A window that was not used up says nothing about the path (RFC 7661). */
static bool
was_used(const struct pw_tcp_conn *conn)
{
	const struct pw_tcp_flight *flight = conn->flight;

	if (conn->cwnd < conn->ssthresh && conn->cwnd < 2 * flight->round_flight)
		return true;
	return flight->cwnd_limited;
}

/*
 * Slow start takes all that was acknowledged (RFC 3465 with no limit L but the window): receivers
 * behind GRO acknowledge up to 64 KiB at a time.
 */
void
pw_tcp_cc_acked(struct pw_tcp_conn *conn, uint32_t acked_bytes, uint64_t now_us)
{
	if (!was_used(conn))
		return;
	if (conn->cwnd < conn->ssthresh) {
		uint32_t n = RTE_MIN(RTE_MIN(acked_bytes, conn->cwnd), conn->ssthresh - conn->cwnd);

		conn->cwnd += n;
		acked_bytes -= n;
		if (conn->cwnd < conn->ssthresh)
			acked_bytes = 0;
	}
	if (acked_bytes > 0)
		conn->tcp->cc->on_ack(conn, acked_bytes, now_us);
	conn->cwnd = RTE_MIN(conn->cwnd, PW_TCP_CWND_MAX);
}

void
pw_tcp_cc_restart_after_idle(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->last_sent_us == 0 || now_us - conn->last_sent_us <= conn->rto_us)
		return;
	conn->cwnd = RTE_MIN(conn->cwnd, pw_tcp_cc_initial_window(conn));
	conn->tcp->cc->on_restart(conn);
}
