/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_app.h"

#include <stdio.h>
#include <string.h>

static STAILQ_HEAD(, pw_tcp_service) services = STAILQ_HEAD_INITIALIZER(services);

void
pw_tcp_service_register(struct pw_tcp_service *service)
{
	STAILQ_INSERT_TAIL(&services, service, next);
}

const struct pw_tcp_service *
pw_tcp_service_find(const char *name)
{
	const struct pw_tcp_service *service;

	STAILQ_FOREACH (service, &services, next)
		if (strcmp(service->app.name, name) == 0)
			return service;
	return NULL;
}

const struct pw_tcp_service *
pw_tcp_service_next(const struct pw_tcp_service *service)
{
	return service == NULL ? STAILQ_FIRST(&services) : STAILQ_NEXT(service, next);
}

const char *
pw_tcp_service_names(char *buf, size_t size)
{
	const struct pw_tcp_service *service;
	size_t used = 0;

	buf[0] = '\0';
	STAILQ_FOREACH (service, &services, next)
		if (used < size)
			used += snprintf(buf + used, size - used, "%s%s", used == 0 ? "" : ", ",
				service->app.name);
	return buf;
}

uint64_t
pw_tcp_app_drop(struct pw_tcp_conn *conn)
{
	uint64_t bytes = 0;
	struct rte_mbuf *m;

	while ((m = pw_tcp_recv(conn)) != NULL) {
		bytes += m->pkt_len;
		rte_pktmbuf_free_bulk(&m, 1); /* its segments go back together */
	}
	return bytes;
}

uint64_t
pw_tcp_app_send_zeros(struct pw_tcp_conn *conn, uint64_t len_bytes)
{
	static const char zeros[64 << 10];
	uint64_t sent = 0;

	while (sent < len_bytes) {
		uint32_t want = RTE_MIN(len_bytes - sent, sizeof(zeros));
		uint32_t n = pw_tcp_send(conn, zeros, want);

		sent += n;
		if (n < want)
			break;
	}
	return sent;
}
