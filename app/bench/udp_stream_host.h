/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_UDP_STREAM_HOST_H
#define BENCH_UDP_STREAM_HOST_H

/**
 * @file
 * Sender and receiver of UDP messages, and the wire between them, on one lcore: the way of a
 * message from one application's memory to the other's.
 *
 * The sender copies it into pages of its socket, as Linux does with sk_page_frag_refill(), and
 * librte_ip_frag cuts it. The wire copies each frame into buffers of the receiver's, fragments of
 * its lcore's cache, as netdev_alloc_frag() gives them. librte_ip_frag puts the message together,
 * and the receiver copies it out. There are no checksums, as on Linux's loopback.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ip_frag.h>
#include <rte_mempool.h>

#include "pw_frag_buf.h"
#include "pw_frag_send.h"

#define PW_UDP_STREAM_MTU 16436		/**< of 2014's loopback */
#define PW_UDP_STREAM_MESSAGE_MAX 65507 /**< what an IPv4 packet has room for */
#define PW_UDP_STREAM_BATCH 3 /**< messages on their way at once, as in a socket's queue */

/** Where the time goes. */
enum pw_udp_stream_stage {
	PW_UDP_STREAM_OTHER, /**< loop and counting */
	PW_UDP_STREAM_COPY_IN,
	PW_UDP_STREAM_SEND_PAGES, /**< room for the copy, and mbufs that point to it */
	PW_UDP_STREAM_CUT,
	PW_UDP_STREAM_RX_BUFFERS,
	PW_UDP_STREAM_WIRE_COPY,
	PW_UDP_STREAM_REASSEMBLE,
	PW_UDP_STREAM_COPY_OUT,
	PW_UDP_STREAM_FREE,
	PW_UDP_STREAM_STAGES,
};

const char *pw_udp_stream_stage_name(enum pw_udp_stream_stage stage);

struct pw_udp_stream_counts {
	uint64_t sent, received; /**< messages */
	uint64_t sent_bytes, received_bytes;
	uint64_t send_refills,
		send_fallbacks; /**< pages that the sender got; of order 0 for want of larger */
	uint64_t wrong;		/**< messages whose content was not what was sent */
	uint64_t failed;	/**< messages for which memory lacked */
};

struct pw_udp_stream_host {
	struct pw_frag_pool *frags;
	struct pw_frag_cache *rx; /**< of the receiver's lcore */
	struct pw_send_frag tx;	  /**< of the sender's socket */
	struct rte_mempool
		*headers; /**< mbufs: those of frames' headers, and those that point to data */
	struct rte_ip_frag_tbl *table;
	struct rte_ip_frag_death_row dead;
	struct pw_udp_stream_counts counts;
	uint32_t message_bytes;
	uint16_t id; /**< of the next IP packet */
	uint8_t *message, *read;
	uint8_t number, read_number; /**< which a message begins with; its end is the complement */

	bool timed; /**< count the cycles of stages */
	enum pw_udp_stream_stage stage;
	uint64_t since; /**< TSC */
	uint64_t cycles[PW_UDP_STREAM_STAGES];
};

/**
 * Make both, with memory of their own for fragments.
 *
 * @return 0, or a negative errno: -ENOMEM, that of pw_frag_pool_create()
 */
int pw_udp_stream_host_open(struct pw_udp_stream_host *host, const struct pw_strategy *strategy,
	uint32_t message_bytes);

/**
 * Free it.
 *
 * @return 0, or -EIO: mbufs or fragments were not back
 */
int pw_udp_stream_host_close(struct pw_udp_stream_host *host);

/** Send and receive a batch of messages. */
void pw_udp_stream_host_run(struct pw_udp_stream_host *host, unsigned n);

#endif
