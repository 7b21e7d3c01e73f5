/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TCP_PEER_H
#define BENCH_TCP_PEER_H

/**
 * @file
 * Whom the endpoint talks to: clients that lose nothing and answer at once.
 *
 * Their segments have timestamps, as most have; the payload is whatever the buffers hold.
 */

#include <stdint.h>

#include <rte_tcp.h>

#include "tcp_endpoint.h"

#define PW_TCP_BENCH_ACTIVE 64U		 /**< connections that stay open beside the idle ones */
#define PW_TCP_BENCH_FRESH 32U		 /**< connections that are opened together */
#define PW_TCP_BENCH_SEGMENT_BYTES 1448U /**< payload of a full segment */

/** The other end of a connection. */
struct pw_tcp_bench_peer {
	struct pw_ip_info ip;
	uint32_t number; /**< its address and port are made of it */
	uint32_t seq;	 /**< to be sent next */
	uint32_t ack;	 /**< to be received next */
	uint32_t ts_ecr; /**< timestamp to echo */
};

struct pw_tcp_bench_peers {
	struct pw_tcp_bench_endpoint *endpoint;
	struct rte_mempool *mp;
	struct pw_tcp_bench_peer active[PW_TCP_BENCH_ACTIVE];
	struct pw_tcp_bench_peer fresh[PW_TCP_BENCH_FRESH]; /**< the latest that were opened */
	uint64_t sent_bytes, received_bytes;		    /**< payload */
	uint64_t unexpected; /**< resets, answers to nobody, and segments not in order */
	uint64_t no_mbuf;    /**< segments that could not be made */
};

/**
 * Open the connections that stay: the idle ones, and the active ones.
 *
 * @return NULL: there is no memory, as it has said
 */
struct pw_tcp_bench_peers *pw_tcp_bench_peers_create(
	struct pw_tcp_bench_endpoint *endpoint, const struct pw_tcp_bench_rig *rig, uint32_t idle);

/** The connections stay as they are. NULL is allowed. */
void pw_tcp_bench_peers_destroy(struct pw_tcp_bench_peers *peers);

/** Let fresh[] be clients with a number from first on, a multiple of PW_TCP_BENCH_FRESH. */
void pw_tcp_bench_peers_renew(struct pw_tcp_bench_peers *peers, uint32_t first);

/** Add a segment to a burst. */
void pw_tcp_bench_peer_send(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_peer *peer,
	uint8_t flags, uint32_t payload_bytes, struct pw_tcp_bench_burst *burst);

/** Add full segments to a burst, in one chain, as GRO makes it. */
void pw_tcp_bench_peer_send_merged(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_peer *peer,
	unsigned segments, struct pw_tcp_bench_burst *burst);

/**
 * Let a burst in, and take what the endpoint answers.
 *
 * @param burst  empty afterwards
 * @param acks  an ACK is added for each answer with payload; NULL: none
 * @return cycles that the endpoint took
 */
uint64_t pw_tcp_bench_exchange(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_burst *burst,
	struct pw_tcp_bench_burst *acks);

#endif
