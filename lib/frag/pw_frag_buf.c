/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frag_buf.h"

#include <errno.h>

#include <rte_errno.h>

static void
free_buf(void *data __rte_unused, void *opaque)
{
	struct pw_frag_buf *buf = opaque;

	pw_frag_free(buf->pool, buf);
}

static uint16_t
max_in(size_t page_bytes)
{
	return RTE_MIN(page_bytes - sizeof(struct pw_frag_buf), (size_t)UINT16_MAX);
}

uint16_t
pw_frag_buf_max(const struct pw_frag_pool *pool)
{
	return max_in(pw_strategy_page_bytes(pw_frag_pool_strategy(pool)));
}

uint16_t
pw_frag_buf_fallback_max(void)
{
	return max_in((size_t)1 << PW_PAGE_SHIFT);
}

struct pw_frag_buf *
pw_frag_buf_alloc(struct pw_frag_cache *cache, uint16_t size_bytes)
{
	struct pw_frag_buf *buf;

	if (size_bytes == 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	buf = pw_frag_alloc(cache, sizeof(*buf) + size_bytes, RTE_CACHE_LINE_SIZE);
	if (buf == NULL)
		return NULL;

	buf->shinfo.free_cb = free_buf;
	buf->shinfo.fcb_opaque = buf;
	rte_mbuf_ext_refcnt_set(&buf->shinfo, 1);
	buf->pool = pw_frag_cache_pool(cache);
	buf->iova = pw_frag_iova(buf->pool, buf->data);
	buf->size_bytes = size_bytes;
	return buf;
}

struct pw_frag_buf *
pw_frag_buf_alloc_upto(struct pw_frag_cache *cache, uint16_t max_bytes)
{
	struct pw_frag_buf *buf = pw_frag_buf_alloc(cache, max_bytes);

	if (buf == NULL && max_bytes > pw_frag_buf_fallback_max()) /* memory is in small pieces */
		buf = pw_frag_buf_alloc(cache, pw_frag_buf_fallback_max());
	return buf;
}

void
pw_frag_buf_hand_over(
	struct pw_frag_buf *buf, struct rte_mbuf *m, uint16_t offset_bytes, uint16_t len_bytes)
{
	rte_pktmbuf_attach_extbuf(m, buf->data, buf->iova, buf->size_bytes, &buf->shinfo);
	m->data_off = offset_bytes;
	m->data_len = len_bytes;
	m->pkt_len = len_bytes;
}

void
pw_frag_buf_attach(
	struct pw_frag_buf *buf, struct rte_mbuf *m, uint16_t offset_bytes, uint16_t len_bytes)
{
	rte_mbuf_ext_refcnt_update(&buf->shinfo, 1);
	pw_frag_buf_hand_over(buf, m, offset_bytes, len_bytes);
}

void
pw_frag_buf_put(struct pw_frag_buf *buf)
{
	if (buf != NULL && rte_mbuf_ext_refcnt_update(&buf->shinfo, -1) == 0)
		free_buf(buf->data, buf);
}
