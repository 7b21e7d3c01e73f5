/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * SACK blocks that come in, RFC 2018 and 2883. They are not believed further than is cheap: pieces
 * that we sent are marked whole or not at all, so that no peer can make more records than pieces.
 */

#include <string.h>

#include "pw_tcp_priv.h"

/* The record that holds a number of snd_una to snd_max, looked for from where the last one was. */
static struct pw_tcp_sent *
find(struct pw_tcp_conn *conn, uint32_t seq)
{
	struct pw_tcp_sent *rec = conn->flight->sent.hint, *prev;

	if (rec == NULL)
		rec = TAILQ_LAST(&conn->flight->sent.all, pw_tcp_sent_list);
	while (rec != NULL && pw_seq_after(rec->seq, seq) &&
		(prev = TAILQ_PREV(rec, pw_tcp_sent_list, by_seq)) != NULL)
		rec = prev;
	while (rec != NULL && !pw_seq_after(rec->end, seq))
		rec = TAILQ_NEXT(rec, by_seq);
	return rec;
}

static void
deliver(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack, struct pw_tcp_sent *rec)
{
	ack->delivered_bytes += rec->end - rec->seq;
	pw_tcp_rack_delivered(conn, ack, rec, rec->end);
	pw_tcp_sent_set_sacked(conn, rec);
}

/* Mark the pieces of a record that lie in a block; the last one marked, or NULL. */
static struct pw_tcp_sent *
mark(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack, struct pw_tcp_sent *rec,
	const struct pw_tcp_sack *block)
{
	uint32_t piece = rec->piece_bytes, from = rec->seq, to = rec->end;

	if (pw_seq_before(from, block->start))
		from += (block->start - from + piece - 1) / piece * piece;
	if (pw_seq_before(block->end, to))
		to = rec->seq + (block->end - rec->seq) / piece * piece;
	if (!pw_seq_before(from, to))
		return NULL;
	if (from != rec->seq) {
		if (!pw_tcp_sent_split(conn, rec, from))
			return NULL;
		rec = TAILQ_NEXT(rec, by_seq);
	}
	if (to != rec->end && !pw_tcp_sent_split(conn, rec, to))
		return NULL;
	deliver(conn, ack, rec);
	return conn->flight->sent.hint;
}

static void
mark_block(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack, const struct pw_tcp_sack *block)
{
	struct pw_tcp_sent *rec = find(conn, block->start), *marked;

	conn->flight->sent.hint = rec;
	while (rec != NULL && pw_seq_before(rec->seq, block->end)) {
		marked = rec->state == PW_TCP_SACKED ? NULL : mark(conn, ack, rec, block);
		rec = TAILQ_NEXT(marked != NULL ? marked : rec, by_seq);
	}
}

static bool
lies_within(const struct pw_tcp_sack *a, const struct pw_tcp_sack *b)
{
	return !pw_seq_before(a->start, b->start) && !pw_seq_after(a->end, b->end);
}

/* RFC 2883 4: below the ACK, or within the second block. */
static bool
is_dsack(const struct pw_tcp_conn *conn, const struct pw_tcp_seg *seg)
{
	const struct pw_tcp_sack *block = &seg->sacks[0];

	if (!pw_seq_before(block->start, block->end) ||
		block->end - block->start > conn->tcp->params.sndbuf_bytes)
		return false;
	if (!pw_seq_after(block->end, seg->ack))
		return true;
	return seg->nb_sacks > 1 && lies_within(block, &seg->sacks[1]);
}

static bool
is_valid(const struct pw_tcp_conn *conn, const struct pw_tcp_sack *block)
{
	return pw_seq_before(block->start, block->end) &&
		pw_seq_after(block->start, conn->snd_una) &&
		!pw_seq_after(block->start, conn->snd_max) &&
		!pw_seq_after(block->end, conn->snd_max);
}

/* Most blocks were in the last ACK too, and one has grown: less a piece, its end may cut one. */
static bool
cut_known(const struct pw_tcp_conn *conn, struct pw_tcp_sack *block)
{
	const struct pw_tcp_flight *flight = conn->flight;

	for (unsigned i = 0; i < flight->nb_peer_sacks; i++) {
		const struct pw_tcp_sack *old = &flight->peer_sacks[i];

		if (lies_within(block, old))
			return true;
		if (!pw_seq_before(block->start, old->start) &&
			pw_seq_before(block->start, old->end - conn->mss_max))
			block->start = old->end - conn->mss_max;
	}
	return false;
}

/* The blocks from first on. */
static void
mark_blocks(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack, unsigned first)
{
	const struct pw_tcp_seg *seg = ack->seg;
	struct pw_tcp_sack valid[PW_TCP_SACKS_MAX];
	unsigned n = 0;

	for (unsigned i = first; i < seg->nb_sacks; i++) {
		struct pw_tcp_sack block = seg->sacks[i];

		if (!is_valid(conn, &block))
			continue;
		valid[n++] = block;
		if (!cut_known(conn, &block))
			mark_block(conn, ack, &block);
	}
	memcpy(conn->flight->peer_sacks, valid, n * sizeof(valid[0]));
	conn->flight->nb_peer_sacks = n;
}

void
pw_tcp_sack_input(struct pw_tcp_conn *conn, struct pw_tcp_ack *ack)
{
	const struct pw_tcp_seg *seg = ack->seg;
	unsigned first = 0;

	if (seg->nb_sacks > 0 && is_dsack(conn, seg)) {
		first = 1;
		ack->dsack = true;
		conn->tcp->stats.dsack_recv++;
		pw_tcp_rack_dsack(conn);
		pw_tcp_recover_dsack(conn, &seg->sacks[0]);
	}
	if (conn->flight != NULL)
		mark_blocks(conn, ack, first);
}
