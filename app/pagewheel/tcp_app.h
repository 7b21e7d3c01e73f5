/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_APP_H
#define TCP_APP_H

/**
 * @file
 * Services on the TCP stage, a file each: what they do with connections, and their usual port. They
 * register themselves with PW_TCP_APP_REGISTER. The app_ctx of their callbacks is the struct
 * pw_options.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_common.h>

#include "pw_tcp.h"

struct pw_options;
struct pw_tcp_stack;

struct pw_tcp_service {
	const char *help;
	uint16_t port;
	struct pw_tcp_app app; /**< its name is the service's */
	/** Make what all connections share, once, before any. 0 or a negative errno. May be NULL.
	 */
	int (*open)(const struct pw_options *options);
	/**
	 * Take a UDP datagram for the service's port, which begins with the UDP header. Owns it,
	 * unless it returns false. May be NULL.
	 */
	bool (*udp_input)(struct pw_tcp_stack *stack, struct rte_mbuf *datagram,
		const struct pw_ip_info *ip, uint64_t now_us);
	/** Called after each poll of a stack, to send datagrams. May be NULL. */
	void (*tick)(struct pw_tcp_stack *stack, uint64_t now_us);
	STAILQ_ENTRY(pw_tcp_service) next;
};

void pw_tcp_service_register(struct pw_tcp_service *service);

#define PW_TCP_APP_REGISTER(service)               \
	RTE_INIT(pw_tcp_app_register_##service)    \
	{                                          \
		pw_tcp_service_register(&service); \
	}

/** Find a service by its name, or NULL. */
const struct pw_tcp_service *pw_tcp_service_find(const char *name);

/** The service behind another; the first one for NULL; NULL at the end. */
const struct pw_tcp_service *pw_tcp_service_next(const struct pw_tcp_service *service);

/** All names, with commas. Returns buf. */
const char *pw_tcp_service_names(char *buf, size_t size);

/** Take all received data and drop it; tells how many bytes it was. */
uint64_t pw_tcp_app_drop(struct pw_tcp_conn *conn);

/** Send so many bytes of value 0, or as many as there is room for; tells how many. */
uint64_t pw_tcp_app_send_zeros(struct pw_tcp_conn *conn, uint64_t len_bytes);

#endif
