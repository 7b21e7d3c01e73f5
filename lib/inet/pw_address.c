/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Our addresses, and which way leads to those of others. */

#include <errno.h>

#include "pw_inet_priv.h"

#define IPV4_BITS 96 /* in front of an IPv4 address in a struct pw_addr */

static bool
same_family(const struct pw_addr *a, const struct pw_addr *b)
{
	return pw_addr_is_ipv4(a) == pw_addr_is_ipv4(b);
}

/* RFC 4291 2.5.6, with the interface identifier of its appendix A. */
static struct pw_addr
link_local(const struct rte_ether_addr *mac)
{
	const uint8_t *b = mac->addr_bytes;

	return (struct pw_addr){.bytes = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, b[0] ^ 2, b[1], b[2], 0xff,
					0xfe, b[3], b[4], b[5]}};
}

static bool
covers(const struct pw_inet_address *ours, const struct pw_addr *addr)
{
	return same_family(&ours->addr, addr) &&
		pw_addr_in_prefix(addr, &ours->addr, ours->prefix_len);
}

/* The network's broadcast address; one of two hosts has none (RFC 3021). */
static bool
is_broadcast_of(const struct pw_inet_address *ours, const struct pw_addr *addr)
{
	rte_be32_t hosts;

	if (!pw_addr_is_ipv4(addr) || !covers(ours, addr) || ours->prefix_len > IPV4_BITS + 30)
		return false;
	hosts = rte_cpu_to_be_32(UINT32_MAX >> (ours->prefix_len - IPV4_BITS));
	return (pw_addr_to_ipv4(addr) & hosts) == hosts;
}

static bool
add(struct pw_inet *inet, const struct pw_addr *addr, uint8_t prefix_len)
{
	uint8_t skip = pw_addr_is_ipv4(addr) ? IPV4_BITS : 0;

	if (!pw_addr_is_unicast(addr) || prefix_len > 128 - skip)
		return false;
	inet->ours[inet->nb_ours++] = (struct pw_inet_address){*addr, skip + prefix_len};
	return true;
}

static bool
is_gateway(const struct pw_addr *addr, bool ipv4)
{
	return pw_addr_is_none(addr) || (pw_addr_is_ipv4(addr) == ipv4 && pw_addr_is_unicast(addr));
}

bool
pw_inet_set_addresses(struct pw_inet *inet)
{
	const struct pw_inet_params *params = &inet->params;
	struct pw_addr local = link_local(&params->mac);
	bool ipv6 = false;

	if (params->nb_addresses == 0 || params->nb_addresses > PW_INET_ADDRESSES_MAX)
		return false;
	for (unsigned i = 0; i < params->nb_addresses; i++) {
		const struct pw_inet_address *address = &params->addresses[i];

		if (!add(inet, &address->addr, address->prefix_len))
			return false;
		ipv6 |= !pw_addr_is_ipv4(&address->addr);
	}
	if (ipv6 && (params->mtu_bytes < RTE_IPV6_MIN_MTU || !add(inet, &local, 64)))
		return false;
	return is_gateway(&params->gateway4, true) && is_gateway(&params->gateway6, false);
}

bool
pw_inet_is_ours(const struct pw_inet *inet, const struct pw_addr *addr)
{
	for (unsigned i = 0; i < inet->nb_ours; i++)
		if (pw_addr_equal(&inet->ours[i].addr, addr))
			return true;
	return false;
}

bool
pw_inet_in_group(const struct pw_inet *inet, const struct pw_addr *addr)
{
	/* RFC 4291 2.7.1: ff02::1, and ff02::1:ff00:0 with the last 24 bits of an address. */
	static const struct pw_addr all_nodes = {.bytes = {0xff, 2, [15] = 1}};
	static const uint8_t solicited[13] = {0xff, 2, [11] = 1, [12] = 0xff};

	for (unsigned i = 0; i < inet->nb_ours; i++) {
		const struct pw_addr *ours = &inet->ours[i].addr;

		if (pw_addr_is_ipv4(ours))
			continue;
		if (pw_addr_equal(addr, &all_nodes) ||
			(memcmp(addr->bytes, solicited, 13) == 0 &&
				memcmp(addr->bytes + 13, ours->bytes + 13, 3) == 0))
			return true;
	}
	return false;
}

static unsigned
way_index(const struct pw_addr *dst)
{
	uint32_t mix = dst->words[3] ^ dst->words[2] ^ dst->words[1] ^ dst->words[0];

	mix ^= mix >> 16;
	return (mix ^ mix >> 8) % PW_INET_WAYS;
}

bool
pw_inet_is_peer(const struct pw_inet *inet, const struct pw_addr *addr)
{
	if (pw_addr_equal(&inet->ways[way_index(addr)].dst, addr) && !pw_addr_is_none(addr))
		return true;
	if (!pw_addr_is_unicast(addr) || pw_inet_is_ours(inet, addr))
		return false;
	for (unsigned i = 0; i < inet->nb_ours; i++)
		if (is_broadcast_of(&inet->ours[i], addr))
			return false;
	return true;
}

/* Of ours the one in the smallest network that an address is in. */
static const struct pw_inet_address *
find_network(const struct pw_inet *inet, const struct pw_addr *addr)
{
	const struct pw_inet_address *best = NULL;

	for (unsigned i = 0; i < inet->nb_ours; i++)
		if (covers(&inet->ours[i], addr) &&
			(best == NULL || inet->ours[i].prefix_len > best->prefix_len))
			best = &inet->ours[i];
	return best;
}

static bool
is_near(const struct pw_inet *inet, const struct pw_addr *addr)
{
	return find_network(inet, addr) != NULL || pw_addr_equal(addr, &inet->params.gateway4) ||
		pw_addr_equal(addr, &inet->params.gateway6);
}

bool
pw_inet_is_on_link(const struct pw_inet *inet, const struct pw_addr *addr)
{
	return pw_inet_is_peer(inet, addr) && is_near(inet, addr);
}

static int
find_next_hop(const struct pw_inet *inet, const struct pw_addr *dst, struct pw_addr *next_hop)
{
	if (!pw_inet_is_peer(inet, dst))
		return -ENETUNREACH;
	if (is_near(inet, dst))
		*next_hop = *dst;
	else if (!pw_addr_is_link_local(dst))
		*next_hop = pw_addr_is_ipv4(dst) ? inet->params.gateway4 : inet->params.gateway6;
	else
		return -ENETUNREACH;
	return pw_addr_is_none(next_hop) ? -ENETUNREACH : 0;
}

const struct pw_addr *
pw_inet_next_hop(struct pw_inet *inet, const struct pw_addr *dst)
{
	struct pw_inet_way *way = &inet->ways[way_index(dst)];
	struct pw_addr next_hop;

	if (!pw_addr_equal(&way->dst, dst) || pw_addr_is_none(dst)) {
		if (find_next_hop(inet, dst, &next_hop) < 0)
			return NULL;
		*way = (struct pw_inet_way){*dst, next_hop};
	}
	return &way->next_hop;
}

static const struct pw_inet_address *
first_of_family(const struct pw_inet *inet, const struct pw_addr *addr)
{
	for (unsigned i = 0; i < inet->nb_ours; i++)
		if (same_family(&inet->ours[i].addr, addr))
			return &inet->ours[i];
	return NULL;
}

int
pw_inet_source(const struct pw_inet *inet, const struct pw_addr *dst, struct pw_addr *source)
{
	const struct pw_inet_address *ours;
	struct pw_addr next_hop;
	int rc = find_next_hop(inet, dst, &next_hop);

	if (rc < 0)
		return rc;
	ours = find_network(inet, &next_hop);
	/* A router's address is often link-local: that is ours for the link, not for beyond. */
	if (ours == NULL || (pw_addr_is_link_local(&ours->addr) && !pw_addr_is_link_local(dst)))
		ours = first_of_family(inet, dst);
	if (ours == NULL)
		return -ENETUNREACH;
	*source = ours->addr;
	return 0;
}
