/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "udp_send.h"

#include <string.h>

#include <rte_mbuf.h>
#include <rte_udp.h>

#include "app.h"
#include "tcp_stack.h"

/* A buffer of the pool, and more where one is too small. NULL: there are none. */
static struct rte_mbuf *
alloc_chain(struct rte_mempool *pool, uint32_t len_bytes)
{
	struct rte_mbuf *first = NULL, *m;

	while (len_bytes > 0) {
		uint32_t n;

		m = rte_pktmbuf_alloc(pool);
		if (m == NULL || (first != NULL && rte_pktmbuf_chain(first, m) < 0)) {
			rte_pktmbuf_free(m);
			rte_pktmbuf_free(first);
			return NULL;
		}
		n = RTE_MIN(len_bytes, rte_pktmbuf_tailroom(m));
		memset(rte_pktmbuf_mtod(m, void *), 0, n);
		m->data_len = n;
		if (first == NULL)
			first = m;
		first->pkt_len += n;
		len_bytes -= n;
	}
	return first;
}

bool
pw_udp_send(struct pw_tcp_stack *stack, const struct pw_udp_ends *ends, const void *head,
	uint32_t head_bytes, uint32_t len_bytes, uint64_t now_us)
{
	struct rte_mbuf *m = alloc_chain(stack->app->pool, sizeof(struct rte_udp_hdr) + len_bytes);
	struct rte_udp_hdr *udp;

	if (m == NULL)
		return false;
	udp = rte_pktmbuf_mtod(m, struct rte_udp_hdr *);
	udp->src_port = ends->src_port;
	udp->dst_port = ends->dst_port;
	memcpy(udp + 1, head, head_bytes);
	pw_inet_output_udp(stack->inet, m, &ends->ip, now_us);
	return true;
}
