/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include "pw_chain.h"
#include "pw_tcp_priv.h"

static void
push(struct pw_tcp *tcp, struct pw_tcp_queue *queue, struct rte_mbuf *m)
{
	pw_tcp_link(tcp, m)->next = NULL;
	if (queue->last != NULL)
		pw_tcp_link(tcp, queue->last)->next = m;
	else
		queue->first = m;
	queue->last = m;
	queue->bytes += m->pkt_len;
	queue->mbufs += m->nb_segs;
	tcp->stats.held_mbufs += m->nb_segs;
}

static struct rte_mbuf *
pop(struct pw_tcp *tcp, struct pw_tcp_queue *queue)
{
	struct rte_mbuf *m = queue->first;

	if (m == NULL)
		return NULL;
	queue->first = pw_tcp_link(tcp, m)->next;
	if (queue->first == NULL)
		queue->last = NULL;
	queue->bytes -= m->pkt_len;
	queue->mbufs -= m->nb_segs;
	tcp->stats.held_mbufs -= m->nb_segs;
	return m;
}

void
pw_tcp_queue_clear(struct pw_tcp *tcp, struct pw_tcp_queue *queue)
{
	struct rte_mbuf *m;

	while ((m = pop(tcp, queue)) != NULL)
		rte_pktmbuf_free(m);
}

/*
 * Copy a packet into the room behind the last one of the queue, where that buffer is ours alone: so
 * many small packets do not keep as many buffers. Two neighbours fill at least one buffer then.
 */
static bool
coalesce(struct pw_tcp *tcp, struct pw_tcp_queue *queue, struct rte_mbuf *into, struct rte_mbuf *m)
{
	uint32_t bytes = m->pkt_len;
	const void *data;
	char *room;

	if (into == NULL || into->nb_segs != 1 || !RTE_MBUF_DIRECT(into) ||
		rte_mbuf_refcnt_read(into) != 1 || bytes > rte_pktmbuf_tailroom(into))
		return false;
	room = rte_pktmbuf_append(into, bytes);
	data = rte_pktmbuf_read(m, 0, bytes, room);
	if (data != room)
		memcpy(room, data, bytes);
	queue->bytes += bytes;
	tcp->stats.rcv_coalesce++;
	rte_pktmbuf_free(m);
	return true;
}

/*
 * Is there memory for a packet? When connections whose readers do not read hold all there is,
 * others get what a fair share would leave them, from a reserve of half as much again.
 */
static bool
has_memory_for(const struct pw_tcp_conn *conn, const struct rte_mbuf *m)
{
	const struct pw_tcp *tcp = conn->tcp;
	uint64_t held = tcp->stats.held_mbufs + m->nb_segs;
	uint32_t max = tcp->params.max_held_mbufs;
	uint64_t share = max / 4 / tcp->stats.curr_conns + 1;

	return held <= max || (conn->in_order.mbufs < share && held <= (uint64_t)max + max / 2);
}

/* Cut a packet to what lies in [rcv_nxt, FIN); NULL when nothing is left. */
static struct rte_mbuf *
trim(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t *seq)
{
	uint32_t end = *seq + m->pkt_len;

	if (pw_seq_before(*seq, conn->rcv_nxt))
		pw_tcp_sack_twice(
			conn, *seq, pw_seq_before(end, conn->rcv_nxt) ? end : conn->rcv_nxt);
	if (conn->has_fin && pw_seq_after(end, conn->fin_seq))
		end = conn->fin_seq;
	if (!pw_seq_after(end, conn->rcv_nxt) || !pw_seq_after(end, *seq)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	if (end != *seq + m->pkt_len)
		pw_chain_cut(m, end - *seq);
	if (pw_seq_before(*seq, conn->rcv_nxt)) {
		m = pw_chain_trim_front(m, conn->rcv_nxt - *seq);
		*seq = conn->rcv_nxt;
	}
	return m;
}

static void
queue_in_order(struct pw_tcp_conn *conn, struct rte_mbuf *m)
{
	conn->rcv_nxt += m->pkt_len;
	conn->unacked_bytes += m->pkt_len;
	conn->tcp->stats.in_bytes += m->pkt_len;
	conn->in_bytes += m->pkt_len;
	if (!coalesce(conn->tcp, &conn->in_order, conn->in_order.last, m))
		push(conn->tcp, &conn->in_order, m);
}

/* A gap was filled: move what follows without a gap. */
static void
pull_out_of_order(struct pw_tcp_conn *conn)
{
	struct pw_tcp *tcp = conn->tcp;
	struct pw_tcp_queue *queue = &conn->reassembly->queue;

	while (queue->first != NULL &&
		!pw_seq_after(pw_tcp_link(tcp, queue->first)->seq, conn->rcv_nxt)) {
		struct rte_mbuf *m = pop(tcp, queue);
		uint32_t seq = pw_tcp_link(tcp, m)->seq;

		tcp->ofo_mbufs -= m->nb_segs;
		m = trim(conn, m, &seq);
		if (m != NULL)
			queue_in_order(conn, m);
	}
}

/* The packet behind which one with this number belongs; NULL: at the front. */
static struct rte_mbuf *
find_before(const struct pw_tcp *tcp, const struct pw_tcp_queue *queue, uint32_t seq)
{
	struct rte_mbuf *before = NULL;

	/* Most segments come behind all others. */
	if (queue->last != NULL && !pw_seq_after(pw_tcp_link(tcp, queue->last)->seq, seq))
		return queue->last;
	for (struct rte_mbuf *m = queue->first;
		m != NULL && !pw_seq_after(pw_tcp_link(tcp, m)->seq, seq);
		m = pw_tcp_link(tcp, m)->next)
		before = m;
	return before;
}

static void
insert_behind(
	struct pw_tcp *tcp, struct pw_tcp_queue *queue, struct rte_mbuf *before, struct rte_mbuf *m)
{
	struct pw_tcp_link *link = pw_tcp_link(tcp, m);

	if (before == queue->last) {
		push(tcp, queue, m);
		return;
	}
	if (before != NULL) {
		link->next = pw_tcp_link(tcp, before)->next;
		pw_tcp_link(tcp, before)->next = m;
	} else {
		link->next = queue->first;
		queue->first = m;
	}
	queue->bytes += m->pkt_len;
	queue->mbufs += m->nb_segs;
	tcp->stats.held_mbufs += m->nb_segs;
}

static uint32_t
end_of(const struct pw_tcp *tcp, struct rte_mbuf *m)
{
	return pw_tcp_link(tcp, m)->seq + m->pkt_len;
}

static bool
is_duplicate(
	const struct pw_tcp *tcp, struct rte_mbuf *before, const struct rte_mbuf *m, uint32_t seq)
{
	return before != NULL && !pw_seq_before(end_of(tcp, before), seq + m->pkt_len);
}

/* Data in order must find memory even when every connection waits for some. */
static bool
has_memory_out_of_order(const struct pw_tcp_conn *conn, const struct rte_mbuf *m)
{
	const struct pw_tcp *tcp = conn->tcp;

	return conn->reassembly->queue.mbufs + m->nb_segs <= PW_TCP_OFO_MAX &&
		tcp->ofo_mbufs + m->nb_segs <= tcp->params.max_held_mbufs / 4 &&
		tcp->stats.held_mbufs + m->nb_segs <= tcp->params.max_held_mbufs;
}

/* Packets may overlap in the queue: they are trimmed when they leave it. */
static void
queue_out_of_order(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq)
{
	struct pw_tcp *tcp = conn->tcp;
	struct pw_tcp_queue *queue = &conn->reassembly->queue;
	struct rte_mbuf *before = find_before(tcp, queue, seq);

	uint32_t end = seq + m->pkt_len;

	if (before != NULL && pw_seq_before(seq, end_of(tcp, before)))
		pw_tcp_sack_twice(conn, seq,
			pw_seq_before(end, end_of(tcp, before)) ? end : end_of(tcp, before));
	if (is_duplicate(tcp, before, m, seq)) {
		tcp->stats.rcv_old++;
		pw_tcp_sack_add(conn, seq, end);
		rte_pktmbuf_free(m);
		return;
	}
	if (before != NULL && end_of(tcp, before) == seq && coalesce(tcp, queue, before, m)) {
		tcp->stats.ofo_queue++;
		pw_tcp_sack_add(conn, seq, end);
		return;
	}
	if (!has_memory_out_of_order(conn, m)) {
		tcp->stats.ofo_drop++;
		rte_pktmbuf_free(m);
		return;
	}
	tcp->stats.ofo_queue++;
	tcp->ofo_mbufs += m->nb_segs;
	pw_tcp_link(tcp, m)->seq = seq;
	insert_behind(tcp, queue, before, m);
	pw_tcp_sack_add(conn, seq, end);
}

/* What lies ahead of rcv_nxt; owns m. */
static void
recv_out_of_order(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq)
{
	conn->ack_now = true; /* RFC 5681 4.2 */
	if (pw_tcp_reassembly_begin(conn)) {
		queue_out_of_order(conn, m, seq);
		return;
	}
	conn->tcp->stats.ofo_drop++;
	rte_pktmbuf_free(m);
}

/* What begins at rcv_nxt; owns m. */
static void
recv_in_order(struct pw_tcp_conn *conn, struct rte_mbuf *m)
{
	if (!has_memory_for(conn, m))
		conn->tcp->stats.ofo_drop += pw_tcp_reassembly_clear(conn);
	if (!has_memory_for(conn, m)) {
		conn->tcp->stats.rcv_mem_drop++;
		conn->ack_now = true;
		rte_pktmbuf_free(m);
		return;
	}
	queue_in_order(conn, m);
	if (conn->reassembly == NULL)
		return;
	/* RFC 5681 4.2: what fills a gap is acknowledged at once. */
	conn->ack_now |= conn->reassembly->queue.first != NULL;
	pull_out_of_order(conn);
	pw_tcp_sack_advance(conn);
}

void
pw_tcp_recv_data(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq)
{
	m = trim(conn, m, &seq);
	if (m == NULL)
		conn->ack_now = true;
	else if (seq == conn->rcv_nxt)
		recv_in_order(conn, m);
	else
		recv_out_of_order(conn, m, seq);
	pw_tcp_reassembly_end(conn);
}

struct rte_mbuf *
pw_tcp_recv(struct pw_tcp_conn *conn)
{
	return pop(conn->tcp, &conn->in_order);
}

const void *
pw_tcp_front(const struct pw_tcp_conn *conn, uint32_t *len_bytes)
{
	const struct rte_mbuf *m = conn->in_order.first;

	if (m == NULL)
		return NULL;
	*len_bytes = m->data_len;
	return rte_pktmbuf_mtod(m, const void *);
}

void
pw_tcp_consume(struct pw_tcp_conn *conn, uint32_t len_bytes)
{
	struct pw_tcp_queue *queue = &conn->in_order;
	struct rte_mbuf *m = queue->first, *next = pw_tcp_link(conn->tcp, m)->next, *rest;

	if (len_bytes == m->pkt_len) {
		m = pop(conn->tcp, queue);
		rte_pktmbuf_free_bulk(&m, 1); /* its segments go back together */
		return;
	}
	queue->mbufs -= m->nb_segs;
	conn->tcp->stats.held_mbufs -= m->nb_segs;
	rest = pw_chain_trim_front(m, len_bytes);
	queue->bytes -= len_bytes;
	queue->mbufs += rest->nb_segs;
	conn->tcp->stats.held_mbufs += rest->nb_segs;
	pw_tcp_link(conn->tcp, rest)->next = next;
	queue->first = rest;
	if (queue->last == m)
		queue->last = rest;
}

uint32_t
pw_tcp_read(struct pw_tcp_conn *conn, void *data, uint32_t len_bytes)
{
	uint32_t done = 0, n;
	const void *front;

	while (done < len_bytes && (front = pw_tcp_front(conn, &n)) != NULL) {
		n = RTE_MIN(n, len_bytes - done);
		memcpy((char *)data + done, front, n);
		pw_tcp_consume(conn, n);
		done += n;
	}
	return done;
}

bool
pw_tcp_at_end(const struct pw_tcp_conn *conn)
{
	return conn->fin_received && conn->in_order.first == NULL;
}
