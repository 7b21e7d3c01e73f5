/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What data out of order, and data that came twice, have to be remembered in. */

#include "pw_tcp_priv.h"

bool
pw_tcp_reassembly_begin(struct pw_tcp_conn *conn)
{
	struct pw_tcp_reassembly *reassembly = conn->reassembly;

	if (reassembly != NULL)
		return true;
	reassembly = pw_tcp_pool_take(&conn->tcp->reassemblies);
	if (reassembly == NULL)
		return false;
	*reassembly = (struct pw_tcp_reassembly){0};
	conn->reassembly = reassembly;
	return true;
}

void
pw_tcp_reassembly_end(struct pw_tcp_conn *conn)
{
	struct pw_tcp_reassembly *reassembly = conn->reassembly;

	if (reassembly == NULL || reassembly->queue.first != NULL || reassembly->has_dsack)
		return;
	conn->reassembly = NULL;
	pw_tcp_pool_give(&conn->tcp->reassemblies, reassembly);
}

uint32_t
pw_tcp_reassembly_clear(struct pw_tcp_conn *conn)
{
	struct pw_tcp_reassembly *reassembly = conn->reassembly;
	uint32_t mbufs;

	if (reassembly == NULL)
		return 0;
	mbufs = reassembly->queue.mbufs;
	conn->tcp->ofo_mbufs -= mbufs;
	reassembly->nb_sacks = 0; /* RFC 2018 8: the sender must cope */
	pw_tcp_queue_clear(conn->tcp, &reassembly->queue);
	return mbufs;
}

void
pw_tcp_reassembly_release(struct pw_tcp_conn *conn)
{
	(void)pw_tcp_reassembly_clear(conn);
	if (conn->reassembly != NULL)
		conn->reassembly->has_dsack = false;
	pw_tcp_reassembly_end(conn);
}
