/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TCP_FLOW_H
#define NICSIM_TCP_FLOW_H

/**
 * @file
 * One connection of a sender (RFC 9293): opens, sends its bytes, closes when they are acknowledged.
 * Segments and the time come in, segments go out.
 *
 * Positions are of the stream, in 64 bits: SYN is 0, the first byte of data 1, FIN behind the
 * last. A position tells what stands there, so nothing is kept to be sent again.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tcp_reno.h"
#include "tcp_rtt.h"
#include "tcp_segment.h"

#define TCP_NO_DEADLINE UINT64_MAX

/* clang-format off */
enum tcp_flow_state {
	TCP_FLOW_OPENING,
	TCP_FLOW_OPEN,	  /**< until FIN is acknowledged */
	TCP_FLOW_WAITING, /**< for the peer's FIN */
	TCP_FLOW_CLOSED,  /**< as it should be; still answers when the last ACK was lost */
	TCP_FLOW_FAILED,
};
/* clang-format on */

/** Of all flows. */
struct tcp_flow_stats {
	uint64_t connections_opened, connections_closed, connections_failed;
	uint64_t bytes_sent; /**< of data, each once */
	uint64_t bytes_acked;
	uint64_t segments;	/**< all that were sent */
	uint64_t retransmitted; /**< segments that have something that was sent before */
	uint64_t fast_retransmits, timeouts, dup_acks;
	uint64_t zero_windows; /**< how often the peer closed its window */
	uint64_t window_probes;
};

struct tcp_flow_config {
	uint64_t bytes;	       /**< to be sent; 0: no end */
	uint64_t window_bytes; /**< in flight at most; not less than a segment */
	uint16_t mss_bytes;    /**< of the option in SYN */
};

struct tcp_flow {
	const struct tcp_flow_config *config;
	struct tcp_flow_stats *stats;
	enum tcp_flow_state state;
	const char *failure; /**< why TCP_FLOW_FAILED */

	uint32_t iss;
	uint64_t una, next, max; /**< acknowledged, to be sent next, highest sent */
	uint64_t fin;		 /**< position of FIN */
	uint32_t mss_bytes;	 /**< data in a segment */
	uint8_t peer_wscale;
	uint64_t peer_window, peer_window_max;
	bool resend;	/**< one segment at una */
	bool probe;	/**< the peer's closed window */
	unsigned tries; /**< timeouts without an answer, one after the other */

	uint32_t rcv_next;
	bool fin_received;
	bool ack_pending;

	bool has_ts;
	uint32_t ts_recent;

	struct tcp_reno reno;
	struct tcp_rtt rtt;
	uint64_t timed_end;	/**< position that ends what is being timed; 0: nothing is */
	uint64_t timed_ns;	/**< when it was sent */
	uint64_t probe_wait_ns; /**< until the next probe */
	uint64_t deadline_ns;	/**< when tcp_flow_timeout() is to be called */
};

/** Both structs are used for good. */
void tcp_flow_init(struct tcp_flow *flow, const struct tcp_flow_config *config,
	struct tcp_flow_stats *stats, uint32_t iss);

/** The next segment that may be sent now; false: none. May set the deadline. */
bool tcp_flow_output(struct tcp_flow *flow, uint64_t now_ns, struct tcp_segment *segment);

/** A segment of the peer. Then there may be something to send. */
void tcp_flow_input(struct tcp_flow *flow, uint64_t now_ns, const struct tcp_segment *segment);

/** The deadline is over. Then there may be something to send. */
void tcp_flow_timeout(struct tcp_flow *flow, uint64_t now_ns);

/** Whether it came to an end, good or bad. */
static inline bool
tcp_flow_is_over(const struct tcp_flow *flow)
{
	return flow->state == TCP_FLOW_CLOSED || flow->state == TCP_FLOW_FAILED;
}

/** End it as failed. For the files tcp_flow*.c only. */
void tcp_flow_fail(struct tcp_flow *flow, const char *failure);

#endif
