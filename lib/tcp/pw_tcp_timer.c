/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>

#include "pw_tcp_priv.h"

/*
 * A connection is in the wheel once, not later than its earliest timer. One that is stopped or
 * moves away, as most do, costs nothing now: the connection finds its place when it is looked at.
 */
void
pw_tcp_timer_set(struct pw_tcp_conn *conn, enum pw_tcp_timer timer, uint64_t fire_us)
{
	struct pw_tcp_wheel *wheel = &conn->tcp->wheel;

	conn->timers_us[timer] = fire_us;
	if (fire_us == 0 || (conn->node.due_us != 0 && conn->node.due_us <= fire_us))
		return;
	pw_tcp_wheel_remove(wheel, &conn->node);
	pw_tcp_wheel_add(wheel, &conn->node, fire_us);
}

/* The peer does not answer any more. */
static void
give_up(struct pw_tcp_conn *conn)
{
	pw_tcp_conn_fail(conn, conn->soft_error != 0 ? conn->soft_error : ETIMEDOUT);
}

static bool
is_opening(const struct pw_tcp_conn *conn)
{
	return conn->state == PW_TCP_SYN_SENT || conn->state == PW_TCP_SYN_RECEIVED;
}

/* RFC 6298 5.4 to 5.6: the first segment again, with twice the time. */
static void
retransmission_timeout(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool outstanding = conn->snd_una != conn->snd_max;

	if (conn->retries++ >= (is_opening(conn) ? PW_TCP_SYN_RETRIES : PW_TCP_DATA_RETRIES)) {
		give_up(conn);
		return;
	}
	conn->rto_us = RTE_MIN(conn->rto_us * 2, (uint32_t)PW_TCP_RTO_MAX_US);
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, now_us + conn->rto_us);

	if (is_opening(conn)) {
		conn->timing = false;
		if (conn->state == PW_TCP_SYN_SENT)
			conn->ecn_ok = false; /* RFC 3168 6.1.1.1: it may be what was in the way */
		pw_tcp_send_syn(conn, now_us);
		return;
	}
	if (outstanding) {
		conn->tcp->stats.timeouts++;
		pw_tcp_ack_timeout(conn);
	}
	pw_tcp_output(conn, now_us);
	/* Nothing went out: the peer's window is closed. */
	if (conn->last_sent_us != now_us)
		pw_tcp_send_probe(conn, now_us);
}

/* RFC 9293 3.8.4: an old number makes the peer answer, or reset what it does not know any more. */
static void
keepalive(struct pw_tcp_conn *conn, uint64_t now_us)
{
	uint64_t idle_us = conn->tcp->params.keepalive_s * UINT64_C(1000000);
	uint64_t interval_us = RTE_MAX(idle_us / 8, UINT64_C(1000000));
	uint64_t silent_us = ((uint32_t)(now_us / 1000) - conn->heard_ms) * UINT64_C(1000);

	if (conn->state == PW_TCP_TIME_WAIT) /* it waits for nobody */
		return;
	if (conn->snd_una != conn->snd_max) /* it has a time-out of its own */
		silent_us = 0;
	if (conn->keepalives == 0 && silent_us < idle_us) {
		pw_tcp_timer_set(conn, PW_TCP_TIMER_KEEPALIVE, now_us + idle_us - silent_us);
		return;
	}
	if (conn->keepalives == PW_TCP_KEEPALIVE_PROBES) {
		pw_tcp_send_rst(conn, now_us);
		give_up(conn);
		return;
	}
	if (pw_tcp_send_segment(conn, conn->snd_una - 1, 0, 0, now_us)) {
		conn->tcp->stats.keepalives++;
		conn->keepalives++;
	}
	pw_tcp_timer_set(conn, PW_TCP_TIMER_KEEPALIVE, now_us + interval_us);
}

static bool
has_fired(struct pw_tcp_conn *conn, enum pw_tcp_timer timer, uint64_t now_us)
{
	if (conn->state == PW_TCP_CLOSED || conn->timers_us[timer] == 0 ||
		conn->timers_us[timer] > now_us)
		return false;
	conn->timers_us[timer] = 0;
	return true;
}

/* Those that belong to the protocol. */
static void
run_timers(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (has_fired(conn, PW_TCP_TIMER_LINGER, now_us)) {
		/* A stream that the peer has not ended is not whole. */
		conn->error = conn->state == PW_TCP_FIN_WAIT_2 ? ETIMEDOUT : 0;
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	}
	if (has_fired(conn, PW_TCP_TIMER_REXMIT, now_us))
		retransmission_timeout(conn, now_us);
	if (has_fired(conn, PW_TCP_TIMER_REORDER, now_us))
		pw_tcp_rack_timeout(conn, now_us);
	if (has_fired(conn, PW_TCP_TIMER_PROBE, now_us))
		pw_tcp_probe_timeout(conn, now_us);
	if (has_fired(conn, PW_TCP_TIMER_KEEPALIVE, now_us))
		keepalive(conn, now_us);
	if (has_fired(conn, PW_TCP_TIMER_DELACK, now_us)) {
		conn->tcp->stats.delayed_acks++;
		pw_tcp_send_ack(conn, now_us);
	}
}

/* Those that call the application; true: it was called. */
static bool
run_app_timers(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool starved = has_fired(conn, PW_TCP_TIMER_STARVED, now_us);
	bool app = has_fired(conn, PW_TCP_TIMER_APP, now_us);

	if (starved) {
		conn->starved = false;
		pw_tcp_conn_tell(conn, conn->app->writable);
	}
	if (app)
		pw_tcp_conn_tell(conn, conn->app->timer);
	return starved || app;
}

/* Back into the wheel, at the earliest timer. */
static void
rewind_node(struct pw_tcp_conn *conn)
{
	uint64_t first_us = UINT64_MAX;

	/* A timer that is off, 0, comes last when counted down by one. */
	for (unsigned i = 0; i < PW_TCP_TIMERS; i++)
		first_us = RTE_MIN(first_us, conn->timers_us[i] - 1);
	pw_tcp_wheel_remove(&conn->tcp->wheel, &conn->node);
	if (first_us != UINT64_MAX)
		pw_tcp_wheel_add(&conn->tcp->wheel, &conn->node, first_us + 1);
}

static void
fire(struct pw_tcp_wheel_node *node, void *ctx)
{
	struct pw_tcp_conn *conn = container_of(node, struct pw_tcp_conn, node);
	const struct pw_tcp *tcp = ctx;

	run_timers(conn, tcp->now_us);
	rewind_node(conn);
	if (run_app_timers(conn, tcp->now_us))
		pw_tcp_conn_finish(conn, tcp->now_us);
	else if (conn->state == PW_TCP_CLOSED)
		pw_tcp_conn_release(conn);
}

void
pw_tcp_tick(struct pw_tcp *tcp, uint64_t now_us)
{
	tcp->now_us = now_us;
	if (now_us >= tcp->wheel.next_us)
		pw_tcp_wheel_advance(&tcp->wheel, now_us, fire, tcp);
}
