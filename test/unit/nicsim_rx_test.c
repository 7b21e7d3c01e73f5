/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Receiving, from the wire into the driver's buffers, as properties. */

#include "nicsim_test.h"

#include <stdlib.h>
#include <string.h>

#include "nicsim_rig.h"
#include "packet_buffer.h"

#define MANY 4000

static struct rig rig;
static struct rig_packet packet;

/* What was given and is still to come, in order. */
static struct {
	struct test_frame frame;
	uint16_t tag;
	bool tagged;
} sent[MANY];

static uint32_t nb_sent, nb_read;

static void
begin(bool paced)
{
	rig_open(&rig, paced);
	nb_sent = nb_read = 0;
}

static void
end(void)
{
	int64_t left;

	if (!nic_adds_up(&rig.nic, &left))
		fail_msg("%lld frames are nowhere", (long long)left);
	rig_close(&rig);
}

/* A frame without IP, of a length. */
static void
give(uint64_t *seed, uint32_t len_bytes)
{
	struct test_packet p = {.payload_bytes = len_bytes - 14};
	struct test_frame *frame = &sent[nb_sent++ % MANY].frame;

	test_make(frame, &p, seed);
	rig_give(&rig, frame->data, frame->len_bytes, 0);
}

static const struct test_frame *
next_sent(void)
{
	return &sent[nb_read++ % MANY].frame;
}

/* Read all that is there on a queue, each frame as it was sent. */
static unsigned
read_all(unsigned q)
{
	unsigned n = 0;

	for (; rig_rx_read(&rig, q, &packet); n++) {
		const struct test_frame *frame = next_sent();
		uint32_t buf_bytes = rig.rxq[q].buf_bytes;

		if (packet.wrong != NULL)
			fail_msg("%s", packet.wrong);
		assert_int_equal(packet.len_bytes, frame->len_bytes);
		assert_memory_equal(packet.data, frame->data, frame->len_bytes);
		assert_int_equal(packet.pieces, (frame->len_bytes + buf_bytes - 1) / buf_bytes);
	}
	return n;
}

static void
walk(uint64_t *seed, uint32_t nb_desc, uint32_t buf_kib, uint32_t len_max, bool paced)
{
	begin(paced);
	rig_rx_start(&rig, 0, nb_desc, buf_kib);
	while (nb_read < MANY / 4) {
		uint32_t n = pw_test_random(seed, 40);

		/* No more than the packet buffer holds. */
		while (n-- > 0 && nb_sent < nb_read + 24 && nb_sent < MANY / 4)
			give(seed, test_between(seed, FRAME_MIN_BYTES, len_max));
		rig_poll(&rig, pw_test_random(seed, 3));
		if (pw_test_random(seed, 3) > 0)
			read_all(0);
		if (pw_test_random(seed, 3) > 0)
			rig_rx_refill(&rig, 0);
		assert_true(nic_adds_up(&rig.nic, NULL));
	}
	assert_int_equal(nb_read, nb_sent);
	assert_int_equal(rig.nic.counters.rx_frames, nb_sent);
	end();
}

static void
frames_in_are_frames_in_buffers(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		static const uint32_t rings[] = {8, 16, 24, 32, 64, 256};
		uint32_t nb_desc = rings[pw_test_random(&seed, 6)];
		uint32_t buf_kib = test_between(&seed, 1, 6);
		uint32_t most = (nb_desc - 1) * (buf_kib << 10);

		walk(&seed, nb_desc, buf_kib, most < FRAME_MAX_BYTES ? most : FRAME_MAX_BYTES,
			true);
		/* A wire that waits does so until there is room for a frame of any length. */
		if (most >= FRAME_MAX_BYTES + FRAME_CRC_BYTES + 4)
			walk(&seed, nb_desc, buf_kib,
				pw_test_random(&seed, 2) ? 100 : FRAME_MAX_BYTES, false);
	}
}

static void
a_tail_outside_of_the_ring_is_none(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin(false);
	rig_rx_start(&rig, 0, 32, 2);
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t tails[] = {32, 0xffffffff, 0x10001};

		rig_write(&rig, REG_RDT(0), tails[i]);
		give(&seed, 100);
		rig_poll(&rig, 100);
		assert_false(rig_rx_read(&rig, 0, &packet));
	}
	rig_write(&rig, REG_RDT(0), 31);
	rig_poll(&rig, 100);
	assert_int_equal(read_all(0), 3);
	end();
}

static unsigned
frames_that_fit_in_the_packet_buffer(unsigned n)
{
	struct packet_buffer buffer;
	unsigned fit = 0;

	assert_int_equal(packet_buffer_init(&buffer), 0);
	for (unsigned i = 0; i < n; i++) {
		struct frame frame = {sent[i].frame.data, sent[i].frame.len_bytes, 0};

		if (!packet_buffer_put(&buffer, &frame))
			break;
		fit++;
	}
	packet_buffer_fini(&buffer);
	return fit;
}

/* Without descriptors frames wait in the card; what it cannot hold is missed and counted. */
static void
frames_without_descriptors_wait_or_are_missed(void **state)
{
	uint64_t seed = pw_test_seed();
	unsigned fit;

	(void)state;
	begin(true);
	rig_rx_start(&rig, 0, 64, 2);
	rig_write(&rig, REG_RDT(0), 0);
	rig.rxq[0].tail = 0;
	for (unsigned i = 0; i < 1000; i++)
		give(&seed, 1514);
	fit = frames_that_fit_in_the_packet_buffer(1000);
	assert_in_range(fit, 300, 400);
	rig_poll(&rig, 3000);
	assert_int_equal(rig.wire.give.n, 0);
	assert_int_equal(rig.nic.counters.rx_missed, 1000 - fit);
	assert_int_equal(rig.nic.packets.frames, fit);
	assert_int_equal(rig_read(&rig, REG_MPC0), 1000 - fit);
	assert_int_equal(rig_read(&rig, REG_TPR), 1000);
	assert_true(nic_adds_up(&rig.nic, NULL));
	/* Now there are some, and those that waited come in order. */
	while (nb_read < fit) {
		rig_rx_refill(&rig, 0);
		rig_poll(&rig, 10);
		assert_true(read_all(0) > 0);
	}
	rig_rx_refill(&rig, 0);
	rig_poll(&rig, 10);
	assert_false(rig_rx_read(&rig, 0, &packet));
	end();
}

static void
with_drop_en_they_are_dropped(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin(true);
	rig_write(&rig, REG_SRRCTL(0), SRRCTL_DROP_EN);
	rig_rx_start(&rig, 0, 64, 2);
	for (unsigned i = 0; i < 100; i++)
		give(&seed, 1000);
	rig_poll(&rig, 3000);
	assert_int_equal(read_all(0), 63);
	assert_int_equal(rig.nic.counters.rx_no_descriptor, 37);
	assert_int_equal(rig.nic.counters.rx_missed, 0);
	assert_int_equal(rig.nic.packets.frames, 0);
	assert_int_equal(rig_read(&rig, REG_QPRDC(0)), 37);
	assert_int_equal(rig_read(&rig, REG_MPC0), 0);
	end();
}

/* IPv4 frames, which RSS spreads over two queues by the last bit of the hash. */
static void
give_to_queues(uint64_t *seed, unsigned n)
{
	struct test_packet p = {.ip = 4, .protocol = 17, .payload_bytes = 50};
	struct test_frame frame;

	while (n-- > 0) {
		test_make(&frame, &p, seed);
		rig_give(&rig, frame.data, frame.len_bytes, 0);
	}
}

static void
start_two_queues(bool first_drops)
{
	begin(true);
	for (unsigned i = 0; i < RETA_BYTES; i += 4)
		rig_write(&rig, REG_RETA + i, 0x01000100);
	for (unsigned i = 0; i < RSSRK_BYTES; i += 4)
		rig_write(&rig, REG_RSSRK + i, 0x12345678 * (i + 1));
	rig_write(&rig, REG_MRQC, MRQC_RSS | MRQC_IPV4);
	rig_write(&rig, REG_RQSMR(0), 0x00000100);
	rig_write(&rig, REG_SRRCTL(0), first_drops ? SRRCTL_DROP_EN : 0);
	rig_rx_start(&rig, 0, 32, 2);
	rig_rx_start(&rig, 1, 256, 2);
}

static void
a_queue_without_descriptors_holds_up_the_other(void **state)
{
	unsigned read[2] = {0, 0};
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned drops = 0; drops < 2; drops++) {
		start_two_queues(drops);
		read[drops] = 0;
		give_to_queues(&seed, 200);
		rig_poll(&rig, 1000);
		while (rig_rx_read(&rig, 1, &packet))
			read[drops]++;
		assert_int_equal(rig.nic.rxq[1].frames, read[drops]);
		assert_int_equal(rig.nic.rxq[0].frames, 31);
		/* 7.1.3.3: DROP_EN of a queue is there for the others. */
		if (drops)
			assert_int_equal(read[1] + 31 + rig.nic.counters.rx_no_descriptor, 200);
		else
			assert_int_equal(read[0] + 31 + rig.nic.packets.frames, 200);
		assert_int_equal(rig_read(&rig, REG_QPRC(0)), 31);
		assert_int_equal(rig_read(&rig, REG_QPRC(1)), read[drops]);
		end();
	}
	assert_true(read[1] > 50);
}

/* IEEE 802.3, 3.2.9, bit by bit. */
static uint32_t
slow_crc(const uint8_t *data, uint32_t len_bytes)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len_bytes * 8; i++) {
		bool out = (crc & 1) != (data[i / 8] >> (i % 8) & 1);

		crc = crc >> 1 ^ (out ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void
the_crc_is_kept_if_the_driver_wants_it(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin(false);
	rig_write(&rig, REG_HLREG0, HLREG0_JUMBOEN);
	rig_rx_start(&rig, 0, 64, 1);
	for (unsigned i = 0; i < 300; i++) {
		const struct test_frame *frame;
		uint32_t crc;

		/* The CRC may begin a buffer of its own, or lie in two. */
		give(&seed, i < 10 ? 1020 + i : test_between(&seed, FRAME_MIN_BYTES, 5000));
		rig_poll(&rig, 2);
		assert_true(rig_rx_read(&rig, 0, &packet));
		assert_null(packet.wrong);
		frame = next_sent();
		crc = slow_crc(frame->data, frame->len_bytes);
		assert_int_equal(packet.len_bytes, frame->len_bytes + 4);
		assert_memory_equal(packet.data, frame->data, frame->len_bytes);
		assert_memory_equal(packet.data + frame->len_bytes, &crc, 4);
		rig_rx_refill(&rig, 0);
	}
	end();
}

static void
tags_are_taken_out_where_vme_says_so(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin(false);
	rig_write(&rig, REG_RXDCTL(0), RXDCTL_VME);
	rig_rx_start(&rig, 0, 64, 1);
	for (unsigned i = 0; i < 1000; i++) {
		struct test_packet p = test_any_packet(&seed, 2000);
		bool strips = i % 3 > 0;
		static struct test_frame frame;

		p.payload_bytes += 50;
		test_make(&frame, &p, &seed);
		rig_write(&rig, REG_RXDCTL(0), RXDCTL_ENABLE | (strips ? RXDCTL_VME : 0));
		rig_control(&rig);
		rig_give(&rig, frame.data, frame.len_bytes, 0);
		rig_poll(&rig, 2);
		assert_true(rig_rx_read(&rig, 0, &packet));
		assert_null(packet.wrong);
		if (!p.tagged || !strips) {
			assert_int_equal(packet.len_bytes, frame.len_bytes);
			assert_memory_equal(packet.data, frame.data, frame.len_bytes);
			assert_int_equal(packet.last.done.status & RXD_VP, 0);
		} else {
			assert_int_equal(packet.len_bytes, frame.len_bytes - 4);
			assert_memory_equal(packet.data, frame.data, 12);
			assert_memory_equal(
				packet.data + 12, frame.data + 16, frame.len_bytes - 16);
			assert_int_equal(packet.last.done.vlan, p.tag);
			assert_int_equal(packet.last.done.status & RXD_VP, RXD_VP);
		}
		rig_rx_refill(&rig, 0);
	}
	end();
}

/* The descriptor has what rss.h and parse.h say of the frame. */
static void
descriptors_tell_of_checksums_and_types(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin(false);
	rig_write(&rig, REG_MRQC, MRQC_RSS | MRQC_IPV4 | MRQC_IPV6);
	rig_rx_start(&rig, 0, 64, 4);
	for (unsigned i = 0; i < 1000; i++) {
		struct test_packet p = {
			.ip = i % 2 ? 4 : 6, .protocol = 6, .payload_bytes = 20 + i};
		static struct test_frame frame;
		bool bad = i % 3 == 0;

		test_make(&frame, &p, &seed);
		frame.data[frame.l4 + 20] ^= bad;
		rig_give(&rig, frame.data, frame.len_bytes, 0);
		rig_poll(&rig, 2);
		assert_true(rig_rx_read(&rig, 0, &packet));
		assert_int_equal(packet.last.done.info & 0x1ffff,
			(i % 2 ? 0x110 | 2 : 0x140 | 5)); /* type, RSS type */
		assert_int_equal(packet.last.done.status,
			RXD_DD | RXD_EOP | RXD_PIF | RXD_L4CS | (i % 2 ? RXD_IPCS : 0) |
				(bad ? RXD_TCPE : 0));
		rig_rx_refill(&rig, 0);
	}
	rig_control(&rig);
	rig.now_ns += 2000000;
	rig_control(&rig);
	assert_int_equal(rig_read(&rig, REG_XEC), 334);
	end();
}

static void
what_is_no_good_frame_ends_at_the_mac(void **state)
{
	uint64_t seed = pw_test_seed();
	struct test_packet p = {.tagged = true, .payload_bytes = 1504};
	static struct test_frame frame;

	(void)state;
	begin(false);
	rig_rx_start(&rig, 0, 64, 2);
	rig_write(&rig, REG_HLREG0, HLREG0_RXCRCSTRP);
	rig_control(&rig);
	/* Runts of any length, down to nothing. */
	test_make(&frame, &p, &seed);
	for (uint32_t len = 0; len < FRAME_MIN_BYTES; len++)
		rig_give(&rig, frame.data, len, 0);
	/* 1518 bytes with CRC and 4 more with a tag pass, 1 more does not. */
	give(&seed, 1514);
	nb_sent--;
	rig_give(&rig, sent[0].frame.data, 1515, 0);
	rig_give(&rig, frame.data, 1518, 0);
	rig_give(&rig, frame.data, 1519, 0);
	rig_give(&rig, frame.data, 100, FRAME_BAD_CRC);
	/* More than any 82599 takes, whatever MAXFRS says. */
	rig_control(&rig);
	rig_write(&rig, REG_HLREG0, HLREG0_RXCRCSTRP | HLREG0_JUMBOEN);
	rig_write(&rig, REG_MAXFRS, 0xffff0000);
	rig_control(&rig);
	rig_give(&rig, frame.data, FRAME_MAX_BYTES + 1, 0);
	rig_poll(&rig, 3000);
	assert_int_equal(rig.nic.counters.rx_undersize, 60);
	assert_int_equal(rig.nic.counters.rx_oversize, 3);
	assert_int_equal(rig.nic.counters.rx_crc_errors, 1);
	assert_int_equal(rig.nic.counters.rx_frames, 2);
	assert_int_equal(rig_read(&rig, REG_RUC), 60);
	assert_int_equal(rig_read(&rig, REG_ROC), 3);
	assert_int_equal(rig_read(&rig, REG_CRCERRS), 1);
	assert_int_equal(rig_read(&rig, REG_GPRC), 2);
	end();
}

static void
group_addresses_are_counted(void **state)
{
	static const uint8_t addresses[][6] = {
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xfe},
		{0xff, 0, 0, 0, 0, 0},
		{0x33, 0x33, 0, 0, 0, 1},
		{0, 1, 2, 3, 4, 5},
	};
	uint8_t data[64] = {0};

	(void)state;
	begin(false);
	rig_rx_start(&rig, 0, 64, 2);
	for (unsigned i = 0; i < 5; i++) {
		memcpy(data, addresses[i], 6);
		rig_give(&rig, data, sizeof(data), 0);
	}
	rig_poll(&rig, 3000);
	assert_int_equal(rig_read(&rig, REG_BPRC), 1);
	assert_int_equal(rig_read(&rig, REG_MPRC), 3);
	end();
}

static void
what_comes_while_receiving_is_off_is_counted(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin(true);
	for (unsigned i = 0; i < 5; i++)
		give(&seed, 100);
	/* The wire begins when somebody listens. */
	rig_poll(&rig, 100);
	assert_int_equal(rig.wire.give.n, 5);
	rig_rx_start(&rig, 0, 32, 2);
	rig_poll(&rig, 100);
	assert_int_equal(read_all(0), 5);
	rig_write(&rig, REG_RXCTRL, 0);
	rig_control(&rig);
	give(&seed, 100);
	rig_poll(&rig, 100);
	assert_int_equal(rig.nic.counters.rx_disabled, 1);
	rig_write(&rig, REG_RXCTRL, RXCTRL_RXEN);
	rig_rx_stop(&rig, 0);
	give(&seed, 100);
	rig_poll(&rig, 100);
	assert_int_equal(rig.nic.counters.rx_disabled, 2);
	assert_int_equal(rig_read(&rig, REG_RDH(0)), 0);
	assert_int_equal(rig_read(&rig, REG_RDT(0)), 0);
	/* Another queue runs, but RSS does not know it. */
	rig_rx_start(&rig, 1, 32, 2);
	give(&seed, 100);
	rig_poll(&rig, 100);
	assert_int_equal(rig.nic.counters.rx_disabled, 3);
	end();
}

static void
a_queue_that_stops_forgets_and_starts_anew(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin(true);
	for (unsigned round = 0; round < 100; round++) {
		unsigned n = pw_test_random(&seed, 100);

		rig.allocated = RIG_MEMORY_AT;
		rig_rx_start(&rig, 0, 32, 2);
		while (n-- > 0)
			give(&seed, 100);
		rig_poll(&rig, pw_test_random(&seed, 4));
		/* Frames that wait in the card come to the new ring. */
		read_all(0);
		while (nb_read < nb_sent) {
			rig_rx_refill(&rig, 0);
			rig_poll(&rig, 40);
			assert_true(read_all(0) > 0);
		}
		rig_rx_stop(&rig, 0);
	}
	assert_int_equal(nb_read, nb_sent);
	end();
}

static void
an_address_that_is_no_memory_is_counted(void **state)
{
	static const uint64_t addresses[] = {0, RIG_HOLE_AT, RIG_HOLE_AT - 10, RIG_WINDOW_BYTES,
		RIG_WINDOW_BYTES - 1, UINT64_MAX, UINT64_MAX - 20, UINT64_C(1) << 63};
	uint64_t seed = 1;

	(void)state;
	begin(false);
	rig_rx_start(&rig, 0, 32, 2);
	for (unsigned i = 0; i < 8; i++) {
		rig_rx_desc(&rig, 0, i)->read.packet_address = addresses[i];
		give(&seed, 100);
	}
	give(&seed, 100);
	rig_poll(&rig, 100);
	assert_int_equal(rig.nic.counters.rx_dma_errors, 8);
	assert_int_equal(rig.dma.misses, 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_true(rig_rx_read(&rig, 0, &packet));
		next_sent();
	}
	assert_int_equal(read_all(0), 1);
	end();
}

/* 8.2.3.8.1, 8.2.3.8.3: the low bits are not there, and the length has an end. */
static void
a_ring_is_where_and_as_long_as_its_registers_can_say(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin(true);
	rig_rx_start(&rig, 0, 64, 2);
	rig_rx_stop(&rig, 0);
	rig_write(&rig, REG_RDBAL(0), (uint32_t)rig.rxq[0].ring | 0x7f);
	rig_write(&rig, REG_RDLEN(0), 0xfff00000 | 64 * 16 | 0x7f);
	rig_write(&rig, REG_RXDCTL(0), RXDCTL_ENABLE);
	rig_control(&rig);
	assert_int_equal(rig.nic.rxq[0].ring.nb_desc, 64);
	rig_write(&rig, REG_RDT(0), 63);
	for (unsigned i = 0; i < 63; i++)
		give(&seed, 100);
	rig_poll(&rig, 100);
	assert_int_equal(read_all(0), 63);
	/* One that ends in a hole does not run, nor one of nothing. */
	rig_rx_stop(&rig, 0);
	rig_write(&rig, REG_RDBAL(0), RIG_HOLE_AT - 128);
	rig_write(&rig, REG_RXDCTL(0), RXDCTL_ENABLE);
	rig_control(&rig);
	assert_int_equal(rig.nic.nb_rx_running, 0);
	rig_write(&rig, REG_RDBAL(0), (uint32_t)rig.rxq[0].ring);
	rig_write(&rig, REG_RDLEN(0), 0x7f);
	rig_control(&rig);
	assert_int_equal(rig.nic.nb_rx_running, 0);
	end();
}

/* Behind its last descriptor there is nothing that could be looked at. */
static void
a_ring_shorter_than_a_burst_has_an_end(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin(true);
	rig.allocated = RIG_HOLE_AT - 8 * sizeof(union rx_desc);
	rig_rx_start(&rig, 0, 8, 2);
	assert_int_equal(rig.rxq[0].ring, RIG_HOLE_AT - 8 * sizeof(union rx_desc));
	while (nb_read < 1000) {
		while (nb_sent < nb_read + 70)
			give(&seed, 60);
		rig_poll(&rig, 1);
		read_all(0);
		rig_rx_refill(&rig, 0);
	}
	rig_poll(&rig, 1);
	end();
}

static void
a_reset_loses_what_waits_and_nothing_else(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin(true);
	rig_rx_start(&rig, 0, 32, 2);
	for (unsigned i = 0; i < 100; i++)
		give(&seed, 1000);
	rig_poll(&rig, 100);
	assert_int_equal(read_all(0), 31);
	assert_int_equal(rig.nic.packets.frames, 69);
	rig_write(&rig, REG_CTRL, CTRL_RST);
	rig_control(&rig);
	assert_int_equal(rig_read(&rig, REG_CTRL), 0);
	assert_int_equal(rig.nic.counters.rx_lost_in_reset, 69);
	assert_int_equal(rig.nic.counters.resets, 1);
	assert_int_equal(rig_read(&rig, REG_RDLEN(0)), 0);
	assert_int_equal(rig_read(&rig, REG_GPRC), 0);
	end();
}

/* Ring and buffers are anything, and so are the registers that frames are received by. */
static void
a_hostile_driver_does_no_harm(void **state)
{
	static const uint32_t registers[] = {REG_RDT(0), REG_RDT(1), REG_RDLEN(0), REG_RDBAL(0),
		REG_RXDCTL(0), REG_RXDCTL(1), REG_SRRCTL(0), REG_SRRCTL(1), REG_HLREG0, REG_MAXFRS,
		REG_MRQC, REG_RETA, REG_RETA + 64, REG_RSSRK, REG_VLNCTRL, REG_FCTRL, REG_RXCTRL,
		REG_CTRL, REG_RQSMR(0)};
	uint64_t seed = pw_test_seed();
	static struct test_frame frame;

	(void)state;
	begin(pw_test_random(&seed, 2));
	for (unsigned round = 0; round < 20000; round++) {
		uint64_t words = pw_test_random(&seed, 4) == 0 ? UINT64_MAX : RIG_WINDOW_BYTES;
		union rx_desc *desc;

		if (round % 100 == 0) {
			rig.allocated = RIG_MEMORY_AT;
			rig_rx_start(&rig, round / 100 % 2, test_between(&seed, 1, 16) * 8,
				test_between(&seed, 1, 4));
		}
		desc = rig_rx_desc(&rig, round / 100 % 2, pw_test_random(&seed, 128));
		desc->words.low = ((uint64_t)pw_test_random(&seed, UINT32_MAX) << 20) % words;
		if (pw_test_random(&seed, 3) > 0) {
			struct test_packet p = test_any_packet(&seed, 3000);

			test_make(&frame, &p, &seed);
			rig_give(&rig, frame.data, frame.len_bytes, pw_test_random(&seed, 20) == 0);
		}
		if (pw_test_random(&seed, 10) == 0)
			rig_write(&rig,
				registers[pw_test_random(
					&seed, sizeof(registers) / sizeof(registers[0]))],
				pw_test_random(&seed, UINT32_MAX) >> pw_test_random(&seed, 32));
		else
			rig_write(&rig, REG_RDT(round / 100 % 2), pw_test_random(&seed, 130));
		rig_poll(&rig, pw_test_random(&seed, 3));
		if (rig.wire.give.n > 10000)
			rig_write(&rig, REG_CTRL, CTRL_RST);
		assert_true(nic_adds_up(&rig.nic, NULL));
	}
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_are_frames_in_buffers),
		cmocka_unit_test(a_tail_outside_of_the_ring_is_none),
		cmocka_unit_test(frames_without_descriptors_wait_or_are_missed),
		cmocka_unit_test(with_drop_en_they_are_dropped),
		cmocka_unit_test(a_queue_without_descriptors_holds_up_the_other),
		cmocka_unit_test(the_crc_is_kept_if_the_driver_wants_it),
		cmocka_unit_test(tags_are_taken_out_where_vme_says_so),
		cmocka_unit_test(descriptors_tell_of_checksums_and_types),
		cmocka_unit_test(what_is_no_good_frame_ends_at_the_mac),
		cmocka_unit_test(group_addresses_are_counted),
		cmocka_unit_test(what_comes_while_receiving_is_off_is_counted),
		cmocka_unit_test(a_queue_that_stops_forgets_and_starts_anew),
		cmocka_unit_test(an_address_that_is_no_memory_is_counted),
		cmocka_unit_test(a_ring_is_where_and_as_long_as_its_registers_can_say),
		cmocka_unit_test(a_ring_shorter_than_a_burst_has_an_end),
		cmocka_unit_test(a_reset_loses_what_waits_and_nothing_else),
		cmocka_unit_test(a_hostile_driver_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
