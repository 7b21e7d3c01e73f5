/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_POOL_HANDLER_H
#define BENCH_POOL_HANDLER_H

/**
 * @file
 * A mempool handler with a pool of it, and the order in which the pool's buffers are put back.
 *
 * For the main lcore, while nobody else uses the pool.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "grid.h"

/** Bytes of a buffer: a struct rte_mbuf, and what rte_pktmbuf_pool_create() is mostly told. */
#define PW_POOL_BUFFER_BYTES (sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE)

enum pw_pool_order {
	PW_POOL_FRESH,	  /**< by address */
	PW_POOL_DISORDER, /**< at random */
};

struct pw_pool_handler {
	enum pw_bench_side kind; /**< the floor: no handler, a fixed set of buffers */
	char name[48];		 /**< "stack", "pagewheel:reuse", "floor" */
	char ops[32];		 /**< name of the mempool operations */
	char strategy[24];	 /**< of pagewheel: pool_config */
	uint32_t size;		 /**< buffers in the pool */
	uint32_t cache;		 /**< buffers of rte_mempool's cache of an lcore */
	struct rte_mempool *mp;	 /**< NULL: there is none, reason says why */
	void **buffers;		 /**< all that can be got, by address */
	void **scratch;		 /**< room for as many */
	unsigned nb_buffers;	 /**< bucket hands out whole groups only */
	char reason[256];
};

/** Fill in what a name says: "stack", "pagewheel", "pagewheel:STRATEGY", "floor"; 0 or -EINVAL. */
int pw_pool_handler_init(struct pw_pool_handler *handler, const char *name);

/** True when EAL has loaded its operations. */
bool pw_pool_handler_is_loaded(const struct pw_pool_handler *handler);

/** Its column of a grid. */
struct pw_bench_column pw_pool_handler_column(const struct pw_pool_handler *handler);

/** Make the pool; 0, or a negative errno with the reason in the handler. */
int pw_pool_handler_open(struct pw_pool_handler *handler, uint32_t size, uint32_t cache);

/** Free the pool, whatever its state. Nothing is done when there is none. */
void pw_pool_handler_close(struct pw_pool_handler *handler);

/** Close and open again, after the pool's state has become unknown. */
int pw_pool_handler_reopen(struct pw_pool_handler *handler);

/**
 * Get all buffers, and put them back in an order.
 *
 * @return 0, or -EIO with a reason: they are not the same buffers as ever
 */
int pw_pool_handler_order(struct pw_pool_handler *handler, enum pw_pool_order order, uint64_t seed);

/**
 * Empty the lcores' caches, and count.
 *
 * @return 0, or -EIO with a reason: not all buffers are back
 */
int pw_pool_handler_settle(struct pw_pool_handler *handler);

#endif
