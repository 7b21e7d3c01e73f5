/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The generator: its frames are right in every byte, of the sizes and flows that were asked for. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nicsim_open.h"

#define ETHER 14
#define IPV4 20
#define IPV6 40
#define UDP 8
#define TCP 20

static uint16_t
be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* Flow and number as the payload has them. */
struct mark {
	uint16_t flow;
	uint32_t seq;
};

/* Look at each byte of the headers of a frame without a tag; return the payload. */
static const uint8_t *
check_headers(const uint8_t *data, uint32_t len, bool ipv6, bool tcp, unsigned port)
{
	static const uint8_t port_mac[] = OPEN_PORT_MAC;
	uint8_t mac[] = {2, 0x70, 0x77, 0, 1, (uint8_t)port};
	const uint8_t *ip = data + ETHER, *l4 = ip + (ipv6 ? IPV6 : IPV4);
	uint32_t l4_len = len - (uint32_t)(l4 - data);

	assert_memory_equal(data, port_mac, 6);
	assert_memory_equal(data + 6, mac, 6);
	assert_int_equal(be16(data + 12), ipv6 ? 0x86dd : 0x0800);
	if (ipv6) {
		assert_int_equal(ip[0], 0x60);
		assert_int_equal(be16(ip + 4), l4_len);
		assert_int_equal(be32(ip + 8), 0x20010db8);
		assert_int_equal(be32(ip + 24), 0x20010db8);
		assert_int_equal(be32(ip + 36), 2);
	} else {
		assert_int_equal(ip[0], 0x45);
		assert_int_equal(be16(ip + 2), len - ETHER);
		assert_int_equal(slow_sum(0, ip, IPV4), 0xffff);
		assert_int_equal(be16(ip + 12), 0xc612);
		assert_int_equal(be32(ip + 16), 0xc6120002);
	}
	assert_int_equal(ip[ipv6 ? 6 : 9], tcp ? 6 : 17);
	assert_int_equal(
		slow_sum(slow_sum(l4_len + (tcp ? 6 : 17), ip + (ipv6 ? 8 : 12), ipv6 ? 32 : 8), l4,
			l4_len),
		0xffff);
	if (!tcp)
		assert_int_equal(be16(l4 + 4), l4_len);
	return l4 + (tcp ? TCP : UDP);
}

static struct mark
read_mark(const uint8_t *payload)
{
	assert_memory_equal(payload, "pwG", 3);
	assert_int_equal(be32(payload + 6), ~be32(payload + 10));
	return (struct mark){(uint16_t)~be16(payload + 4), be32(payload + 6)};
}

/* Frames of all kinds, with bursts of all lengths. */
static void
check_kind(uint32_t size, unsigned flows, bool ipv6, bool tcp, unsigned port)
{
	uint32_t tcp_seqs[64] = {0};
	char settings[128];
	struct frame frames[FRAME_BURST];
	struct wire *wire;
	uint32_t made = 0;

	snprintf(settings, sizeof(settings), "size=%u flows=%u ip=%d proto=%s", size, flows,
		ipv6 ? 6 : 4, tcp ? "tcp" : "udp");
	wire = open_wire(&wire_gen, port, 1, settings);
	assert_non_null(wire);
	for (unsigned n = 0; n <= FRAME_BURST; n++) {
		assert_int_equal(wire->kind->receive(wire, 0, frames, n), n);
		for (unsigned i = 0; i < n; i++, made++) {
			uint32_t len = size - 4, flow = made % flows;
			const uint8_t *payload = check_headers(
				frames[i].data, len, ipv6, tcp, port);
			struct mark mark = read_mark(payload);

			assert_int_equal(frames[i].len_bytes, len);
			assert_int_equal(mark.flow, port * 4096 + flow);
			assert_int_equal(mark.seq, made / flows);
			if (tcp) {
				assert_int_equal(be32(payload - TCP + 4), tcp_seqs[flow]);
				assert_int_equal(payload[-TCP + 13], 0x10);
				tcp_seqs[flow] += len - (uint32_t)(payload - frames[i].data);
			}
		}
	}
	assert_int_equal(counter(wire, "made_frames"), made);
	assert_int_equal(counter(wire, "made_bytes"), (uint64_t)made * (size - 4));
	wire->kind->close(wire);
}

static void
frames_are_right(void **state)
{
	static const uint32_t sizes[] = {92, 93, 127, 128, 594, 1518, 9725, 9726};

	(void)state;
	check_kind(64, 1, false, false, 0);
	check_kind(64, 64, false, false, 1);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned kind = 0; kind < 8; kind++)
			check_kind(sizes[i] + 2, kind & 1 ? 61 : 1, kind & 2, kind & 4, i % 8);
}

/* Each flow has its own ports and addresses, and checksums that are right. */
static void
check_flows(bool ipv6, bool tcp)
{
	static uint8_t seen[65536];
	const uint32_t flows = 65536;
	struct frame frames[FRAME_BURST];
	struct wire *wire = open_wire(&wire_gen, 3, 1,
		ipv6 ? (tcp ? "flows=64K ip=6 proto=tcp" : "flows=64K ip=6")
		     : (tcp ? "flows=64K proto=tcp" : "flows=64K"));

	memset(seen, 0, sizeof(seen));
	for (uint32_t made = 0; made < flows + FRAME_BURST; made += FRAME_BURST) {
		assert_int_equal(wire->kind->receive(wire, 0, frames, FRAME_BURST), FRAME_BURST);
		for (unsigned i = 0; i < FRAME_BURST; i++) {
			const uint8_t *data = frames[i].data;
			const uint8_t *payload = check_headers(
				data, frames[i].len_bytes, ipv6, tcp, 3);
			const uint8_t *l4 = payload - (tcp ? TCP : UDP);
			uint16_t source = be16(data + ETHER + (ipv6 ? 22 : 14));
			uint32_t key = (source & 0xf000) | (be16(l4) & 0xfff);

			assert_int_equal(source & 0xfff, 1);
			assert_int_equal(be16(l4) & 0xf000, 0xa000);
			assert_int_equal(read_mark(payload).seq, (made + i) / flows);
			assert_int_equal(seen[key]++, (made + i) / flows);
		}
	}
	wire->kind->close(wire);
}

static void
flows_differ(void **state)
{
	(void)state;
	check_flows(false, false);
	check_flows(false, true);
	check_flows(true, false);
	check_flows(true, true);
}

static void
sizes_are_mixed(void **state)
{
	struct frame frames[12];
	unsigned in_row = 0, longest = 0;
	unsigned counts[3] = {0};
	struct wire *wire = open_wire(&wire_gen, 0, 1, "size=imix flows=7");

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		assert_int_equal(wire->kind->receive(wire, 0, frames, 12), 12);
		for (unsigned i = 0; i < 12; i++) {
			uint32_t len = frames[i].len_bytes;

			check_headers(frames[i].data, len, false, false, 0);
			counts[len == 60 ? 0 : len == 590 ? 1 : 2]++;
			in_row = len == 60 ? in_row + 1 : 0;
			longest = in_row > longest ? in_row : longest;
		}
		assert_int_equal(counts[0], 7 * (round + 1));
		assert_int_equal(counts[1], 4 * (round + 1));
		assert_int_equal(counts[2], round + 1);
	}
	assert_true(longest <= 3);
	wire->kind->close(wire);
}

static void
a_burst_stays_valid(void **state)
{
	struct frame frames[FRAME_BURST];
	struct wire *wire = open_wire(&wire_gen, 0, 1, "size=100:3/200:2 flows=3");

	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		wire->kind->receive(wire, 0, frames, FRAME_BURST);
		for (unsigned i = 0; i < FRAME_BURST; i++)
			assert_int_equal(read_mark(frames[i].data + ETHER + IPV4 + UDP).seq,
				(round * FRAME_BURST + i) / 3);
	}
	wire->kind->close(wire);
}

static void
a_tag_is_put_in(void **state)
{
	struct frame frame;
	uint8_t data[60];
	struct wire *wire = open_wire(&wire_gen, 0, 1, "size=64 vlan=5");

	(void)state;
	wire->kind->receive(wire, 0, &frame, 1);
	assert_int_equal(frame.len_bytes, 60);
	assert_int_equal(be16(frame.data + 12), 0x8100);
	assert_int_equal(be16(frame.data + 14), 5);
	memcpy(data, frame.data, 12);
	memcpy(data + 12, frame.data + 16, 44);
	read_mark(check_headers(data, 56, false, false, 0));
	wire->kind->close(wire);
}

static void
it_stops_after_count(void **state)
{
	struct frame frames[FRAME_BURST];
	struct wire *wire = open_wire(&wire_gen, 0, 1, "count=33");

	(void)state;
	assert_int_equal(wire->kind->receive(wire, 0, frames, FRAME_BURST), FRAME_BURST);
	assert_false(wire->kind->is_done(wire));
	assert_int_equal(wire->kind->receive(wire, 0, frames, FRAME_BURST), 1);
	assert_true(wire->kind->is_done(wire));
	assert_int_equal(wire->kind->receive(wire, 0, frames, FRAME_BURST), 0);
	assert_int_equal(counter(wire, "made_frames"), 33);
	wire->kind->close(wire);
}

static void
settings_that_cannot_be_are_refused(void **state)
{
	static const char *const wrong[] = {"size=63", "size=9729", "size=", "size=64:", "size=64/",
		"size=64:0", "size=64:257", "size=/64", "size=64,128", "size=imix/64", "size=-64",
		"size=64:1:1", "size=64/64/64/64/64/64/64/64/64", "flows=0", "flows=65537",
		"vlan=0", "vlan=4095", "ip=5", "proto=sctp", "check=maybe", "size=64 ip=6",
		"size=64 proto=tcp", "size=99999999999999999999"};
	static const char *const right[] = {"size=64/64/64/64/64/64/64/64", "ip=6", "proto=tcp",
		"size=imix ip=6 proto=tcp vlan=1", "size=72 proto=tcp", "vlan=4094",
		"size=64:256/9728:1"};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (open_wire(&wire_gen, 0, 1, wrong[i]) != NULL)
			fail_msg("%s was taken", wrong[i]);
	for (unsigned i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct wire *wire = open_wire(&wire_gen, 0, 1, right[i]);

		if (wire == NULL)
			fail_msg("%s was refused", right[i]);
		wire->kind->close(wire);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_right),
		cmocka_unit_test(flows_differ),
		cmocka_unit_test(sizes_are_mixed),
		cmocka_unit_test(a_burst_stays_valid),
		cmocka_unit_test(a_tag_is_put_in),
		cmocka_unit_test(it_stops_after_count),
		cmocka_unit_test(settings_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
