/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "line_cksum.h"

#include <netinet/in.h>
#include <stddef.h>

#include "bytes.h"

#define ETHER_TYPE_AT 12
#define VLAN_TAGS_MAX 2
#define IP6_HEADER_BYTES 40
#define TCP_CKSUM_AT 16
#define UDP_CKSUM_AT 6
#define IP4_CKSUM_AT 10

/* Neither the same value in ones' complement, nor UDP's 0, which means none. */
static void
spoil(uint8_t *cksum)
{
	cksum[1] ^= 1;
	if (get_be16(cksum) == 0)
		cksum[1] = 3;
}

/* The checksum of the protocol that begins at data, or NULL. */
static uint8_t *
find_l4(uint8_t *data, const uint8_t *end, unsigned protocol)
{
	size_t at = protocol == IPPROTO_TCP ? TCP_CKSUM_AT : UDP_CKSUM_AT;

	if ((protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) || (size_t)(end - data) < at + 2)
		return NULL;
	/* A UDP sender over IPv4 may leave it out. */
	if (protocol == IPPROTO_UDP && get_be16(data + at) == 0)
		return NULL;
	return data + at;
}

static uint8_t *
find_in_ip4(uint8_t *ip, const uint8_t *end)
{
	size_t header_bytes;
	uint8_t *cksum = NULL;

	if (end - ip < 20)
		return NULL;
	header_bytes = (size_t)(ip[0] & 15) * 4;
	if (ip[0] >> 4 != 4 || header_bytes < 20 || (size_t)(end - ip) < header_bytes)
		return NULL;
	if ((get_be16(ip + 6) & 0x1fff) == 0) /* later fragments carry no header of TCP or UDP */
		cksum = find_l4(ip + header_bytes, end, ip[9]);
	return cksum != NULL ? cksum : ip + IP4_CKSUM_AT;
}

static uint8_t *
find_in_ip6(uint8_t *ip, const uint8_t *end)
{
	if (end - ip < IP6_HEADER_BYTES || ip[0] >> 4 != 6)
		return NULL;
	return find_l4(ip + IP6_HEADER_BYTES, end, ip[6]);
}

static uint8_t *
find_in_frame(uint8_t *data, uint32_t len_bytes)
{
	size_t at = ETHER_TYPE_AT;
	unsigned type = 0;

	for (unsigned tags = 0; tags <= VLAN_TAGS_MAX; tags++, at += 4) {
		if (at + 2 > len_bytes)
			return NULL;
		type = get_be16(data + at);
		if (type != 0x8100 && type != 0x88a8)
			break;
	}
	if (type == 0x0800)
		return find_in_ip4(data + at + 2, data + len_bytes);
	if (type == 0x86dd)
		return find_in_ip6(data + at + 2, data + len_bytes);
	return NULL;
}

bool
line_cksum_spoil(uint8_t *data, uint32_t len_bytes)
{
	uint8_t *cksum = find_in_frame(data, len_bytes);

	if (cksum == NULL)
		return false;
	spoil(cksum);
	return true;
}
