/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_addr.h"

#include <arpa/inet.h>
#include <errno.h>

bool
pw_addr_is_unicast(const struct pw_addr *addr)
{
	static const struct pw_addr loopback = {.bytes = {[15] = 1}};
	uint8_t first = addr->bytes[12];

	if (pw_addr_is_ipv4(addr))
		return first != 0 && first != 127 && first < 224;
	return addr->bytes[0] != 0xff && !pw_addr_is_none(addr) && !pw_addr_equal(addr, &loopback);
}

bool
pw_addr_in_prefix(const struct pw_addr *addr, const struct pw_addr *prefix, unsigned prefix_len)
{
	unsigned bytes = prefix_len / 8, bits = prefix_len % 8;

	return memcmp(addr->bytes, prefix->bytes, bytes) == 0 &&
		(bits == 0 || (addr->bytes[bytes] ^ prefix->bytes[bytes]) >> (8 - bits) == 0);
}

int
pw_addr_parse(const char *text, struct pw_addr *addr)
{
	struct in_addr ip;

	if (inet_pton(AF_INET, text, &ip) == 1)
		*addr = pw_addr_from_ipv4(ip.s_addr);
	else if (inet_pton(AF_INET6, text, addr->bytes) != 1)
		return -EINVAL;
	return 0;
}

const char *
pw_addr_format(const struct pw_addr *addr, char buf[PW_ADDR_STRLEN])
{
	if (pw_addr_is_ipv4(addr))
		inet_ntop(AF_INET, &addr->words[3], buf, PW_ADDR_STRLEN);
	else
		inet_ntop(AF_INET6, addr->bytes, buf, PW_ADDR_STRLEN);
	return buf;
}
