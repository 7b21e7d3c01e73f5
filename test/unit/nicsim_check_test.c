/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The checker finds each single damage, and tells lost, late and double frames apart. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "check.h"
#include "check_flow.h"
#include "nicsim_open.h"

#define ETHER 14

static const char *const kinds[] = {"size=64", "size=65 vlan=7", "ip=6", "size=131 ip=6 proto=tcp",
	"size=128 proto=tcp", "size=imix vlan=3 flows=3"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void
send_bytes(struct wire *wire, const uint8_t *data, uint32_t len)
{
	/* In memory of its own, so that the sanitizer sees who reads behind its end. */
	uint8_t *copy = malloc(len);
	struct frame frame = {.data = memcpy(copy, data, len), .len_bytes = len};

	wire->kind->send(wire, 0, &frame, 1);
	free(copy);
}

static uint64_t
complaints(struct wire *wire)
{
	return counter(wire, "malformed") + counter(wire, "bad_ip_cksum") +
		counter(wire, "bad_l4_cksum") + counter(wire, "bad_content");
}

static void
right_frames_are_right(void **state)
{
	struct frame frames[FRAME_BURST];

	(void)state;
	for (unsigned i = 0; i < KINDS; i++) {
		struct wire *gen = open_wire(&wire_gen, 0, 1, kinds[i]);
		struct wire *sink = open_wire(&wire_sink, 0, 1, "");

		for (unsigned round = 0; round < 100; round++) {
			gen->kind->receive(gen, 0, frames, FRAME_BURST);
			gen->kind->send(gen, 0, frames, FRAME_BURST);
			sink->kind->send(sink, 0, frames, FRAME_BURST);
		}
		assert_int_equal(counter(gen, "own"), 100 * FRAME_BURST);
		assert_int_equal(counter(sink, "own"), 100 * FRAME_BURST);
		assert_int_equal(counter(sink, "frames"), 100 * FRAME_BURST);
		assert_int_equal(counter(sink, "bytes"), counter(gen, "made_bytes"));
		assert_int_equal(counter(sink, "lost_or_still_under_way"), 0);
		assert_int_equal(complaints(sink), 0);
		assert_null(gen->kind->verdict(gen));
		assert_null(sink->kind->verdict(sink));
		gen->kind->close(gen);
		sink->kind->close(sink);
	}
}

/* Bytes that no checksum covers: Ethernet, tags, and what IPv6 has in front of its lengths. */
static bool
is_covered(const uint8_t *data, uint32_t at)
{
	uint32_t ip = ETHER;

	while (data[ip - 2] == 0x81)
		ip += 4;
	if (at < ip)
		return false;
	return data[ip] >> 4 == 4 || at >= ip + 8;
}

static void
each_bit_is_seen(void **state)
{
	struct frame frames[FRAME_BURST];
	uint8_t copy[FRAME_MAX_BYTES];

	(void)state;
	for (unsigned k = 0; k < KINDS; k++) {
		struct wire *gen = open_wire(&wire_gen, 0, 1, kinds[k]);

		gen->kind->receive(gen, 0, frames, 3);
		for (unsigned bit = 0; bit < 8 * frames[2].len_bytes; bit++) {
			struct wire *sink = open_wire(&wire_sink, 0, 1, "");

			memcpy(copy, frames[2].data, frames[2].len_bytes);
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
			send_bytes(sink, copy, frames[2].len_bytes);
			if (is_covered(frames[2].data, bit / 8)) {
				if (sink->kind->verdict(sink) == NULL)
					fail_msg("%s: bit %u was not seen", kinds[k], bit);
				assert_true(complaints(sink) >= 1);
			}
			sink->kind->close(sink);
		}
		gen->kind->close(gen);
	}
}

/* Damage that the checksum agrees with: as when a buffer is used again too early. */
static void
content_is_compared_byte_by_byte(void **state)
{
	const uint32_t payload = ETHER + 20 + 8;
	struct frame frame, other;
	uint8_t copy[FRAME_MAX_BYTES];
	struct wire *gen = open_wire(&wire_gen, 0, 1, "size=256");
	struct wire *sink = open_wire(&wire_sink, 0, 1, "");
	uint64_t bad = 0;

	(void)state;
	gen->kind->receive(gen, 0, &frame, 1);
	for (uint32_t at = payload + 4; at + 2 < 252; at += 2) {
		memcpy(copy, frame.data, 252);
		memcpy(copy + at, frame.data + at + 2, 1);
		memcpy(copy + at + 2, frame.data + at, 1);
		if (memcmp(copy, frame.data, 252) == 0)
			continue;
		send_bytes(sink, copy, 252);
		assert_int_equal(counter(sink, "bad_content"), ++bad);
		assert_int_equal(counter(sink, "bad_l4_cksum"), 0);
	}
	memcpy(copy, frame.data, 252);
	gen->kind->receive(gen, 0, &other, 1);
	memcpy(copy + payload + 14, other.data + payload + 14, 252 - payload - 14);
	send_bytes(sink, copy, 252);
	assert_int_equal(counter(sink, "bad_content"), ++bad);
	assert_non_null(strstr(sink->kind->verdict(sink), "damaged"));
	gen->kind->close(gen);
	sink->kind->close(sink);
}

static void
the_first_wrong_thing_is_told(void **state)
{
	struct frame frames[2];
	uint8_t copy[64];
	struct wire *gen = open_wire(&wire_gen, 0, 1, "size=64");

	(void)state;
	gen->kind->receive(gen, 0, frames, 2);
	gen->kind->send(gen, 0, &frames[0], 1);
	memcpy(copy, frames[1].data, 60);
	copy[ETHER + 8]--;
	send_bytes(gen, copy, 60);
	copy[ETHER + 8]++;
	copy[59]++;
	send_bytes(gen, copy, 60);
	assert_string_equal(gen->kind->verdict(gen), "frame 2: the IPv4 checksum is wrong");
	assert_int_equal(counter(gen, "bad_ip_cksum"), 1);
	assert_int_equal(counter(gen, "bad_l4_cksum"), 1);
	gen->kind->close(gen);
}

static void
without_check_it_counts_only(void **state)
{
	static const uint8_t rubbish[100] = {[12] = 0x08, [13] = 0x00};
	struct wire *sink = open_wire(&wire_sink, 0, 1, "check=off");

	(void)state;
	send_bytes(sink, rubbish, sizeof(rubbish));
	assert_int_equal(counter(sink, "frames"), 1);
	assert_int_equal(counter(sink, "bytes"), 100);
	assert_int_equal(complaints(sink), 0);
	assert_true(sink->kind->is_done(sink));
	assert_null(sink->kind->verdict(sink));
	sink->kind->close(sink);
}

static void
what_is_not_ours_is_no_fault(void **state)
{
	uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct frame frame;
	struct wire *gen = open_wire(&wire_gen, 0, 1, "size=64");
	uint8_t fragment[60];

	(void)state;
	send_bytes(gen, arp, sizeof(arp));
	/* RFC 768: no checksum. */
	gen->kind->receive(gen, 0, &frame, 1);
	memcpy(fragment, frame.data, 60);
	fragment[40] = fragment[41] = 0;
	fragment[42] = 'x';
	send_bytes(gen, fragment, 60);
	/* A fragment has a part of what the sum is over. DF away and MF set; the sum follows. */
	fragment[44] = 1;
	fragment[20] ^= 0x60;
	fragment[24] += 0x20;
	send_bytes(gen, fragment, 60);
	frame.flags = FRAME_BAD_CRC;
	gen->kind->send(gen, 0, &frame, 1);
	assert_int_equal(counter(gen, "bad_crc"), 1);
	assert_int_equal(counter(gen, "own"), 0);
	assert_null(gen->kind->verdict(gen));
	gen->kind->close(gen);
}

static void
any_bytes_of_any_length_are_survived(void **state)
{
	unsigned short random[3] = {1, 2, 3};
	struct frame frames[FRAME_BURST];
	uint8_t data[2048];

	(void)state;
	for (unsigned k = 0; k < KINDS; k++) {
		struct wire *gen = open_wire(&wire_gen, 0, 1, kinds[k]);

		for (unsigned i = 0; i < 20000; i++) {
			uint32_t len;

			gen->kind->receive(gen, 0, frames, 1);
			len = frames[0].len_bytes;
			memcpy(data, frames[0].data, len);
			for (unsigned n = nrand48(random) % 4; n > 0; n--)
				data[ETHER + nrand48(random) % 60 % (len - ETHER)] = (uint8_t)
					nrand48(random);
			send_bytes(gen, data, ETHER + nrand48(random) % (len - ETHER + 1));
		}
		assert_non_null(gen->kind->verdict(gen));
		gen->kind->close(gen);
	}
}

/* Against a plain list of what came. */
static void
order_is_told(void **state)
{
	enum { NUMBERS = 4000 };
	unsigned short random[3] = {4, 5, 6};

	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		static uint8_t came[NUMBERS];
		struct check_flow flow = {0};
		uint32_t highest = 0, missing_sum = 0, late = 0;

		memset(came, 0, sizeof(came));
		for (uint32_t i = 0; i + 300 < NUMBERS; i++) {
			uint32_t spread = run % 2 == 0 ? 20 : 120;
			uint32_t seq = i + (uint32_t)nrand48(random) % spread, missing;
			enum check_order order = check_flow_note(&flow, seq, &missing);

			assert_int_equal(order,
				came[seq]		? CHECK_TWICE
					: seq < highest ? CHECK_LATE
							: CHECK_IN_ORDER);
			missing_sum += missing;
			late += order == CHECK_LATE;
			came[seq] = 1;
			highest = seq >= highest ? seq + 1 : highest;
		}
		for (uint32_t i = 0; i < highest; i++)
			missing_sum -= !came[i];
		assert_int_equal(missing_sum, late);
	}
}

static void
lost_double_and_late_are_counted(void **state)
{
	struct frame frames[FRAME_BURST];
	struct wire *gen = open_wire(&wire_gen, 0, 1, "size=64 flows=2");

	(void)state;
	gen->kind->receive(gen, 0, frames, 10);
	gen->kind->send(gen, 0, frames, 2);
	gen->kind->send(gen, 0, frames + 4, 6); /* 1 of both flows is missing */
	assert_int_equal(counter(gen, "lost_or_still_under_way"), 2);
	gen->kind->send(gen, 0, frames + 2, 1);
	assert_int_equal(counter(gen, "lost_or_still_under_way"), 1);
	assert_int_equal(counter(gen, "reordered"), 1);
	gen->kind->send(gen, 0, frames + 2, 1);
	assert_int_equal(counter(gen, "duplicated"), 1);
	assert_int_equal(counter(gen, "lost_or_still_under_way"), 1);
	assert_null(gen->kind->verdict(gen));
	gen->kind->close(gen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_frames_are_right),
		cmocka_unit_test(each_bit_is_seen),
		cmocka_unit_test(content_is_compared_byte_by_byte),
		cmocka_unit_test(the_first_wrong_thing_is_told),
		cmocka_unit_test(without_check_it_counts_only),
		cmocka_unit_test(what_is_not_ours_is_no_fault),
		cmocka_unit_test(any_bytes_of_any_length_are_survived),
		cmocka_unit_test(order_is_told),
		cmocka_unit_test(lost_double_and_late_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
