/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Character generator, RFC 864: lines of 72 printing characters, as fast as the peer takes them. */

#include "tcp_app.h"

#define CHARS 95 /* from space to tilde */
#define LINE_CHARS 72
#define PATTERN_BYTES (CHARS * (LINE_CHARS + 2))
#define REPEATS 8

static char text[REPEATS * PATTERN_BYTES];

static int
open_text(const struct pw_options *options)
{
	char *c = text;

	(void)options;
	for (unsigned line = 0; line < REPEATS * CHARS; line++) {
		for (unsigned i = 0; i < LINE_CHARS; i++)
			*c++ = ' ' + (line + i) % CHARS;
		*c++ = '\r';
		*c++ = '\n';
	}
	return 0;
}

/* The place in the pattern is all there is to remember of a connection. */
static void
pump(struct pw_tcp_conn *conn, void *app_ctx)
{
	uintptr_t at = (uintptr_t)pw_tcp_get_user(conn);
	uint32_t sent;

	(void)app_ctx;
	do {
		sent = pw_tcp_send(conn, text + at, sizeof(text) - at);
		at = (at + sent) % PATTERN_BYTES;
	} while (sent > 0);
	pw_tcp_set_user(conn, (void *)at);
}

static void
readable(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)app_ctx;
	pw_tcp_app_drop(conn);
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static struct pw_tcp_service chargen = {
	.help = "sends lines of text as fast as the peer takes them (RFC 864)",
	.port = 19,
	.open = open_text,
	.app = {.name = "chargen", .opened = pump, .readable = readable, .writable = pump},
};

PW_TCP_APP_REGISTER(chargen)
