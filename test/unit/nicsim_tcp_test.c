/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The TCP sender: the peer gets each byte, whatever the network and the peer itself do. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "nicsim_open.h"
#include "nicsim_tcp_rig.h"
#include "pw_chance.h"

static struct peer peer;

/* A peer and a network that are good. */
static const struct peer_setup good = {
	.bytes = 100000,
	.flows = 1,
	.mss = 1460,
	.wscale = 7,
	.ts = true,
	.buffer = 1 << 20,
	.read_rate = 1,
	.ack_every = 2,
	.delay_ns = 100000,
	.sender_window = 1 << 20,
	.sender_mss = 1460,
};

static void
run_good(const struct peer_setup *setup, uint64_t seed)
{
	peer_open(&peer, setup, seed);
	assert_true(peer_run(&peer, 100));
	peer_assert_complete(&peer);
}

static void
all_arrives(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	for (uint64_t bytes = 1; bytes <= PEER_BYTES_MAX; bytes = bytes * 3 + 1) {
		setup.bytes = bytes;
		setup.flows = 1 + bytes % PEER_FLOWS;
		run_good(&setup, bytes);
		assert_int_equal(counter(peer.wire, "retransmitted"), 0);
		assert_int_equal(counter(peer.wire, "timeouts"), 0);
		peer_close(&peer);
	}
}

/* Each segment once, the first and the last too: it comes again, mostly without a timeout. */
static void
any_one_segment_may_be_lost(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	for (setup.drop_nth = 1; setup.drop_nth <= 70; setup.drop_nth++) {
		run_good(&setup, setup.drop_nth);
		assert_int_equal(counter(peer.wire, "retransmitted"), 1);
		if (setup.drop_nth <= 50)
			assert_int_equal(counter(peer.wire, "fast_retransmits"), 1);
		assert_int_equal(
			counter(peer.wire, "fast_retransmits") + counter(peer.wire, "timeouts"), 1);
		peer_close(&peer);
	}
}

static void
a_closed_window_is_probed_until_it_opens(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	setup.buffer = 20000;
	setup.wscale = -1;
	setup.read_from_ns = 1000000 * PEER_MS;
	peer_open(&peer, &setup, 1);
	assert_false(peer_run(&peer, 900));
	assert_int_equal(peer.conns[0].next, 20000);
	assert_int_equal(counter(peer.wire, "zero_windows"), 1);
	/* RFC 9293 3.8.6.1: the time between them doubles, up to a minute. */
	assert_in_range(counter(peer.wire, "window_probes"), 15, 30);
	assert_true(peer_run(&peer, 1000));
	peer_assert_complete(&peer);
	peer_close(&peer);
}

/* What went wrong is told, and the flow ends. */
static void
run_bad(const struct peer_setup *setup, const char *verdict)
{
	peer_open(&peer, setup, 1);
	assert_true(peer_run(&peer, 3600));
	assert_string_equal(peer.wire->kind->verdict(peer.wire), verdict);
	assert_int_equal(counter(peer.wire, "connections_failed"), setup->flows);
	assert_int_equal(counter(peer.wire, "connections_closed"), 0);
}

static void
a_peer_that_does_not_answer_is_told(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	setup.mute = true;
	setup.flows = 3;
	run_bad(&setup, "connection 0: no answer to SYN");
	assert_int_equal(counter(peer.wire, "segments"), 3 * 6);
	peer_close(&peer);
}

static void
a_peer_that_refuses_is_told(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	setup.refuse = true;
	run_bad(&setup, "connection 0: the peer refused");
	assert_int_equal(counter(peer.wire, "segments"), 1);
	peer_close(&peer);
}

static void
a_reset_is_told(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	setup.reset_at = 50000;
	run_bad(&setup, "connection 0: the peer reset");
	peer_close(&peer);
}

/* RFC 6298 5.5: a segment a timeout, further and further apart. */
static void
a_peer_that_falls_silent_is_told(void **state)
{
	struct peer_setup setup = good;
	uint64_t before;

	(void)state;
	setup.silent_from = 50000;
	peer_open(&peer, &setup, 1);
	assert_false(peer_run(&peer, 1));
	before = counter(peer.wire, "segments") - counter(peer.wire, "timeouts");
	peer_close(&peer);
	run_bad(&setup, "connection 0: the peer does not answer any more");
	assert_int_equal(counter(peer.wire, "timeouts"), 10);
	assert_int_equal(counter(peer.wire, "segments"), before + 10);
	assert_true(peer.now_ns > 100000 * PEER_MS);
	peer_close(&peer);
}

static void
a_peer_that_does_not_close_is_told(void **state)
{
	struct peer_setup setup = good;

	(void)state;
	setup.never_close = true;
	run_bad(&setup, "connection 0: the peer does not close");
	assert_int_equal(counter(peer.wire, "bytes_acked"), setup.bytes);
	peer_close(&peer);
}

static void
arp_is_answered(void **state)
{
	static const uint8_t request[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0x70, 0x77, 0, 0,
		0, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0x70, 0x77, 0, 0, 0, 198, 18, 0, 2, 0, 0, 0, 0,
		0, 0, 198, 18, 1, 1};
	static const uint8_t answer[60] = {2, 0x70, 0x77, 0, 0, 0, 2, 0x70, 0x77, 0, 1, 5, 8, 6, 0,
		1, 8, 0, 6, 4, 0, 2, 2, 0x70, 0x77, 0, 1, 5, 198, 18, 1, 1, 2, 0x70, 0x77, 0, 0, 0,
		198, 18, 0, 2};
	static const uint8_t introduction[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0x70, 0x77,
		0, 1, 5, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0x70, 0x77, 0, 1, 5, 198, 18, 1, 1, 0, 0,
		0, 0, 0, 0, 198, 18, 0, 2};
	struct wire *wire = open_wire(&wire_tcp, 5, 1, "flows=1025");
	struct frame frame = {.data = request, .len_bytes = 60}, frames[2];
	uint8_t other[60];

	(void)state;
	/* It introduces itself first, by each of its addresses. */
	assert_int_equal(wire->kind->receive(wire, 0, frames, 2), 2);
	assert_memory_equal(frames[1].data, introduction, 60);
	wire->kind->send(wire, 0, &frame, 1);
	assert_int_equal(wire->kind->receive(wire, 0, frames, 1), 1);
	assert_int_equal(frames[0].len_bytes, 60);
	assert_memory_equal(frames[0].data, answer, 60);
	assert_int_equal(counter(wire, "arp_replies"), 1);
	memcpy(other, request, sizeof(other));
	frame.data = other;
	other[40] = 2; /* an address more than there are */
	wire->kind->send(wire, 0, &frame, 1);
	other[40] = 1;
	other[21] = 2; /* no request */
	wire->kind->send(wire, 0, &frame, 1);
	other[21] = 1;
	frame.len_bytes = 41;
	wire->kind->send(wire, 0, &frame, 1);
	assert_int_equal(counter(wire, "arp_replies"), 1);
	/* A reply is not foreign, if it is the peer's. */
	assert_int_equal(counter(wire, "foreign"), 2);
	wire->kind->close(wire);
}

/* Each flow is somebody of its own, up to the last. */
static void
flows_have_their_own_ends(void **state)
{
	static uint8_t seen[4][1024];
	struct wire *wire = open_wire(
		&wire_tcp, 0, 1, "flows=4096 from=198.18.7.1 to=198.18.0.9:80");
	struct frame frames[FRAME_BURST];
	unsigned total = 0, n;

	(void)state;
	assert_int_equal(wire->kind->receive(wire, 0, frames, FRAME_BURST), 4); /* ARP */
	while ((n = wire->kind->receive(wire, 2000000, frames, FRAME_BURST)) > 0)
		for (unsigned i = 0; i < n; i++, total++) {
			const uint8_t *data = frames[i].data;
			unsigned port = (unsigned)(data[34] << 8 | data[35]) - 40000;

			assert_memory_equal(data + 30, ((uint8_t[]){198, 18, 0, 9}), 4);
			assert_int_equal(data[36] << 8 | data[37], 80);
			assert_in_range(data[28], 7, 10);
			assert_int_equal(data[29], 1);
			assert_in_range(port, 0, 1023);
			assert_int_equal(seen[data[28] - 7][port]++, 0);
		}
	assert_int_equal(total, 4096);
	assert_false(wire->kind->is_done(wire));
	wire->kind->close(wire);
}

static void
settings_that_cannot_be_are_refused(void **state)
{
	static const char *const wrong[] = {"mss=535", "mss=8961", "flows=0", "flows=4097",
		"window=16383", "to=198.18.0.2", "to=198.18.0.2:0", "to=198.18.0.2:65536",
		"to=198.18.0.2:9x", "to=198.18.0:9", "to=:9", "to=198.18.0.256:9", "from=::1",
		"from=1", "to=198.18.0.1:9", "flows=1025 to=198.18.1.1:9", "burst=0"};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (open_wire(&wire_tcp, 0, 1, wrong[i]) != NULL)
			fail_msg("%s was taken", wrong[i]);
}

static uint32_t
draw(unsigned short random[3], uint32_t from, uint32_t to)
{
	return from + (uint32_t)nrand48(random) % (to - from + 1);
}

/* A world of this seed. */
static struct peer_setup
make_setup(unsigned short random[3])
{
	struct peer_setup setup = {
		.bytes = draw(random, 0, 3) == 0 ? draw(random, 1, PEER_BYTES_MAX)
						 : draw(random, 1, 30000),
		.flows = draw(random, 1, 3) == 1 ? draw(random, 1, PEER_FLOWS) : 1,
		.mss = draw(random, 0, 4) == 0 ? 0 : draw(random, 1, 9000),
		.wscale = (int)draw(random, 0, 15) - 1,
		.ts = draw(random, 0, 1),
		.ack_every = draw(random, 1, 4),
		.delay_ns = draw(random, 1, 5000000),
		.jitter_ns = draw(random, 0, 5000000),
		.read_rate = draw(random, 0, 2) == 0 ? 0.002 : 1,
		.sender_window = draw(random, 16384, 200000),
		.sender_mss = draw(random, 536, 8960),
	};

	setup.buffer = draw(random, 4, 40) << (setup.wscale > 10 ? setup.wscale : 10);
	if (draw(random, 0, 3) > 0) {
		setup.loss = draw(random, 0, 1) * draw(random, 0, 10) / 100.0;
		setup.duplicate = draw(random, 0, 1) * draw(random, 0, 10) / 100.0;
		setup.reorder = draw(random, 0, 1) * draw(random, 0, 30) / 100.0;
		setup.corrupt = draw(random, 0, 1) * draw(random, 0, 3) / 100.0;
		setup.garbage = draw(random, 0, 1) * 0.3;
	}
	return setup;
}

#define RUNS 3000

static void
any_network_is_survived(void **state)
{
	uint64_t first = pw_test_seed();

	(void)state;
	for (uint64_t seed = first; seed < first + RUNS; seed++) {
		unsigned short random[3] = {(unsigned short)seed, (unsigned short)(seed >> 16),
			(unsigned short)(seed >> 32)};
		struct peer_setup setup = make_setup(random);

		peer_open(&peer, &setup, seed);
		if (!peer_run(&peer, 4000))
			fail_msg("seed %" PRIu64 " does not end", seed);
		peer_assert_complete(&peer);
		peer_close(&peer);
	}
}

/* Nothing a peer sends, in order or not, brings the sender out of step with its memory. */
static void
hostile_segments_are_survived(void **state)
{
	unsigned short random[3] = {7, 8, 9};

	(void)state;
	for (unsigned run = 0; run < 300; run++) {
		struct peer_setup setup = make_setup(random);

		setup.hostile = 0.2;
		setup.bytes = 5000;
		peer_open(&peer, &setup, run);
		peer_run(&peer, 60);
		peer_close(&peer);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_arrives),
		cmocka_unit_test(any_one_segment_may_be_lost),
		cmocka_unit_test(a_closed_window_is_probed_until_it_opens),
		cmocka_unit_test(a_peer_that_does_not_answer_is_told),
		cmocka_unit_test(a_peer_that_refuses_is_told),
		cmocka_unit_test(a_reset_is_told),
		cmocka_unit_test(a_peer_that_falls_silent_is_told),
		cmocka_unit_test(a_peer_that_does_not_close_is_told),
		cmocka_unit_test(arp_is_answered),
		cmocka_unit_test(flows_have_their_own_ends),
		cmocka_unit_test(settings_that_cannot_be_are_refused),
		cmocka_unit_test(any_network_is_survived),
		cmocka_unit_test(hostile_segments_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
