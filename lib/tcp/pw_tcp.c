/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_jhash.h>
#include <rte_malloc.h>

#include "pw_chain.h"
#include "pw_tcp_priv.h"

#define CONNS_MAX (1 << 20)
#define BUF_MIN_BYTES 4096
#define MTU_MIN_BYTES 576

static bool
is_valid(const struct pw_tcp_params *params)
{
	return params->frags != NULL && params->max_conns > 0 && params->max_conns <= CONNS_MAX &&
		params->rcvbuf_bytes >= BUF_MIN_BYTES && params->rcvbuf_bytes <= INT32_MAX / 2 &&
		params->sndbuf_bytes >= BUF_MIN_BYTES && params->sndbuf_bytes <= INT32_MAX / 2 &&
		params->mtu_bytes >= MTU_MIN_BYTES && params->tso_max_bytes <= UINT16_MAX &&
		(params->tso_max_bytes == 0 || params->tso_max_mbufs >= 2);
}

static int
register_link(struct pw_tcp *tcp)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "pagewheel_tcp_link",
		.size = sizeof(struct pw_tcp_link),
		.align = __alignof__(struct pw_tcp_link),
	};

	tcp->link_offset = rte_mbuf_dynfield_register(&field);
	return tcp->link_offset < 0 ? -rte_errno : 0;
}

static int
alloc_conns(struct pw_tcp *tcp)
{
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters hash = {
		.name = name,
		.entries = tcp->params.max_conns,
		.key_len = sizeof(struct pw_tcp_key),
		.hash_func = rte_jhash,
		.hash_func_init_val = (uint32_t)tcp->params.secret,
		.socket_id = tcp->params.pool->socket_id,
		/* Without it rte_hash may refuse a key although fewer than entries are in. */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	snprintf(name, sizeof(name), "pw_tcp_%p", (void *)tcp);
	tcp->by_key = rte_hash_create(&hash);
	tcp->conns = rte_zmalloc_socket("pw_tcp_conns", tcp->params.max_conns * sizeof(*tcp->conns),
		RTE_CACHE_LINE_SIZE, tcp->params.pool->socket_id);
	if (tcp->by_key == NULL || tcp->conns == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < tcp->params.max_conns; i++)
		TAILQ_INSERT_TAIL(&tcp->free_conns, &tcp->conns[i], link);
	return 0;
}

struct pw_tcp *
pw_tcp_create(const struct pw_tcp_params *params)
{
	struct pw_tcp *tcp;
	int rc;

	if (!is_valid(params)) {
		rte_errno = EINVAL;
		return NULL;
	}
	tcp = rte_zmalloc_socket(
		"pw_tcp", sizeof(*tcp), RTE_CACHE_LINE_SIZE, params->pool->socket_id);
	if (tcp == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	tcp->params = *params;
	tcp->next_timer_us = UINT64_MAX;
	TAILQ_INIT(&tcp->free_conns);
	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		TAILQ_INIT(&tcp->lists[i]);

	rc = register_link(tcp);
	if (rc == 0)
		rc = alloc_conns(tcp);
	if (rc == 0) {
		tcp->frags = pw_frag_cache_create(params->frags);
		if (tcp->frags == NULL)
			rc = -rte_errno;
	}
	if (rc < 0) {
		pw_tcp_destroy(tcp);
		rte_errno = -rc;
		return NULL;
	}
	return tcp;
}

void
pw_tcp_destroy(struct pw_tcp *tcp)
{
	if (tcp == NULL)
		return;
	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		while (!TAILQ_EMPTY(&tcp->lists[i]))
			pw_tcp_conn_release(TAILQ_FIRST(&tcp->lists[i]));
	pw_frag_cache_destroy(tcp->frags);
	rte_hash_free(tcp->by_key);
	rte_free(tcp->conns);
	rte_free(tcp);
}

int
pw_tcp_listen(struct pw_tcp *tcp, uint16_t port, const struct pw_tcp_app *app, void *app_ctx)
{
	if (port == 0)
		return -EINVAL;
	for (unsigned i = 0; i < PW_TCP_LISTENERS_MAX; i++) {
		struct pw_tcp_listener *listener = &tcp->listeners[i];

		if (listener->port == port)
			return -EADDRINUSE;
		if (listener->port == 0) {
			*listener = (struct pw_tcp_listener){
				.port = port, .app = app, .app_ctx = app_ctx};
			return 0;
		}
	}
	return -ENOSPC;
}

void
pw_tcp_input(struct pw_tcp *tcp, struct rte_mbuf *segment, rte_be32_t src, rte_be32_t dst,
	uint64_t now_us)
{
	struct pw_tcp_key key = {.peer = src, .local = dst};
	struct pw_tcp_conn *conn;
	struct pw_tcp_seg seg;
	int header = pw_tcp_seg_parse(segment, &seg);

	tcp->stats.in_segs++;
	if (header < 0) {
		tcp->stats.in_errs++;
		rte_pktmbuf_free(segment);
		return;
	}
	key.peer_port = seg.src_port;
	key.local_port = seg.dst_port;
	segment = pw_chain_trim_front(segment, header);

	conn = pw_tcp_conn_find(tcp, &key);
	if (conn != NULL) {
		pw_tcp_conn_input(conn, segment, &seg, now_us);
	} else {
		pw_tcp_listen_input(tcp, &key, &seg, now_us);
		rte_pktmbuf_free(segment);
	}
}

void
pw_tcp_get_stats(const struct pw_tcp *tcp, struct pw_tcp_stats *stats)
{
	*stats = tcp->stats;
}
