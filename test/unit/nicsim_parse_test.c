/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * What the software NIC says of a received frame: its type, and whether its checksums are right.
 * Frames stand in memory of just their size, so that AddressSanitizer sees what reads on.
 */

#include "nicsim_test.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "desc.h"
#include "parse.h"
#include "rss.h"

#define ETHER_BYTES 14
#define ROUNDS 20000
#define RANDOM_ROUNDS 1000000

static struct rss rss;

/* All that reads a received frame, on a copy without a byte behind it. */
static uint32_t
look(struct parsed *parsed, const uint8_t *data, uint32_t len_bytes)
{
	static const uint8_t reta[RETA_BYTES];
	uint8_t *copy = malloc(len_bytes);
	uint32_t status;

	assert_non_null(copy);
	memcpy(copy, data, len_bytes);
	parse_frame(parsed, copy, len_bytes);
	status = parse_checksums(parsed, copy);
	(void)rss_classify(&rss, UINT32_MAX & ~(MRQC_MRQE - MRQC_RSS), reta, parsed, copy);
	free(copy);
	assert_true(parsed->l3_offset <= len_bytes);
	assert_true(parsed->l4_offset + parsed->l4_bytes <= len_bytes);
	return status;
}

static uint32_t
l4_type(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return 1 << 8;
	case IPPROTO_UDP:
		return 1 << 9;
	case IPPROTO_SCTP:
		return 1 << 10;
	default:
		return 0;
	}
}

/* Packet type bits as the datasheet numbers them (7.1.6.2). */
static uint32_t
type_of(const struct test_packet *packet)
{
	uint32_t type = 0;

	if (packet->ip == 4)
		type = 1 << 4 | (packet->option_bytes > 0 ? 1 << 5 : 0);
	else if (packet->ip == 6)
		type = 1 << 6 | (packet->nb_extensions > 0 ? 1 << 7 : 0);
	if (packet->ip != 0 && packet->fragment == 0)
		type |= l4_type(packet->protocol);
	return type;
}

static bool
has_l4_sum(const struct test_packet *packet)
{
	return packet->ip != 0 && packet->fragment == 0 &&
		(packet->protocol == IPPROTO_TCP ||
			(packet->protocol == IPPROTO_UDP && !packet->without_sum));
}

/* Bits that say what was looked at. */
static uint32_t
status_of(const struct test_packet *packet)
{
	uint32_t status = packet->ip == 4 ? RXD_IPCS : 0;

	if (has_l4_sum(packet))
		status |= RXD_L4CS;
	if (has_l4_sum(packet) && packet->protocol == IPPROTO_UDP)
		status |= RXD_UDPCS | RXD_UDPV;
	return status;
}

static void
a_right_packet_is_what_it_is(void **state)
{
	static struct test_frame frame;
	uint64_t seed = pw_test_seed();
	struct parsed parsed;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct test_packet packet = test_any_packet(&seed, 2000);
		uint32_t status;

		test_make(&frame, &packet, &seed);
		status = look(&parsed, frame.data, frame.len_bytes);
		assert_int_equal(parsed.type, type_of(&packet));
		assert_int_equal(status, status_of(&packet));
		assert_int_equal(parsed.has_vlan, packet.tagged);
		assert_int_equal(parsed.l3_offset, frame.l3);
		if (packet.tagged)
			assert_int_equal(parsed.vlan, packet.tag);
		if (packet.ip == 0)
			continue;
		assert_int_equal(parsed.is_fragment, packet.fragment != 0);
		if (packet.fragment != 0)
			continue;
		assert_int_equal(parsed.l4_offset, frame.l4);
		assert_int_equal(parsed.l4_bytes, frame.end - frame.l4);
	}
}

/* The verdict that the sums themselves give, whatever was done to the frame. */
static uint32_t
slow_verdict(const struct test_frame *frame, const struct test_packet *packet)
{
	const uint8_t *ip = frame->data + frame->l3, *l4 = frame->data + frame->l4;
	uint32_t l4_bytes = frame->end - frame->l4, errors = 0, sum;

	if (packet->ip == 4 && test_sum(0, ip, frame->l4 - frame->l3) != 0xffff)
		errors |= RXD_IPE;
	if (!has_l4_sum(packet))
		return errors;
	sum = test_pseudo_sum(ip, packet->ip, packet->protocol, l4_bytes);
	if (test_sum(sum, l4, l4_bytes) != 0xffff)
		errors |= RXD_TCPE;
	return errors;
}

/* A bit anywhere but in what says which kind of packet it is, and how long. */
static uint32_t
choose_damage(const struct test_frame *frame, const struct test_packet *packet, uint64_t *seed)
{
	uint32_t at;

	if (packet->ip == 4 && pw_test_random(seed, 2) == 0)
		return frame->l3 + 12 + pw_test_random(seed, 8);
	do {
		at = frame->l4 + pw_test_random(seed, frame->end - frame->l4);
	} while (packet->protocol == IPPROTO_UDP && (at - frame->l4 == 6 || at - frame->l4 == 7));
	return at;
}

static void
a_damaged_packet_is_found_wrong(void **state)
{
	static struct test_frame frame;
	uint64_t seed = pw_test_seed();
	struct parsed parsed;
	unsigned wrong = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct test_packet packet = test_any_packet(&seed, 1500);
		uint32_t verdict;

		test_make(&frame, &packet, &seed);
		if (packet.ip == 0 || frame.end == frame.l4)
			continue;
		frame.data[choose_damage(&frame, &packet, &seed)] ^= 1 << pw_test_random(&seed, 8);
		verdict = slow_verdict(&frame, &packet);
		wrong += verdict != 0;
		assert_int_equal(
			look(&parsed, frame.data, frame.len_bytes), status_of(&packet) | verdict);
	}
	assert_true(wrong > ROUNDS / 4);
}

/* What is behind a packet is not part of it, and a packet that is not all there is none. */
static void
a_packet_cut_off_is_no_packet(void **state)
{
	static struct test_frame frame;
	uint64_t seed = pw_test_seed();
	struct parsed parsed;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct test_packet packet = test_any_packet(&seed, 120);

		test_make(&frame, &packet, &seed);
		for (uint32_t len = ETHER_BYTES; len < frame.len_bytes; len++) {
			uint32_t status = look(&parsed, frame.data, len);

			assert_int_equal(parsed.type, len < frame.end ? 0 : type_of(&packet));
			assert_int_equal(status, len < frame.end ? 0 : status_of(&packet));
		}
	}
}

static void
headers_that_cannot_be_are_no_ip(void **state)
{
	static struct test_frame good, frame;
	struct test_packet packet = {.ip = 4, .protocol = IPPROTO_TCP, .payload_bytes = 50};
	static const struct {
		uint32_t offset;
		uint8_t value;
	} wrong4[] = {{0, 0x44}, {0, 0x40}, {0, 0x65}, {0, 0x55}, {2, 0xff}, {3, 19}, {3, 91}};
	struct parsed parsed;
	uint64_t seed = 1;

	(void)state;
	test_make(&good, &packet, &seed);
	for (unsigned i = 0; i < sizeof(wrong4) / sizeof(wrong4[0]); i++) {
		frame = good;
		frame.data[frame.l3 + wrong4[i].offset] = wrong4[i].value;
		assert_int_equal(look(&parsed, frame.data, frame.len_bytes), 0);
		assert_int_equal(parsed.type, 0);
	}
	packet.ip = 6;
	test_make(&good, &packet, &seed);
	frame = good;
	frame.data[frame.l3] = 0x45;
	assert_int_equal(look(&parsed, frame.data, frame.len_bytes), 0);
	frame = good;
	test_put16(frame.data + frame.l3 + 4, 71);
	assert_int_equal(look(&parsed, frame.data, frame.len_bytes), 0);
	assert_int_equal(parsed.type, 0);
}

/* The header is longer than what is left of the packet; or the header's own is not all there. */
static void
l4_headers_that_do_not_fit_are_not_looked_at(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP};
	static struct test_frame frame;
	struct parsed parsed;
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct test_packet packet = {
			.ip = i % 2 ? 6 : 4, .protocol = protocols[i / 2], .pad_bytes = 50};
		uint32_t header;

		test_make(&frame, &packet, &seed);
		header = frame.end - frame.l4;
		for (uint32_t bytes = 0; bytes <= header; bytes++) {
			test_put16(frame.data + frame.l3 + (packet.ip == 4 ? 2 : 4),
				bytes + (packet.ip == 4 ? 20 : 0));
			frame.end = frame.l4 + bytes;
			look(&parsed, frame.data, frame.len_bytes);
			assert_int_equal(parsed.type,
				(packet.ip == 4 ? RXD_TYPE_IPV4 : RXD_TYPE_IPV6) |
					(bytes < header ? 0 : l4_type(packet.protocol)));
		}
	}
}

static void
an_extension_that_is_too_long_ends_the_search(void **state)
{
	static struct test_frame frame;
	struct test_packet packet = {.ip = 6,
		.protocol = IPPROTO_TCP,
		.payload_bytes = 60,
		.extensions = {IPPROTO_HOPOPTS, IPPROTO_DSTOPTS},
		.nb_extensions = 2};
	struct parsed parsed;
	uint64_t seed = 1;

	(void)state;
	test_make(&frame, &packet, &seed);
	frame.data[frame.l3 + 41] = 255;
	assert_int_equal(look(&parsed, frame.data, frame.len_bytes), 0);
	assert_int_equal(parsed.type, RXD_TYPE_IPV6);
}

/* The sum is over the last destination, which is not in the IP header yet (RFC 8200, 8.1). */
static void
a_packet_on_its_way_by_a_route_is_not_checked(void **state)
{
	static struct test_frame frame;
	struct test_packet packet = {.ip = 6,
		.protocol = IPPROTO_TCP,
		.payload_bytes = 60,
		.extensions = {IPPROTO_ROUTING},
		.nb_extensions = 1};
	struct parsed parsed;
	uint64_t seed = 1;

	(void)state;
	test_make(&frame, &packet, &seed);
	assert_int_equal(look(&parsed, frame.data, frame.len_bytes), RXD_L4CS);
	frame.data[frame.l3 + 43] = 1;
	assert_int_equal(look(&parsed, frame.data, frame.len_bytes), 0);
}

/* Mostly those that get past the first looks. */
static void
any_bytes_are_read_within_their_bounds(void **state)
{
	static const uint16_t types[] = {0x0800, 0x0800, 0x86dd, 0x86dd, 0x8100};
	static const uint8_t nexts[] = {0, 43, 44, 60, 6, 17, 132, 6};
	uint64_t seed = pw_test_seed();
	struct parsed parsed;
	uint8_t data[200];

	(void)state;
	for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
		uint32_t len = test_between(&seed, ETHER_BYTES, 150), at = 12;

		test_fill(&seed, data, 150);
		test_put16(data + at, types[pw_test_random(&seed, 5)]);
		if (data[12] == 0x81)
			test_put16(data + (at = 16), types[pw_test_random(&seed, 4)]);
		at += 2;
		if (data[at - 2] == 8) {
			data[at] = 0x40 | pw_test_random(&seed, 16);
			test_put16(data + at + 2, pw_test_random(&seed, 140));
			data[at + 9] = nexts[test_between(&seed, 4, 7)];
		} else {
			data[at] = 0x60;
			test_put16(data + at + 4, pw_test_random(&seed, 110));
			data[at + 6] = nexts[pw_test_random(&seed, 8)];
			for (uint32_t i = at + 40; i < 150; i += 8) {
				data[i] = nexts[pw_test_random(&seed, 8)];
				data[i + 1] = (uint8_t)pw_test_random(&seed, 3);
			}
		}
		look(&parsed, data, len);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_packet_is_what_it_is),
		cmocka_unit_test(a_damaged_packet_is_found_wrong),
		cmocka_unit_test(a_packet_cut_off_is_no_packet),
		cmocka_unit_test(headers_that_cannot_be_are_no_ip),
		cmocka_unit_test(l4_headers_that_do_not_fit_are_not_looked_at),
		cmocka_unit_test(an_extension_that_is_too_long_ends_the_search),
		cmocka_unit_test(a_packet_on_its_way_by_a_route_is_not_checked),
		cmocka_unit_test(any_bytes_are_read_within_their_bounds),
	};
	uint8_t key[RSSRK_BYTES] = {1, 2, 3};

	rss_set_key(&rss, key);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
