/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* ICMP errors about our segments: RFC 1122 4.2.3.9, RFC 5461, RFC 5927. */

#include <errno.h>
#include <string.h>

#include "pw_tcp_priv.h"

/* Before a connection is established an error ends it; later it may pass, or be forged. */
static void
unreachable(struct pw_tcp_conn *conn, int error, uint64_t now_us)
{
	if (conn->state != PW_TCP_SYN_SENT && conn->state != PW_TCP_SYN_RECEIVED) {
		conn->soft_error = error;
		return;
	}
	pw_tcp_conn_fail(conn, error);
	pw_tcp_conn_finish(conn, now_us);
}

int
pw_tcp_error(struct pw_tcp *tcp, const struct pw_inet_error *error, uint64_t now_us)
{
	struct pw_tcp_key key = {.peer = error->sent.dst, .local = error->sent.src};
	struct pw_tcp_conn *conn;
	rte_be32_t be_seq;
	uint32_t seq;

	tcp->now_us = now_us;
	memcpy(&key.local_port, error->head, 2);
	memcpy(&key.peer_port, error->head + 2, 2);
	memcpy(&be_seq, error->head + 4, 4);
	seq = rte_be_to_cpu_32(be_seq);
	conn = pw_tcp_conn_find(tcp, &key);
	if (conn == NULL) {
		tcp->stats.icmp_ignored++;
		return -ENOENT;
	}
	/* RFC 5927 4.1: only of what is in flight. */
	if (pw_seq_before(seq, conn->snd_una) || !pw_seq_before(seq, conn->snd_max)) {
		tcp->stats.icmp_ignored++;
		return 0;
	}
	switch (error->kind) {
	case PW_INET_TOO_BIG:
		pw_tcp_mtu_too_big(conn, error->mtu_bytes, now_us);
		pw_tcp_conn_finish(conn, now_us);
		break;
	case PW_INET_REFUSED:
		unreachable(conn, ECONNREFUSED, now_us);
		break;
	case PW_INET_UNREACHABLE:
		unreachable(conn, EHOSTUNREACH, now_us);
		break;
	}
	return 0;
}
