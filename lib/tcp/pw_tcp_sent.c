/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_sent.h"

#include <errno.h>

#include <rte_malloc.h>

#include "pw_tcp_priv.h"

#define RECORDS_MIN 8192
#define RECORDS_MAX 65536
#define RECORDS_PER_CONN 8
#define FEW 4 /* that a connection can have from the reserve */

static uint32_t
records(uint32_t max_conns)
{
	uint32_t n = RTE_MIN(max_conns, (uint32_t)RECORDS_MAX) * RECORDS_PER_CONN;

	return RTE_MIN(RTE_MAX(n, (uint32_t)RECORDS_MIN), (uint32_t)RECORDS_MAX);
}

size_t
pw_tcp_sent_pool_bytes(uint32_t max_conns)
{
	return records(max_conns) * sizeof(struct pw_tcp_sent);
}

int
pw_tcp_sent_pool_init(struct pw_tcp *tcp)
{
	struct pw_tcp_sent_pool *pool = &tcp->sent_pool;
	uint32_t n = records(tcp->params.max_conns);

	TAILQ_INIT(&pool->free);
	pool->records = rte_zmalloc_socket("pw_tcp_sent",
		pw_tcp_sent_pool_bytes(tcp->params.max_conns), RTE_CACHE_LINE_SIZE,
		tcp->params.pool->socket_id);
	if (pool->records == NULL)
		return -ENOMEM;
	pool->nb = n;
	for (pool->nb_free = 0; pool->nb_free < n; pool->nb_free++)
		TAILQ_INSERT_TAIL(&pool->free, &pool->records[pool->nb_free], by_seq);
	return 0;
}

void
pw_tcp_sent_pool_fini(struct pw_tcp *tcp)
{
	rte_free(tcp->sent_pool.records);
}

static struct pw_tcp_sent *
alloc(struct pw_tcp_conn *conn)
{
	struct pw_tcp_sent_pool *pool = &conn->tcp->sent_pool;
	struct pw_tcp_sent *rec = TAILQ_FIRST(&pool->free);

	if (rec == NULL)
		return NULL;
	TAILQ_REMOVE(&pool->free, rec, by_seq);
	pool->nb_free--;
	conn->flight->sent.nb++;
	return rec;
}

/* It is in neither of the other two lists any more. */
static void
drop(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec)
{
	struct pw_tcp_sent_pool *pool = &conn->tcp->sent_pool;

	if (conn->flight->sent.hint == rec)
		conn->flight->sent.hint = TAILQ_NEXT(rec, by_seq);
	TAILQ_REMOVE(&conn->flight->sent.all, rec, by_seq);
	TAILQ_INSERT_HEAD(&pool->free, rec, by_seq);
	pool->nb_free++;
	conn->flight->sent.nb--;
}

static uint32_t
bytes_of(const struct pw_tcp_sent *rec)
{
	return rec->end - rec->seq;
}

/* Take a record out of the lists and counters of its state. */
static void
leave_state(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec)
{
	struct pw_tcp_sent_queue *sent = &conn->flight->sent;

	switch (rec->state) {
	case PW_TCP_IN_FLIGHT:
		sent->pipe_bytes -= bytes_of(rec);
		TAILQ_REMOVE(&sent->in_flight, rec, order);
		break;
	case PW_TCP_LOST:
		TAILQ_REMOVE(&sent->lost, rec, order);
		break;
	default:
		sent->sacked_bytes -= bytes_of(rec);
		break;
	}
}

/* Behind what was sent before it, near is where to look for that. */
static void
enter_flight_near(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, struct pw_tcp_sent *near)
{
	struct pw_tcp_sent_list *list = &conn->flight->sent.in_flight;
	struct pw_tcp_sent *next;

	rec->state = PW_TCP_IN_FLIGHT;
	conn->flight->sent.pipe_bytes += bytes_of(rec);
	while (near != NULL && near->sent_us > rec->sent_us)
		near = TAILQ_PREV(near, pw_tcp_sent_list, order);
	next = near == NULL ? TAILQ_FIRST(list) : TAILQ_NEXT(near, order);
	for (; next != NULL && next->sent_us <= rec->sent_us; next = TAILQ_NEXT(next, order))
		near = next;
	if (near == NULL)
		TAILQ_INSERT_HEAD(list, rec, order);
	else
		TAILQ_INSERT_AFTER(list, near, rec, order);
}

/* It was sent now. */
static void
enter_flight(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec)
{
	enter_flight_near(conn, rec, TAILQ_LAST(&conn->flight->sent.in_flight, pw_tcp_sent_list));
}

static void
enter_lost(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec)
{
	struct pw_tcp_sent *last = TAILQ_LAST(&conn->flight->sent.lost, pw_tcp_sent_list);

	rec->state = PW_TCP_LOST;
	while (last != NULL && pw_seq_after(last->seq, rec->seq))
		last = TAILQ_PREV(last, pw_tcp_sent_list, order);
	if (last == NULL)
		TAILQ_INSERT_HEAD(&conn->flight->sent.lost, rec, order);
	else
		TAILQ_INSERT_AFTER(&conn->flight->sent.lost, last, rec, order);
}

void
pw_tcp_sent_init(struct pw_tcp_sent_queue *sent)
{
	TAILQ_INIT(&sent->all);
	TAILQ_INIT(&sent->in_flight);
	TAILQ_INIT(&sent->lost);
}

void
pw_tcp_sent_clear(struct pw_tcp_conn *conn)
{
	struct pw_tcp_sent *rec;

	while ((rec = TAILQ_FIRST(&conn->flight->sent.all)) != NULL) {
		leave_state(conn, rec);
		drop(conn, rec);
	}
}

bool
pw_tcp_sent_has_room(const struct pw_tcp_conn *conn)
{
	const struct pw_tcp_sent_pool *pool = &conn->tcp->sent_pool;
	uint32_t nb = conn->flight == NULL ? 0 : conn->flight->sent.nb;

	if (nb < FEW)
		return pool->nb_free > pool->nb / 8;
	return nb < PW_TCP_SENT_MAX && nb < pool->nb_free && pool->nb_free > pool->nb / 4;
}

void
pw_tcp_sent_add(struct pw_tcp_conn *conn, uint32_t end, uint64_t now_us)
{
	struct pw_tcp_sent *rec = alloc(conn);

	rec->seq = conn->snd_max;
	rec->end = end;
	rec->sent_us = now_us;
	rec->piece_bytes = conn->mss;
	rec->retransmitted = false;
	TAILQ_INSERT_TAIL(&conn->flight->sent.all, rec, by_seq);
	enter_flight(conn, rec);
}

void
pw_tcp_sent_again(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint64_t now_us)
{
	leave_state(conn, rec);
	rec->sent_us = now_us;
	rec->piece_bytes = conn->mss;
	rec->retransmitted = true;
	enter_flight(conn, rec);
}

bool
pw_tcp_sent_split(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t seq)
{
	const struct pw_tcp_sent_pool *pool = &conn->tcp->sent_pool;
	uint32_t nb = conn->flight->sent.nb;
	struct pw_tcp_sent *rest;

	if (nb >= 2 * PW_TCP_SENT_MAX || (nb >= FEW && pool->nb_free <= pool->nb / 8))
		return false;
	rest = alloc(conn);
	if (rest == NULL)
		return false;
	*rest = *rec;
	rest->seq = seq;
	rec->end = seq;
	TAILQ_INSERT_AFTER(&conn->flight->sent.all, rec, rest, by_seq);
	if (rec->state == PW_TCP_IN_FLIGHT)
		TAILQ_INSERT_AFTER(&conn->flight->sent.in_flight, rec, rest, order);
	else if (rec->state == PW_TCP_LOST)
		TAILQ_INSERT_AFTER(&conn->flight->sent.lost, rec, rest, order);
	return true;
}

void
pw_tcp_sent_gather(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t len_bytes)
{
	struct pw_tcp_sent *next;

	while (rec->end - rec->seq < len_bytes && (next = TAILQ_NEXT(rec, by_seq)) != NULL &&
		next->state == PW_TCP_LOST) {
		uint32_t end = next->end;

		if (end - rec->seq > len_bytes)
			end = rec->seq + len_bytes;
		rec->retransmitted |= next->retransmitted;
		rec->end = end;
		pw_tcp_sent_trim(conn, next, end);
	}
}

void
pw_tcp_sent_set_lost(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec)
{
	leave_state(conn, rec);
	enter_lost(conn, rec);
}

/* Two that the peer has are one. */
static void
unite(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, struct pw_tcp_sent *next)
{
	if (rec == NULL || next == NULL || rec->state != PW_TCP_SACKED ||
		next->state != PW_TCP_SACKED)
		return;
	next->seq = rec->seq;
	drop(conn, rec);
}

void
pw_tcp_sent_set_sacked(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec)
{
	leave_state(conn, rec);
	rec->state = PW_TCP_SACKED;
	conn->flight->sent.sacked_bytes += bytes_of(rec);
	conn->flight->sent.hint = rec;
	unite(conn, TAILQ_PREV(rec, pw_tcp_sent_list, by_seq), rec);
	unite(conn, rec, TAILQ_NEXT(rec, by_seq));
}

void
pw_tcp_sent_trim(struct pw_tcp_conn *conn, struct pw_tcp_sent *rec, uint32_t seq)
{
	if (!pw_seq_before(seq, rec->end)) {
		leave_state(conn, rec);
		drop(conn, rec);
		return;
	}
	if (rec->state == PW_TCP_IN_FLIGHT)
		conn->flight->sent.pipe_bytes -= seq - rec->seq;
	else if (rec->state == PW_TCP_SACKED)
		conn->flight->sent.sacked_bytes -= seq - rec->seq;
	rec->seq = seq;
}

void
pw_tcp_sent_set_all_lost(struct pw_tcp_conn *conn)
{
	struct pw_tcp_sent_list all = TAILQ_HEAD_INITIALIZER(all);
	struct pw_tcp_sent *rec;

	TAILQ_FOREACH (rec, &conn->flight->sent.all, by_seq) {
		leave_state(conn, rec);
		rec->state = PW_TCP_LOST;
		TAILQ_INSERT_TAIL(&all, rec, order);
	}
	TAILQ_CONCAT(&conn->flight->sent.lost, &all, order);
}

void
pw_tcp_sent_set_none_lost(struct pw_tcp_conn *conn)
{
	struct pw_tcp_sent *rec, *near = NULL;

	/* By number they are mostly by time too. */
	while ((rec = TAILQ_FIRST(&conn->flight->sent.lost)) != NULL) {
		leave_state(conn, rec);
		enter_flight_near(conn, rec, near);
		near = rec;
	}
}

bool
pw_tcp_sent_set_first_lost(struct pw_tcp_conn *conn, uint32_t len_bytes)
{
	uint32_t end = conn->snd_una + len_bytes;
	struct pw_tcp_sent *rec = TAILQ_FIRST(&conn->flight->sent.all);
	bool any = false;

	while (rec != NULL && pw_seq_before(rec->seq, end) && rec->state == PW_TCP_IN_FLIGHT &&
		!rec->retransmitted) {
		/* A FIN that would be left alone goes with the data. */
		if (pw_seq_after(rec->end, end) &&
			!(rec->end == end + 1 && pw_seq_after(rec->end, conn->snd_end)) &&
			!pw_tcp_sent_split(conn, rec, end))
			break;
		pw_tcp_sent_set_lost(conn, rec);
		any = true;
		rec = TAILQ_NEXT(rec, by_seq);
	}
	return any;
}
