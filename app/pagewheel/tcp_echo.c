/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Echo, RFC 862: sends everything back. */

#include "tcp_app.h"

/* What the send queue has no room for stays in the receive queue: our window closes. */
static void
pump(struct pw_tcp_conn *conn, void *app_ctx)
{
	const void *data;
	uint32_t n, sent;

	(void)app_ctx;
	while ((data = pw_tcp_front(conn, &n)) != NULL) {
		sent = pw_tcp_send(conn, data, n);
		if (sent == 0)
			return;
		pw_tcp_consume(conn, sent);
	}
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static struct pw_tcp_service echo = {
	.help = "sends everything back (RFC 862)",
	.port = 7,
	.app = {.name = "echo", .readable = pump, .writable = pump},
};

PW_TCP_APP_REGISTER(echo)
