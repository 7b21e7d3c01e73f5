/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_MEMPOOL_RIG_H
#define PW_MEMPOOL_RIG_H

/** @file Pools with the handler, and what it logs. */

#include "pw_test.h"

#include <stdio.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "pw_mempool.h"

/** No power of two, and no multiple of what fits a page. */
#define MBUFS 1023
#define ROOM RTE_MBUF_DEFAULT_BUF_SIZE

/** All strategies, at least once with pages for mbufs of ROOM. */
extern const char *const pool_strategies[];
extern const unsigned nb_pool_strategies;

/** Whether a strategy refuses wrong puts at once without being asked to check. */
bool pool_is_strict(const char *strategy);

/** As a program that knows nothing of us would: the strategy comes from the environment. */
struct rte_mempool *try_pool(
	const char *strategy, unsigned mbufs, unsigned cache_size, uint16_t room_bytes);

/** The same; it must succeed. */
struct rte_mempool *make_pool(const char *strategy, unsigned mbufs, unsigned cache_size);

/** A pool that checks each put: PAGEWHEEL_CHECK=check. */
struct rte_mempool *make_checked_pool(const char *strategy, unsigned mbufs, const char *check);

/** An empty pool of plain elements, its strategy passed as pool_config; not populated. */
struct rte_mempool *empty_pool(
	const char *strategy, unsigned n, unsigned elt_bytes, unsigned flags);

struct pw_store_stats pool_stats(const struct rte_mempool *mp);

/** What is logged meanwhile. */
struct log {
	char *text;
	size_t len;
	FILE *stream;
};

void open_log(struct log *log);

/** Then text is there, for the caller to free. */
void close_log(struct log *log);

#endif
