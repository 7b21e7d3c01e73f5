/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>

#include "pw_tcp_priv.h"

static enum pw_tcp_list
list_of(const struct pw_tcp_conn *conn, enum pw_tcp_state state)
{
	switch (state) {
	case PW_TCP_SYN_RECEIVED:
		return conn->is_active ? PW_TCP_LIST_OPEN : PW_TCP_LIST_HALF_OPEN;
	case PW_TCP_TIME_WAIT:
		return PW_TCP_LIST_TIME_WAIT;
	default:
		return PW_TCP_LIST_OPEN;
	}
}

/* The oldest of a list, but none in whose callback we are. */
static struct pw_tcp_conn *
oldest(struct pw_tcp *tcp, enum pw_tcp_list list)
{
	struct pw_tcp_conn *conn = TAILQ_FIRST(&tcp->lists[list]);

	while (conn != NULL && conn->in_callback)
		conn = TAILQ_NEXT(conn, link);
	return conn;
}

/* All connections in use: the oldest one that nobody needs makes room. */
static void
recycle(struct pw_tcp *tcp, enum pw_tcp_room room)
{
	struct pw_tcp_conn *victim = oldest(tcp, PW_TCP_LIST_TIME_WAIT);

	if (victim == NULL && room == PW_TCP_ROOM_HALF_OPEN)
		victim = oldest(tcp, PW_TCP_LIST_HALF_OPEN);
	if (victim == NULL)
		return;
	tcp->stats.conns_recycled++;
	pw_tcp_conn_release(victim);
}

struct pw_tcp_conn *
pw_tcp_conn_new(
	struct pw_tcp *tcp, const struct pw_tcp_key *key, bool is_active, enum pw_tcp_room room)
{
	struct pw_tcp_conn *conn;

	if (TAILQ_EMPTY(&tcp->free_conns))
		recycle(tcp, room);
	conn = TAILQ_FIRST(&tcp->free_conns);
	if (conn == NULL)
		return NULL;

	TAILQ_REMOVE(&tcp->free_conns, conn, link);
	*conn = (struct pw_tcp_conn){
		.tcp = tcp,
		.key = *key,
		.is_active = is_active,
		.state = is_active ? PW_TCP_SYN_SENT : PW_TCP_SYN_RECEIVED,
		.rto_us = PW_TCP_RTO_INITIAL_US,
		.born_us = tcp->now_us,
		.heard_ms = (uint32_t)(tcp->now_us / 1000),
	};
	TAILQ_INIT(&conn->chunks);
	conn->list = list_of(conn, conn->state);
	TAILQ_INSERT_TAIL(&tcp->lists[conn->list], conn, link);
	pw_tcp_table_add(conn);
	tcp->stats.curr_conns++;
	tcp->stats.curr_half_open += conn->list == PW_TCP_LIST_HALF_OPEN;
	return conn;
}

/* RFC 9293 3.3.2, and Linux's CurrEstab: ESTABLISHED and CLOSE-WAIT. */
static bool
counts_as_established(enum pw_tcp_state state)
{
	return state == PW_TCP_ESTABLISHED || state == PW_TCP_CLOSE_WAIT;
}

void
pw_tcp_conn_set_state(struct pw_tcp_conn *conn, enum pw_tcp_state state)
{
	struct pw_tcp *tcp = conn->tcp;
	enum pw_tcp_list list = list_of(conn, state);

	tcp->stats.attempt_fails += state == PW_TCP_CLOSED &&
		(conn->state == PW_TCP_SYN_SENT || conn->state == PW_TCP_SYN_RECEIVED);
	tcp->stats.curr_estab += counts_as_established(state);
	tcp->stats.curr_estab -= counts_as_established(conn->state);
	conn->state = state;
	if (list != conn->list) {
		tcp->stats.curr_half_open += list == PW_TCP_LIST_HALF_OPEN;
		tcp->stats.curr_half_open -= conn->list == PW_TCP_LIST_HALF_OPEN;
		TAILQ_REMOVE(&tcp->lists[conn->list], conn, link);
		TAILQ_INSERT_TAIL(&tcp->lists[list], conn, link);
		conn->list = list;
	}
}

void
pw_tcp_conn_tell(
	struct pw_tcp_conn *conn, void (*callback)(struct pw_tcp_conn *conn, void *app_ctx))
{
	bool nested = conn->in_callback;

	if (callback == NULL)
		return;
	conn->in_callback = true;
	callback(conn, conn->app_ctx);
	conn->in_callback = nested;
}

void
pw_tcp_conn_opened(struct pw_tcp_conn *conn, uint64_t now_us)
{
	struct pw_tcp *tcp = conn->tcp;

	pw_tcp_conn_set_state(conn, PW_TCP_ESTABLISHED);
	if (conn->is_active)
		tcp->stats.active_opens++;
	else
		tcp->stats.passive_opens++;
	conn->retries = 0;
	conn->soft_error = 0;
	conn->tell_closed = true;
	if (tcp->params.keepalive_s > 0)
		pw_tcp_timer_set(conn, PW_TCP_TIMER_KEEPALIVE,
			now_us + tcp->params.keepalive_s * UINT64_C(1000000));
	pw_tcp_conn_tell(conn, conn->app->opened);
}

void
pw_tcp_conn_fail(struct pw_tcp_conn *conn, int error)
{
	conn->tcp->stats.estab_resets += conn->state != PW_TCP_SYN_RECEIVED &&
		conn->state != PW_TCP_SYN_SENT;
	conn->error = error;
	pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
}

void
pw_tcp_conn_finish(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->aborting && conn->state != PW_TCP_CLOSED) {
		pw_tcp_send_rst(conn, now_us);
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	}
	if (conn->state == PW_TCP_CLOSED)
		pw_tcp_conn_release(conn);
	else if (conn->state != PW_TCP_SYN_SENT && conn->state != PW_TCP_SYN_RECEIVED)
		pw_tcp_output(conn, now_us);
}

void
pw_tcp_conn_release(struct pw_tcp_conn *conn)
{
	struct pw_tcp *tcp = conn->tcp;

	pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	if (conn->tell_closed)
		pw_tcp_conn_tell(conn, conn->app->closed);
	pw_tcp_table_remove(conn);
	pw_tcp_wheel_remove(&tcp->wheel, &conn->node);
	pw_tcp_queue_clear(tcp, &conn->in_order);
	pw_tcp_reassembly_release(conn);
	pw_tcp_flight_clear(conn);
	pw_tcp_send_clear(conn);
	TAILQ_REMOVE(&tcp->lists[conn->list], conn, link);
	TAILQ_INSERT_HEAD(&tcp->free_conns, conn, link);
	tcp->stats.curr_conns--;
}

void
pw_tcp_abort(struct pw_tcp_conn *conn)
{
	conn->aborting = true;
}
