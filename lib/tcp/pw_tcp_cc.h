/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_CC_H
#define PW_TCP_CC_H

/**
 * @file
 * Congestion control: how the window grows in congestion avoidance, and how far it falls. Slow
 * start is the same for all. Internal to lib/tcp.
 */

#include <stdint.h>

#include "pw_tcp.h"

#define PW_TCP_CWND_MAX (1U << 30)

/** RFC 9438; the names are its own. */
struct pw_tcp_cubic {
	uint64_t epoch_us; /**< when congestion avoidance began; 0: to begin */
	uint32_t w_max;	   /**< the window at the last loss */
	uint32_t origin;   /**< where the curve is flat */
	uint32_t k_ms;
	uint32_t cwnd_prior;
	uint64_t w_est; /**< of Reno, in 1/65536 bytes */
};

struct pw_tcp_cc_state {
	uint64_t count; /**< towards the next byte or segment */
	struct pw_tcp_cubic cubic;
};

struct pw_tcp_cc {
	/** So many bytes were acknowledged in congestion avoidance. */
	void (*on_ack)(struct pw_tcp_conn *conn, uint32_t acked_bytes, uint64_t now_us);
	/** A loss, or ECE. @return the new ssthresh */
	uint32_t (*on_loss)(struct pw_tcp_conn *conn);
	/** After a time-out, or after the application was idle, on_loss() of it done. */
	void (*on_restart)(struct pw_tcp_conn *conn);
};

extern const struct pw_tcp_cc pw_tcp_cc_newreno, pw_tcp_cc_cubic;

const struct pw_tcp_cc *pw_tcp_cc_of(enum pw_tcp_congestion congestion);

void pw_tcp_cc_init(struct pw_tcp_conn *conn);
/** Bytes were acknowledged outside of recovery. */
void pw_tcp_cc_acked(struct pw_tcp_conn *conn, uint32_t acked_bytes, uint64_t now_us);
/** New data is about to be sent: start again when nothing was for long (RFC 5681 4.1). */
void pw_tcp_cc_restart_after_idle(struct pw_tcp_conn *conn, uint64_t now_us);
/** RFC 6928. */
uint32_t pw_tcp_cc_initial_window(const struct pw_tcp_conn *conn);

#endif
