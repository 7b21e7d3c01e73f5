/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Segments, from their header to output(). */

#include <string.h>

#include "pw_tcp_priv.h"

#define OPTIONS_MAX_BYTES 40

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

static void
send_out(struct pw_tcp *tcp, struct rte_mbuf *m, const struct pw_tcp_key *key, uint8_t ecn,
	uint64_t now_us)
{
	struct pw_ip_info ip = {.src = key->local, .dst = key->peer, .tos = ecn};

	tcp->stats.out_segs += pw_tcp_pieces(m->pkt_len - m->l4_len, m->tso_segsz);
	tcp->params.output(tcp->params.ctx, m, &ip, now_us);
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
put_timestamp(uint8_t *p, uint32_t val, uint32_t ecr)
{
	*p++ = PW_TCP_OPT_NOP;
	*p++ = PW_TCP_OPT_NOP;
	*p++ = PW_TCP_OPT_TS;
	*p++ = PW_TCP_OPT_TS_BYTES;
	return put_be32(put_be32(p, val), ecr);
}

/*
 * SACK blocks, as many as there is room for beside the payload: what the port cuts would carry
 * them again and again, and a full segment has no place for them.
 */
static uint8_t *
put_sacks(struct pw_tcp_conn *conn, uint8_t *options, uint8_t *p, uint32_t len_bytes)
{
	struct pw_tcp_sack blocks[PW_TCP_SACKS_MAX];
	uint32_t room = OPTIONS_MAX_BYTES - (p - options) - 4;
	unsigned n;

	if (len_bytes > 0)
		room = RTE_MIN(room, len_bytes + 4 < conn->mss ? conn->mss - len_bytes - 4 : 0U);
	if (!conn->sack_ok || room < 8)
		return p;
	n = RTE_MIN(pw_tcp_recv_sacks(conn, blocks), room / 8);
	if (n == 0)
		return p;
	*p++ = PW_TCP_OPT_NOP;
	*p++ = PW_TCP_OPT_NOP;
	*p++ = PW_TCP_OPT_SACK;
	*p++ = 2 + 8 * n;
	for (unsigned i = 0; i < n; i++)
		p = put_be32(put_be32(p, blocks[i].start), blocks[i].end);
	conn->tcp->stats.sack_sent++;
	return p;
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
	conn->timers_us[PW_TCP_TIMER_DELACK] = 0;
}

/* More than one segment's worth: the port cuts it. */
static void
ask_for_cutting(struct pw_tcp_conn *conn, struct rte_mbuf *m)
{
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	m->tso_segsz = conn->mss;
	conn->tcp->stats.out_tso++;
}

/* RFC 3168 6.1.2 and 6.1.3. */
static uint8_t
ecn_flags(struct pw_tcp_conn *conn, bool is_new)
{
	uint8_t flags = conn->ecn_ok && conn->ecn_echo ? RTE_TCP_ECE_FLAG : 0;

	if (conn->ecn_ok && conn->ecn_cwr && is_new) {
		conn->ecn_cwr = false;
		flags |= RTE_TCP_CWR_FLAG;
	}
	return flags;
}

bool
pw_tcp_send_segment(
	struct pw_tcp_conn *conn, uint32_t seq, uint32_t len_bytes, uint8_t flags, uint64_t now_us)
{
	struct pw_tcp *tcp = conn->tcp;
	uint8_t options[OPTIONS_MAX_BYTES], *end = options;
	struct rte_mbuf *m;
	bool is_new;

	if (conn->ts_ok)
		end = put_timestamp(end, pw_tcp_ts_at(conn, now_us), conn->ts_recent);
	if ((flags & RTE_TCP_RST_FLAG) == 0)
		end = put_sacks(conn, options, end, len_bytes);
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
	/* RFC 3168 6.1.5: nothing that is sent again. */
	is_new = len_bytes > 0 && !pw_seq_before(seq, conn->snd_max);
	fill(conn, m, seq, flags | ecn_flags(conn, is_new), pw_tcp_window_offer(conn));
	send_out(tcp, m, &conn->key, conn->ecn_ok && is_new ? PW_ECN_ECT0 : PW_ECN_NOT_ECT, now_us);
	return true;
}

void
pw_tcp_send_ack(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->state == PW_TCP_SYN_RECEIVED || conn->state == PW_TCP_SYN_SENT)
		pw_tcp_send_syn(conn, now_us);
	else
		pw_tcp_send_segment(conn, conn->snd_max, 0, 0, now_us);
}

void
pw_tcp_send_rst(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (pw_tcp_send_segment(conn, conn->snd_max, 0, RTE_TCP_RST_FLAG, now_us))
		conn->tcp->stats.out_rsts++;
}

void
pw_tcp_send_probe(struct pw_tcp_conn *conn, uint64_t now_us)
{
	/* A number the peer has seen makes it answer with its window (RFC 9293 3.8.6.1). */
	if (pw_tcp_send_segment(conn, conn->snd_una - 1, 0, 0, now_us))
		conn->tcp->stats.window_probes++;
}

static uint8_t *
put_syn_options(uint8_t *p, const struct pw_tcp_syn *syn, uint16_t mss)
{
	*p++ = PW_TCP_OPT_MSS;
	*p++ = PW_TCP_OPT_MSS_BYTES;
	p = put_be16(p, mss);
	if (syn->has_ts)
		p = put_timestamp(p, syn->ts_val, syn->ts_ecr);
	if (syn->has_sack_ok) {
		*p++ = PW_TCP_OPT_NOP;
		*p++ = PW_TCP_OPT_NOP;
		*p++ = PW_TCP_OPT_SACK_OK;
		*p++ = PW_TCP_OPT_SACK_OK_BYTES;
	}
	if (syn->has_wscale) {
		*p++ = PW_TCP_OPT_NOP;
		*p++ = PW_TCP_OPT_WSCALE;
		*p++ = PW_TCP_OPT_WSCALE_BYTES;
		*p++ = syn->wscale;
	}
	return p;
}

bool
pw_tcp_build_syn(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_syn *syn,
	uint64_t now_us)
{
	uint8_t options[OPTIONS_MAX_BYTES], *end;
	struct rte_tcp_hdr *hdr;
	struct rte_mbuf *m;

	end = put_syn_options(options, syn, pw_tcp_mss_of_mtu(key, tcp->params.mtu_bytes));
	m = new_segment(tcp, key, options, end - options);
	if (m == NULL)
		return false;
	hdr = rte_pktmbuf_mtod(m, struct rte_tcp_hdr *);
	hdr->sent_seq = rte_cpu_to_be_32(syn->seq);
	hdr->recv_ack = rte_cpu_to_be_32(syn->ack);
	hdr->tcp_flags = syn->flags;
	/* Never scaled in a SYN. */
	hdr->rx_win = rte_cpu_to_be_16(RTE_MIN(tcp->params.rcvbuf_bytes, (uint32_t)UINT16_MAX));
	send_out(tcp, m, key, PW_ECN_NOT_ECT, now_us);
	return true;
}

/* RFC 3168 6.1.1; a network that drops such SYNs sees one without when it comes again. */
static uint8_t
syn_flags(const struct pw_tcp_conn *conn)
{
	if (conn->state == PW_TCP_SYN_SENT)
		return RTE_TCP_SYN_FLAG | (conn->ecn_ok ? RTE_TCP_ECE_FLAG | RTE_TCP_CWR_FLAG : 0);
	return RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG | (conn->ecn_ok ? RTE_TCP_ECE_FLAG : 0);
}

void
pw_tcp_send_syn(struct pw_tcp_conn *conn, uint64_t now_us)
{
	bool is_ack = conn->state == PW_TCP_SYN_RECEIVED;
	struct pw_tcp_syn syn = {
		.seq = conn->iss,
		.ack = is_ack ? conn->rcv_nxt : 0,
		.flags = syn_flags(conn),
		.has_sack_ok = !is_ack || conn->sack_ok,
		.has_ts = !is_ack || conn->ts_ok,
		.has_wscale = !is_ack || conn->wscale_ok,
		.wscale = pw_tcp_wscale(conn->tcp),
		.ts_val = pw_tcp_ts_at(conn, now_us),
		.ts_ecr = is_ack ? conn->ts_recent : 0,
	};

	if (!pw_tcp_build_syn(conn->tcp, &conn->key, &syn, now_us))
		return;
	conn->last_ack_sent = syn.ack;
	conn->timing |= conn->retries == 0 && conn->born_us == now_us;
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
	send_out(tcp, m, key, PW_ECN_NOT_ECT, now_us);
}
