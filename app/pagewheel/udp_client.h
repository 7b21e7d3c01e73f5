/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef UDP_CLIENT_H
#define UDP_CLIENT_H

/**
 * @file
 * The generator's udp_rr: datagrams to an echo, each flow one at a time. A reply that does not come
 * is given up after a while, and the next request sent.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pw_inet.h"

struct pw_tcp_client;
struct pw_udp_client;

/** Flows of a stack: their ports are those from 49152 on (RFC 6335, 6). */
#define PW_UDP_FLOWS_MAX 16384

/** @return NULL: no memory */
struct pw_udp_client *pw_udp_client_create(struct pw_tcp_client *client);

/** NULL is allowed. */
void pw_udp_client_destroy(struct pw_udp_client *udp);

/** Send what is due; call it after each poll of the run. */
void pw_udp_client_tick(struct pw_udp_client *udp, uint64_t now_us);

/** Take a datagram, which begins with its UDP header, if it is for a flow; false: it is not. */
bool pw_udp_client_input(struct pw_udp_client *udp, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us);

#endif
