/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TCP_PATTERNS_H
#define BENCH_TCP_PATTERNS_H

/** @file What the endpoint and its peers do while they are measured. */

#include "tcp_peer.h"

#define PW_TCP_BENCH_PATTERNS 6U

/** A measurement that runs. */
struct pw_tcp_bench_pass {
	struct pw_tcp_bench_peers *peers;
	uint32_t turn;			 /**< whose turn it is, where peers take turns */
	struct pw_tcp_bench_burst burst; /**< to come next */
	uint64_t cycles;		 /**< that the endpoint took */
	uint32_t exchanges;		 /**< bursts that were let in */
	double pieces;
};

struct pw_tcp_bench_pattern {
	const char *name;
	const char *piece; /**< "request": times are of one */
	const char *help;
	uint32_t piece_bytes; /**< payload, where throughput matters; 0: pieces are counted */
	enum pw_tcp_bench_work work;
	/** Let the next burst in, or the next few. */
	void (*step)(struct pw_tcp_bench_pass *pass);
};

extern const struct pw_tcp_bench_pattern pw_tcp_bench_patterns[PW_TCP_BENCH_PATTERNS];

/** Let the burst of a pass in; with acks the ACKs of what is answered are the next burst. */
void pw_tcp_bench_pass_exchange(struct pw_tcp_bench_pass *pass, bool acks);

#endif
