/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "http_parse.h"

#include <string.h>
#include <strings.h>

/* The first fault is the one to answer with; but that the end is not known is worse than 405. */
static void
fail(struct pw_http_parser *parser, int status)
{
	if (parser->status == 0 || parser->status == 405)
		parser->status = status;
}

static uint64_t
eight_bytes(const char *text)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | (uint8_t)text[i];
	return value;
}

/* RFC 9112 3: method SP request-target SP HTTP-version */
static void
take_request_line(struct pw_http_parser *parser)
{
	const char *line = parser->line, *space = strchr(line, ' ');

	parser->has_request_line = true;
	parser->head = strncmp(line, "HEAD ", 5) == 0;
	parser->close = parser->tail == eight_bytes("HTTP/1.0");
	if (space == NULL || space == line || space[1] == ' ' ||
		parser->line_bytes < strlen("A / HTTP/1.1") ||
		parser->tail >> 24 != eight_bytes("\0\0\0HTTP/"))
		fail(parser, 400);
	else if (!parser->close && parser->tail != eight_bytes("HTTP/1.1"))
		fail(parser, 505);
	else if (!parser->head && strncmp(line, "GET ", 4) != 0)
		fail(parser, 405);
}

/* RFC 9112 6.3: several have to be alike. */
static void
take_length(struct pw_http_parser *parser, const char *value)
{
	uint64_t length = 0;
	unsigned digits = 0;

	for (; *value >= '0' && *value <= '9' && digits < 18; digits++)
		length = length * 10 + (*value++ - '0');
	value += strspn(value, " \t");
	if (digits == 0 || *value != '\0' || parser->line_bytes >= PW_HTTP_LINE_KEPT ||
		(parser->has_length && length != parser->body_left))
		fail(parser, 400);
	parser->has_length = true;
	parser->body_left = length;
}

/* RFC 9112 5: a name, a colon right behind it, the value. */
static void
take_field(struct pw_http_parser *parser)
{
	size_t name_len = strcspn(parser->line, ": \t");
	const char *value = parser->line + name_len + 1;

	if (name_len == 0 || parser->line[name_len] != ':') {
		if (name_len < PW_HTTP_LINE_KEPT - 1) /* of a longer name nobody asks */
			fail(parser, 400);
		return;
	}
	parser->line[name_len] = '\0';
	value += strspn(value, " \t");
	if (strcasecmp(parser->line, "host") == 0)
		parser->has_host = true;
	else if (strcasecmp(parser->line, "content-length") == 0)
		take_length(parser, value);
	else if (strcasecmp(parser->line, "transfer-encoding") == 0)
		fail(parser, 501);
	else if (strcasecmp(parser->line, "connection") == 0 && strcasestr(value, "close") != NULL)
		parser->close = true;
}

/* True at the end of the head. Empty lines before a request are nothing (RFC 9112 2.2). */
static bool
take_line(struct pw_http_parser *parser)
{
	bool empty = parser->line_bytes == 0;

	parser->line[parser->line_bytes < PW_HTTP_LINE_KEPT ? parser->line_bytes
							    : PW_HTTP_LINE_KEPT - 1] = '\0';
	if (!parser->has_request_line) {
		if (!empty)
			take_request_line(parser);
	} else if (!empty) {
		take_field(parser);
	}
	parser->line_bytes = 0;
	parser->tail = 0;
	return empty && parser->has_request_line;
}

static void
take_char(struct pw_http_parser *parser, uint8_t c)
{
	if (c == '\0' || parser->has_cr) /* RFC 9112 2.2: a CR stands before LF only */
		fail(parser, 400);
	if (parser->line_bytes < PW_HTTP_LINE_KEPT)
		parser->line[parser->line_bytes] = c;
	parser->line_bytes++;
	parser->tail = parser->tail << 8 | c;
}

/* True at its end. */
static bool
take_head(struct pw_http_parser *parser, uint8_t c)
{
	bool ended = false;

	if (c == '\r' && !parser->has_cr) {
		parser->has_cr = true;
	} else {
		if (c == '\n')
			ended = take_line(parser);
		else
			take_char(parser, c);
		parser->has_cr = false;
	}
	if (!ended && ++parser->head_bytes >= PW_HTTP_HEAD_MAX)
		parser->status = 431;
	return ended || parser->status == 431;
}

static void
judge(struct pw_http_parser *parser)
{
	if (!parser->has_host && !parser->close) /* RFC 9112 3.2; of HTTP/1.0 it is not asked */
		fail(parser, 400);
	if (parser->status != 0 && parser->status != 405) {
		parser->close = true; /* where it ends is not known */
		parser->body_left = 0;
	}
	if (parser->status == 0)
		parser->status = 200;
}

size_t
pw_http_parse(struct pw_http_parser *parser, const uint8_t *data, size_t len_bytes, bool *complete)
{
	bool in_body = parser->in_body;
	size_t taken = 0, skip;

	for (; taken < len_bytes && !in_body; taken++)
		in_body = take_head(parser, data[taken]);
	if (in_body && !parser->in_body)
		judge(parser);
	parser->in_body = in_body;
	skip = len_bytes - taken < parser->body_left ? len_bytes - taken : parser->body_left;
	if (in_body)
		parser->body_left -= skip;
	*complete = in_body && parser->body_left == 0;
	return in_body ? taken + skip : taken;
}

void
pw_http_next(struct pw_http_parser *parser)
{
	*parser = (struct pw_http_parser){0};
}
