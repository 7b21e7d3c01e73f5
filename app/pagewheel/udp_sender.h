/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef UDP_SENDER_H
#define UDP_SENDER_H

/**
 * @file
 * The generator's udp_stream: datagrams to a service that only takes them, as many as the port
 * does. Their data is copied into page fragments, as sendmsg() copies into those of a socket.
 */

#include <stdint.h>

struct pw_tcp_client;
struct pw_udp_sender;

/** Largest message: as netperf's, of IPv4. */
#define PW_UDP_MESSAGE_MAX 65507

/** @return NULL: no memory */
struct pw_udp_sender *pw_udp_sender_create(struct pw_tcp_client *client);

/** NULL is allowed. */
void pw_udp_sender_destroy(struct pw_udp_sender *sender);

/** Send what the port takes now; call it after each poll of the run. */
void pw_udp_sender_tick(struct pw_udp_sender *sender, uint64_t now_us);

#endif
