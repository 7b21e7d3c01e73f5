/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_parse.h"
#include "pw_test.h"

#define HOST "Host: a\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST

/* What comes, and what is understood of it: a status for each request, with H for HEAD and c where
 * the connection ends; ? at the end: something more has to come. */
static const struct {
	const char *bytes, *understood;
} rows[] = {
	{GET "\r\n", "200 "},
	{"GET /any/path?x=y HTTP/1.1\nhost:a\n\n", "200 "},
	{"HEAD / HTTP/1.1\r\n" HOST "\r\n", "200H "},
	{"\r\n\r\n" GET "\r\n", "200 "},
	{GET, "?"},
	{"", "?"},
	{"\r", "?"},
	{"GET", "?"},
	{GET "\r\n" GET "\r\n" GET "\r\n", "200 200 200 "},
	{GET "\r\nHEAD / HTTP/1.1\r\n" HOST "\r\nGET", "200 200H ?"},
	{GET "Connection: close\r\n\r\n", "200c "},
	{GET "CONNECTION:\t upgrade, Close\r\n\r\n", "200c "},
	{GET "Connection: keep-alive\r\n\r\n", "200 "},
	{GET "X-Connection: close\r\n\r\n", "200 "},
	{"GET / HTTP/1.0\r\n\r\n", "200c "},
	{"GET / HTTP/1.2\r\n" HOST "\r\n", "505c "},
	{"GET / HTTP/2.0\r\n" HOST "\r\n", "505c "},
	{"GET /\r\n\r\n", "400c "},
	{"GET / HTTX/1.1\r\n" HOST "\r\n", "400c "},
	{"GET  HTTP/1.1\r\n" HOST "\r\n", "400c "},
	{"GET / HTTP/1.1 \r\n" HOST "\r\n", "400c "},
	{" GET / HTTP/1.1\r\n" HOST "\r\n", "400c "},
	{"nonsense\r\n" HOST "\r\n", "400c "},
	{"GET / HTTP/1.1\r\n\r\n", "400c "},
	{GET " folded\r\n\r\n", "400c "},
	{GET "Name : value\r\n\r\n", "400c "},
	{GET "no colon\r\n\r\n", "400c "},
	{GET ": value\r\n\r\n", "400c "},
	{GET "A: b\rc\r\n\r\n", "400c "},
	{"POST / HTTP/1.1\r\n" HOST "\r\n", "405 "},
	{"get / HTTP/1.1\r\n" HOST "\r\n", "405 "},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nGET" GET "\r\n", "405 200 "},
	{GET "Content-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n" GET "\r\n", "200 200 "},
	{GET "Content-Length: 5\r\n\r\nabcd", "?"},
	{GET "Content-Length: 0\r\n\r\n" GET "\r\n", "200 200 "},
	{GET "Content-Length: 2 \r\nContent-Length: 2\r\n\r\nab" GET "\r\n", "200 200 "},
	{GET "Content-Length: 2\r\nContent-Length: 3\r\n\r\n", "400c "},
	{GET "Content-Length: -1\r\n\r\n", "400c "},
	{GET "Content-Length: 1,1\r\n\r\n", "400c "},
	{GET "Content-Length: 0x1\r\n\r\n", "400c "},
	{GET "Content-Length:\r\n\r\n", "400c "},
	{GET "Content-Length: 18446744073709551616\r\n\r\n", "400c "},
	{GET "Content-Length: 999999999999999999\r\n\r\nGET", "?"},
	{GET "Transfer-Encoding: chunked\r\n\r\n", "501c "},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "501c "},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: x\r\n\r\n", "400c "},
};

static void
note(const struct pw_http_parser *parser, char *understood)
{
	sprintf(understood + strlen(understood), "%d%s%s ", parser->status, parser->head ? "H" : "",
		parser->close ? "c" : "");
}

/* In pieces of so many bytes. */
static const char *
parse(const char *bytes, size_t len, size_t piece)
{
	static char understood[256];
	struct pw_http_parser parser = {0};
	bool complete = true, close = false;
	size_t at = 0;

	understood[0] = '\0';
	while (at < len && !close) {
		size_t n = len - at < piece ? len - at : piece;

		at += pw_http_parse(&parser, (const uint8_t *)bytes + at, n, &complete);
		if (complete) {
			note(&parser, understood);
			close = parser.close;
			pw_http_next(&parser);
		}
	}
	if (!complete || len == 0)
		strcat(understood, "?");
	return understood;
}

static void
requests_in_pieces_of_all_sizes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t piece = 1; piece <= strlen(rows[i].bytes) + 1; piece++)
			assert_string_equal(parse(rows[i].bytes, strlen(rows[i].bytes), piece),
				rows[i].understood);
}

static void
a_zero_byte_is_wrong(void **state)
{
	static const char bytes[] = "GET /\0 HTTP/1.1\r\n" HOST "\r\n";

	(void)state;
	assert_string_equal(parse(bytes, sizeof(bytes) - 1, 7), "400c ");
}

/* A head of so many bytes, with its end, in one line or in many. */
static const char *
parse_head(size_t len, size_t line)
{
	static char bytes[2 * PW_HTTP_HEAD_MAX];
	size_t at = strlen(GET);

	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes, GET, at);
	for (; at + line <= len - 4; at += line) {
		bytes[at + 1] = ':';
		bytes[at + line - 1] = '\n';
	}
	bytes[at + 1] = ':';
	memcpy(bytes + len - 4, "\r\n\r\n", 4);
	return parse(bytes, len, 1000);
}

static void
heads_are_bounded(void **state)
{
	(void)state;
	for (size_t line = 100; line <= 2 * PW_HTTP_HEAD_MAX; line *= 3) {
		assert_string_equal(parse_head(4000, line), "200 ");
		assert_string_equal(parse_head(PW_HTTP_HEAD_MAX, line), "200 ");
		assert_string_equal(parse_head(PW_HTTP_HEAD_MAX + 1, line), "431c ");
		assert_string_equal(parse_head(PW_HTTP_HEAD_MAX + 2000, line), "431c ");
	}
}

static void
a_long_first_line(void **state)
{
	static char bytes[PW_HTTP_HEAD_MAX];
	size_t tail = strlen(" HTTP/1.1\r\n" HOST "\r\n");

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, "GET /", 5);
	memcpy(bytes + 2000 - tail, " HTTP/1.1\r\n" HOST "\r\n", tail);
	assert_string_equal(parse(bytes, 2000, 9), "200 ");
	assert_string_equal(parse(bytes, sizeof(bytes), sizeof(bytes)), "200 ?");
	memset(bytes, 'x', sizeof(bytes));
	assert_string_equal(parse(bytes, sizeof(bytes), 100), "431c ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_in_pieces_of_all_sizes),
		cmocka_unit_test(a_zero_byte_is_wrong),
		cmocka_unit_test(heads_are_bounded),
		cmocka_unit_test(a_long_first_line),
	};

	return cmocka_run_group_tests_name("app_http_parse", tests, NULL, NULL);
}
