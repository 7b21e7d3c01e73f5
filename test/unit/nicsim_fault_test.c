/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Faults of the software NIC on demand: what is wrong for a while, and what stays right. */

#include "nicsim_test.h"

#include <errno.h>
#include <string.h>

#include "fault.h"
#include "nicsim_rig.h"

static struct rig rig;
static struct rig_packet packet;

static uint32_t given, read_next;

/* Frames that carry their number. */
static void
give(unsigned n)
{
	uint8_t data[60] = {2};

	while (n-- > 0) {
		test_put32(data + 20, given++);
		rig_give(&rig, data, sizeof(data), 0);
	}
}

static unsigned
read_all(void)
{
	unsigned n = 0;

	for (; rig_rx_read(&rig, 0, &packet); n++) {
		assert_null(packet.wrong);
		assert_int_equal(test_get32(packet.data + 20), read_next++);
	}
	return n;
}

static int
begin(void **state)
{
	(void)state;
	given = read_next = 0;
	rig_open(&rig, true);
	rig_rx_start(&rig, 0, 64, 2);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	assert_true(nic_adds_up(&rig.nic, NULL));
	rig_close(&rig);
	return 0;
}

static void
inject(const char *name, const char *arg)
{
	uint64_t value;
	const struct fault_kind *kind = fault_parse(name, arg, &value);

	assert_non_null(kind);
	rig.nic.now_ns = rig.now_ns;
	kind->inject(&rig.nic, value);
}

static void
late_descriptors_come_in_order_and_all(void **state)
{
	static const char *const times[] = {"0", "20us", "500us", "3ms"};
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		if (pw_test_random(&seed, 50) == 0)
			inject("late", times[pw_test_random(&seed, 4)]);
		if (pw_test_random(&seed, 50) == 0)
			inject("scatter", times[pw_test_random(&seed, 4)]);
		if (given - read_next < 300)
			give(pw_test_random(&seed, 40));
		rig_poll(&rig, pw_test_random(&seed, 60));
		read_all();
		if (pw_test_random(&seed, 2))
			rig_rx_refill(&rig, 0);
	}
	for (unsigned i = 0; i < 100; i++) {
		rig_rx_refill(&rig, 0);
		rig_poll(&rig, 7000);
		read_all();
	}
	assert_int_equal(read_next, given);
	assert_true(nic_is_idle(&rig.nic));
}

static void
late_is_so_much_later(void **state)
{
	(void)state;
	inject("late", "100us");
	give(10);
	rig_poll(&rig, 95);
	assert_int_equal(read_all(), 0);
	assert_false(nic_is_idle(&rig.nic));
	rig_poll(&rig, 10);
	assert_int_equal(read_all(), 10);
}

static void
scattered_ones_come_one_by_one(void **state)
{
	unsigned groups = 0;

	(void)state;
	inject("scatter", "100us");
	give(60);
	for (unsigned i = 0; i < 200; i++) {
		rig_poll(&rig, 1);
		groups += read_all() > 0;
	}
	assert_int_equal(read_next, 60);
	assert_true(groups >= 3);
}

/* Write-backs that were held are of the ring that was; a larger one that follows is its own. */
static void
a_ring_that_vanishes_takes_its_late_ones_along(void **state)
{
	(void)state;
	inject("late", "1ms");
	give(30);
	rig_poll(&rig, 10);
	assert_int_equal(read_all(), 0);
	/* The application has died, and its memory went; the next one brings a larger ring. */
	memset(rig.present, 0, sizeof(rig.present));
	nic_remap(&rig.nic);
	assert_int_equal(rig.nic.nb_rx_running, 0);
	rig_control(&rig);
	for (unsigned i = 1; i < RIG_HOLE; i++)
		rig.present[i] = 1;
	rig_rx_start(&rig, 0, 512, 2);
	read_next = given;
	give(500);
	for (unsigned i = 0; i < 20; i++) {
		rig_poll(&rig, 300);
		read_all();
		rig_rx_refill(&rig, 0);
	}
	assert_int_equal(read_next, given);
}

static void
a_stalled_port_keeps_frames_and_goes_on(void **state)
{
	(void)state;
	inject("rx-stall", "1ms");
	give(50);
	rig_poll(&rig, 990);
	assert_int_equal(read_all(), 0);
	assert_int_equal(rig.nic.packets.frames, 50);
	rig_poll(&rig, 100);
	assert_int_equal(read_all(), 50);
}

static void
a_hanging_port_sends_later(void **state)
{
	uint8_t data[60] = {2};

	(void)state;
	rig_tx_start(&rig, 0, 32);
	inject("tx-hang", "1ms");
	for (unsigned i = 0; i < 5; i++)
		rig_tx_frame(&rig, 0, data, sizeof(data), 1, 0, 0);
	rig_tx_kick(&rig, 0);
	rig_poll(&rig, 990);
	assert_int_equal(rig.wire.taken.n, 0);
	assert_int_equal(rig_read(&rig, REG_TDH(0)), 0);
	rig_poll(&rig, 100);
	assert_int_equal(rig.wire.taken.n, 5);
	assert_int_equal(rig_read(&rig, REG_TDH(0)), 5);
}

static void
a_link_that_flaps_comes_back_and_says_so(void **state)
{
	(void)state;
	inject("link-flap", "1ms");
	assert_int_equal(rig_read(&rig, REG_LINKS), 0);
	assert_int_equal(rig_read(&rig, REG_EICR) & EICR_LSC, EICR_LSC);
	rig_write(&rig, REG_EIMC, EICR_LSC);
	rig_control(&rig);
	rig_write(&rig, REG_EIMS, EICR_LSC);
	give(10);
	rig_poll(&rig, 900);
	assert_int_equal(rig_read(&rig, REG_EICR), 0);
	assert_int_equal(read_all(), 0);
	rig_poll(&rig, 200);
	assert_int_equal(rig_read(&rig, REG_LINKS), LINKS_UP_10G);
	assert_int_equal(rig_read(&rig, REG_EICR) & EICR_LSC, EICR_LSC);
	assert_int_equal(read_all(), 10);
}

/* However far the head jumps, it takes no descriptor that is the driver's. */
static void
a_head_that_jumps_stops_at_the_tail(void **state)
{
	static const char *const jumps[] = {"10", "63", "64", "4096"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		rig_rx_stop(&rig, 0);
		rig.allocated = RIG_MEMORY_AT;
		rig_rx_start(&rig, 0, 64, 2);
		inject("head-jump", jumps[i]);
		give(100);
		rig_poll(&rig, 200);
		/* The driver waits at the first; those behind it are written, if there are any. */
		assert_int_equal(read_all(), 0);
		assert_int_equal(rig_rx_desc(&rig, 0, 0)->read.header_address, 0);
		if (i == 0)
			assert_int_equal(rig_rx_desc(&rig, 0, 10)->done.status & RXD_DD, 1);
		assert_int_equal(rig.nic.rxq[0].ring.head, 63);
		assert_int_equal(rig_rx_desc(&rig, 0, 63)->read.packet_address,
			rig.rxq[0].buffers + 63 * 2048);
		rig_write(&rig, REG_CTRL, CTRL_RST);
		rig_control(&rig);
		rig_write(&rig, REG_FCTRL, FCTRL_UPE);
		rig_write(&rig, REG_HLREG0, HLREG0_RXCRCSTRP | HLREG0_JUMBOEN);
		rig_write(&rig, REG_MAXFRS, 2000 << 16);
		rig_write(&rig, REG_RXCTRL, RXCTRL_RXEN);
	}
}

static void
a_reset_forgets_everything(void **state)
{
	(void)state;
	inject("reset", NULL);
	assert_int_equal(rig_read(&rig, REG_RXDCTL(0)), 0);
	assert_int_equal(rig_read(&rig, REG_LINKS), LINKS_UP_10G);
	assert_int_equal(rig.nic.nb_rx_running, 0);
	assert_int_equal(rig.nic.counters.resets, 1);
}

static void
what_is_no_fault_is_refused(void **state)
{
	static const char *const wrong[][2] = {{"late", NULL}, {"late", "soon"}, {"late", "61s"},
		{"rx-stall", "-1ms"}, {"head-jump", "0"}, {"head-jump", "4097"},
		{"head-jump", NULL}, {"link-down", "1ms"}, {"reset", ""}, {"lat", "1ms"}};
	uint64_t value;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_null(fault_parse(wrong[i][0], wrong[i][1], &value));
	assert_int_equal(rig.nic.counters.resets, 0);
	assert_false(fault_delays_write_back(&rig.nic.faults));
	/* All that there are have a help. */
	for (unsigned i = 0; fault_kind_at(i) != NULL; i++)
		assert_non_null(fault_kind_at(i)->help);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(late_descriptors_come_in_order_and_all, begin, end),
		cmocka_unit_test_setup_teardown(late_is_so_much_later, begin, end),
		cmocka_unit_test_setup_teardown(scattered_ones_come_one_by_one, begin, end),
		cmocka_unit_test_setup_teardown(
			a_ring_that_vanishes_takes_its_late_ones_along, begin, end),
		cmocka_unit_test_setup_teardown(
			a_stalled_port_keeps_frames_and_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(a_hanging_port_sends_later, begin, end),
		cmocka_unit_test_setup_teardown(
			a_link_that_flaps_comes_back_and_says_so, begin, end),
		cmocka_unit_test_setup_teardown(a_head_that_jumps_stops_at_the_tail, begin, end),
		cmocka_unit_test_setup_teardown(a_reset_forgets_everything, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_fault_is_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
