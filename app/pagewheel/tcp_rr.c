/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Request and response, as netperf's TCP_RR: each request of so many bytes gets its reply. */

#include <stdlib.h>

#include "tcp_app.h"
#include "tcp_rr.h"

struct rr {
	struct pw_rr_sizes sizes; /* while they come; then they are below, 1 or more */
	uint32_t sizes_read;
	uint32_t request_bytes, reply_bytes;
	uint32_t received; /* of the request that comes now */
	uint32_t owed;	   /* of the reply that goes now */
};

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct rr *rr = calloc(1, sizeof(*rr));

	(void)app_ctx;
	pw_tcp_set_user(conn, rr);
	if (rr == NULL)
		pw_tcp_abort(conn);
}

/* False: they are not there, or wrong. */
static bool
read_sizes(struct rr *rr, struct pw_tcp_conn *conn)
{
	if (rr->request_bytes > 0)
		return true;
	rr->sizes_read += pw_tcp_read(
		conn, (char *)&rr->sizes + rr->sizes_read, sizeof(rr->sizes) - rr->sizes_read);
	if (rr->sizes_read < sizeof(rr->sizes))
		return false;
	rr->request_bytes = rte_be_to_cpu_32(rr->sizes.request_bytes);
	rr->reply_bytes = rte_be_to_cpu_32(rr->sizes.reply_bytes);
	if (rr->request_bytes - 1 < PW_RR_BYTES_MAX && rr->reply_bytes - 1 < PW_RR_BYTES_MAX)
		return true;
	rr->request_bytes = 0;
	pw_tcp_abort(conn);
	return false;
}

/* A request is read only when the reply before it has gone. */
static bool
reply(struct rr *rr, struct pw_tcp_conn *conn)
{
	rr->owed -= pw_tcp_app_send_zeros(conn, rr->owed);
	return rr->owed == 0;
}

static void
pump(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct rr *rr = pw_tcp_get_user(conn);
	uint32_t n;

	(void)app_ctx;
	if (rr == NULL || !read_sizes(rr, conn))
		return;
	while (reply(rr, conn) && pw_tcp_front(conn, &n) != NULL) {
		n = RTE_MIN(n, rr->request_bytes - rr->received);
		pw_tcp_consume(conn, n);
		rr->received += n;
		if (rr->received == rr->request_bytes) {
			rr->received = 0;
			rr->owed = rr->reply_bytes;
		}
	}
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct rr *rr = pw_tcp_get_user(conn);

	pump(conn, app_ctx);
	if (rr != NULL && rr->owed == 0 && pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)app_ctx;
	free(pw_tcp_get_user(conn));
}

static struct pw_tcp_service rr_service = {
	.help = "answers requests of a fixed size with replies of a fixed size",
	.port = 5000,
	.app = {.name = "rr",
		.opened = opened,
		.readable = readable,
		.writable = readable,
		.closed = closed},
};

PW_TCP_APP_REGISTER(rr_service)
