/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TCP_SEGMENT_H
#define NICSIM_TCP_SEGMENT_H

/** @file A TCP segment over IPv4: read from a frame, and written as one. */

#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>

#include "packet.h"

#define TCP_WSCALE_MAX 14 /* RFC 7323 2.3 */

/** Bytes of header in front of the data, at most. */
#define TCP_HEADERS_BYTES 128

/** Between whom. */
struct tcp_ends {
	uint8_t src_mac[ETHER_ADDR_LEN], dst_mac[ETHER_ADDR_LEN];
	uint32_t src, dst; /* of IPv4 */
	uint16_t src_port, dst_port;
};

struct tcp_segment {
	uint32_t seq, ack;
	uint32_t data_bytes;
	uint32_t place;	 /**< of the data in the pattern; only when written */
	uint8_t flags;	 /**< TH_SYN and so on */
	uint16_t window; /**< as in the header: not scaled */
	bool has_mss, has_wscale, has_ts;
	uint8_t wscale;
	uint16_t mss;
	uint32_t ts_val, ts_ecr;
};

/**
 * Read one out of a packet that is known to be right TCP over IPv4. Options that are malformed are
 * left out, with all that follow them.
 *
 * @param ends  addresses and ports are written; no MACs
 */
void tcp_segment_read(
	const struct packet *packet, struct tcp_ends *ends, struct tcp_segment *segment);

/**
 * Write the frame of a segment, at least FRAME_MIN_BYTES.
 *
 * @return its length
 */
uint32_t tcp_segment_write(const struct tcp_ends *ends, const struct tcp_segment *segment,
	uint16_t ip_id, uint8_t *frame);

#endif
