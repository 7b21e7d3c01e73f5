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

	pw_frag_free(buf->arena, buf);
}

uint16_t
pw_frag_buf_max(const struct pw_arena *arena)
{
	size_t room = pw_arena_page_bytes(arena) - sizeof(struct pw_frag_buf);

	return RTE_MIN(room, (size_t)UINT16_MAX);
}

struct pw_frag_buf *
pw_frag_buf_alloc(struct pw_frag_cache *cache, struct pw_arena *arena, uint16_t size_bytes)
{
	struct pw_frag_buf *buf;
	struct pw_page *page;

	if (size_bytes == 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	buf = pw_frag_alloc(cache, sizeof(*buf) + size_bytes, RTE_CACHE_LINE_SIZE);
	if (buf == NULL)
		return NULL;

	page = pw_page_of(arena, buf);
	buf->shinfo.free_cb = free_buf;
	buf->shinfo.fcb_opaque = buf;
	rte_mbuf_ext_refcnt_set(&buf->shinfo, 1);
	buf->arena = arena;
	buf->iova = page->iova == RTE_BAD_IOVA ? RTE_BAD_IOVA
					       : page->iova + (buf->data - page->addr);
	buf->size_bytes = size_bytes;
	return buf;
}

void
pw_frag_buf_attach(
	struct pw_frag_buf *buf, struct rte_mbuf *m, uint16_t offset_bytes, uint16_t len_bytes)
{
	rte_mbuf_ext_refcnt_update(&buf->shinfo, 1);
	rte_pktmbuf_attach_extbuf(m, buf->data, buf->iova, buf->size_bytes, &buf->shinfo);
	m->data_off = offset_bytes;
	m->data_len = len_bytes;
	m->pkt_len = len_bytes;
}

void
pw_frag_buf_put(struct pw_frag_buf *buf)
{
	if (buf != NULL && rte_mbuf_ext_refcnt_update(&buf->shinfo, -1) == 0)
		free_buf(buf->data, buf);
}
