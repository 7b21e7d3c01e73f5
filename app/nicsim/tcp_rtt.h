/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TCP_RTT_H
#define NICSIM_TCP_RTT_H

/** @file The retransmission timeout (RFC 6298). */

#include <stdint.h>

#define TCP_RTO_FIRST_NS 1000000000ULL
/* RFC 6298 2.4 says 1 s, for networks that are not ours; this is Linux's. */
#define TCP_RTO_MIN_NS 200000000ULL
#define TCP_RTO_MAX_NS 60000000000ULL

struct tcp_rtt {
	uint64_t srtt_ns; /**< 0: nothing measured yet */
	uint64_t var_ns;
	uint64_t rto_ns;
};

static inline uint64_t
tcp_rtt_back_off(uint64_t time_ns)
{
	return 2 * time_ns < TCP_RTO_MAX_NS ? 2 * time_ns : TCP_RTO_MAX_NS;
}

/** A time measured on what was sent once (2.2, 2.3). */
static inline void
tcp_rtt_sample(struct tcp_rtt *rtt, uint64_t r_ns)
{
	uint64_t error = r_ns > rtt->srtt_ns ? r_ns - rtt->srtt_ns : rtt->srtt_ns - r_ns;

	if (rtt->srtt_ns == 0) {
		rtt->srtt_ns = r_ns;
		rtt->var_ns = r_ns / 2;
	} else {
		rtt->var_ns = (3 * rtt->var_ns + error) / 4;
		rtt->srtt_ns = (7 * rtt->srtt_ns + r_ns) / 8;
	}
	rtt->rto_ns = rtt->srtt_ns + 4 * rtt->var_ns;
	if (rtt->rto_ns < TCP_RTO_MIN_NS)
		rtt->rto_ns = TCP_RTO_MIN_NS;
	if (rtt->rto_ns > TCP_RTO_MAX_NS)
		rtt->rto_ns = TCP_RTO_MAX_NS;
}

#endif
