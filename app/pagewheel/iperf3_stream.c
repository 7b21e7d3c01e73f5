/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A TCP stream of an iperf3 test. */

#include "iperf3.h"

#define SOON_US 1000   /* while it waits for the start, or for its rate */
#define LATER_US 10000 /* else */

static void
send_more(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	uint64_t n;

	if (!c->stream->sends || !pw_iperf3_is_current(c) || pw_iperf3_phase() != PW_IPERF3_RUNNING)
		return;
	n = RTE_MIN(pw_iperf3_due(c->stream, pw_tcp_now(conn)), pw_tcp_send_room(conn));
	pw_iperf3_add(&c->stream->count.bytes, pw_tcp_app_send_zeros(conn, n));
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);
	uint64_t bytes;

	(void)app_ctx;
	bytes = pw_tcp_app_drop(conn);
	if (pw_iperf3_is_current(c) && !c->stream->sends && pw_iperf3_phase() == PW_IPERF3_RUNNING)
		pw_iperf3_add(&c->stream->count.bytes, bytes);
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
writable(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)app_ctx;
	send_more(pw_tcp_get_user(conn), conn);
}

static void
timer(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);
	bool soon = c->stream->sends &&
		(pw_iperf3.params.rate_bits > 0 || pw_iperf3_phase() == PW_IPERF3_STREAMS);
	struct pw_tcp_conn_info info;

	(void)app_ctx;
	if (!pw_iperf3_is_current(c)) {
		pw_tcp_abort(conn);
		return;
	}
	if (c->stream->sends) {
		pw_tcp_conn_get_info(conn, &info);
		__atomic_store_n(&c->stream->count.retrans, info.retrans_segs, __ATOMIC_RELAXED);
		send_more(c, conn);
	}
	/* A client that still reads waits for whole blocks, without looking at the control
	 * connection: the end of the stream sets it free. */
	if (pw_iperf3_phase() == PW_IPERF3_RESULTS)
		pw_tcp_shutdown(conn);
	pw_tcp_set_timer(conn, pw_tcp_now(conn) + (soon ? SOON_US : LATER_US));
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)conn;
	(void)app_ctx;
}

const struct pw_tcp_app pw_iperf3_data = {
	.name = "iperf3 stream",
	.opened = timer,
	.readable = readable,
	.writable = writable,
	.timer = timer,
	.closed = closed,
};
