/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "rss.h"

#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stddef.h>

#include "desc.h"

#define PORTS_BYTES 4

/* For each bit of the input that is one, the 32 bits of the key that begin there (7.1.2.8.1). */
void
rss_set_key(struct rss *rss, const uint8_t key[RSSRK_BYTES])
{
	for (unsigned byte = 0; byte < RSS_INPUT_BYTES; byte++) {
		uint64_t window = 0;

		for (unsigned i = 0; i < 5; i++)
			window = window << 8 | (byte + i < RSSRK_BYTES ? key[byte + i] : 0);
		for (unsigned value = 0; value < 256; value++) {
			uint32_t hash = 0;

			for (unsigned bit = 0; bit < 8; bit++)
				if (value & 0x80 >> bit)
					hash ^= (uint32_t)(window >> (8 - bit));
			rss->table[byte][value] = hash;
		}
	}
}

static uint32_t
hash_bytes(const struct rss *rss, unsigned from, const uint8_t *bytes, unsigned count)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < count; i++)
		hash ^= rss->table[from + i][bytes[i]];
	return hash;
}

/* What may be hashed for each kind of packet: with ports first, then addresses alone. */
static const struct rss_kind {
	uint32_t l3, l4;
	uint32_t mrqc;
	uint8_t type;
} kinds[] = {
	{RXD_TYPE_IPV4, RXD_TYPE_TCP, MRQC_IPV4_TCP, 1},
	{RXD_TYPE_IPV4, RXD_TYPE_UDP, MRQC_IPV4_UDP, 7},
	{RXD_TYPE_IPV4, 0, MRQC_IPV4, 2},
	{RXD_TYPE_IPV6, RXD_TYPE_TCP, MRQC_IPV6_TCP, 3},
	{RXD_TYPE_IPV6, RXD_TYPE_UDP, MRQC_IPV6_UDP, 8},
	{RXD_TYPE_IPV6, 0, MRQC_IPV6, 5},
};

static const struct rss_kind *
find_kind(uint32_t mrqc, uint32_t type)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((mrqc & kinds[i].mrqc) && (type & kinds[i].l3) &&
			(kinds[i].l4 == 0 || (type & kinds[i].l4)))
			return &kinds[i];
	return NULL;
}

struct rss_result
rss_classify(const struct rss *rss, uint32_t mrqc, const uint8_t reta[RETA_BYTES],
	const struct parsed *parsed, const uint8_t *data)
{
	const struct rss_kind *kind = (mrqc & MRQC_MRQE) == MRQC_RSS ? find_kind(mrqc, parsed->type)
								     : NULL;
	const uint8_t *ip = data + parsed->l3_offset;
	struct rss_result result = {0};
	unsigned bytes;

	if (kind == NULL)
		return result;
	if (kind->l3 == RXD_TYPE_IPV4) {
		bytes = 8;
		result.hash = hash_bytes(rss, 0, ip + offsetof(struct iphdr, saddr), bytes);
	} else {
		bytes = 32;
		result.hash = hash_bytes(rss, 0, ip + offsetof(struct ip6_hdr, ip6_src), bytes);
	}
	if (kind->l4 != 0)
		result.hash ^= hash_bytes(rss, bytes, data + parsed->l4_offset, PORTS_BYTES);
	result.type = kind->type;
	/* The low 7 bits of the hash choose an entry, of which 4 bits count (7.1.2.8). */
	result.queue = reta[result.hash % RETA_BYTES] & 0xf;
	return result;
}
