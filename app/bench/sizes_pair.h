/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_SIZES_PAIR_H
#define BENCH_SIZES_PAIR_H

/**
 * @file
 * Two hosts on one lcore, and a wire of memory between them: one writes messages into a TCP
 * connection, the other reads. All of their memory is of one strategy: what is sent lies in its
 * fragments, what arrives in a mempool's buffers of it.
 */

#include <stdint.h>

#include "pw_frag_pool.h"
#include "pw_store.h"
#include "stack.h"

#define PW_SIZES_WIRE_MAX 4096 /**< frames on the way */

struct pw_sizes_wire {
	unsigned n;
	uint64_t dropped; /**< no room, no buffer, or a frame that does not fit one */
	struct rte_mbuf *frames[PW_SIZES_WIRE_MAX];
};

struct pw_sizes_end {
	struct pw_bench_stack stack;
	struct rte_mempool *mp;
	struct pw_sizes_wire wire; /**< to the other end */
};

struct pw_sizes_pair {
	struct pw_frag_pool *frags;
	struct pw_sizes_end sender, receiver;
	struct pw_tcp_app sending, receiving;

	uint32_t message_bytes;
	uint8_t *message, *read;
	uint64_t to_send_bytes, sent_bytes, received_bytes, messages;
	uint32_t pending_bytes; /**< of a message that did not go in whole */
	uint64_t wrong;		/**< reads whose first or last byte was another than sent */
	bool closed;
};

/** What it counts of memory, both ends together. */
struct pw_sizes_counters {
	struct pw_store_stats buffers;	  /**< of the receiver */
	struct pw_page_cache_stats pages; /**< of fragments */
	struct pw_arena_stats arena;	  /**< of fragments */
};

/** 0, or a negative errno. */
int pw_sizes_pair_open(struct pw_sizes_pair *pair, const struct pw_strategy *strategy);

/** Close it; 0, or -EIO: buffers or fragments were not back. */
int pw_sizes_pair_close(struct pw_sizes_pair *pair);

/**
 * Open a connection, send so many bytes in messages, and close it.
 *
 * @return 0, or -ETIMEDOUT: it was not closed within some seconds
 */
int pw_sizes_pair_run(struct pw_sizes_pair *pair, uint32_t message_bytes, uint64_t bytes);

void pw_sizes_pair_read(const struct pw_sizes_pair *pair, struct pw_sizes_counters *counters);

#endif
