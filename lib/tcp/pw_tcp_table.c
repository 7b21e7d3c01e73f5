/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Connections by their key: chains through the connections themselves, four bytes a link. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "pw_tcp_priv.h"

#define NONE 0 /* links are slots plus one */

size_t
pw_tcp_table_bytes(uint32_t max_conns)
{
	return rte_align32pow2(max_conns) * sizeof(*((struct pw_tcp *)NULL)->buckets);
}

int
pw_tcp_table_create(struct pw_tcp *tcp)
{
	uint32_t buckets = rte_align32pow2(tcp->params.max_conns);

	tcp->buckets_mask = buckets - 1;
	tcp->buckets = rte_zmalloc_socket("pw_tcp_buckets",
		pw_tcp_table_bytes(tcp->params.max_conns), RTE_CACHE_LINE_SIZE,
		tcp->params.pool->socket_id);
	return tcp->buckets == NULL ? -ENOMEM : 0;
}

void
pw_tcp_table_free(struct pw_tcp *tcp)
{
	rte_free(tcp->buckets);
}

static uint32_t *
bucket_of(struct pw_tcp *tcp, const struct pw_tcp_key *key)
{
	return &tcp->buckets[pw_tcp_hash(tcp, key, PW_TCP_HASH_TABLE, 0) & tcp->buckets_mask];
}

struct pw_tcp_conn *
pw_tcp_conn_find(struct pw_tcp *tcp, const struct pw_tcp_key *key)
{
	struct pw_tcp_conn *conn;

	for (uint32_t link = *bucket_of(tcp, key); link != NONE; link = conn->next_in_bucket) {
		conn = &tcp->conns[link - 1];
		if (memcmp(&conn->key, key, sizeof(*key)) == 0)
			return conn;
	}
	return NULL;
}

void
pw_tcp_table_add(struct pw_tcp_conn *conn)
{
	uint32_t *link = bucket_of(conn->tcp, &conn->key);

	conn->next_in_bucket = *link;
	*link = conn - conn->tcp->conns + 1;
}

void
pw_tcp_table_remove(struct pw_tcp_conn *conn)
{
	struct pw_tcp *tcp = conn->tcp;
	uint32_t *link = bucket_of(tcp, &conn->key);

	while (&tcp->conns[*link - 1] != conn)
		link = &tcp->conns[*link - 1].next_in_bucket;
	*link = conn->next_in_bucket;
}
