/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Receive side scaling: the hash against published vectors and a slow one, and what is hashed. */

#include "nicsim_test.h"

#include <arpa/inet.h>
#include <string.h>

#include "desc.h"
#include "rss.h"

#define ALL_KINDS \
	(MRQC_IPV4_TCP | MRQC_IPV4 | MRQC_IPV6 | MRQC_IPV6_TCP | MRQC_IPV4_UDP | MRQC_IPV6_UDP)

static struct rss rss;
static uint8_t reta[RETA_BYTES];

/* "Verifying the RSS Hash Calculation", Windows driver documentation. */
static const uint8_t published_key[RSSRK_BYTES] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
	0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30,
	0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
	0x01, 0xfa};

static const struct vector {
	unsigned ip;
	const char *dst;
	uint16_t dst_port;
	const char *src;
	uint16_t src_port;
	uint32_t hash, hash_with_ports;
} vectors[] = {
	{4, "161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178},
	{4, "65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea},
	{4, "12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a},
	{4, "209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f},
	{4, "202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2},
	{6, "3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d},
	{6, "ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf},
	{6, "fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251,
		0x4b61e985, 0x02d1feef},
};

static struct rss_result
classify(uint32_t mrqc, const struct test_frame *frame)
{
	struct parsed parsed;

	parse_frame(&parsed, frame->data, frame->len_bytes);
	return rss_classify(&rss, mrqc, reta, &parsed, frame->data);
}

static void
make_vector(struct test_frame *frame, const struct vector *vector, uint8_t protocol)
{
	struct test_packet packet = {.ip = vector->ip, .protocol = protocol, .payload_bytes = 30};
	int family = vector->ip == 4 ? AF_INET : AF_INET6;
	uint8_t *ip;
	uint64_t seed = 1;

	test_make(frame, &packet, &seed);
	ip = frame->data + frame->l3;
	assert_int_equal(inet_pton(family, vector->src, ip + (vector->ip == 4 ? 12 : 8)), 1);
	assert_int_equal(inet_pton(family, vector->dst, ip + (vector->ip == 4 ? 16 : 24)), 1);
	test_put16(frame->data + frame->l4, vector->src_port);
	test_put16(frame->data + frame->l4 + 2, vector->dst_port);
}

static void
hashes_are_those_published(void **state)
{
	static struct test_frame frame;

	(void)state;
	rss_set_key(&rss, published_key);
	for (unsigned i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *vector = &vectors[i];
		struct rss_result result;

		make_vector(&frame, vector, IPPROTO_TCP);
		result = classify(MRQC_RSS | ALL_KINDS, &frame);
		assert_int_equal(result.hash, vector->hash_with_ports);
		assert_int_equal(result.type, vector->ip == 4 ? 1 : 3);
		result = classify(MRQC_RSS | MRQC_IPV4 | MRQC_IPV6, &frame);
		assert_int_equal(result.hash, vector->hash);
		assert_int_equal(result.type, vector->ip == 4 ? 2 : 5);
		make_vector(&frame, vector, IPPROTO_UDP);
		result = classify(MRQC_RSS | ALL_KINDS, &frame);
		assert_int_equal(result.hash, vector->hash_with_ports);
		assert_int_equal(result.type, vector->ip == 4 ? 7 : 8);
	}
}

static bool
bit_at(const uint8_t *bytes, unsigned bit)
{
	return bytes[bit / 8] >> (7 - bit % 8) & 1;
}

/* As Microsoft tells it: for each bit of the input that is one, XOR the key's 32 bits from there.
 */
static uint32_t
slow_toeplitz(const uint8_t *key, const uint8_t *input, unsigned bytes)
{
	uint32_t hash = 0;

	for (unsigned bit = 0; bit < bytes * 8; bit++)
		for (unsigned i = 0; bit_at(input, bit) && i < 32; i++)
			hash ^= (uint32_t)bit_at(key, bit + i) << (31 - i);
	return hash;
}

/* What should be hashed: addresses, then ports. Returns the type; 0: nothing. */
static unsigned
expect(const struct test_packet *packet, const struct test_frame *frame, uint32_t mrqc,
	uint8_t *input, unsigned *bytes)
{
	bool v4 = packet->ip == 4, ports = false;
	uint8_t l4 = packet->fragment == 0 ? packet->protocol : 0;

	if (packet->ip == 0 || (mrqc & 15) != 1)
		return 0;
	if (l4 == IPPROTO_TCP)
		ports = mrqc & (v4 ? 1u << 16 : 1u << 21);
	else if (l4 == IPPROTO_UDP)
		ports = mrqc & (v4 ? 1u << 22 : 1u << 23);
	if (!ports && !(mrqc & (v4 ? 1u << 17 : 1u << 20)))
		return 0;
	*bytes = v4 ? 8 : 32;
	memcpy(input, frame->data + frame->l3 + (v4 ? 12 : 8), *bytes);
	if (!ports)
		return v4 ? 2 : 5;
	memcpy(input + *bytes, frame->data + frame->l4, 4);
	*bytes += 4;
	if (l4 == IPPROTO_TCP)
		return v4 ? 1 : 3;
	return v4 ? 7 : 8;
}

static void
any_packet_is_hashed_as_asked(void **state)
{
	static struct test_frame frame;
	uint8_t key[RSSRK_BYTES];
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct test_packet packet = test_any_packet(&seed, 100);
		uint32_t mrqc = pw_test_random(&seed, 1 << 24) << 4;
		uint8_t input[36];
		struct rss_result result;
		unsigned type, bytes;

		mrqc |= pw_test_random(&seed, 8) == 0 ? pw_test_random(&seed, 16) : 1;
		test_fill(&seed, reta, sizeof(reta));
		test_make(&frame, &packet, &seed);
		/* A key takes a while to work out. */
		if (round % 16 == 0) {
			test_fill(&seed, key, sizeof(key));
			rss_set_key(&rss, key);
		}
		result = classify(mrqc, &frame);
		type = expect(&packet, &frame, mrqc, input, &bytes);
		assert_int_equal(result.type, type);
		if (type == 0) {
			assert_int_equal(result.hash, 0);
			assert_int_equal(result.queue, 0);
			continue;
		}
		assert_int_equal(result.hash, slow_toeplitz(key, input, bytes));
		assert_int_equal(result.queue, reta[result.hash & 127] & 15);
	}
}

static void
fragments_are_hashed_by_addresses_alone(void **state)
{
	static struct test_frame first, second;
	struct test_packet packet = {.protocol = IPPROTO_UDP, .payload_bytes = 64};
	uint64_t seed = 3;

	(void)state;
	for (packet.ip = 4; packet.ip <= 6; packet.ip += 2) {
		/* The first one has ports, the second has none. */
		packet.fragment = packet.ip == 4 ? 0x2000 : 1;
		test_make(&first, &packet, &seed);
		packet.fragment = 8;
		test_make(&second, &packet, &seed);
		memcpy(second.data + second.l3 + 8, first.data + first.l3 + 8, 32);
		if (packet.ip == 4)
			test_put16(second.data + second.l3 + 6, 8);
		assert_int_equal(
			classify(MRQC_RSS | ALL_KINDS, &first).type, packet.ip == 4 ? 2 : 5);
		assert_int_equal(classify(MRQC_RSS | ALL_KINDS, &first).hash,
			classify(MRQC_RSS | ALL_KINDS, &second).hash);
	}
}

static void
without_rss_all_goes_to_queue_0(void **state)
{
	static struct test_frame frame;
	struct test_packet packet = {.ip = 4, .protocol = IPPROTO_TCP, .payload_bytes = 64};
	uint64_t seed = 4;

	(void)state;
	memset(reta, 5, sizeof(reta));
	test_make(&frame, &packet, &seed);
	assert_int_equal(classify(MRQC_RSS | ALL_KINDS, &frame).queue, 5);
	assert_int_equal(classify(ALL_KINDS, &frame).queue, 0);
	assert_int_equal(classify(MRQC_RSS, &frame).queue, 0);
	packet.ip = 0;
	test_make(&frame, &packet, &seed);
	assert_int_equal(classify(MRQC_RSS | ALL_KINDS, &frame).queue, 0);
	assert_int_equal(classify(MRQC_RSS | ALL_KINDS, &frame).type, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_published),
		cmocka_unit_test(any_packet_is_hashed_as_asked),
		cmocka_unit_test(fragments_are_hashed_by_addresses_alone),
		cmocka_unit_test(without_rss_all_goes_to_queue_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
