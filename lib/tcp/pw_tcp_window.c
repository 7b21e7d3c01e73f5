/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The window we offer, and when an ACK has to tell of it. */

#include "pw_tcp_priv.h"

/*
 * Move the right edge of the receive window to what the reader left free, never back (RFC 9293
 * 3.8.6), and only in steps worth a segment (3.8.6.2.2).
 */
static uint32_t
next_edge(const struct pw_tcp_conn *conn)
{
	/* Without scaling the window field says no more than this. */
	uint32_t rcvbuf = RTE_MIN(
		conn->tcp->params.rcvbuf_bytes, (uint32_t)UINT16_MAX << conn->rcv_wscale);
	uint32_t held = RTE_MIN(conn->in_order.bytes, rcvbuf);
	uint32_t edge = conn->rcv_nxt + rcvbuf - held;
	uint32_t step = RTE_MIN(rcvbuf / 2, (uint32_t)conn->mss);

	if (pw_seq_before(edge, conn->rcv_adv + step))
		edge = conn->rcv_adv;
	return pw_seq_before(edge, conn->rcv_nxt) ? conn->rcv_nxt : edge;
}

/* Rounded up, as rounding down would move the edge back. */
uint16_t
pw_tcp_window_offer(struct pw_tcp_conn *conn)
{
	uint32_t edge = next_edge(conn);
	uint32_t unit = 1U << conn->rcv_wscale;
	uint32_t field = RTE_MIN(
		(edge - conn->rcv_nxt + unit - 1) >> conn->rcv_wscale, (uint32_t)UINT16_MAX);

	edge = conn->rcv_nxt + (field << conn->rcv_wscale);
	if (pw_seq_after(edge, conn->rcv_adv))
		conn->rcv_adv = edge;
	conn->tcp->stats.zero_windows += field == 0;
	return field;
}

bool
pw_tcp_window_ack_due(const struct pw_tcp_conn *conn)
{
	uint32_t step = RTE_MIN(conn->tcp->params.rcvbuf_bytes / 2, 2U * conn->mss);
	/* Bytes of a full segment, as far as any was seen yet. */
	uint32_t full = RTE_MAX((uint32_t)conn->rcv_mss,
		RTE_MIN((uint32_t)conn->mss, (uint32_t)PW_TCP_MSS_DEFAULT));

	return conn->ack_now || conn->unacked_bytes >= 2 * full ||
		!pw_seq_before(next_edge(conn), conn->rcv_adv + step);
}
