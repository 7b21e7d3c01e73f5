/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_APP_H
#define TCP_APP_H

/**
 * @file
 * Applications on the TCP stage, a file each: what they do with connections, and their port. They
 * register themselves with PW_TCP_APP_REGISTER. The app_ctx of their callbacks is the struct
 * pw_options.
 */

#include <stdint.h>
#include <sys/queue.h>

#include <rte_common.h>

#include "pw_tcp.h"

struct pw_tcp_service {
	uint16_t port;
	struct pw_tcp_app app;
	STAILQ_ENTRY(pw_tcp_service) next;
};
STAILQ_HEAD(pw_tcp_services, pw_tcp_service);

extern struct pw_tcp_services pw_tcp_services;

#define PW_TCP_APP_REGISTER(service)                                  \
	RTE_INIT(pw_tcp_app_register_##service)                       \
	{                                                             \
		STAILQ_INSERT_TAIL(&pw_tcp_services, &service, next); \
	}

#endif
