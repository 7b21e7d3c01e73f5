/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_timed.h"

#include "stages.h"
#include "tcp_app.h"

typedef void (*callback_t)(struct pw_tcp_conn *conn, void *app_ctx);

static void
call(struct pw_tcp_conn *conn, const struct pw_tcp_timed *timed, callback_t callback)
{
	enum pw_stage before;

	if (callback == NULL)
		return;
	before = pw_stage_enter(PW_STAGE_READER);
	callback(conn, timed->inner_ctx);
	pw_stage_enter(before);
}

#define TIMED(name)                                           \
	static void name(struct pw_tcp_conn *conn, void *ctx) \
	{                                                     \
		const struct pw_tcp_timed *timed = ctx;       \
                                                              \
		call(conn, timed, timed->inner->name);        \
	}

TIMED(opened)
TIMED(readable)
TIMED(writable)
TIMED(timer)
TIMED(closed)

void
pw_tcp_timed_wrap(struct pw_tcp_timed *timed, const struct pw_tcp_service *service,
	const struct pw_options *options)
{
	*timed = (struct pw_tcp_timed){
		.app = {service->app.name, opened, readable, writable, timer, closed},
		.inner = &service->app,
		.inner_ctx = (void *)(uintptr_t)options,
	};
}
