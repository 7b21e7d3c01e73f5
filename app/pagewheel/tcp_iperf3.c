/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The server of iperf3: whose connection is it? The first one is the control connection of a test,
 * those with the same cookie are its streams, and all others are told to come later. */

#include <stdlib.h>
#include <string.h>

#include "iperf3.h"

#define COOKIE_US 10000000 /* for a cookie to come */

struct pw_iperf3_session pw_iperf3;

struct pw_iperf3_stream *
pw_iperf3_add_stream(void)
{
	unsigned n = pw_iperf3.nb_streams;
	struct pw_iperf3_stream *stream = &pw_iperf3.streams[n];

	if (pw_iperf3_phase() != PW_IPERF3_STREAMS || n == pw_iperf3_streams_expected())
		return NULL;
	*stream = (struct pw_iperf3_stream){
		/* Both ways: first come those on which the client sends. */
		.sends = pw_iperf3.params.bidir ? n >= pw_iperf3.params.parallel
						: pw_iperf3.params.reverse,
	};
	return stream;
}

uint64_t
pw_iperf3_due(const struct pw_iperf3_stream *stream, uint64_t now_us)
{
	const struct pw_iperf3_params *params = &pw_iperf3.params;
	uint64_t begin_us = __atomic_load_n(&pw_iperf3.start_us, __ATOMIC_RELAXED);
	double due;

	if (params->rate_bits == 0)
		return UINT64_MAX;
	if (now_us < begin_us)
		return 0;
	due = params->rate_bits / 8e6 * (now_us - begin_us) + params->len_bytes;
	due -= stream->count.bytes - stream->omitted.bytes;
	return due > 0 ? due : 0;
}

void
pw_iperf3_leave(uint32_t generation)
{
	rte_spinlock_lock(&pw_iperf3.lock);
	if (pw_iperf3.generation == generation) {
		__atomic_store_n(&pw_iperf3.generation, generation + 1, __ATOMIC_RELEASE);
		pw_iperf3_set_phase(PW_IPERF3_IDLE);
	}
	rte_spinlock_unlock(&pw_iperf3.lock);
}

static void
begin_session(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	uint16_t port;

	memcpy(pw_iperf3.cookie, c->cookie, sizeof(c->cookie));
	pw_tcp_get_peer(conn, &pw_iperf3.peer, &port);
	pw_iperf3.nb_streams = 0;
	pw_iperf3_set_phase(PW_IPERF3_PARAMS);
}

/* NULL: come later. */
static const struct pw_tcp_app *
choose_role(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	const struct pw_tcp_app *role = NULL;

	rte_spinlock_lock(&pw_iperf3.lock);
	c->generation = pw_iperf3.generation;
	if (pw_iperf3_phase() == PW_IPERF3_IDLE) {
		begin_session(c, conn);
		role = &pw_iperf3_control;
	} else if (pw_iperf3_phase() == PW_IPERF3_STREAMS && !pw_iperf3.params.udp &&
		memcmp(c->cookie, pw_iperf3.cookie, sizeof(c->cookie)) == 0) {
		c->stream = pw_iperf3_add_stream();
		if (c->stream != NULL) {
			pw_iperf3_stream_is_there();
			role = &pw_iperf3_data;
		}
	}
	rte_spinlock_unlock(&pw_iperf3.lock);
	return role;
}

static void
deny(struct pw_tcp_conn *conn)
{
	static const int8_t denied = PW_IPERF3_ACCESS_DENIED;

	pw_tcp_send(conn, &denied, 1);
	pw_tcp_shutdown(conn);
}

/* True once the role is known. */
static bool
read_cookie(struct pw_iperf3_conn *c, struct pw_tcp_conn *conn)
{
	if (c->cookie_read == sizeof(c->cookie)) /* it was denied */
		return false;
	c->cookie_read += pw_tcp_read(
		conn, c->cookie + c->cookie_read, sizeof(c->cookie) - c->cookie_read);
	if (c->cookie_read < sizeof(c->cookie))
		return false;
	c->role = choose_role(c, conn);
	if (c->role == NULL)
		deny(conn);
	else
		c->role->opened(conn, NULL);
	return c->role != NULL;
}

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = calloc(1, sizeof(*c));

	(void)app_ctx;
	pw_tcp_set_user(conn, c);
	if (c == NULL)
		pw_tcp_abort(conn);
	else
		pw_tcp_set_timer(conn, pw_tcp_now(conn) + COOKIE_US);
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);

	if (c == NULL)
		return;
	if (c->role != NULL || read_cookie(c, conn)) {
		c->role->readable(conn, app_ctx);
		return;
	}
	if (c->cookie_read == sizeof(c->cookie))
		pw_tcp_app_drop(conn);
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
writable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);

	if (c != NULL && c->role != NULL && c->role->writable != NULL)
		c->role->writable(conn, app_ctx);
}

static void
timer(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);

	if (c != NULL && c->role != NULL)
		c->role->timer(conn, app_ctx);
	else
		pw_tcp_abort(conn);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_iperf3_conn *c = pw_tcp_get_user(conn);

	if (c == NULL)
		return;
	if (c->role != NULL)
		c->role->closed(conn, app_ctx);
	free(c->text);
	free(c);
}

static struct pw_tcp_service iperf3 = {
	.help = "the server of iperf3, for TCP and UDP, one test at a time",
	.port = 5201,
	.app = {.name = "iperf3",
		.opened = opened,
		.readable = readable,
		.writable = writable,
		.timer = timer,
		.closed = closed},
	.udp_input = pw_iperf3_udp_input,
	.tick = pw_iperf3_udp_tick,
};

PW_TCP_APP_REGISTER(iperf3)
