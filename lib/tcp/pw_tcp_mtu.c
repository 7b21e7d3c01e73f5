/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The path takes less than we send. Routers say so (RFC 1191, RFC 8201), or nothing larger than
 * some size is ever acknowledged (RFC 4821): then the MSS goes down in steps. After ten minutes it
 * is tried again as it was; if that is too much still, the same tells us again.
 */

#include "pw_tcp_priv.h"

#define MTU_MIN_IPV4 552    /* as Linux: nobody needs less, and tiny segments are an attack */
#define MTU_MIN_IPV6 1280   /* RFC 8200 5 */
#define RAISE_US 600000000  /* RFC 1191 6.3, RFC 8201 4 */
#define BLACKHOLE_RETRIES 3 /* the first step, as Linux; then with each */

static uint16_t
mss_of(const struct pw_tcp_conn *conn, uint32_t mtu_bytes)
{
	return pw_tcp_mss_of_mtu(&conn->key, mtu_bytes) -
		(conn->ts_ok ? PW_TCP_OPT_TS_BYTES + 2 : 0);
}

static uint32_t
mtu_min(const struct pw_tcp_conn *conn)
{
	return pw_addr_is_ipv4(&conn->key.peer) ? MTU_MIN_IPV4 : MTU_MIN_IPV6;
}

/* False: it is not less than now. */
static bool
lower(struct pw_tcp_conn *conn, uint32_t mtu_bytes, uint64_t now_us)
{
	uint16_t mss = mss_of(conn, RTE_MAX(mtu_bytes, mtu_min(conn)));

	if (mss >= conn->mss)
		return false;
	conn->mss = mss;
	conn->mtu_raise_us = now_us + RAISE_US;
	return true;
}

/* RFC 1191 7.1, in short: a router that does not say what it forwards is an old one. */
static uint32_t
next_plateau(const struct pw_tcp_conn *conn)
{
	static const uint16_t plateaus[] = {32000, 17914, 8166, 4352, 2002, 1492, 1006};

	for (unsigned i = 0; i < RTE_DIM(plateaus); i++)
		if (plateaus[i] >= mtu_min(conn) && mss_of(conn, plateaus[i]) < conn->mss)
			return plateaus[i];
	return mtu_min(conn);
}

static bool
is_too_big(const struct pw_tcp_conn *conn, const struct pw_tcp_sent *rec)
{
	return rec->state == PW_TCP_IN_FLIGHT && rec->piece_bytes > conn->mss &&
		rec->end - rec->seq > conn->mss;
}

/* RFC 8201 5.4: it was not congestion, so the window stays as it is. */
void
pw_tcp_mtu_too_big(struct pw_tcp_conn *conn, uint32_t mtu_bytes, uint64_t now_us)
{
	struct pw_tcp_sent *rec;

	if (conn->state == PW_TCP_SYN_RECEIVED ||
		!lower(conn, mtu_bytes == 0 ? next_plateau(conn) : RTE_MIN(mtu_bytes, 65535U),
			now_us))
		return;
	conn->tcp->stats.pmtu_reductions++;
	if (conn->flight == NULL) /* it was our SYN */
		return;
	TAILQ_FOREACH (rec, &conn->flight->sent.all, by_seq)
		if (is_too_big(conn, rec))
			pw_tcp_sent_set_lost(conn, rec);
	pw_tcp_output(conn, now_us);
}

void
pw_tcp_mtu_timeout(struct pw_tcp_conn *conn)
{
	const struct pw_tcp_sent *rec = TAILQ_FIRST(&conn->flight->sent.all);

	if (conn->retries < BLACKHOLE_RETRIES || rec == NULL || rec->end - rec->seq < conn->mss ||
		conn->snd_wnd < conn->mss)
		return;
	if (!lower(conn, conn->mss > 1024 ? 1024 + 40 : 0, conn->tcp->now_us))
		return;
	conn->tcp->stats.pmtu_blackholes++;
	/* If it was that, and no congestion, there is no reason to wait longer and longer. */
	pw_tcp_ack_set_rto(conn);
	pw_tcp_timer_set(conn, PW_TCP_TIMER_REXMIT, conn->tcp->now_us + conn->rto_us);
}

void
pw_tcp_mtu_raise(struct pw_tcp_conn *conn, uint64_t now_us)
{
	if (conn->mtu_raise_us == 0 || now_us < conn->mtu_raise_us)
		return;
	conn->mtu_raise_us = 0;
	conn->mss = conn->mss_max;
}
