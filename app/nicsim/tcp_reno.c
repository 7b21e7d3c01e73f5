/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_reno.h"

#define DUP_ACKS 3
#define FIRST_SEGMENTS 10 /* RFC 6928 */
#define FIRST_BYTES 14600

static uint64_t
min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
set_cwnd(struct tcp_reno *reno, uint64_t bytes)
{
	reno->cwnd_bytes = max(min(bytes, reno->cwnd_max_bytes), reno->mss_bytes);
}

void
tcp_reno_init(struct tcp_reno *reno, uint32_t mss_bytes, uint64_t max_bytes)
{
	*reno = (struct tcp_reno){
		.mss_bytes = mss_bytes,
		.cwnd_max_bytes = max_bytes,
		.ssthresh_bytes = UINT64_MAX,
	};
	set_cwnd(reno, min(FIRST_SEGMENTS * mss_bytes, max(2 * mss_bytes, FIRST_BYTES)));
}

/* RFC 5681 (4). */
static void
reduce_ssthresh(struct tcp_reno *reno, uint64_t flight)
{
	reno->ssthresh_bytes = max(flight / 2, 2 * reno->mss_bytes);
}

/* RFC 3465: bytes count, not ACKs, as a receiver behind GRO sends few that acknowledge much. */
static void
grow(struct tcp_reno *reno, uint64_t acked)
{
	if (reno->cwnd_bytes < reno->ssthresh_bytes) {
		set_cwnd(reno, reno->cwnd_bytes + acked);
		return;
	}
	reno->acked_bytes += acked;
	if (reno->acked_bytes >= reno->cwnd_bytes) {
		reno->acked_bytes -= reno->cwnd_bytes;
		set_cwnd(reno, reno->cwnd_bytes + reno->mss_bytes);
	}
}

/* RFC 6582 3.2, step 3. */
static bool
recover(struct tcp_reno *reno, uint64_t una, uint64_t acked, uint64_t flight)
{
	if (una >= reno->recover) {
		reno->is_recovering = false;
		set_cwnd(reno,
			min(reno->ssthresh_bytes, max(flight, reno->mss_bytes) + reno->mss_bytes));
		return false;
	}
	reno->cwnd_bytes -= min(acked, reno->cwnd_bytes);
	set_cwnd(reno, reno->cwnd_bytes + (acked >= reno->mss_bytes ? reno->mss_bytes : 0));
	return true;
}

bool
tcp_reno_ack(struct tcp_reno *reno, uint64_t una, uint64_t acked, uint64_t flight)
{
	reno->dup_acks = 0;
	if (reno->is_recovering)
		return recover(reno, una, acked, flight);
	grow(reno, acked);
	return false;
}

bool
tcp_reno_dup_ack(struct tcp_reno *reno, uint64_t una, uint64_t highest, uint64_t flight)
{
	if (reno->is_recovering) {
		set_cwnd(reno, reno->cwnd_bytes + reno->mss_bytes);
		return false;
	}
	/* RFC 6582 3.2, step 2: not for what our own retransmissions brought about. */
	if (++reno->dup_acks != DUP_ACKS || una <= reno->recover)
		return false;
	reduce_ssthresh(reno, flight);
	reno->recover = highest;
	reno->is_recovering = true;
	set_cwnd(reno, reno->ssthresh_bytes + DUP_ACKS * reno->mss_bytes);
	return true;
}

void
tcp_reno_timeout(struct tcp_reno *reno, uint64_t highest, uint64_t flight, bool again)
{
	/* RFC 5681 3.1: what is sent again and lost again does not count twice. */
	if (!again)
		reduce_ssthresh(reno, flight);
	reno->recover = highest;
	reno->is_recovering = false;
	reno->dup_acks = 0;
	reno->acked_bytes = 0;
	set_cwnd(reno, reno->mss_bytes);
}
