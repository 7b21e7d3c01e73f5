/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef UDP_SEND_H
#define UDP_SEND_H

/** @file Datagrams of a size, of which the beginning matters and the rest is zeros. */

#include <stdbool.h>
#include <stdint.h>

#include "pw_inet.h"

struct pw_tcp_stack;

/** Both ends of it; ports in network order. */
struct pw_udp_ends {
	struct pw_ip_info ip; /**< src is one of our addresses */
	rte_be16_t src_port, dst_port;
};

/**
 * Send a datagram. The stack's lcore.
 *
 * @param head  its first bytes, at most 512 and at most len_bytes
 * @param len_bytes  of payload
 * @return false: there was no buffer
 */
bool pw_udp_send(struct pw_tcp_stack *stack, const struct pw_udp_ends *ends, const void *head,
	uint32_t head_bytes, uint32_t len_bytes, uint64_t now_us);

#endif
