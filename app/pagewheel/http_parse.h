/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

/**
 * @file
 * Requests of HTTP/1.1 (RFC 9112), as far as a server needs them whose answer is always the same.
 * Bytes come in pieces of any size; of a line only the beginning is kept. A client of HTTP/1.0 gets
 * one answer a connection.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_HTTP_HEAD_MAX 8192 /**< bytes of request line and header fields */
#define PW_HTTP_LINE_KEPT 128

struct pw_http_parser {
	uint32_t head_bytes; /**< of this request so far */
	uint32_t line_bytes; /**< of this line */
	uint64_t body_left;  /**< bytes of the request's body to skip */
	uint64_t tail;	     /**< the last eight bytes of the line */
	bool has_cr;	     /**< the last byte was a CR */
	bool in_body;	     /**< the head has ended */
	bool has_request_line;
	bool has_host, has_length;
	bool close; /**< the peer wants the connection to end */
	bool head;  /**< the method is HEAD */
	int status; /**< to answer with, once the head has ended; 0: well so far */
	char line[PW_HTTP_LINE_KEPT];
};

/**
 * Take bytes, up to the end of a request.
 *
 * After a request, its head, close and status (200, 400, 405, 431, 501, 505) stand in the parser
 * until the next call. After 400, 431, 501 and 505 no request can follow.
 *
 * @param parser  all zeros at first
 * @param complete  whether a request is complete
 * @return how many bytes were taken: all, or those up to the end of the request
 */
size_t pw_http_parse(
	struct pw_http_parser *parser, const uint8_t *data, size_t len_bytes, bool *complete);

/** Forget the request that is complete; the next one begins. */
void pw_http_next(struct pw_http_parser *parser);

#endif
