/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <string.h>

#include "pw_tcp_priv.h"

#define CHUNK_MIN_BYTES 1536 /* so that small writes share a fragment */

static bool
can_send(const struct pw_tcp_conn *conn)
{
	return !conn->fin_queued && !conn->aborting &&
		(conn->state == PW_TCP_ESTABLISHED || conn->state == PW_TCP_CLOSE_WAIT);
}

uint32_t
pw_tcp_send_room(const struct pw_tcp_conn *conn)
{
	uint32_t used = conn->snd_end - conn->snd_una;

	if (!can_send(conn) || used >= conn->tcp->params.sndbuf_bytes)
		return 0;
	return conn->tcp->params.sndbuf_bytes - used;
}

static struct pw_tcp_chunk *
last_chunk(struct pw_tcp_conn *conn)
{
	return TAILQ_LAST(&conn->chunks, pw_tcp_chunk_list);
}

static uint32_t
chunk_room(const struct pw_tcp_chunk *chunk)
{
	return chunk == NULL ? 0 : chunk->buf->size_bytes - sizeof(*chunk) - chunk->len_bytes;
}

/*
 * Peers that take nothing must not have all the memory: beyond a limit, each connection gets one
 * small fragment, or what a fair share would leave it, from a reserve of half as much again.
 */
static uint32_t
choose_size(const struct pw_tcp_conn *conn, uint32_t want_bytes)
{
	const struct pw_tcp *tcp = conn->tcp;
	uint64_t max = tcp->max_queued_bytes, share = max / 4 / tcp->stats.curr_conns;
	uint32_t size = RTE_MAX(want_bytes, (uint32_t)CHUNK_MIN_BYTES) +
		sizeof(struct pw_tcp_chunk);

	size = RTE_MIN(size, pw_frag_buf_max(tcp->params.frags));
	if (tcp->queued_bytes + size <= max)
		return size;
	size = CHUNK_MIN_BYTES + sizeof(struct pw_tcp_chunk);
	if (tcp->queued_bytes + size > max + max / 2 ||
		(!TAILQ_EMPTY(&conn->chunks) && conn->snd_end - conn->snd_una >= share))
		return 0;
	return size;
}

static struct pw_tcp_chunk *
add_chunk(struct pw_tcp_conn *conn, uint32_t want_bytes)
{
	struct pw_tcp *tcp = conn->tcp;
	uint32_t size = choose_size(conn, want_bytes);
	struct pw_tcp_chunk *chunk;
	struct pw_frag_buf *buf;

	if (size == 0)
		return NULL;
	buf = pw_frag_buf_alloc_upto(tcp->frags, size);
	if (buf == NULL)
		return NULL;
	tcp->queued_bytes += buf->size_bytes;
	chunk = (void *)buf->data;
	chunk->buf = buf;
	chunk->seq = conn->snd_end;
	chunk->len_bytes = 0;
	TAILQ_INSERT_TAIL(&conn->chunks, chunk, next);
	return chunk;
}

uint32_t
pw_tcp_send(struct pw_tcp_conn *conn, const void *data, uint32_t len_bytes)
{
	uint32_t left = RTE_MIN(len_bytes, pw_tcp_send_room(conn));
	uint32_t taken = 0;

	while (left > 0) {
		struct pw_tcp_chunk *chunk = last_chunk(conn);
		uint32_t n;

		if (chunk_room(chunk) == 0)
			chunk = add_chunk(conn, left);
		if (chunk == NULL) {
			conn->starved = true;
			conn->tcp->stats.no_frag++;
			break;
		}
		n = RTE_MIN(left, chunk_room(chunk));
		memcpy(chunk->data + chunk->len_bytes, (const char *)data + taken, n);
		chunk->len_bytes += n;
		conn->snd_end += n;
		taken += n;
		left -= n;
	}
	return taken;
}

void
pw_tcp_shutdown(struct pw_tcp_conn *conn)
{
	if (can_send(conn))
		conn->fin_queued = true;
}

static void
free_first_chunk(struct pw_tcp_conn *conn)
{
	struct pw_tcp_chunk *chunk = TAILQ_FIRST(&conn->chunks);

	TAILQ_REMOVE(&conn->chunks, chunk, next);
	conn->tcp->queued_bytes -= chunk->buf->size_bytes;
	pw_frag_buf_put(chunk->buf);
}

void
pw_tcp_send_acked(struct pw_tcp_conn *conn)
{
	struct pw_tcp_chunk *chunk;

	while ((chunk = TAILQ_FIRST(&conn->chunks)) != NULL &&
		!pw_seq_after(chunk->seq + chunk->len_bytes, conn->snd_una))
		free_first_chunk(conn);
}

void
pw_tcp_send_clear(struct pw_tcp_conn *conn)
{
	while (!TAILQ_EMPTY(&conn->chunks))
		free_first_chunk(conn);
}

/* The chunk that holds a byte, looked for from another on. */
static struct pw_tcp_chunk *
chunk_of(struct pw_tcp_chunk *chunk, uint32_t seq)
{
	while (!pw_seq_after(chunk->seq + chunk->len_bytes, seq))
		chunk = TAILQ_NEXT(chunk, next);
	return chunk;
}

uint32_t
pw_tcp_send_reach(const struct pw_tcp_conn *conn, uint32_t seq, uint32_t len_bytes, unsigned chunks)
{
	const struct pw_tcp_chunk *chunk = chunk_of(TAILQ_FIRST(&conn->chunks), seq);
	uint32_t reach = 0;

	for (; chunks > 0 && reach < len_bytes; chunks--) {
		reach = chunk->seq + chunk->len_bytes - seq;
		chunk = TAILQ_NEXT(chunk, next);
	}
	return RTE_MIN(reach, len_bytes);
}

int
pw_tcp_send_attach(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq, uint32_t len_bytes)
{
	struct pw_tcp_chunk *chunk = TAILQ_FIRST(&conn->chunks);
	struct rte_mbuf *tail = rte_pktmbuf_lastseg(m);

	while (len_bytes > 0) {
		struct rte_mbuf *part;
		uint32_t skip, n;

		chunk = chunk_of(chunk, seq);
		part = rte_pktmbuf_alloc(conn->tcp->params.pool);
		if (part == NULL)
			return -ENOMEM;
		skip = seq - chunk->seq;
		n = RTE_MIN(len_bytes, chunk->len_bytes - skip);
		pw_frag_buf_attach(chunk->buf, part, chunk->data - chunk->buf->data + skip, n);

		tail->next = part;
		tail = part;
		m->nb_segs++;
		m->pkt_len += n;
		seq += n;
		len_bytes -= n;
	}
	return 0;
}
