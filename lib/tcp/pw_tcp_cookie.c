/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * SYN cookies (RFC 4987 3.6): when too many connections are half open, what a SYN said goes into
 * the sequence number of its answer, and with timestamps into the low bits of our timestamp; the
 * ACK brings both back.
 */

#include "pw_tcp_priv.h"

/* A cookie: the minute, an index into mss_table, and a keyed hash of all with the peer's number. */
#define MINUTE_SHIFT 27
#define MSS_SHIFT 24
#define HASH_MASK 0xffffff
#define MINUTE_MASK 0x1f
#define MSS_MASK 7
#define MINUTES_MAX 2 /* it is believed for two to three minutes */
#define MINUTE_US 60000000

/* Our timestamp's low bits, when the peer sends timestamps. */
#define TS_WSCALE_MASK 0xf
#define TS_WSCALE_NONE 0xf /* larger than any */
#define TS_SACK 0x10
#define TS_ECN 0x20
#define TS_MASK 0x3f

/* Usual ones, of both IP versions, over PPP, tunnels and jumbo frames. */
static const uint16_t mss_table[MSS_MASK + 1] = {
	PW_TCP_MSS_MIN, PW_TCP_MSS_DEFAULT, 1220, 1300, 1380, 1440, 1460, 8940};

static uint32_t
cookie_hash(const struct pw_tcp *tcp, const struct pw_tcp_key *key, uint32_t peer_isn,
	uint64_t minute, uint32_t mss_index)
{
	uint64_t extra = (uint64_t)peer_isn << 32 | (uint32_t)(minute << 3) | mss_index;

	return (uint32_t)pw_tcp_hash(tcp, key, PW_TCP_HASH_COOKIE, extra) & HASH_MASK;
}

static uint32_t
make_cookie(const struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *syn,
	uint64_t now_us)
{
	uint64_t minute = now_us / MINUTE_US;
	uint16_t mss = syn->has_mss ? syn->mss : PW_TCP_MSS_DEFAULT;
	uint32_t i = MSS_MASK;

	while (i > 0 && mss_table[i] > mss)
		i--;
	return (uint32_t)(minute & MINUTE_MASK) << MINUTE_SHIFT | i << MSS_SHIFT |
		cookie_hash(tcp, key, syn->seq, minute, i);
}

/* The clock, with options in its low bits; not later than it is, as timestamps must not go back. */
static uint32_t
make_timestamp(const struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *syn,
	uint64_t now_us)
{
	uint32_t now = (uint32_t)(now_us / 1000) + pw_tcp_ts_offset(tcp, key);
	uint32_t options = syn->has_wscale ? syn->wscale : TS_WSCALE_NONE, val;

	if (syn->has_sack_ok)
		options |= TS_SACK;
	if (pw_tcp_syn_asks_ecn(syn))
		options |= TS_ECN;
	val = (now & ~TS_MASK) | options;
	return pw_seq_after(val, now) ? val - (TS_MASK + 1) : val;
}

void
pw_tcp_cookie_send(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *syn,
	uint64_t now_us)
{
	struct pw_tcp_syn answer = {
		.seq = make_cookie(tcp, key, syn, now_us),
		.ack = syn->seq + 1,
		.flags = RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
	};

	if (syn->has_ts) {
		answer.has_ts = true;
		answer.ts_val = make_timestamp(tcp, key, syn, now_us);
		answer.ts_ecr = syn->ts_val;
		answer.has_sack_ok = syn->has_sack_ok;
		answer.has_wscale = syn->has_wscale;
		answer.wscale = pw_tcp_wscale(tcp);
		answer.flags |= pw_tcp_syn_asks_ecn(syn) ? RTE_TCP_ECE_FLAG : 0;
	}
	if (!pw_tcp_build_syn(tcp, key, &answer, now_us))
		return;
	tcp->stats.syncookies_sent++;
	tcp->cookies_until_us = now_us + (MINUTES_MAX + 1) * (uint64_t)MINUTE_US;
}

static void
read_timestamp(struct pw_tcp_seg *syn, const struct pw_tcp_seg *ack)
{
	uint8_t wscale = ack->ts_ecr & TS_WSCALE_MASK;

	syn->has_ts = true;
	syn->ts_val = ack->ts_val;
	syn->has_sack_ok = (ack->ts_ecr & TS_SACK) != 0;
	syn->has_wscale = wscale != TS_WSCALE_NONE;
	syn->wscale = syn->has_wscale ? wscale : 0;
	if (ack->ts_ecr & TS_ECN)
		syn->flags |= RTE_TCP_ECE_FLAG | RTE_TCP_CWR_FLAG;
}

bool
pw_tcp_cookie_check(struct pw_tcp *tcp, const struct pw_tcp_key *key, const struct pw_tcp_seg *ack,
	struct pw_tcp_seg *syn, uint64_t now_us)
{
	uint32_t cookie = ack->ack - 1, peer_isn = ack->seq - 1;
	uint32_t mss_index = (cookie >> MSS_SHIFT) & MSS_MASK;
	uint64_t minute = now_us / MINUTE_US;
	uint32_t age = (uint32_t)(minute - (cookie >> MINUTE_SHIFT)) & MINUTE_MASK;

	if (now_us >= tcp->cookies_until_us)
		return false;
	if (age > MINUTES_MAX || age > minute ||
		cookie_hash(tcp, key, peer_isn, minute - age, mss_index) != (cookie & HASH_MASK)) {
		tcp->stats.syncookies_failed++;
		return false;
	}
	*syn = (struct pw_tcp_seg){
		.seq = peer_isn,
		.flags = RTE_TCP_SYN_FLAG,
		.has_mss = true,
		.mss = mss_table[mss_index],
	};
	if (ack->has_ts)
		read_timestamp(syn, ack);
	return true;
}
