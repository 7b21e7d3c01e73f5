/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_ADDR_H
#define PW_ADDR_H

/** @file IP addresses of either family, and what of the IP header concerns the protocols above. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Room for an address as text, with its end. */
#define PW_ADDR_STRLEN 46

/** An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d (RFC 4291 2.5.5.2). All zeros: none. */
struct pw_addr {
	union {
		uint8_t bytes[16];
		rte_be32_t words[4];
	};
};

/** ECN field, the lower two bits of pw_ip_info.tos (RFC 3168 5). */
enum pw_ecn {
	PW_ECN_NOT_ECT = 0,
	PW_ECN_ECT1 = 1,
	PW_ECN_ECT0 = 2,
	PW_ECN_CE = 3,
	PW_ECN_MASK = 3,
};

/** What a packet's IP header says, for the protocol above. */
struct pw_ip_info {
	struct pw_addr src, dst; /**< of one family */
	uint8_t tos;		 /**< type of service or traffic class, with the ECN field */
};

static inline struct pw_addr
pw_addr_from_ipv4(rte_be32_t ip)
{
	struct pw_addr addr = {.words = {0, 0, RTE_BE32(0xffff), ip}};

	return addr;
}

static inline bool
pw_addr_is_ipv4(const struct pw_addr *addr)
{
	return addr->words[0] == 0 && addr->words[1] == 0 && addr->words[2] == RTE_BE32(0xffff);
}

/** Only of an IPv4 address. */
static inline rte_be32_t
pw_addr_to_ipv4(const struct pw_addr *addr)
{
	return addr->words[3];
}

static inline bool
pw_addr_equal(const struct pw_addr *a, const struct pw_addr *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static inline bool
pw_addr_is_none(const struct pw_addr *addr)
{
	return (addr->words[0] | addr->words[1] | addr->words[2] | addr->words[3]) == 0;
}

/** Can it be a host's? RFC 1122 3.2.1.3, RFC 4291 2.5.2, 2.5.3 and 2.7. */
bool pw_addr_is_unicast(const struct pw_addr *addr);

/** Of IPv6 and good on its link alone, RFC 4291 2.5.6. */
static inline bool
pw_addr_is_link_local(const struct pw_addr *addr)
{
	return addr->bytes[0] == 0xfe && addr->bytes[1] >> 6 == 2;
}

/** Do the first prefix_len bits agree? For IPv4 addresses they count from 96 on. */
bool pw_addr_in_prefix(
	const struct pw_addr *addr, const struct pw_addr *prefix, unsigned prefix_len);

/**
 * Read an address of either family.
 *
 * @return 0, or -EINVAL
 */
int pw_addr_parse(const char *text, struct pw_addr *addr);

/** Write an address: IPv4 with dots, IPv6 as RFC 5952 says. Returns buf. */
const char *pw_addr_format(const struct pw_addr *addr, char buf[PW_ADDR_STRLEN]);

#ifdef __cplusplus
}
#endif

#endif
