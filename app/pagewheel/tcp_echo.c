/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Echo, RFC 862: sends everything back, over TCP and UDP. */

#include <rte_udp.h>

#include "tcp_app.h"
#include "tcp_stack.h"

#define PORT 7

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

/*
 * The buffer it came in goes back, with both ends turned round. Not to another echo: the two would
 * never stop.
 */
static bool
udp_input(struct pw_tcp_stack *stack, struct rte_mbuf *datagram, const struct pw_ip_info *ip,
	uint64_t now_us)
{
	struct rte_udp_hdr *udp = rte_pktmbuf_mtod(datagram, struct rte_udp_hdr *);
	const struct pw_ip_info back = {.src = ip->dst, .dst = ip->src};
	rte_be16_t port = udp->src_port;

	if (port == udp->dst_port || port == RTE_BE16(PORT)) {
		rte_pktmbuf_free(datagram);
		return true;
	}
	udp->src_port = udp->dst_port;
	udp->dst_port = port;
	pw_inet_output_udp(stack->inet, datagram, &back, now_us);
	return true;
}

static struct pw_tcp_service echo = {
	.help = "sends everything back, over TCP and UDP (RFC 862)",
	.port = PORT,
	.app = {.name = "echo", .readable = pump, .writable = pump},
	.udp_input = udp_input,
};

PW_TCP_APP_REGISTER(echo)
