/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TCP_ENDPOINT_H
#define BENCH_TCP_ENDPOINT_H

/** @file The endpoint that is measured, and the application on it. */

#include <stddef.h>
#include <stdint.h>

#include "pw_tcp.h"
#include "tcp_rig.h"

#define PW_TCP_BENCH_PORT 80
#define PW_TCP_BENCH_BURST 64U	      /**< segments in at once, at most */
#define PW_TCP_BENCH_STEP_US 20U      /**< from burst to burst, in virtual time */
#define PW_TCP_BENCH_MORE_CONNS 4096U /**< beside the idle ones */
#define PW_TCP_BENCH_IDLE_MAX 1000000
#define PW_TCP_BENCH_OUT_MAX 512U

/** What the application does with what it gets. */
enum pw_tcp_bench_work {
	PW_TCP_BENCH_TAKE,   /**< takes packets and frees them */
	PW_TCP_BENCH_COPY,   /**< copies them into its own memory first */
	PW_TCP_BENCH_ANSWER, /**< takes them, and answers with as many bytes */
	PW_TCP_BENCH_SEND,   /**< takes them, and sends all there is room for */
};

/** Segments that come in together. */
struct pw_tcp_bench_burst {
	unsigned n;
	struct rte_mbuf *segments[PW_TCP_BENCH_BURST];
	const struct pw_ip_info *ips[PW_TCP_BENCH_BURST];
};

struct pw_tcp_bench_endpoint {
	struct pw_tcp *tcp;
	struct pw_tcp_app app;
	uint32_t max_conns;
	size_t heap_bytes; /**< of EAL's heap, all that the instance took when it was made */
	uint64_t now_us;   /**< virtual */
	enum pw_tcp_bench_work work;
	uint64_t taken_bytes, given_bytes; /**< by the application */
	/** Sent in the last burst: a NIC would free it later too. */
	unsigned nb_out; /**< may be more than there is room for: that is an error */
	struct rte_mbuf *out[PW_TCP_BENCH_OUT_MAX];
	struct pw_addr out_dst[PW_TCP_BENCH_OUT_MAX];
};

/** @return NULL: there is no memory, as it has said */
struct pw_tcp_bench_endpoint *pw_tcp_bench_endpoint_create(
	const struct pw_tcp_bench_rig *rig, uint32_t idle);

/** NULL is allowed. */
void pw_tcp_bench_endpoint_destroy(struct pw_tcp_bench_endpoint *endpoint);

/** Let a burst in, and the timers run; returns the cycles that took. */
uint64_t pw_tcp_bench_endpoint_run(
	struct pw_tcp_bench_endpoint *endpoint, const struct pw_tcp_bench_burst *burst);

#endif
