/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_SEG_H
#define PW_TCP_SEG_H

/** @file A received segment, parsed, and sequence number arithmetic. Internal to lib/tcp. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_tcp.h>

#define PW_TCP_OPT_MSS_BYTES 4
#define PW_TCP_OPT_WSCALE_BYTES 3
#define PW_TCP_OPT_TS_BYTES 10
#define PW_TCP_OPT_SACK_OK_BYTES 2
#define PW_TCP_SACKS_MAX 4   /* that fit 40 bytes of options, RFC 2018 3 */
#define PW_TCP_WSCALE_MAX 14 /* RFC 7323 2.3 */

enum pw_tcp_opt {
	PW_TCP_OPT_END = 0,
	PW_TCP_OPT_NOP = 1,
	PW_TCP_OPT_MSS = 2,
	PW_TCP_OPT_WSCALE = 3,
	PW_TCP_OPT_SACK_OK = 4,
	PW_TCP_OPT_SACK = 5,
	PW_TCP_OPT_TS = 8,
};

/** A block of data that arrived, RFC 2018: from start up to the byte before end. */
struct pw_tcp_sack {
	uint32_t start, end;
};

struct pw_tcp_seg {
	uint32_t seq;
	uint32_t ack;
	uint32_t payload_bytes;
	uint16_t window;       /**< as in the header: not scaled */
	uint32_t window_bytes; /**< scaled, once its connection is known */
	uint8_t flags;
	bool has_mss, has_wscale, has_ts, has_sack_ok;
	uint8_t ecn; /**< enum pw_ecn of its IP header */
	uint8_t nb_sacks;
	uint8_t wscale;
	uint16_t mss;
	uint32_t ts_val;
	uint32_t ts_ecr;
	rte_be16_t src_port;
	rte_be16_t dst_port;
	struct pw_tcp_sack sacks[PW_TCP_SACKS_MAX]; /**< as they came, not checked */
};

/**
 * Parse a segment whose data begins with the TCP header.
 *
 * Options that are malformed are left out, with all that follow them.
 *
 * @return bytes of the header with options, or -EINVAL
 */
int pw_tcp_seg_parse(const struct rte_mbuf *m, struct pw_tcp_seg *seg);

/** Sequence number behind the segment; SYN and FIN take one each. */
static inline uint32_t
pw_tcp_seg_end(const struct pw_tcp_seg *seg)
{
	return seg->seq + seg->payload_bytes + !!(seg->flags & RTE_TCP_SYN_FLAG) +
		!!(seg->flags & RTE_TCP_FIN_FLAG);
}

/** Sequence numbers wrap: a is before b when it is less than half the space behind it. */
static inline bool
pw_seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool
pw_seq_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

#endif
