/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAG_BUF_H
#define PW_FRAG_BUF_H

/**
 * @file
 * Counted buffers in page fragments that mbufs can point into, as external buffers.
 *
 * A sender keeps its data in such a buffer and attaches parts of it to mbufs, as often as it has to
 * send them again; the fragment is freed with the last holder. Buffers outlive the cache that they
 * were cut by.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "pw_frag.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_frag_buf {
	struct rte_mbuf_ext_shared_info shinfo;
	struct pw_frag_pool *pool;
	rte_iova_t iova; /**< of data, or RTE_BAD_IOVA */
	uint16_t size_bytes;
	char data[] __rte_aligned(16);
};

/**
 * Largest size of a buffer: what a page of the strategy leaves beside the bookkeeping, at most
 * 65535.
 *
 * When no such page is left, buffers up to pw_frag_buf_fallback_max() can still be had: who can do
 * with less asks for that after ENOMEM.
 */
uint16_t pw_frag_buf_max(const struct pw_frag_pool *pool);

/** Largest size of a buffer in a page of order 0, which may be there when no larger one is. */
uint16_t pw_frag_buf_fallback_max(void);

/**
 * Make a buffer with one reference. Thread rule of pw_frag_alloc().
 *
 * @param size_bytes  1 to pw_frag_buf_max()
 * @return NULL with rte_errno as pw_frag_alloc()
 */
struct pw_frag_buf *pw_frag_buf_alloc(struct pw_frag_cache *cache, uint16_t size_bytes);

/**
 * pw_frag_buf_alloc() for who can do with less: where no page for so much is left, the buffer has
 * pw_frag_buf_fallback_max() bytes. Its size_bytes tells.
 */
struct pw_frag_buf *pw_frag_buf_alloc_upto(struct pw_frag_cache *cache, uint16_t max_bytes);

/**
 * Let a fresh, empty mbuf point at a part of the buffer, and take a reference for it. Any thread.
 *
 * The range must lie in the buffer.
 */
void pw_frag_buf_attach(
	struct pw_frag_buf *buf, struct rte_mbuf *m, uint16_t offset_bytes, uint16_t len_bytes);

/** pw_frag_buf_attach() that hands the caller's reference over to the mbuf. */
void pw_frag_buf_hand_over(
	struct pw_frag_buf *buf, struct rte_mbuf *m, uint16_t offset_bytes, uint16_t len_bytes);

/** Drop a reference. Any thread. NULL is allowed. */
void pw_frag_buf_put(struct pw_frag_buf *buf);

#ifdef __cplusplus
}
#endif

#endif
