/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tso.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "bytes.h"
#include "cksum.h"
#include "frame.h"

#define ETHER_HEADER_BYTES 14
#define IP4_HEADER_BYTES 20
#define IP6_HEADER_BYTES 40
#define TCP_HEADER_BYTES 20
#define TCP_SEQ_AT 4
#define TCP_LENGTH_AT 12
#define TCP_FLAGS_AT 13
#define TCP_CKSUM_AT 16

bool
tso_fill_cksum(uint8_t *data, uint32_t len_bytes, uint32_t start, uint32_t offset)
{
	uint16_t sum;

	if (start >= len_bytes || offset + 2 > len_bytes - start)
		return false;
	sum = (uint16_t)~cksum_fold(cksum_add(0, data + start, len_bytes - start));
	if (sum == 0) /* the same value, and UDP means by 0 that there is none */
		sum = 0xffff;
	memcpy(data + start + offset, &sum, sizeof(sum));
	return true;
}

/* Where IP and TCP begin. */
static bool
find_l4(struct tso *tso)
{
	const uint8_t *ip;
	uint32_t at = ETHER_HEADER_BYTES;

	if (tso->len_bytes < ETHER_HEADER_BYTES + VLAN_BYTES + IP6_HEADER_BYTES)
		return false;
	if (get_be16(tso->data + at - 2) == 0x8100)
		at += VLAN_BYTES;
	ip = tso->data + at;
	tso->l3_at = at;
	tso->is_ip6 = get_be16(ip - 2) == 0x86dd;
	if (tso->is_ip6) {
		tso->l4_at = at + IP6_HEADER_BYTES;
		return ip[0] >> 4 == 6 && ip[6] == IPPROTO_TCP;
	}
	tso->l4_at = at + (ip[0] & 15) * 4;
	return get_be16(ip - 2) == 0x0800 && ip[0] >> 4 == 4 &&
		(ip[0] & 15) * 4 >= IP4_HEADER_BYTES && ip[9] == IPPROTO_TCP;
}

bool
tso_begin(struct tso *tso, const uint8_t *data, uint32_t len_bytes, uint32_t segment_bytes)
{
	uint32_t tcp_bytes;

	*tso = (struct tso){.data = data, .len_bytes = len_bytes, .segment_bytes = segment_bytes};
	if (!find_l4(tso) || tso->l4_at + TCP_HEADER_BYTES > len_bytes)
		return false;
	tcp_bytes = (data[tso->l4_at + TCP_LENGTH_AT] >> 4) * 4;
	tso->payload_at = tso->l4_at + tcp_bytes;
	return tcp_bytes >= TCP_HEADER_BYTES && tso->payload_at < len_bytes && segment_bytes > 0 &&
		segment_bytes <= FRAME_MAX_BYTES &&
		tso->payload_at + segment_bytes <= FRAME_MAX_BYTES;
}

bool
tso_is_done(const struct tso *tso)
{
	return tso->payload_at + tso->done_bytes >= tso->len_bytes;
}

static void
fix_ip(const struct tso *tso, uint8_t *ip, uint32_t ip_bytes)
{
	const uint32_t header_bytes = tso->l4_at - tso->l3_at;
	uint16_t sum;

	if (tso->is_ip6) {
		put_be16(ip + 4, (uint16_t)(ip_bytes - IP6_HEADER_BYTES));
		return;
	}
	put_be16(ip + 2, (uint16_t)ip_bytes);
	put_be16(ip + 4, (uint16_t)(get_be16(ip + 4) + tso->nb_done));
	put_be16(ip + 10, 0);
	sum = (uint16_t)~cksum_fold(cksum_add(0, ip, header_bytes));
	memcpy(ip + 10, &sum, sizeof(sum));
}

static void
fix_tcp(const struct tso *tso, uint8_t *tcp, bool is_last)
{
	put_be32(tcp + TCP_SEQ_AT, get_be32(tcp + TCP_SEQ_AT) + tso->done_bytes);
	if (!is_last)
		tcp[TCP_FLAGS_AT] &= (uint8_t) ~(TH_FIN | TH_PUSH);
	if (tso->nb_done > 0)
		tcp[TCP_FLAGS_AT] &= 0x7f; /* CWR is told once (RFC 3168, 6.1.2) */
}

/* All of TCP's checksum: what is in the frame is of its length before. */
static void
fill_tcp(const struct tso *tso, uint8_t *segment, uint32_t len_bytes)
{
	const uint32_t tcp_bytes = len_bytes - tso->l4_at;
	const uint8_t *ip = segment + tso->l3_at;
	uint8_t length[4] = {0, IPPROTO_TCP, (uint8_t)(tcp_bytes >> 8), (uint8_t)tcp_bytes};
	uint64_t sum = tso->is_ip6 ? cksum_add(0, ip + 8, 32) : cksum_add(0, ip + 12, 8);
	uint16_t pseudo = cksum_fold(cksum_add(sum, length, sizeof(length)));

	memcpy(segment + tso->l4_at + TCP_CKSUM_AT, &pseudo, sizeof(pseudo));
	tso_fill_cksum(segment, len_bytes, tso->l4_at, TCP_CKSUM_AT);
}

uint32_t
tso_next(struct tso *tso, uint8_t *segment)
{
	uint32_t left_bytes = tso->len_bytes - tso->payload_at - tso->done_bytes;
	bool is_last = left_bytes <= tso->segment_bytes;
	uint32_t bytes = is_last ? left_bytes : tso->segment_bytes;
	uint32_t len_bytes = tso->payload_at + bytes;

	memcpy(segment, tso->data, tso->payload_at);
	memcpy(segment + tso->payload_at, tso->data + tso->payload_at + tso->done_bytes, bytes);
	fix_ip(tso, segment + tso->l3_at, len_bytes - tso->l3_at);
	fix_tcp(tso, segment + tso->l4_at, is_last);
	fill_tcp(tso, segment, len_bytes);
	tso->done_bytes += bytes;
	tso->nb_done++;
	return len_bytes;
}
