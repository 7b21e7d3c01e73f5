/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_copybreak.h"

#include <errno.h>

#include <rte_memcpy.h>

#include "pw_frag_buf.h"

int
pw_copybreak_init(struct pw_copybreak *cb, const struct pw_copybreak_params *params)
{
	if (params->cache == NULL || params->headers == NULL ||
		params->headers->private_data_size < sizeof(struct rte_pktmbuf_pool_private) ||
		(rte_pktmbuf_priv_flags(params->headers) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF))
		return -EINVAL;
	if (params->max_bytes + (uint32_t)params->headroom_bytes >
		pw_frag_buf_max(pw_frag_cache_pool(params->cache)))
		return -EMSGSIZE;
	*cb = (struct pw_copybreak){.params = *params};
	return 0;
}

static void
copy_data(char *to, const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		rte_memcpy(to, rte_pktmbuf_mtod(m, const char *), m->data_len);
		to += m->data_len;
	}
}

static struct rte_mbuf *
copy_packet(struct pw_copybreak *cb, const struct rte_mbuf *m)
{
	uint16_t headroom_bytes = cb->params.headroom_bytes;
	uint16_t size_bytes = RTE_MAX(1, headroom_bytes + (int)m->pkt_len);
	struct rte_mbuf *copy = rte_pktmbuf_alloc(cb->params.headers);
	struct pw_frag_buf *buf;

	if (copy == NULL)
		return NULL;
	buf = pw_frag_buf_alloc(cb->params.cache, size_bytes);
	if (buf == NULL) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	/* As rte_pktmbuf_copy(): where the data lie is not what the flags of the original say. */
	__rte_pktmbuf_copy_hdr(copy, m);
	copy->ol_flags = m->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	copy_data(buf->data + headroom_bytes, m);
	pw_frag_buf_hand_over(buf, copy, headroom_bytes, m->pkt_len);
	return copy;
}

struct rte_mbuf *
pw_copybreak(struct pw_copybreak *cb, struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (m->pkt_len > cb->params.max_bytes) {
		cb->stats.passed_large++;
		return m;
	}
	copy = copy_packet(cb, m);
	if (copy == NULL) {
		cb->stats.no_memory++;
		return m;
	}
	cb->stats.copied++;
	cb->stats.copied_bytes += copy->pkt_len;
	rte_pktmbuf_free(m);
	return copy;
}
