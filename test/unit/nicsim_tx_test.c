/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Sending, from the driver's descriptors onto the wire, as properties. */

#include "nicsim_test.h"

#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "nicsim_rig.h"

#define PIECES_MAX 40

static struct rig rig;

/* Frames that are on their way, in order. */
static struct {
	uint8_t data[FRAME_MAX_BYTES];
	uint32_t len_bytes;
} sent[RIG_RING_MAX];

static unsigned nb_sent, nb_taken;

static void
begin(void)
{
	rig_open(&rig, false);
	nb_sent = nb_taken = 0;
}

static void
end(void)
{
	assert_true(nic_adds_up(&rig.nic, NULL));
	rig_close(&rig);
}

/* Frames on the wire are those sent, in order. Returns how many. */
static unsigned
check_wire(void)
{
	const struct rig_frame *frame;
	unsigned n = 0;

	for (; (frame = rig_taken(&rig)) != NULL; n++) {
		unsigned at = nb_taken++ % RIG_RING_MAX;

		assert_true(nb_taken <= nb_sent);
		assert_int_equal(frame->len_bytes, sent[at].len_bytes);
		assert_memory_equal(frame->data, sent[at].data, frame->len_bytes);
	}
	return n;
}

/* Send a frame in pieces, if there are so many descriptors. */
static bool
send_frame(uint64_t *seed, unsigned q, uint32_t len_bytes, unsigned pieces)
{
	unsigned at = nb_sent % RIG_RING_MAX;

	if (rig_tx_room(&rig, q) < pieces || nb_sent - nb_taken >= RIG_RING_MAX)
		return false;
	test_fill(seed, sent[at].data, len_bytes);
	sent[at].len_bytes = len_bytes;
	nb_sent++;
	rig_tx_frame(&rig, q, sent[at].data, len_bytes, pieces, 0, 0);
	return true;
}

static unsigned
choose_pieces(uint64_t *seed, uint32_t len_bytes)
{
	unsigned least = (len_bytes + 4095) / 4096;

	/* A descriptor without a byte is none (7.2.3.2.4). */
	return pw_test_random(seed, 2)
		? least
		: test_between(seed, least, len_bytes < PIECES_MAX ? len_bytes : PIECES_MAX);
}

static void
frames_in_descriptors_are_frames_on_the_wire(void **state)
{
	static const uint32_t rings[] = {8, 16, 24, 64, 512};
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 15; round++) {
		begin();
		rig_tx_start(&rig, 0, rings[round % 5]);
		while (nb_taken < 1500) {
			for (unsigned n = pw_test_random(&seed, 60); n > 0; n--) {
				uint32_t len = pw_test_random(&seed, 3)
					? test_between(&seed, 14, 200)
					: test_between(&seed, 200, 12000);
				unsigned pieces = choose_pieces(&seed, len);

				if (pieces > rings[round % 5] - 1)
					pieces = rings[round % 5] - 1;
				if (!send_frame(&seed, 0, len, pieces))
					break;
			}
			rig.wire.room = pw_test_random(&seed, 3) ? UINT_MAX
								 : pw_test_random(&seed, 8);
			rig_tx_kick(&rig, 0);
			rig_poll(&rig, pw_test_random(&seed, 30));
			check_wire();
		}
		rig.wire.room = UINT_MAX;
		rig_poll(&rig, 100);
		check_wire();
		assert_int_equal(nb_taken, nb_sent);
		assert_int_equal(rig_read(&rig, REG_TDH(0)), rig.txq[0].tail);
		assert_int_equal(rig.nic.counters.tx_bad, 0);
		rig.now_ns += 2000000;
		rig_control(&rig);
		assert_int_equal(rig_read(&rig, REG_GPTC), nb_sent);
		assert_int_equal(rig_read(&rig, REG_QPTC(0)), nb_sent);
		end();
	}
}

/* DD comes where RS asks, and no descriptor is written to otherwise; 7.2.3.2.4. */
static void
only_what_asks_for_it_is_reported(void **state)
{
	union tx_desc before[64];
	uint64_t seed = pw_test_seed();
	uint8_t data[64] = {2};

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	for (unsigned round = 0; round < 200; round++) {
		unsigned first = rig.txq[0].tail, n = test_between(&seed, 1, 60);
		bool asked[64] = {false};

		for (unsigned i = 0; i < n; i++) {
			unsigned at = rig.txq[0].tail;
			union tx_desc *desc = rig_tx_desc(&rig, 0, at);

			rig_tx_frame(&rig, 0, data, sizeof(data), 1, 0, 0);
			asked[at] = pw_test_random(&seed, 2);
			if (!asked[at])
				desc->data.command &= ~TXD_RS;
			/* And one that needs more work than being sent. */
			if (pw_test_random(&seed, 2))
				desc->data.command |= TXD_VLE;
		}
		memcpy(before, rig_tx_desc(&rig, 0, 0), sizeof(before));
		rig_tx_kick(&rig, 0);
		rig_poll(&rig, 20);
		for (unsigned i = 0; i < 64; i++) {
			union tx_desc now = *rig_tx_desc(&rig, 0, i);

			if (asked[i]) {
				assert_int_equal(now.data.options, TXD_DD);
				now.data.options = before[i].data.options;
			}
			assert_memory_equal(&now, &before[i], sizeof(now));
		}
		assert_int_equal((first + n) % 64, rig.nic.txq[0].ring.head);
		while (rig_taken(&rig) != NULL)
			;
	}
	end();
}

static void
contexts_stay_in_their_slots(void **state)
{
	struct tx_context context[2] = {{.mac_len = 14, .vlan = 1}, {.mac_len = 14, .vlan = 2}};
	uint64_t seed = pw_test_seed();
	uint8_t data[100] = {2};

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	rig_tx_start(&rig, 1, 64);
	for (unsigned slot = 0; slot < 2; slot++) {
		rig_tx_put(&rig, 0, rig_tx_context(&context[slot], slot));
		/* Those of another queue are others. */
		context[slot].vlan += 100;
		rig_tx_put(&rig, 1, rig_tx_context(&context[slot], slot));
		context[slot].vlan -= 100;
	}
	rig_tx_kick(&rig, 1);
	rig_poll(&rig, 1);
	for (unsigned round = 0; round < 1000; round++) {
		unsigned slot = pw_test_random(&seed, 2);
		const struct rig_frame *frame;

		if (pw_test_random(&seed, 5) == 0) {
			context[slot].vlan = (uint16_t)pw_test_random(&seed, 65536);
			rig_tx_put(&rig, 0, rig_tx_context(&context[slot], slot));
		}
		rig_tx_frame(
			&rig, 0, data, sizeof(data), test_between(&seed, 1, 3), TXD_VLE, slot << 4);
		rig_tx_kick(&rig, 0);
		rig_poll(&rig, 1);
		frame = rig_taken(&rig);
		assert_non_null(frame);
		assert_int_equal(frame->len_bytes, sizeof(data) + 4);
		assert_int_equal(test_get16(frame->data + 12), 0x8100);
		assert_int_equal(test_get16(frame->data + 14), context[slot].vlan);
	}
	end();
}

#define TSO_PAYLOAD 50000
#define TSO_MSS 1000

/* A TCP packet of 50 segments. */
static void
send_tso(uint64_t *seed, unsigned q)
{
	struct test_packet p = {.ip = 4, .protocol = IPPROTO_TCP};
	struct tx_context context = {14, 20, 20, TSO_MSS, 0, true, 1};
	static struct test_frame head;
	uint64_t buffer = rig.txq[q].buffers;
	uint32_t options = TXD_IXSM | TXD_TXSM;

	test_make(&head, &p, seed);
	test_put16(head.data + head.l4 + 16, test_pseudo_sum(head.data + head.l3, 4, 6, 0));
	memcpy(rig_at(&rig, buffer), head.data, 54);
	for (uint32_t i = 0; i < TSO_PAYLOAD; i++)
		((uint8_t *)rig_at(&rig, buffer))[54 + i] = (uint8_t)(i * i / 251);
	rig_tx_put(&rig, q, rig_tx_context(&context, 0));
	rig_tx_put(&rig, q, rig_tx_data(buffer, 54, TXD_TSE, options));
	rig_tx_put(&rig, q, rig_tx_data(buffer + 54, 30000, TXD_TSE, options));
	rig_tx_put(&rig, q,
		rig_tx_data(
			buffer + 30054, TSO_PAYLOAD - 30000, TXD_TSE | TXD_EOP | TXD_RS, options));
	rig_tx_kick(&rig, q);
}

static void
check_segment(const struct rig_frame *frame, unsigned i)
{
	assert_non_null(frame);
	assert_int_equal(frame->len_bytes, 54 + TSO_MSS);
	for (uint32_t k = 0; k < TSO_MSS; k++)
		assert_int_equal(frame->data[54 + k],
			(uint8_t)((i * TSO_MSS + k) * (i * TSO_MSS + k) / 251));
	assert_int_equal(test_sum(0, frame->data + 14, 20), 0xffff);
	assert_int_equal(test_sum(test_pseudo_sum(frame->data + 14, 4, 6, 20 + TSO_MSS),
				 frame->data + 34, 20 + TSO_MSS),
		0xffff);
}

/* The wire takes less at a time than the packet has segments. */
static void
segments_wait_for_the_wire(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	rig_tx_start(&rig, 1, 64);
	for (unsigned room = 1; room < 50; room += 3) {
		rig.wire.room = room;
		send_tso(&seed, 0);
		send_tso(&seed, 1);
		for (unsigned i = 0; i < 100; i++) {
			if (rig.wire.taken.n == 0)
				assert_in_range(rig_poll(&rig, 1), 1, room);
			/* Packets are not mixed. */
			check_segment(rig_taken(&rig), i % 50);
		}
		assert_null(rig_taken(&rig));
		rig_control(&rig);
	}
	end();
}

static void
a_queue_that_stops_sends_what_it_took(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	rig.wire.room = 1;
	send_tso(&seed, 0);
	rig_poll(&rig, 3);
	rig_write(&rig, REG_TXDCTL(0), 0);
	rig_poll(&rig, 100);
	assert_int_equal(rig.nic.nb_tx_running, 0);
	assert_int_equal(rig_read(&rig, REG_TDH(0)), 0);
	for (unsigned i = 0; i < 50; i++)
		check_segment(rig_taken(&rig), i);
	assert_true(nic_is_idle(&rig.nic));
	end();
}

static void
a_reset_in_the_middle_of_a_packet_ends_it(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	rig.wire.room = 1;
	send_tso(&seed, 0);
	rig_poll(&rig, 3);
	rig_write(&rig, REG_CTRL, CTRL_RST);
	rig.now_ns += 100000; /* a busy card looks at CTRL so often */
	rig_poll(&rig, 100);
	assert_in_range(rig.wire.taken.n, 3, 20);
	assert_int_equal(rig.nic.nb_tx_running, 0);
	assert_true(nic_is_idle(&rig.nic));
	assert_int_equal(rig_read(&rig, REG_TDLEN(0)), 0);
	end();
}

/* While DMATXCTL.TE is off, a driver may move a ring: the old one is not looked at any more. */
static void
a_ring_moves_while_sending_is_off(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	assert_true(send_frame(&seed, 0, 100, 1));
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 20);
	check_wire();
	rig_write(&rig, REG_DMATXCTL, 0);
	rig_write(&rig, REG_TXDCTL(0), 0);
	rig_control(&rig);
	rig_tx_start(&rig, 0, 32);
	rig_write(&rig, REG_DMATXCTL, DMATXCTL_TE);
	rig_control(&rig);
	assert_true(send_frame(&seed, 0, 200, 1));
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 20);
	assert_int_equal(check_wire(), 1);
	assert_int_equal(nb_taken, nb_sent);
	end();
}

static void
nothing_is_sent_before_its_end_is_there(void **state)
{
	uint64_t seed = 1;
	uint64_t buffer;

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 16);
	buffer = rig.txq[0].buffers;
	test_fill(&seed, rig_at(&rig, buffer), 200);
	rig_tx_put(&rig, 0, rig_tx_data(buffer, 50, TXD_RS, 0));
	rig_tx_put(&rig, 0, rig_tx_data(buffer + 50, 50, TXD_RS, 0));
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 50);
	assert_null(rig_taken(&rig));
	assert_int_equal(rig_tx_desc(&rig, 0, 0)->data.options, 0);
	rig_tx_put(&rig, 0, rig_tx_data(buffer + 100, 60, TXD_RS | TXD_EOP, 0));
	memcpy(sent[0].data, rig_at(&rig, buffer), 160);
	sent[0].len_bytes = 160;
	nb_sent = 1;
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 50);
	assert_int_equal(check_wire(), 1);
	assert_int_equal(rig_tx_desc(&rig, 0, 0)->data.options, TXD_DD);
	/* A ring full of beginnings will never have an end. */
	for (unsigned i = 0; i < 15; i++)
		rig_tx_put(&rig, 0, rig_tx_data(buffer, 50, TXD_RS, 0));
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 50);
	assert_int_equal(rig.nic.counters.tx_bad, 1);
	assert_null(rig_taken(&rig));
	assert_int_equal(rig.nic.txq[0].ring.head, rig.txq[0].tail);
	end();
}

static void
what_makes_no_frame_is_counted_and_reported(void **state)
{
	static const struct {
		uint64_t address;
		uint32_t len_bytes;
	} bad[] = {{RIG_MEMORY_AT, 0}, {RIG_MEMORY_AT, 13}, {RIG_MEMORY_AT, FRAME_MAX_BYTES + 1},
		{RIG_MEMORY_AT, 65535}, {0, 100}, {RIG_HOLE_AT, 100}, {RIG_HOLE_AT - 50, 100},
		{RIG_WINDOW_BYTES - 50, 100}, {UINT64_MAX, 100}, {UINT64_MAX - 99, 100}};
	unsigned n = sizeof(bad) / sizeof(bad[0]);

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 32);
	for (unsigned i = 0; i < n; i++)
		rig_tx_put(&rig, 0,
			rig_tx_data(bad[i].address, bad[i].len_bytes, TXD_EOP | TXD_RS, 0));
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 50);
	assert_int_equal(rig.nic.counters.tx_bad, n);
	assert_int_equal(rig.nic.counters.tx_dma_errors, 6);
	assert_null(rig_taken(&rig));
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(rig_tx_desc(&rig, 0, i)->data.options, TXD_DD);
	end();
}

static void
short_frames_are_filled_up_if_asked(void **state)
{
	uint8_t data[60];
	static const uint8_t zeros[60];

	(void)state;
	memset(data, 0x5a, sizeof(data));
	begin();
	rig_tx_start(&rig, 0, 64);
	for (unsigned i = 0; i < 92; i++) {
		uint32_t len = 14 + i % 46;
		bool pad = i >= 46;
		const struct rig_frame *frame;

		rig_write(&rig, REG_HLREG0, pad ? HLREG0_TXPADEN : 0);
		rig_tx_frame(&rig, 0, data, len, 1, 0, 0);
		rig_tx_kick(&rig, 0);
		rig_poll(&rig, 20);
		frame = rig_taken(&rig);
		assert_non_null(frame);
		assert_int_equal(frame->len_bytes, pad ? 60 : len);
		assert_memory_equal(frame->data, data, len);
		if (pad)
			assert_memory_equal(frame->data + len, zeros, 60 - len);
	}
	end();
}

static void
without_a_link_frames_go_nowhere(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	nic_set_link(&rig.nic, false);
	assert_true(send_frame(&seed, 0, 100, 1));
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 20);
	assert_int_equal(rig.nic.counters.tx_link_down, 1);
	assert_int_equal(rig.nic.counters.tx_frames, 0);
	assert_null(rig_taken(&rig));
	/* They are done nevertheless. */
	assert_int_equal(rig_tx_desc(&rig, 0, 0)->data.options, TXD_DD);
	end();
}

/* Queues take turns (7.2.1.2.2): one that never ends does not keep another from its turn. */
static void
each_queue_has_its_turn(void **state)
{
	uint8_t data[60] = {2};
	unsigned count[3] = {0};
	const struct rig_frame *frame;

	(void)state;
	begin();
	for (unsigned q = 0; q < 3; q++)
		rig_tx_start(&rig, q, 128);
	rig.wire.room = 4;
	for (unsigned round = 0; round < 3000; round++) {
		for (unsigned q = 0; q < 3; q++) {
			data[5] = (uint8_t)q;
			while (rig_tx_room(&rig, q) > 0)
				rig_tx_frame(&rig, q, data, sizeof(data), 1, 0, 0);
			rig_tx_kick(&rig, q);
		}
		rig_poll(&rig, 1);
		while ((frame = rig_taken(&rig)) != NULL)
			count[frame->data[5]]++;
	}
	for (unsigned q = 0; q < 3; q++)
		assert_in_range(count[q], 3600, 4400);
	end();
}

/* The tail goes where it wants: what is before it is sent, each descriptor once a round. */
static void
tails_that_jump_are_followed_inside_of_the_ring(void **state)
{
	uint64_t seed = pw_test_seed();
	uint8_t data[60] = {2};
	uint32_t head = 0, tail = 0;

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	for (unsigned i = 0; i < 64; i++)
		rig_tx_frame(&rig, 0, data, sizeof(data), 1, 0, 0);
	for (unsigned round = 0; round < 3000; round++) {
		uint32_t jump = pw_test_random(&seed, 100), expected;

		if (pw_test_random(&seed, 10) == 0)
			jump = pw_test_random(&seed, UINT32_MAX);
		if (jump < 64)
			tail = jump;
		expected = (64 + tail - head) % 64;
		rig_write(&rig, REG_TDT(0), jump);
		/* The head is the card's: what is written there changes nothing. */
		if (pw_test_random(&seed, 3) == 0)
			rig_write(&rig, REG_TDH(0), pw_test_random(&seed, 64));
		assert_int_equal(rig_poll(&rig, 3), expected);
		assert_int_equal(rig.wire.taken.n, expected);
		while (rig_taken(&rig) != NULL)
			;
		head = tail;
	}
	end();
}

static void
a_ring_is_where_and_as_long_as_its_registers_can_say(void **state)
{
	uint64_t seed = 1;

	(void)state;
	begin();
	rig_tx_start(&rig, 0, 64);
	rig_write(&rig, REG_TXDCTL(0), 0);
	rig_control(&rig);
	rig_write(&rig, REG_TDBAL(0), (uint32_t)rig.txq[0].ring | 0x7f);
	rig_write(&rig, REG_TDLEN(0), 0xfff00000 | 64 * 16 | 0x7f);
	rig_write(&rig, REG_TXDCTL(0), TXDCTL_ENABLE);
	rig_control(&rig);
	assert_int_equal(rig.nic.txq[0].ring.nb_desc, 64);
	for (unsigned i = 0; i < 200; i++) {
		assert_true(send_frame(&seed, 0, 100, 1));
		rig_tx_kick(&rig, 0);
		rig_control(&rig);
	}
	assert_int_equal(check_wire(), 200);
	rig_write(&rig, REG_TXDCTL(0), 0);
	rig_control(&rig);
	rig_write(&rig, REG_TDBAL(0), RIG_HOLE_AT - 128);
	rig_write(&rig, REG_TXDCTL(0), TXDCTL_ENABLE);
	rig_control(&rig);
	assert_int_equal(rig.nic.nb_tx_running, 0);
	rig_write(&rig, REG_TDBAL(0), (uint32_t)rig.txq[0].ring);
	rig_write(&rig, REG_TDLEN(0), 0x7f);
	rig_control(&rig);
	assert_int_equal(rig.nic.nb_tx_running, 0);
	end();
}

static union tx_desc
any_descriptor(uint64_t *seed)
{
	struct tx_context context = {.mac_len = (uint16_t)test_between(seed, 12, 18),
		.ip_len = (uint16_t)test_between(seed, 18, 44),
		.l4_len = (uint16_t)test_between(seed, 6, 24),
		.mss = (uint16_t)pw_test_random(seed, 5000),
		.ipv4 = pw_test_random(seed, 2),
		.l4_type = (uint8_t)pw_test_random(seed, 4)};
	union tx_desc desc;

	switch (pw_test_random(seed, 4)) {
	case 0:
		test_fill(seed, &desc, sizeof(desc));
		return desc;
	case 1:
		return rig_tx_context(&context, pw_test_random(seed, 2));
	default:
		return rig_tx_data(RIG_MEMORY_AT + pw_test_random(seed, RIG_WINDOW_BYTES),
			pw_test_random(seed, pw_test_random(seed, 2) ? 300 : 65536),
			pw_test_random(seed, 256) << 24, pw_test_random(seed, UINT32_MAX));
	}
}

static void
change_a_register(uint64_t *seed)
{
	static const uint32_t registers[] = {REG_TDT(0), REG_TDT(1), REG_TDH(0), REG_TDLEN(0),
		REG_TDBAL(0), REG_TDBAH(0), REG_TXDCTL(0), REG_TXDCTL(1), REG_HLREG0, REG_DMATXCTL,
		REG_CTRL, REG_TQSM(0), REG_TXDCTL(127), REG_TDLEN(127), REG_TDBAL(127)};
	uint32_t reg = registers[pw_test_random(seed, sizeof(registers) / sizeof(registers[0]))];

	if (pw_test_random(seed, 2))
		reg = pw_test_random(seed, BAR_BYTES / 4) * 4;
	rig_write(&rig, reg, pw_test_random(seed, UINT32_MAX) >> pw_test_random(seed, 32));
}

static void
a_hostile_driver_does_no_harm(void **state)
{
	uint64_t seed = pw_test_seed();
	unsigned sent_all = 0;

	(void)state;
	begin();
	for (unsigned round = 0; round < 20000; round++) {
		unsigned q = round / 100 % 2;

		if (round % 100 == 0) {
			rig.allocated = RIG_MEMORY_AT;
			rig_write(&rig, REG_DMATXCTL, DMATXCTL_TE);
			rig_write(&rig, REG_TXDCTL(q), 0);
			rig_control(&rig);
			rig_tx_start(&rig, q, test_between(&seed, 1, 16) * 8);
		}
		for (unsigned n = pw_test_random(&seed, 10); n > 0; n--)
			rig_tx_put(&rig, q, any_descriptor(&seed));
		rig_tx_kick(&rig, q);
		if (pw_test_random(&seed, 100) == 0)
			change_a_register(&seed);
		rig.wire.room = pw_test_random(&seed, 3) ? UINT_MAX : pw_test_random(&seed, 8);
		for (unsigned n = pw_test_random(&seed, 4); n > 0; n--)
			assert_in_range(rig_poll(&rig, 1), 0, FRAME_BURST);
		sent_all += rig.wire.taken.n;
		while (rig_taken(&rig) != NULL)
			;
		assert_true(nic_adds_up(&rig.nic, NULL));
	}
	assert_true(sent_all > 1000);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_descriptors_are_frames_on_the_wire),
		cmocka_unit_test(only_what_asks_for_it_is_reported),
		cmocka_unit_test(contexts_stay_in_their_slots),
		cmocka_unit_test(segments_wait_for_the_wire),
		cmocka_unit_test(a_queue_that_stops_sends_what_it_took),
		cmocka_unit_test(a_reset_in_the_middle_of_a_packet_ends_it),
		cmocka_unit_test(a_ring_moves_while_sending_is_off),
		cmocka_unit_test(nothing_is_sent_before_its_end_is_there),
		cmocka_unit_test(what_makes_no_frame_is_counted_and_reported),
		cmocka_unit_test(short_frames_are_filled_up_if_asked),
		cmocka_unit_test(without_a_link_frames_go_nowhere),
		cmocka_unit_test(each_queue_has_its_turn),
		cmocka_unit_test(tails_that_jump_are_followed_inside_of_the_ring),
		cmocka_unit_test(a_ring_is_where_and_as_long_as_its_registers_can_say),
		cmocka_unit_test(a_hostile_driver_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
