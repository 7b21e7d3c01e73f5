/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_PAIR_H
#define PW_TCP_PAIR_H

/**
 * @file
 * Two of our TCP endpoints and the network between them, in virtual time. What becomes of each
 * packet is the caller's choice, a test's or a fuzzer's. Both streams carry bytes that follow from
 * their place, and every byte that is read is checked: pair_fail() ends the program at a wrong one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pw_tcp.h"

#define PAIR_FLIGHT_MAX 512
#define PAIR_PORT 80

struct pw_tcp_pair;

struct pw_tcp_pair_end {
	struct pw_tcp_pair *pair;
	struct pw_tcp *tcp;
	struct pw_addr addr;
	uint64_t to_send;	/**< bytes that the application still wants to send */
	uint64_t written, read; /**< bytes it has sent and read */
	bool hold;		/**< it reads nothing */
	bool close;		/**< it ends its stream once all is sent */
	bool abort;
	bool opened, closed, at_end;
	int error; /**< of the closed connection */
};

struct pw_tcp_pair_packet {
	struct rte_mbuf *segment;
	struct pw_ip_info ip;
	unsigned to; /**< the end */
};

struct pw_tcp_pair {
	struct rte_mempool *pool;
	struct pw_frag_pool *frags;
	uint64_t now_us;
	struct pw_tcp_pair_end ends[2]; /**< 0 connects, 1 listens */
	unsigned nb_flight;
	struct pw_tcp_pair_packet flight[PAIR_FLIGHT_MAX]; /**< the oldest first */
	uint64_t lost_to_overflow;
	bool mangled; /**< a packet was changed: streams may not be right any more */
};

/**
 * Make both ends and let the first connect. Buffers of both come from pool and frags.
 *
 * @param params  of both; callbacks, pools and the secret are filled in
 */
void pw_tcp_pair_open(struct pw_tcp_pair *pair, struct rte_mempool *pool,
	struct pw_frag_pool *frags, struct pw_tcp_params *params, bool ipv6);

/** Free both ends and what is in flight. */
void pw_tcp_pair_close(struct pw_tcp_pair *pair);

/** Let a packet in flight arrive; i below nb_flight. */
void pw_tcp_pair_deliver(struct pw_tcp_pair *pair, unsigned i);
void pw_tcp_pair_drop(struct pw_tcp_pair *pair, unsigned i);
void pw_tcp_pair_duplicate(struct pw_tcp_pair *pair, unsigned i);
/** As a router with congestion does, if the packet's sender can ECN. */
void pw_tcp_pair_mark_ce(struct pw_tcp_pair *pair, unsigned i);
/** Change a byte of a packet, of the header mostly. */
void pw_tcp_pair_mangle(struct pw_tcp_pair *pair, unsigned i, uint32_t offset, uint8_t value);

/** Let time pass; timers run. */
void pw_tcp_pair_wait(struct pw_tcp_pair *pair, uint64_t us);

/** Deliver all in order, half a millisecond each way, until nothing happens for idle_us. */
void pw_tcp_pair_settle(struct pw_tcp_pair *pair, uint64_t idle_us);

#endif
