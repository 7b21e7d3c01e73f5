/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "pw_chain.h"
#include "pw_tcp_priv.h"

#define CONNS_MAX (1 << 20)
#define BUF_MIN_BYTES 4096
#define MTU_MIN_BYTES 576
#define HALF_OPEN_MIN 8

static bool
is_valid(const struct pw_tcp_params *params)
{
	return params->frags != NULL && params->max_half_open <= params->max_conns &&
		params->max_conns > 0 && params->max_conns <= CONNS_MAX &&
		params->rcvbuf_bytes >= BUF_MIN_BYTES && params->rcvbuf_bytes <= INT32_MAX / 2 &&
		params->sndbuf_bytes >= BUF_MIN_BYTES && params->sndbuf_bytes <= INT32_MAX / 2 &&
		params->mtu_bytes >= MTU_MIN_BYTES && params->tso_max_bytes <= UINT16_MAX &&
		(params->tso_max_bytes == 0 || params->tso_max_mbufs >= 2);
}

static uint64_t
max_queued_bytes(const struct pw_tcp_params *params)
{
	struct pw_frag_pool_stats stats;

	if (params->max_queued_bytes > 0)
		return params->max_queued_bytes;
	pw_frag_pool_get_stats(params->frags, &stats);
	return stats.pages.bytes / 2;
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
	uint32_t max = tcp->params.max_conns;

	if (tcp->params.max_half_open == 0)
		tcp->params.max_half_open = RTE_MAX(max / 8, (uint32_t)HALF_OPEN_MIN);
	tcp->params.max_half_open = RTE_MIN(tcp->params.max_half_open, max);
	tcp->conns = rte_zmalloc_socket("pw_tcp_conns", max * sizeof(*tcp->conns),
		RTE_CACHE_LINE_SIZE, tcp->params.pool->socket_id);
	if (tcp->conns == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < max; i++)
		TAILQ_INSERT_TAIL(&tcp->free_conns, &tcp->conns[i], link);
	return pw_tcp_table_create(tcp);
}

/* For what only some connections need at a time. */
static int
alloc_pools(struct pw_tcp *tcp)
{
	uint32_t max = tcp->params.max_conns;
	int socket_id = tcp->params.pool->socket_id;
	int rc = pw_tcp_sent_pool_init(tcp);

	if (rc == 0)
		rc = pw_tcp_pool_init(&tcp->flights, "pw_tcp_flights", sizeof(struct pw_tcp_flight),
			max, socket_id);
	if (rc == 0)
		rc = pw_tcp_pool_init(&tcp->reassemblies, "pw_tcp_reassemblies",
			sizeof(struct pw_tcp_reassembly), max, socket_id);
	return rc;
}

size_t
pw_tcp_memory(const struct pw_tcp_params *params, uint32_t active)
{
	uint32_t max = params->max_conns;

	active = RTE_MAX(RTE_MIN(active, max), 1U);
	return sizeof(struct pw_tcp) + (size_t)max * sizeof(struct pw_tcp_conn) +
		pw_tcp_table_bytes(max) + pw_tcp_sent_pool_bytes(max) +
		pw_tcp_pool_bytes(sizeof(struct pw_tcp_flight), active) +
		pw_tcp_pool_bytes(sizeof(struct pw_tcp_reassembly), active);
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
	tcp->max_queued_bytes = max_queued_bytes(params);
	pw_tcp_wheel_init(&tcp->wheel);
	TAILQ_INIT(&tcp->free_conns);
	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		TAILQ_INIT(&tcp->lists[i]);

	TAILQ_INIT(&tcp->resting);
	tcp->cc = pw_tcp_cc_of(params->congestion);

	rc = register_link(tcp);
	if (rc == 0)
		rc = alloc_conns(tcp);
	if (rc == 0)
		rc = alloc_pools(tcp);
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
	tcp->is_ending = true;
	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		while (!TAILQ_EMPTY(&tcp->lists[i]))
			pw_tcp_conn_release(TAILQ_FIRST(&tcp->lists[i]));
	pw_frag_cache_destroy(tcp->frags);
	pw_tcp_pool_fini(&tcp->flights);
	pw_tcp_pool_fini(&tcp->reassemblies);
	pw_tcp_sent_pool_fini(tcp);
	pw_tcp_table_free(tcp);
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
pw_tcp_input(
	struct pw_tcp *tcp, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_key key = {.peer = ip->src, .local = ip->dst};
	struct pw_tcp_conn *conn;
	struct pw_tcp_seg seg;
	int header = pw_tcp_seg_parse(segment, &seg);

	tcp->now_us = now_us;
	tcp->stats.in_segs++;
	if (header < 0) {
		tcp->stats.in_errs++;
		rte_pktmbuf_free(segment);
		return;
	}
	key.peer_port = seg.src_port;
	key.local_port = seg.dst_port;
	seg.ecn = ip->tos & PW_ECN_MASK;
	segment = pw_chain_trim_front(segment, header);

	conn = pw_tcp_conn_find(tcp, &key);
	if (conn == NULL)
		conn = pw_tcp_listen_input(tcp, &key, &seg, now_us);
	if (conn != NULL)
		pw_tcp_conn_input(conn, segment, &seg, now_us);
	else
		rte_pktmbuf_free(segment);
}

void
pw_tcp_get_stats(const struct pw_tcp *tcp, struct pw_tcp_stats *stats)
{
	*stats = tcp->stats;
}
