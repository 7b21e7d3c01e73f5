/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What we tell the peer of data out of order (RFC 2018) and of data that came twice (RFC 2883). */

#include <string.h>

#include "pw_tcp_priv.h"

/* Do they overlap, or lie side by side? */
static bool
touches(const struct pw_tcp_sack *a, const struct pw_tcp_sack *b)
{
	return !pw_seq_after(a->start, b->end) && !pw_seq_after(b->start, a->end);
}

static void
join(struct pw_tcp_sack *a, const struct pw_tcp_sack *b)
{
	if (pw_seq_before(b->start, a->start))
		a->start = b->start;
	if (pw_seq_after(b->end, a->end))
		a->end = b->end;
}

static void
drop_block(struct pw_tcp_reassembly *r, unsigned i)
{
	r->nb_sacks--;
	memmove(&r->sacks[i], &r->sacks[i + 1], (r->nb_sacks - i) * sizeof(r->sacks[0]));
}

void
pw_tcp_sack_add(struct pw_tcp_conn *conn, uint32_t start, uint32_t end)
{
	struct pw_tcp_reassembly *r = conn->reassembly;
	struct pw_tcp_sack block = {.start = start, .end = end};

	for (unsigned i = 0; i < r->nb_sacks;) {
		if (!touches(&r->sacks[i], &block)) {
			i++;
			continue;
		}
		join(&block, &r->sacks[i]);
		drop_block(r, i);
		i = 0; /* it may have grown up to one that was passed */
	}
	if (r->nb_sacks < PW_TCP_SACKS_MAX)
		r->nb_sacks++;
	memmove(&r->sacks[1], &r->sacks[0], (r->nb_sacks - 1) * sizeof(block));
	r->sacks[0] = block;
}

void
pw_tcp_sack_twice(struct pw_tcp_conn *conn, uint32_t start, uint32_t end)
{
	struct pw_tcp_sack block = {.start = start, .end = end};
	struct pw_tcp_reassembly *r;

	if (!conn->sack_ok || !pw_seq_before(start, end) || !pw_tcp_reassembly_begin(conn))
		return;
	r = conn->reassembly;
	if (!r->has_dsack)
		r->dsack = block;
	else if (touches(&r->dsack, &block))
		join(&r->dsack, &block);
	r->has_dsack = true;
}

void
pw_tcp_sack_advance(struct pw_tcp_conn *conn)
{
	struct pw_tcp_reassembly *r = conn->reassembly;

	for (unsigned i = 0; i < r->nb_sacks;) {
		if (pw_seq_after(r->sacks[i].end, conn->rcv_nxt))
			i++;
		else
			drop_block(r, i);
	}
}

unsigned
pw_tcp_recv_sacks(struct pw_tcp_conn *conn, struct pw_tcp_sack blocks[PW_TCP_SACKS_MAX])
{
	struct pw_tcp_reassembly *r = conn->reassembly;
	unsigned n = 0;

	if (r == NULL)
		return 0;
	if (r->has_dsack) {
		blocks[n++] = r->dsack;
		r->has_dsack = false;
		conn->tcp->stats.dsack_sent++;
	}
	for (unsigned i = 0; i < r->nb_sacks && n < PW_TCP_SACKS_MAX; i++)
		blocks[n++] = r->sacks[i];
	pw_tcp_reassembly_end(conn);
	return n;
}
