/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include <rte_ip.h>

#include "pw_tcp_priv.h"

#define OPTIONS_MAX_BYTES 40
#define PIECES_MAX 64 /* of a segment that the port cuts: net_tap takes no more */

/* Room for headers below ours, which lib/inet puts in front. */
static struct rte_mbuf *
new_segment(struct pw_tcp *tcp, const struct pw_tcp_key *key, const uint8_t *options,
	uint32_t options_bytes)
{
	uint32_t header = sizeof(struct rte_tcp_hdr) + options_bytes;
	struct rte_mbuf *m = rte_pktmbuf_alloc(tcp->params.pool);
	struct rte_tcp_hdr *hdr;

	if (m == NULL || rte_pktmbuf_tailroom(m) < header) {
		rte_pktmbuf_free(m);
		tcp->stats.no_mbuf++;
		return NULL;
	}
	hdr = (void *)rte_pktmbuf_append(m, header);
	memset(hdr, 0, sizeof(*hdr));
	hdr->src_port = key->local_port;
	hdr->dst_port = key->peer_port;
	hdr->data_off = (header / 4) << 4;
	m->l4_len = header;
	if (options_bytes > 0)
		memcpy(hdr + 1, options, options_bytes);
	return m;
}

/* Segments on the wire; 0 as piece_bytes: it is not cut. */
static uint32_t
pieces_of(uint32_t payload_bytes, uint32_t piece_bytes)
{
	if (piece_bytes == 0 || payload_bytes <= piece_bytes)
		return 1;
	return (payload_bytes + piece_bytes - 1) / piece_bytes;
}

static void
send_out(struct pw_tcp *tcp, struct rte_mbuf *m, rte_be32_t dst, uint64_t now_us)
{
	tcp->stats.out_segs += pieces_of(m->pkt_len - m->l4_len, m->tso_segsz);
	tcp->params.output(tcp->params.ctx, m, dst, now_us);
}

static uint8_t *
put_be16(uint8_t *p, uint16_t v)
{
	*p++ = v >> 8;
	*p++ = (uint8_t)v;
	return p;
}

static uint8_t *
put_be32(uint8_t *p, uint32_t v)
{
	return put_be16(put_be16(p, v >> 16), (uint16_t)v);
}

static uint8_t *
put_timestamp(const struct pw_tcp_conn *conn, uint8_t *p, uint64_t now_us)
{
	*p++ = PW_TCP_OPT_NOP;
	*p++ = PW_TCP_OPT_NOP;
	*p++ = PW_TCP_OPT_TS;
	*p++ = PW_TCP_OPT_TS_BYTES;
	p = put_be32(p, (uint32_t)(now_us / 1000) + conn->ts_offset);
	return put_be32(p, conn->ts_recent);
}

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

/* The window field for the edge; rounded up, as rounding down would move the edge back. */
static uint16_t
offer_window(struct pw_tcp_conn *conn)
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

/* Numbers, flags and window of a segment that carries an ACK; it does for an ACK that was due. */
static void
fill(struct pw_tcp_conn *conn, struct rte_mbuf *m, uint32_t seq, uint8_t flags, uint16_t window)
{
	struct rte_tcp_hdr *hdr = rte_pktmbuf_mtod(m, struct rte_tcp_hdr *);

	hdr->sent_seq = rte_cpu_to_be_32(seq);
	hdr->recv_ack = rte_cpu_to_be_32(conn->rcv_nxt);
	hdr->tcp_flags = flags | RTE_TCP_ACK_FLAG;
	hdr->rx_win = rte_cpu_to_be_16(window);
	conn->last_ack_sent = conn->rcv_nxt;
	conn->unacked_bytes = 0;
	conn->ack_now = false;
	conn->delack_us = 0;
}

/* More than one segment's worth: the port cuts it. */
static void
ask_for_cutting(struct pw_tcp_conn *conn, struct rte_mbuf *m)
{
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	m->tso_segsz = conn->mss;
	conn->tcp->stats.out_tso++;
}

/* A segment with len bytes of queued data and flags. False: no mbuf. */
static bool
send_segment(
	struct pw_tcp_conn *conn, uint32_t seq, uint32_t len_bytes, uint8_t flags, uint64_t now_us)
{
	struct pw_tcp *tcp = conn->tcp;
	uint8_t options[OPTIONS_MAX_BYTES], *end = options;
	struct rte_mbuf *m;

	if (conn->ts_ok)
		end = put_timestamp(conn, end, now_us);
	m = new_segment(tcp, &conn->key, options, end - options);
	if (m == NULL)
		return false;
	if (pw_tcp_send_attach(conn, m, seq, len_bytes) < 0) {
		tcp->stats.no_mbuf++;
		rte_pktmbuf_free(m);
		return false;
	}
	if (len_bytes > conn->mss)
		ask_for_cutting(conn, m);
	fill(conn, m, seq, flags, offer_window(conn));
	send_out(tcp, m, conn->key.peer, now_us);
	return true;
}

void
pw_tcp_send_ack(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->state == PW_TCP_SYN_RECEIVED)
		pw_tcp_send_syn_ack(conn, now_us);
	else
		/* After a time-out snd_nxt lies behind what the peer may have: it would be old. */
		send_segment(conn, conn->snd_max, 0, 0, now_us);
}

void
pw_tcp_send_rst(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (send_segment(conn, conn->snd_max, 0, RTE_TCP_RST_FLAG, now_us))
		conn->tcp->stats.out_rsts++;
}

void
pw_tcp_send_probe(struct pw_tcp_conn *conn, uint64_t now_us)
{
	/* A number the peer has seen makes it answer with its window (RFC 9293 3.8.6.1). */
	if (send_segment(conn, conn->snd_una - 1, 0, 0, now_us))
		conn->tcp->stats.window_probes++;
}

void
pw_tcp_send_syn_ack(struct pw_tcp_conn *conn, uint64_t now_us)
{
	struct pw_tcp *tcp = conn->tcp;
	uint8_t options[OPTIONS_MAX_BYTES], *end = options;
	struct rte_mbuf *m;

	*end++ = PW_TCP_OPT_MSS;
	*end++ = PW_TCP_OPT_MSS_BYTES;
	end = put_be16(end, tcp->params.mtu_bytes - 40);
	if (conn->ts_ok)
		end = put_timestamp(conn, end, now_us);
	if (conn->rcv_wscale > 0 || conn->snd_wscale > 0) {
		*end++ = PW_TCP_OPT_NOP;
		*end++ = PW_TCP_OPT_WSCALE;
		*end++ = PW_TCP_OPT_WSCALE_BYTES;
		*end++ = conn->rcv_wscale;
	}
	m = new_segment(tcp, &conn->key, options, end - options);
	if (m == NULL)
		return;
	if (conn->retries == 0 && !conn->timing) {
		conn->timing = true;
		conn->timed_seq = conn->iss + 1;
		conn->timed_since_us = now_us;
	}
	fill(conn, m, conn->iss, RTE_TCP_SYN_FLAG,
		RTE_MIN(tcp->params.rcvbuf_bytes, (uint32_t)UINT16_MAX));
	send_out(tcp, m, conn->key.peer, now_us);
}

void
pw_tcp_reset_reply(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *seg,
	uint64_t now_us)
{
	struct rte_mbuf *m = new_segment(tcp, key, NULL, 0);
	struct rte_tcp_hdr *hdr;

	if (m == NULL)
		return;
	hdr = rte_pktmbuf_mtod(m, struct rte_tcp_hdr *);
	hdr->tcp_flags = RTE_TCP_RST_FLAG;
	if (seg->flags & RTE_TCP_ACK_FLAG) {
		hdr->sent_seq = rte_cpu_to_be_32(seg->ack);
	} else {
		hdr->tcp_flags |= RTE_TCP_ACK_FLAG;
		hdr->recv_ack = rte_cpu_to_be_32(pw_tcp_seg_end(seg));
	}
	tcp->stats.out_rsts++;
	send_out(tcp, m, key->peer, now_us);
}

/* Our FIN goes out for the first time. */
static void
fin_sent(struct pw_tcp_conn *conn)
{
	if (conn->state == PW_TCP_ESTABLISHED)
		pw_tcp_conn_set_state(conn, PW_TCP_FIN_WAIT_1);
	else if (conn->state == PW_TCP_CLOSE_WAIT)
		pw_tcp_conn_set_state(conn, PW_TCP_LAST_ACK);
}

/* Send len bytes at snd_nxt, with a FIN behind them or not, and move on. */
static bool
send_at_nxt(struct pw_tcp_conn *conn, uint32_t len_bytes, bool fin, uint64_t now_us)
{
	struct pw_tcp_stats *stats = &conn->tcp->stats;
	uint32_t data_end = conn->snd_nxt + len_bytes, end = data_end + fin;
	uint8_t flags = fin ? RTE_TCP_FIN_FLAG : 0;

	if (data_end == conn->snd_end)
		flags |= RTE_TCP_PSH_FLAG;
	if (!send_segment(conn, conn->snd_nxt, len_bytes, flags, now_us))
		return false;

	/* What is sent again may have new data behind it. */
	if (pw_seq_after(data_end, conn->snd_max))
		stats->out_bytes += data_end - conn->snd_max;
	if (pw_seq_before(conn->snd_nxt, conn->snd_max)) {
		stats->retrans_segs += pieces_of(
			RTE_MIN(len_bytes, conn->snd_max - conn->snd_nxt), conn->mss);
	} else if (!conn->timing) {
		/* The first piece, where it is cut: the round trip is the same then. */
		conn->timing = true;
		conn->timed_seq = len_bytes > conn->mss ? conn->snd_nxt + conn->mss : end;
		conn->timed_since_us = now_us;
	}
	conn->snd_nxt = end;
	if (pw_seq_after(end, conn->snd_max))
		conn->snd_max = end;
	if (fin)
		fin_sent(conn);
	if (conn->rexmit_us == 0)
		pw_tcp_timer_set(conn, &conn->rexmit_us, now_us + conn->rto_us);
	return true;
}

/* Payload of the largest segment we may send, whole pieces of a segment's size. */
static uint32_t
longest(const struct pw_tcp_conn *conn)
{
	uint32_t headers = sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr) +
		(conn->ts_ok ? PW_TCP_OPT_TS_BYTES + 2 : 0);
	uint32_t max = conn->tcp->params.tso_max_bytes;

	if (max < headers + 2U * conn->mss)
		return conn->mss;
	return RTE_MIN((max - headers) / conn->mss, (uint32_t)PIECES_MAX) * conn->mss;
}

/*
 * How much to send at snd_nxt. Cut by the port, it makes the segments that we would send one by
 * one: a short one only at the end of the queue.
 */
static uint32_t
choose_len(const struct pw_tcp_conn *conn, uint32_t queued, uint32_t usable)
{
	uint32_t len = RTE_MIN(RTE_MIN(queued, longest(conn)), usable);

	if (len <= conn->mss)
		return len;
	len = pw_tcp_send_reach(conn, conn->snd_nxt, len, conn->tcp->params.tso_max_mbufs - 1);
	len = RTE_MAX(len, (uint32_t)conn->mss);
	return len == queued ? len : len - len % conn->mss;
}

/* Send the next segment that windows allow; false when there is none. */
static bool
send_next(struct pw_tcp_conn *conn, uint64_t now_us)
{
	uint32_t flight = conn->snd_nxt - conn->snd_una;
	uint32_t window = RTE_MIN(conn->snd_wnd, conn->cwnd);
	uint32_t usable = window > flight ? window - flight : 0;
	uint32_t queued, len;
	bool fin;

	if (pw_seq_after(conn->snd_nxt, conn->snd_end)) /* the FIN is out */
		return false;
	queued = conn->snd_end - conn->snd_nxt;
	len = choose_len(conn, queued, usable);
	fin = conn->fin_queued && len == queued;
	if (len == 0 && !fin)
		return false;
	/* RFC 9293 3.8.6.2.1: not a small piece of more, unless nothing else would make progress.
	 */
	if (len < queued && len < conn->mss && flight > 0)
		return false;
	return send_at_nxt(conn, len, fin, now_us);
}

void
pw_tcp_retransmit(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool fin_out = pw_seq_after(conn->snd_max, conn->snd_end);
	uint32_t sent = conn->snd_max - conn->snd_una - fin_out; /* without the FIN */
	uint32_t len = RTE_MIN(sent, (uint32_t)conn->mss);
	bool fin = fin_out && len == sent;

	if (pw_seq_after(conn->snd_una, conn->snd_end))
		return;
	conn->timing = false; /* Karn: its answer could be the first one's */
	if (send_segment(conn, conn->snd_una, len, fin ? RTE_TCP_FIN_FLAG : 0, now_us))
		conn->tcp->stats.retrans_segs++;
}

/* An ACK is due at once: two full segments, or more room for the peer (RFC 9293 3.8.6.3). */
static bool
is_ack_due(const struct pw_tcp_conn *conn)
{
	uint32_t step = RTE_MIN(conn->tcp->params.rcvbuf_bytes / 2, 2U * conn->mss);

	return conn->ack_now || conn->unacked_bytes >= 2U * conn->mss ||
		!pw_seq_before(next_edge(conn), conn->rcv_adv + step);
}

static void
acknowledge(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (is_ack_due(conn)) {
		conn->tcp->stats.window_updates += !conn->ack_now && conn->unacked_bytes == 0;
		pw_tcp_send_ack(conn, now_us);
	} else if (conn->unacked_bytes > 0 && conn->delack_us == 0) {
		pw_tcp_timer_set(conn, &conn->delack_us, now_us + PW_TCP_DELACK_US);
	}
}

void
pw_tcp_output(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool sent = false;

	if (conn->state == PW_TCP_SYN_RECEIVED)
		return;
	if (conn->state != PW_TCP_TIME_WAIT)
		while (send_next(conn, now_us))
			sent = true;
	if (!sent)
		acknowledge(conn, now_us);
	/* No ACK would tell the application that there are fragments again. */
	if (conn->starved && conn->starved_us == 0)
		pw_tcp_timer_set(conn, &conn->starved_us, now_us + PW_TCP_STARVED_US);
	/* Something waits, and nothing is on its way that would bring an ACK: probe, or try again.
	 */
	if (conn->rexmit_us == 0 && conn->snd_una == conn->snd_max &&
		conn->snd_nxt != conn->snd_end + conn->fin_queued)
		pw_tcp_timer_set(conn, &conn->rexmit_us, now_us + conn->rto_us);
}
