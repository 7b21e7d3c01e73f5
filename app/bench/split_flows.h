/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_SPLIT_FLOWS_H
#define BENCH_SPLIT_FLOWS_H

/** @file TCP senders of "split", as far as frames go: their connections, and the next frame of
 * each. */

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "stack.h"

#define PW_SPLIT_FLOWS 8
#define PW_SPLIT_TRAIN 8 /**< frames of a flow before the next has its turn */
#define PW_SPLIT_PAYLOAD_BYTES 1448
#define PW_SPLIT_PORT 9

/** Headers as on the wire. */
struct pw_split_head {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_tcp_hdr tcp;
	uint8_t nops[2], timestamps[10]; /**< RFC 7323, appendix A */
} __rte_packed __rte_aligned(2);

struct pw_split_flows {
	struct pw_split_head heads[PW_SPLIT_FLOWS];
	uint32_t next_seq[PW_SPLIT_FLOWS];
	uint64_t turn; /**< frames written */
	uint8_t payload[PW_SPLIT_PAYLOAD_BYTES];
};

/** What the stack has answered last: filled in by its output(). */
struct pw_split_answer {
	bool is_there;
	uint32_t seq;
	uint32_t tsval;
};

/** Note what a frame of the stack's says. */
void pw_split_answer_read(struct pw_split_answer *answer, const struct rte_mbuf *frame);

/**
 * Open the connections: SYN, SYN-ACK, ACK.
 *
 * @param pool  for the SYNs and ACKs
 * @param answer  what the stack's output() writes into
 * @return 0, -ENOMEM, or -EPROTO: the stack did not answer as it should
 */
int pw_split_flows_open(struct pw_split_flows *flows, struct pw_bench_stack *stack,
	struct rte_mempool *pool, const struct pw_split_answer *answer);

/** Write the next frame into an empty mbuf, as a card does, with its verdict on checksums. */
void pw_split_flows_write(struct pw_split_flows *flows, struct rte_mbuf *m);

#endif
