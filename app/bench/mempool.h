/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_MEMPOOL_H
#define BENCH_MEMPOOL_H

/** @file Mempools of a handler by name. */

#include <rte_mempool.h>

/**
 * Make a pool.
 *
 * @param config  for the handler, for as long as the pool lives; NULL: none
 * @return NULL with rte_errno
 */
struct rte_mempool *pw_bench_mempool_create(
	const char *ops, char *config, uint32_t n, uint32_t elt_bytes, uint32_t cache);

/** The same for packets, with RTE_MBUF_DEFAULT_BUF_SIZE bytes of room. */
struct rte_mempool *pw_bench_pktmbuf_create(
	const char *ops, const char *config, uint32_t n, uint32_t cache);

/** Empty the lcores' caches, while nobody uses the pool, and count what can be got. */
unsigned pw_bench_mempool_settle(struct rte_mempool *mp);

#endif
