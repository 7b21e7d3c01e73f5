/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "parse.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <string.h>

#include "bytes.h"
#include "cksum.h"
#include "desc.h"
#include "frame.h"

#define SCTP_HEADER_BYTES 12

/* TCP, UDP and SCTP with all of their header there. */
static void
parse_l4(struct parsed *parsed, uint8_t protocol)
{
	static const struct {
		uint8_t header_bytes, protocol;
		uint16_t type;
	} l4[] = {
		{sizeof(struct tcphdr), IPPROTO_TCP, RXD_TYPE_TCP},
		{sizeof(struct udphdr), IPPROTO_UDP, RXD_TYPE_UDP},
		{SCTP_HEADER_BYTES, IPPROTO_SCTP, RXD_TYPE_SCTP},
	};

	for (unsigned i = 0; i < sizeof(l4) / sizeof(l4[0]); i++)
		if (protocol == l4[i].protocol && parsed->l4_bytes >= l4[i].header_bytes)
			parsed->type |= l4[i].type;
}

static void
parse_ipv4(struct parsed *parsed, const uint8_t *data, uint32_t len_bytes)
{
	const uint8_t *ip = data + parsed->l3_offset;
	uint32_t room = len_bytes - parsed->l3_offset, header_bytes, total;

	if (room < sizeof(struct iphdr) || ip[0] >> 4 != 4)
		return;
	header_bytes = (ip[0] & 0xf) * 4;
	total = get_be16(ip + offsetof(struct iphdr, tot_len));
	if (header_bytes < sizeof(struct iphdr) || total < header_bytes || total > room)
		return;
	parsed->type |= RXD_TYPE_IPV4;
	if (header_bytes > sizeof(struct iphdr))
		parsed->type |= RXD_TYPE_IPV4_OPTIONS;
	parsed->l4_offset = parsed->l3_offset + header_bytes;
	parsed->l4_bytes = total - header_bytes;
	parsed->is_fragment = (get_be16(ip + offsetof(struct iphdr, frag_off)) &
				      (IP_MF | IP_OFFMASK)) != 0;
	if (!parsed->is_fragment)
		parse_l4(parsed, ip[offsetof(struct iphdr, protocol)]);
}

static bool
is_ipv6_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
		protocol == IPPROTO_DSTOPTS;
}

static void
parse_ipv6(struct parsed *parsed, const uint8_t *data, uint32_t len_bytes)
{
	const uint8_t *ip = data + parsed->l3_offset;
	uint32_t room = len_bytes - parsed->l3_offset, left, at = sizeof(struct ip6_hdr), bytes;
	uint8_t protocol;

	if (room < sizeof(struct ip6_hdr) || ip[0] >> 4 != 6)
		return;
	left = get_be16(ip + offsetof(struct ip6_hdr, ip6_plen));
	if (left > room - sizeof(struct ip6_hdr))
		return;
	parsed->type |= RXD_TYPE_IPV6;
	protocol = ip[offsetof(struct ip6_hdr, ip6_nxt)];
	/* RFC 8200, section 4: next header, and length in units of 8 bytes beyond the first 8. */
	while (is_ipv6_extension(protocol) && left >= 8) {
		bytes = (ip[at + 1] + 1) * 8;
		if (bytes > left)
			return;
		parsed->type |= RXD_TYPE_IPV6_EXT;
		/* 7.1.11: with segments left, checksums are over another destination (RFC 8200,
		 * 8.1). */
		if (protocol == IPPROTO_ROUTING && ip[at + 3] != 0)
			return;
		protocol = ip[at];
		at += bytes;
		left -= bytes;
	}
	parsed->is_fragment = protocol == IPPROTO_FRAGMENT;
	parsed->l4_offset = parsed->l3_offset + at;
	parsed->l4_bytes = left;
	if (!parsed->is_fragment)
		parse_l4(parsed, protocol);
}

void
parse_frame(struct parsed *parsed, const uint8_t *data, uint32_t len_bytes)
{
	uint32_t at = offsetof(struct ether_header, ether_type);
	uint16_t type = get_be16(data + at);

	*parsed = (struct parsed){0};
	if (type == ETHERTYPE_VLAN && len_bytes >= sizeof(struct ether_header) + VLAN_BYTES) {
		parsed->has_vlan = true;
		parsed->vlan = get_be16(data + at + 2);
		at += VLAN_BYTES;
		type = get_be16(data + at);
	}
	parsed->network_offset = at;
	parsed->l3_offset = at + 2;
	if (type == ETHERTYPE_IP)
		parse_ipv4(parsed, data, len_bytes);
	else if (type == ETHERTYPE_IPV6)
		parse_ipv6(parsed, data, len_bytes);
}

/* Sum of the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1). */
static uint64_t
sum_pseudo(const struct parsed *parsed, const uint8_t *ip, uint8_t protocol)
{
	uint64_t sum = htons(protocol) + htonl(parsed->l4_bytes);

	if (parsed->type & RXD_TYPE_IPV4)
		return cksum_add(sum, ip + offsetof(struct iphdr, saddr), 8);
	return cksum_add(sum, ip + offsetof(struct ip6_hdr, ip6_src), 32);
}

static bool
l4_is_right(const struct parsed *parsed, const uint8_t *data, uint8_t protocol)
{
	uint64_t sum = sum_pseudo(parsed, data + parsed->l3_offset, protocol);

	return cksum_fold(cksum_add(sum, data + parsed->l4_offset, parsed->l4_bytes)) == 0xffff;
}

/*
 * 7.1.11: IPv4 headers are checked, and TCP and UDP behind them or behind IPv6, unless it is a
 * fragment; UDP may go without a checksum (RFC 768).
 */
uint32_t
parse_checksums(const struct parsed *parsed, const uint8_t *data)
{
	const uint8_t *l4 = data + parsed->l4_offset;
	uint32_t status = 0;

	if (parsed->type & RXD_TYPE_IPV4) {
		status |= RXD_IPCS;
		if (cksum_fold(cksum_add(0, data + parsed->l3_offset,
			    parsed->l4_offset - parsed->l3_offset)) != 0xffff)
			status |= RXD_IPE;
	}
	if (parsed->type & RXD_TYPE_TCP) {
		status |= RXD_L4CS;
		if (!l4_is_right(parsed, data, IPPROTO_TCP))
			status |= RXD_TCPE;
	} else if ((parsed->type & RXD_TYPE_UDP) &&
		get_be16(l4 + offsetof(struct udphdr, check)) != 0) {
		status |= RXD_L4CS | RXD_UDPCS | RXD_UDPV;
		if (!l4_is_right(parsed, data, IPPROTO_UDP))
			status |= RXD_TCPE;
	}
	return status;
}
