/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Echo, RFC 862: sends everything back. */

#include <stdbool.h>

#include "pw_chain.h"
#include "tcp_app.h"

/* Send a packet; what the send queue has no room for is left. NULL: nothing. */
static struct rte_mbuf *
send_packet(struct pw_tcp_conn *conn, struct rte_mbuf *m)
{
	while (m != NULL) {
		uint32_t len = m->data_len;
		uint32_t sent = pw_tcp_send(conn, rte_pktmbuf_mtod(m, const void *), len);
		bool last = m->next == NULL;

		if (sent < len)
			return pw_chain_trim_front(m, sent);
		if (last)
			rte_pktmbuf_free(m);
		m = last ? NULL : pw_chain_trim_front(m, sent);
	}
	return NULL;
}

/* The packet that is partly sent is kept with the connection. */
static void
pump(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct rte_mbuf *m = pw_tcp_get_user(conn);

	(void)app_ctx;
	if (m == NULL)
		m = pw_tcp_recv(conn);
	while (m != NULL) {
		m = send_packet(conn, m);
		if (m != NULL)
			break;
		m = pw_tcp_recv(conn);
	}
	pw_tcp_set_user(conn, m);
	if (m == NULL && pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)app_ctx;
	rte_pktmbuf_free(pw_tcp_get_user(conn));
}

static struct pw_tcp_service echo = {
	.port = 7,
	.app = {.name = "echo", .readable = pump, .writable = pump, .closed = closed},
};

PW_TCP_APP_REGISTER(echo)
