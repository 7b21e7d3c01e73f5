/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Discard, RFC 863: takes everything, over TCP and UDP, and sends nothing. With --digest it tells
 * what a TCP stream was. */

#include <inttypes.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "notice.h"
#include "options.h"
#include "tcp_app.h"
#include "tcp_stack.h"

struct digest {
	SHA2_CTX sha;
	uint64_t bytes;
};

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	const struct pw_options *options = app_ctx;
	struct digest *digest;

	if (!options->digest)
		return;
	digest = calloc(1, sizeof(*digest));
	if (digest == NULL) {
		pw_tcp_abort(conn);
		return;
	}
	SHA256Init(&digest->sha);
	pw_tcp_set_user(conn, digest);
}

/* As read() does: into memory of the reader's own, here one buffer of its lcore. */
static void
copy_all(struct pw_tcp_conn *conn)
{
	static __thread uint8_t data[64 << 10];

	while (pw_tcp_read(conn, data, sizeof(data)) > 0)
		;
}

static void
add(struct digest *digest, const struct rte_mbuf *m)
{
	digest->bytes += m->pkt_len;
	for (; m != NULL; m = m->next)
		SHA256Update(&digest->sha, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
}

static void
digest_all(struct digest *digest, struct pw_tcp_conn *conn)
{
	struct rte_mbuf *m;

	while ((m = pw_tcp_recv(conn)) != NULL) {
		add(digest, m);
		rte_pktmbuf_free(m);
	}
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	const struct pw_options *options = app_ctx;
	struct digest *digest = pw_tcp_get_user(conn);

	if (digest != NULL)
		digest_all(digest, conn);
	else if (options->discard_copy)
		copy_all(conn);
	else
		pw_tcp_app_drop(conn);
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct digest *digest = pw_tcp_get_user(conn);
	char hex[SHA256_DIGEST_STRING_LENGTH], peer[PW_ADDR_STRLEN];
	struct pw_addr addr;
	uint16_t port;

	(void)app_ctx;
	if (digest == NULL)
		return;
	pw_tcp_get_peer(conn, &addr, &port);
	pw_notice("discard %s:%u: %" PRIu64 " bytes, SHA-256 %s", pw_addr_format(&addr, peer), port,
		digest->bytes, SHA256End(&digest->sha, hex));
	free(digest);
}

static void
copy_datagram(const struct rte_mbuf *datagram)
{
	static __thread uint8_t data[UINT16_MAX + 1];
	const void *whole = rte_pktmbuf_read(datagram, 0, datagram->pkt_len, data);

	/* What is in one piece has not been copied yet. */
	if (whole != NULL && whole != data)
		memcpy(data, whole, datagram->pkt_len);
	/* The compiler must take it that somebody reads it. */
	__asm__ volatile("" : : "r"(data) : "memory");
}

static bool
udp_input(struct pw_tcp_stack *stack, struct rte_mbuf *datagram, const struct pw_ip_info *ip,
	uint64_t now_us)
{
	(void)ip;
	(void)now_us;
	if (stack->app->options.discard_copy)
		copy_datagram(datagram);
	rte_pktmbuf_free(datagram);
	return true;
}

static struct pw_tcp_service discard = {
	.help = "takes everything, over TCP and UDP; with --digest it prints the SHA-256 of each stream "
		"(RFC 863)",
	.port = 9,
	.app = {.name = "discard", .opened = opened, .readable = readable, .closed = closed},
	.udp_input = udp_input,
};

PW_TCP_APP_REGISTER(discard)
