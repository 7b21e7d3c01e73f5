/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef OPTIONS_NET_H
#define OPTIONS_NET_H

/** @file Readers of option values that name addresses, services and the like. */

#include <stddef.h>

struct pw_options;

/**
 * Read a value into the options.
 *
 * @param expected  filled with what would be right, when the value is wrong
 * @return 0 or -EINVAL
 */
typedef int (*pw_option_reader_t)(
	struct pw_options *options, const char *value, char *expected, size_t size);

int pw_option_read_ip(struct pw_options *options, const char *value, char *expected, size_t size);
int pw_option_read_eth_peer(
	struct pw_options *options, const char *value, char *expected, size_t size);
int pw_option_read_gateway(
	struct pw_options *options, const char *value, char *expected, size_t size);
int pw_option_read_listen(
	struct pw_options *options, const char *value, char *expected, size_t size);
int pw_option_read_congestion(
	struct pw_options *options, const char *value, char *expected, size_t size);
int pw_option_read_connect(
	struct pw_options *options, const char *value, char *expected, size_t size);
int pw_option_read_connect_app(
	struct pw_options *options, const char *value, char *expected, size_t size);

/**
 * Read a number of digits only.
 *
 * @return 0, or -EINVAL: it is none, or not from min to max
 */
int pw_option_read_number(
	const char *text, unsigned long min, unsigned long max, unsigned long *number);

/** Fill in the address and the services, where none were given. */
void pw_options_net_defaults(struct pw_options *options);

#endif
