/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <rte_tailq.h>

#include "pw_tcp_priv.h"

void
pw_tcp_timer_set(struct pw_tcp_conn *conn, uint64_t *timer, uint64_t fire_us)
{
	*timer = fire_us;
	if (fire_us != 0 && fire_us < conn->tcp->next_timer_us)
		conn->tcp->next_timer_us = fire_us;
}

/* The peer does not answer any more. */
static void
give_up(struct pw_tcp_conn *conn)
{
	conn->tcp->stats.estab_resets += conn->state != PW_TCP_SYN_RECEIVED;
	pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
}

/* RFC 6298 5.4 to 5.6: the first segment again, with twice the time. */
static void
retransmission_timeout(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool outstanding = conn->snd_una != conn->snd_max;
	unsigned max = conn->state == PW_TCP_SYN_RECEIVED ? PW_TCP_SYNACK_RETRIES
							  : PW_TCP_DATA_RETRIES;

	if (conn->retries++ >= max) {
		give_up(conn);
		return;
	}
	conn->rto_us = RTE_MIN(conn->rto_us * 2, (uint32_t)PW_TCP_RTO_MAX_US);
	pw_tcp_timer_set(conn, &conn->rexmit_us, now_us + conn->rto_us);

	if (conn->state == PW_TCP_SYN_RECEIVED) {
		conn->timing = false;
		pw_tcp_send_syn_ack(conn, now_us);
		return;
	}
	if (outstanding) {
		conn->tcp->stats.timeouts++;
		pw_tcp_ack_timeout(conn);
	}
	pw_tcp_output(conn, now_us);
	/* Nothing went out: the peer's window is closed. */
	if (conn->snd_nxt == conn->snd_una)
		pw_tcp_send_probe(conn, now_us);
}

static bool
has_fired(uint64_t *timer, uint64_t now_us)
{
	if (*timer == 0 || *timer > now_us)
		return false;
	*timer = 0;
	return true;
}

static void
run_timers(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (has_fired(&conn->linger_us, now_us))
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	else if (has_fired(&conn->rexmit_us, now_us))
		retransmission_timeout(conn, now_us);

	if (conn->state != PW_TCP_CLOSED && has_fired(&conn->starved_us, now_us)) {
		conn->starved = false;
		pw_tcp_conn_tell(conn, conn->listener->app->writable);
		pw_tcp_conn_finish(conn, now_us);
		return;
	}
	if (conn->state != PW_TCP_CLOSED && has_fired(&conn->delack_us, now_us)) {
		conn->tcp->stats.delayed_acks++;
		pw_tcp_send_ack(conn, now_us);
	}
	if (conn->state == PW_TCP_CLOSED)
		pw_tcp_conn_release(conn);
}

static uint64_t
next_timer(const struct pw_tcp_conn *conn)
{
	/* A timer that is off, 0, comes last when counted down by one. */
	return RTE_MIN(RTE_MIN(conn->rexmit_us - 1, conn->delack_us - 1),
		RTE_MIN(conn->linger_us - 1, conn->starved_us - 1));
}

void
pw_tcp_tick(struct pw_tcp *tcp, uint64_t now_us)
{
	struct pw_tcp_conn *conn, *next;
	uint64_t first = UINT64_MAX;

	if (now_us < tcp->next_timer_us)
		return;
	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		RTE_TAILQ_FOREACH_SAFE (conn, &tcp->lists[i], link, next)
			run_timers(conn, now_us);

	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		TAILQ_FOREACH (conn, &tcp->lists[i], link)
			first = RTE_MIN(first, next_timer(conn));
	tcp->next_timer_us = first == UINT64_MAX ? first : first + 1;
}
