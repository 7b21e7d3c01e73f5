/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TCP_RENO_H
#define NICSIM_TCP_RENO_H

/**
 * @file
 * The congestion window: slow start and avoidance (RFC 5681), fast retransmit and NewReno's
 * recovery (RFC 6582).
 *
 * Positions are of the stream, in 64 bits: they do not wrap.
 */

#include <stdbool.h>
#include <stdint.h>

struct tcp_reno {
	uint32_t mss_bytes;
	uint64_t cwnd_bytes, cwnd_max_bytes, ssthresh_bytes;
	uint64_t acked_bytes; /**< since the last step of congestion avoidance */
	uint64_t recover;     /**< the highest position sent when loss was seen last */
	unsigned dup_acks;    /**< one after the other */
	bool is_recovering;
};

/** @param max_bytes  more are never in flight, so that more of a window means nothing */
void tcp_reno_init(struct tcp_reno *reno, uint32_t mss_bytes, uint64_t max_bytes);

/**
 * All up to una is acknowledged, acked of it newly; flight is still under way.
 *
 * @return whether to send again what is at una
 */
bool tcp_reno_ack(struct tcp_reno *reno, uint64_t una, uint64_t acked, uint64_t flight);

/** A duplicate ACK; max is the highest position sent. @return as tcp_reno_ack() */
bool tcp_reno_dup_ack(struct tcp_reno *reno, uint64_t una, uint64_t max, uint64_t flight);

/** The retransmission timer ran out. @param again  for the same data as before */
void tcp_reno_timeout(struct tcp_reno *reno, uint64_t max, uint64_t flight, bool again);

#endif
