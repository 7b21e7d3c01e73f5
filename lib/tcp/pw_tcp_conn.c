/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include "pw_tcp_priv.h"

struct pw_tcp_conn *
pw_tcp_conn_find(struct pw_tcp *tcp, const struct pw_tcp_key *key)
{
	void *conn;

	return rte_hash_lookup_data(tcp->by_key, key, &conn) < 0 ? NULL : conn;
}

static enum pw_tcp_list
list_of(enum pw_tcp_state state)
{
	switch (state) {
	case PW_TCP_SYN_RECEIVED:
		return PW_TCP_LIST_HALF_OPEN;
	case PW_TCP_TIME_WAIT:
		return PW_TCP_LIST_TIME_WAIT;
	default:
		return PW_TCP_LIST_OPEN;
	}
}

/*
 * All connections in use: the oldest one that nobody needs makes room, in TIME-WAIT first, then
 * half open, so that a flood of SYNs cannot keep real clients out.
 */
static void
recycle(struct pw_tcp *tcp)
{
	struct pw_tcp_conn *victim = TAILQ_FIRST(&tcp->lists[PW_TCP_LIST_TIME_WAIT]);

	if (victim == NULL)
		victim = TAILQ_FIRST(&tcp->lists[PW_TCP_LIST_HALF_OPEN]);
	if (victim == NULL)
		return;
	tcp->stats.conns_recycled++;
	pw_tcp_conn_release(victim);
}

struct pw_tcp_conn *
pw_tcp_conn_new(struct pw_tcp *tcp, const struct pw_tcp_key *key)
{
	struct pw_tcp_conn *conn;

	if (TAILQ_EMPTY(&tcp->free_conns))
		recycle(tcp);
	conn = TAILQ_FIRST(&tcp->free_conns);
	if (conn == NULL || rte_hash_add_key_data(tcp->by_key, key, conn) < 0)
		return NULL;

	TAILQ_REMOVE(&tcp->free_conns, conn, link);
	*conn = (struct pw_tcp_conn){
		.tcp = tcp,
		.key = *key,
		.state = PW_TCP_SYN_RECEIVED,
		.list = PW_TCP_LIST_HALF_OPEN,
		.rto_us = PW_TCP_RTO_INITIAL_US,
	};
	TAILQ_INIT(&conn->chunks);
	TAILQ_INSERT_TAIL(&tcp->lists[conn->list], conn, link);
	tcp->stats.curr_conns++;
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
	enum pw_tcp_list list = list_of(state);

	tcp->stats.curr_estab += counts_as_established(state);
	tcp->stats.curr_estab -= counts_as_established(conn->state);
	conn->state = state;
	if (list != conn->list) {
		TAILQ_REMOVE(&tcp->lists[conn->list], conn, link);
		TAILQ_INSERT_TAIL(&tcp->lists[list], conn, link);
		conn->list = list;
	}
}

void
pw_tcp_conn_tell(
	struct pw_tcp_conn *conn, void (*callback)(struct pw_tcp_conn *conn, void *app_ctx))
{
	if (callback != NULL)
		callback(conn, conn->listener->app_ctx);
}

void
pw_tcp_conn_finish(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->aborting && conn->state != PW_TCP_CLOSED) {
		pw_tcp_send_rst(conn, now_us);
		pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	}
	if (conn->state != PW_TCP_CLOSED)
		pw_tcp_output(conn, now_us);
	else
		pw_tcp_conn_release(conn);
}

void
pw_tcp_conn_release(struct pw_tcp_conn *conn)
{
	struct pw_tcp *tcp = conn->tcp;

	pw_tcp_conn_set_state(conn, PW_TCP_CLOSED);
	if (conn->was_opened)
		pw_tcp_conn_tell(conn, conn->listener->app->closed);
	rte_hash_del_key(tcp->by_key, &conn->key);
	pw_tcp_queue_clear(tcp, &conn->in_order);
	tcp->ofo_mbufs -= conn->out_of_order.mbufs;
	pw_tcp_queue_clear(tcp, &conn->out_of_order);
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

void
pw_tcp_set_user(struct pw_tcp_conn *conn, void *user)
{
	conn->user = user;
}

void *
pw_tcp_get_user(const struct pw_tcp_conn *conn)
{
	return conn->user;
}

void
pw_tcp_get_peer(const struct pw_tcp_conn *conn, rte_be32_t *addr, uint16_t *port)
{
	*addr = conn->key.peer;
	*port = rte_be_to_cpu_16(conn->key.peer_port);
}
