/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_TIMED_H
#define TCP_TIMED_H

/** @file Services under the clock of --stage-cycles: what runs in their callbacks is the reader's.
 */

#include "pw_tcp.h"

struct pw_options;
struct pw_tcp_service;

/** A service as lib/tcp shall call it; lives as long as the stack. */
struct pw_tcp_timed {
	struct pw_tcp_app app;
	const struct pw_tcp_app *inner;
	void *inner_ctx;
};

/** Let timed->app, with timed as its context, do what the service does, by the clock. */
void pw_tcp_timed_wrap(struct pw_tcp_timed *timed, const struct pw_tcp_service *service,
	const struct pw_options *options);

#endif
