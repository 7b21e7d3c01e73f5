/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A web server of one page, for wrk and curl: HTTP/1.1 (RFC 9112), kept alive and pipelined. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_parse.h"
#include "options.h"
#include "tcp_app.h"

#define HEAD_BYTES 160

struct answer {
	int status;
	const char *reason;
	char *text[2]; /* the second one ends the connection */
	uint32_t head_bytes[2];
	uint32_t len_bytes[2];
};

static struct answer answers[] = {
	{.status = 200, .reason = "OK"},
	{.status = 400, .reason = "Bad Request"},
	{.status = 405, .reason = "Method Not Allowed"},
	{.status = 431, .reason = "Request Header Fields Too Large"},
	{.status = 501, .reason = "Not Implemented"},
	{.status = 505, .reason = "HTTP Version Not Supported"},
};

struct http {
	struct pw_http_parser parser;
	const char *out; /* what is left to send */
	uint32_t out_bytes;
	bool close; /* no request follows */
};

/* The text of an answer, of which the head alone is the one to HEAD. */
static int
make_answer(struct answer *answer, bool close, uint32_t body_bytes)
{
	char head[HEAD_BYTES];
	int n = snprintf(head, sizeof(head),
		"HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %u\r\n%s%s\r\n",
		answer->status, answer->reason, body_bytes,
		answer->status == 405 ? "Allow: GET, HEAD\r\n" : "",
		close ? "Connection: close\r\n" : "");

	if (answer->text[close] != NULL) /* the stacks share it */
		return 0;
	answer->text[close] = malloc(n + body_bytes);
	if (answer->text[close] == NULL)
		return -ENOMEM;
	memcpy(answer->text[close], head, n);
	memset(answer->text[close] + n, 'x', body_bytes);
	answer->head_bytes[close] = n;
	answer->len_bytes[close] = n + body_bytes;
	return 0;
}

static int
open_answers(const struct pw_options *options)
{
	for (unsigned i = 0; i < RTE_DIM(answers); i++)
		for (unsigned close = 0; close < 2; close++)
			if (make_answer(&answers[i], close,
				    answers[i].status == 200 ? options->http_bytes : 0) < 0)
				return -ENOMEM;
	return 0;
}

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct http *http = calloc(1, sizeof(*http));

	(void)app_ctx;
	pw_tcp_set_user(conn, http);
	if (http == NULL)
		pw_tcp_abort(conn);
}

static void
choose_answer(struct http *http)
{
	const struct answer *answer = answers;

	while (answer->status != http->parser.status)
		answer++;
	http->close = http->parser.close;
	http->out = answer->text[http->close];
	http->out_bytes = http->parser.head ? answer->head_bytes[http->close]
					    : answer->len_bytes[http->close];
	pw_http_next(&http->parser);
}

/* True once it has gone. */
static bool
send_answer(struct http *http, struct pw_tcp_conn *conn)
{
	uint32_t sent;

	if (http->out_bytes == 0)
		return true;
	sent = pw_tcp_send(conn, http->out, http->out_bytes);
	http->out += sent;
	http->out_bytes -= sent;
	return http->out_bytes == 0;
}

/* Parse up to the end of a request; false: it has not come yet. */
static bool
read_request(struct http *http, struct pw_tcp_conn *conn)
{
	bool complete = false;
	const uint8_t *data;
	uint32_t n;

	while (!complete && (data = pw_tcp_front(conn, &n)) != NULL)
		pw_tcp_consume(conn, pw_http_parse(&http->parser, data, n, &complete));
	return complete;
}

/* What comes behind the last request is dropped: the peer is to read the answer, not a reset. */
static void
pump(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct http *http = pw_tcp_get_user(conn);

	(void)app_ctx;
	if (http == NULL)
		return;
	while (send_answer(http, conn) && !http->close && read_request(http, conn))
		choose_answer(http);
	if (http->out_bytes > 0)
		return;
	if (http->close)
		pw_tcp_app_drop(conn);
	if (http->close || pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	(void)app_ctx;
	free(pw_tcp_get_user(conn));
}

static struct pw_tcp_service http_service = {
	.help = "HTTP/1.1: any path is a page of --http-bytes",
	.port = 80,
	.open = open_answers,
	.app = {.name = "http",
		.opened = opened,
		.readable = pump,
		.writable = pump,
		.closed = closed},
};

PW_TCP_APP_REGISTER(http_service)
