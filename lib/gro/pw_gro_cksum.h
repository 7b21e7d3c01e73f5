/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_CKSUM_H
#define PW_GRO_CKSUM_H

/** @file Internet checksums, RFC 1071, of segments. Internal to lib/gro. */

#include <rte_mbuf.h>

#include "pw_gro_seg.h"

/**
 * The mbuf's RX flags with a verdict on the IP and the TCP or UDP checksum. Trusts the NIC; where
 * it does not say, verifies.
 *
 * @param header  of the packet, in the mbuf or a copy
 */
uint64_t pw_gro_cksum_check(const struct rte_mbuf *m, const uint8_t *header,
	struct pw_gro_layout at, uint16_t payload_bytes);

static inline bool
pw_gro_cksum_is_bad(uint64_t rx_flags)
{
	return (rx_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
		(rx_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

#endif
