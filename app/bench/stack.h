/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_STACK_H
#define BENCH_STACK_H

/** @file A host without a port: frames in, through GRO, IP and TCP, and frames out. */

#include <stdint.h>

#include "pw_gro.h"
#include "pw_inet.h"
#include "pw_tcp.h"

/** Last byte of its address, 198.18.0.HOST/24, and of its Ethernet address. */
typedef uint8_t pw_bench_host_t;

struct pw_bench_stack_params {
	pw_bench_host_t host;
	struct rte_mempool *pool;   /**< of mbufs to send */
	struct pw_frag_pool *frags; /**< of data to send */
	/** Send a frame; owns it. Checksums are left to it. */
	void (*output)(void *ctx, struct rte_mbuf *frame);
	void *ctx;
};

struct pw_bench_stack {
	struct pw_bench_stack_params params;
	struct pw_gro *gro;
	struct pw_inet *inet;
	struct pw_tcp *tcp;
	uint64_t now_us;
};

/** 0, or a negative errno: then nothing is open. */
int pw_bench_stack_open(struct pw_bench_stack *stack, const struct pw_bench_stack_params *params);

/** Close it, if it is open, with its connections. */
void pw_bench_stack_close(struct pw_bench_stack *stack);

/** A burst of frames, of one moment; owns them. Nothing is held in GRO afterwards. */
void pw_bench_stack_input(
	struct pw_bench_stack *stack, struct rte_mbuf **frames, uint16_t n, uint64_t now_us);

/** Let the timers run. */
void pw_bench_stack_tick(struct pw_bench_stack *stack, uint64_t now_us);

struct pw_addr pw_bench_host_addr(pw_bench_host_t host);
struct rte_ether_addr pw_bench_host_mac(pw_bench_host_t host);

/** What a card says of a frame whose checksums are right. */
void pw_bench_mark_good(struct rte_mbuf *frame, uint32_t hash);

/** The time, from the TSC. */
uint64_t pw_bench_now_us(void);

#endif
