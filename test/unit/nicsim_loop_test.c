/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The cable from a port to itself or to another one: nothing is lost, nothing is changed. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire.h"

#define PORTS 3

static uint8_t bytes[FRAME_BURST][FRAME_MAX_BYTES];

static struct wire *
plug(struct wire **wires, unsigned port, const char *arg)
{
	const struct wire_context context = {.port = port, .wires = wires};

	return wire_loop.open(&context, arg, NULL);
}

static unsigned
length_of(uint32_t number)
{
	return number % 97 == 0 ? FRAME_MAX_BYTES - number % 5 : 60 + number * 37 % 1455;
}

/* Send frames from this number on, at most n: as many as there is room for. */
static unsigned
send_some(struct wire *wire, uint32_t number, unsigned n)
{
	struct frame frames[FRAME_BURST];
	unsigned room = wire_loop.room(wire);

	n = room < n ? room : n;
	for (unsigned i = 0; i < n; i++) {
		frames[i] = (struct frame){bytes[i], length_of(number + i), (number + i) % 2};
		memset(bytes[i], (int)(number + i), frames[i].len_bytes);
		memcpy(bytes[i], &(uint32_t){number + i}, 4);
	}
	wire_loop.send(wire, 0, frames, n);
	memset(bytes, 0xee, sizeof(bytes)); /* the sender's memory is its own again */
	return n;
}

static unsigned
receive_some(struct wire *wire, uint32_t number, unsigned n)
{
	struct frame frames[FRAME_BURST];

	n = wire_loop.receive(wire, 0, frames, n);
	for (unsigned i = 0; i < n; i++, number++) {
		assert_memory_equal(frames[i].data, &number, 4);
		assert_int_equal(frames[i].len_bytes, length_of(number));
		assert_int_equal(frames[i].flags, number % 2);
		for (unsigned j = 4; j < frames[i].len_bytes; j++)
			if (frames[i].data[j] != (uint8_t)number)
				fail_msg("frame %u: byte %u was changed", number, j);
	}
	return n;
}

/* Bursts of all sizes; the ring runs full and empty. */
static void
check_cable(struct wire *from, struct wire *to)
{
	unsigned short dice[3] = {1, 2, 3};
	uint32_t sent = 0, received = 0;
	bool was_full = false, was_empty = false;

	for (unsigned i = 0; i < 20000; i++) {
		/* More is sent, then more is received. */
		double share = i / 1000 % 2 ? 0.2 : 1;

		sent += send_some(
			from, sent, (unsigned)(erand48(dice) * share * (FRAME_BURST + 1)));
		was_full |= wire_loop.room(from) == 0;
		received += receive_some(to, received,
			(unsigned)(erand48(dice) * (1.2 - share) * (FRAME_BURST + 1)));
		was_empty |= sent == received;
	}
	for (unsigned n; (n = receive_some(to, received, FRAME_BURST)) > 0; received += n)
		;
	assert_int_equal(sent, received);
	assert_true(was_full && was_empty);
}

static void
a_plug_gives_back_what_it_gets(void **state)
{
	struct wire *wire = plug(NULL, 0, NULL);

	(void)state;
	assert_non_null(wire);
	check_cable(wire, wire);
	assert_null(wire_loop.verdict(wire));
	wire_loop.close(wire);
}

static void
two_ports_are_joined_when_the_second_opens(void **state)
{
	struct wire *wires[PORTS] = {0};

	(void)state;
	wires[0] = plug(wires, 0, "1");
	assert_non_null(wires[0]);
	wires[1] = plug(wires, 1, "0");
	assert_non_null(wires[1]);
	check_cable(wires[0], wires[1]);
	check_cable(wires[1], wires[0]);
	wire_loop.close(wires[0]);
	assert_int_equal(send_some(wires[1], 0, 5), 5); /* into the void */
	assert_non_null(wire_loop.verdict(wires[1]));
	assert_int_equal(receive_some(wires[1], 0, 5), 0);
	wire_loop.close(wires[1]);
}

static void
frames_of_the_same_size_fill_all_slots(void **state)
{
	struct wire *wire = plug(NULL, 0, NULL);
	struct frame frame = {bytes[0], 1514, 0};
	unsigned n = 0;

	(void)state;
	for (; wire_loop.room(wire) > 0; n++)
		wire_loop.send(wire, 0, &frame, 1);
	assert_int_equal(n, 4096);
	wire_loop.close(wire);
}

static void
a_cable_needs_its_other_end(void **state)
{
	static const char *const wrong[] = {
		"", "x", "-1", "1x", "1 ", " 1", "0x1", "99999999999", "1000", "2", "1", "0"};
	struct wire other = {&wire_pcap}, *wires[PORTS] = {&other, NULL, NULL};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (plug(wires, 2, wrong[i]) != NULL)
			fail_msg("%s was taken", wrong[i]);
	/* One that is joined with somebody else. */
	wires[0] = plug(wires, 0, "1");
	assert_non_null(wires[0]);
	assert_null(plug(wires, 2, "0"));
	/* Until it is joined, frames are lost, and that is told. */
	assert_null(wire_loop.verdict(wires[0]));
	assert_int_equal(send_some(wires[0], 0, 3), 3);
	assert_non_null(wire_loop.verdict(wires[0]));
	wires[1] = plug(wires, 1, "0");
	assert_non_null(wires[1]);
	check_cable(wires[0], wires[1]);
	wire_loop.close(wires[1]);
	wire_loop.close(wires[0]);
}

static void
frames_that_do_not_fit_are_counted(void **state)
{
	static uint8_t long_bytes[FRAME_MAX_BYTES + 1];
	struct wire *wire = plug(NULL, 0, NULL);
	const struct frame frames[2] = {
		{long_bytes, sizeof(long_bytes), 0}, {long_bytes, FRAME_MAX_BYTES, 0}};
	struct frame frame;
	const struct pw_stat *stat = wire_loop.stats;

	(void)state;
	wire_loop.send(wire, 0, frames, 2);
	assert_int_equal(wire_loop.receive(wire, 0, &frame, 1), 1);
	assert_int_equal(frame.len_bytes, FRAME_MAX_BYTES);
	while (strcmp(stat->name, "dropped_too_long") != 0)
		stat++;
	assert_int_equal(pw_stat_value(stat, wire_loop.get_stats(wire)), 1);
	wire_loop.close(wire);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plug_gives_back_what_it_gets),
		cmocka_unit_test(two_ports_are_joined_when_the_second_opens),
		cmocka_unit_test(frames_of_the_same_size_fill_all_slots),
		cmocka_unit_test(a_cable_needs_its_other_end),
		cmocka_unit_test(frames_that_do_not_fit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
