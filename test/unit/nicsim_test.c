/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "nicsim_test.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint32_t
test_between(uint64_t *seed, uint32_t least, uint32_t most)
{
	return least + pw_test_random(seed, most - least + 1);
}

void
test_fill(uint64_t *seed, void *to, size_t bytes)
{
	uint8_t *at = to;

	for (; bytes >= 3; bytes -= 3, at += 3) {
		uint32_t value = pw_test_random(seed, 1 << 24);

		memcpy(at, &value, 3);
	}
	for (; bytes > 0; bytes--)
		*at++ = (uint8_t)pw_test_random(seed, 256);
}

uint16_t
test_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] * 256 + at[1]);
}

void
test_put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value / 256);
	at[1] = (uint8_t)(value % 256);
}

uint32_t
test_get32(const uint8_t *at)
{
	return (uint32_t)test_get16(at) << 16 | test_get16(at + 2);
}

void
test_put32(uint8_t *at, uint32_t value)
{
	test_put16(at, value >> 16);
	test_put16(at + 2, value & 0xffff);
}

uint32_t
test_sum(uint32_t sum, const uint8_t *data, uint32_t len_bytes)
{
	for (uint32_t i = 0; i < len_bytes; i += 2) {
		sum += data[i] * 256u + (i + 1 < len_bytes ? data[i + 1] : 0);
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

uint32_t
test_pseudo_sum(const uint8_t *ip, unsigned version, uint8_t protocol, uint32_t l4_bytes)
{
	uint8_t rest[8] = {0};

	test_put32(rest, l4_bytes);
	rest[7] = protocol;
	return version == 4 ? test_sum(test_sum(0, ip + 12, 8), rest, 8)
			    : test_sum(test_sum(0, ip + 8, 32), rest, 8);
}

uint32_t
test_sum_offset(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? 16 : 6;
}

void
test_set_sums(struct test_frame *frame, const struct test_packet *packet)
{
	uint8_t *ip = frame->data + frame->l3, *l4 = frame->data + frame->l4, *field;
	uint32_t l4_bytes = frame->end - frame->l4, sum;

	if (packet->ip == 4) {
		test_put16(ip + 10, 0);
		test_put16(ip + 10, 0xffff - test_sum(0, ip, (ip[0] & 15) * 4));
	}
	if (packet->ip == 0 ||
		(packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP) ||
		packet->fragment != 0)
		return;
	field = l4 + test_sum_offset(packet->protocol);
	test_put16(field, 0);
	sum = test_pseudo_sum(ip, packet->ip, packet->protocol, l4_bytes);
	sum = 0xffff - test_sum(sum, l4, l4_bytes);
	if (packet->protocol == IPPROTO_UDP)
		sum = packet->without_sum ? 0 : sum == 0 ? 0xffff : sum;
	test_put16(field, sum);
}

static uint32_t
l4_header_of(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return 20;
	case IPPROTO_UDP:
		return 8;
	case IPPROTO_SCTP:
		return 12;
	default:
		return 0;
	}
}

static uint32_t
put_ipv4(uint8_t *ip, const struct test_packet *packet, uint32_t l4_bytes)
{
	uint32_t header_bytes = 20 + packet->option_bytes;

	ip[0] = (uint8_t)(0x40 | header_bytes / 4);
	test_put16(ip + 2, header_bytes + l4_bytes);
	test_put16(ip + 6, packet->fragment);
	ip[9] = packet->protocol;
	return header_bytes;
}

static uint32_t
put_ipv6(uint8_t *ip, const struct test_packet *packet, uint32_t l4_bytes, uint64_t *seed)
{
	uint8_t *next = ip + 6, *at = ip + 40;

	ip[0] = 0x60 | (ip[0] & 15);
	for (unsigned i = 0; i < packet->nb_extensions; i++) {
		*next = packet->extensions[i];
		next = at;
		at[1] = (uint8_t)pw_test_random(seed, 4);
		at[3] = 0; /* a routing header has no segments left */
		at += 8 + at[1] * 8;
	}
	if (packet->fragment != 0) {
		*next = IPPROTO_FRAGMENT;
		next = at;
		test_put16(at + 2, packet->fragment);
		at += 8;
	}
	*next = packet->protocol;
	test_put16(ip + 4, (uint32_t)(at - ip) - 40 + l4_bytes);
	return (uint32_t)(at - ip);
}

void
test_make(struct test_frame *frame, const struct test_packet *packet, uint64_t *seed)
{
	uint32_t header = packet->ip == 0 ? 0 : l4_header_of(packet->protocol);
	uint32_t l4_bytes = header + packet->payload_bytes, at = 12;
	uint8_t *data = frame->data;

	test_fill(seed, data, l4_bytes + packet->pad_bytes + 300);
	data[0] &= 0xfe;
	if (packet->tagged) {
		test_put16(data + 12, 0x8100);
		test_put16(data + 14, packet->tag);
		at = 16;
	}
	test_put16(data + at, packet->ip == 4 ? 0x0800 : packet->ip == 6 ? 0x86dd : 0x88b5);
	frame->l3 = frame->l4 = at + 2;
	if (packet->ip == 4)
		frame->l4 += put_ipv4(data + frame->l3, packet, l4_bytes);
	else if (packet->ip == 6)
		frame->l4 += put_ipv6(data + frame->l3, packet, l4_bytes, seed);
	if (header == 20)
		data[frame->l4 + 12] = 0x50;
	else if (header == 8)
		test_put16(data + frame->l4 + 4, l4_bytes);
	frame->l4_header_bytes = header;
	frame->end = frame->l4 + l4_bytes;
	frame->len_bytes = frame->end + packet->pad_bytes;
	test_set_sums(frame, packet);
}

struct test_packet
test_any_packet(uint64_t *seed, uint32_t payload_max)
{
	static const uint8_t protocols[] = {
		IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP};
	static const uint8_t extensions[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS};
	static const uint8_t versions[] = {0, 4, 4, 4, 6, 6, 6};
	struct test_packet packet = {
		.ip = versions[pw_test_random(seed, 7)],
		.protocol = protocols[pw_test_random(seed, 6)],
		.tagged = pw_test_random(seed, 3) == 0,
		.tag = (uint16_t)pw_test_random(seed, 65536),
		.option_bytes = pw_test_random(seed, 3) == 0 ? 4 * pw_test_random(seed, 11) : 0,
		.payload_bytes = pw_test_random(seed, payload_max + 1),
		.pad_bytes = pw_test_random(seed, 4) == 0 ? pw_test_random(seed, 50) : 0,
		.without_sum = pw_test_random(seed, 5) == 0,
	};

	if (pw_test_random(seed, 5) == 0)
		packet.fragment = packet.ip == 4 ? (uint16_t)test_between(seed, 1, 0x3fff)
						 : (uint16_t)(8 * test_between(seed, 1, 8000));
	if (pw_test_random(seed, 3) == 0)
		packet.nb_extensions = test_between(seed, 1, TEST_EXTENSIONS_MAX);
	for (unsigned i = 0; i < packet.nb_extensions; i++)
		packet.extensions[i] = extensions[pw_test_random(seed, 3)];
	return packet;
}
