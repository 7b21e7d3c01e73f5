/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Which frames the port takes, by their destination and their VLAN (datasheet 7.1.1). */

#include "nicsim_test.h"

#include <string.h>

#include "nicsim_rig.h"

static struct rig rig;
static struct rig_packet packet;

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static int
begin(void **state)
{
	(void)state;
	rig_open(&rig, false);
	rig_write(&rig, REG_FCTRL, 0);
	rig_rx_start(&rig, 0, 64, 2);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	rig_close(&rig);
	return 0;
}

enum answer { TAKEN, TAKEN_INEXACT, LEFT };

static enum answer
ask(const uint8_t address[6], bool tagged, uint16_t tag)
{
	struct test_packet p = {.tagged = tagged, .tag = tag, .payload_bytes = 60};
	struct test_frame frame;
	uint64_t seed = 1;

	test_make(&frame, &p, &seed);
	memcpy(frame.data, address, 6);
	rig_give(&rig, frame.data, frame.len_bytes, 0);
	assert_int_equal(rig_poll(&rig, 1), 1);
	assert_true(nic_adds_up(&rig.nic, NULL));
	if (!rig_rx_read(&rig, 0, &packet))
		return LEFT;
	rig_rx_refill(&rig, 0);
	return packet.last.done.status & RXD_PIF ? TAKEN_INEXACT : TAKEN;
}

static void
any_address(uint64_t *seed, uint8_t address[6], bool multicast)
{
	test_fill(seed, address, 6);
	address[0] = (uint8_t)((address[0] & 0xfe) | multicast);
}

static void
its_own_addresses_pass(void **state)
{
	uint64_t seed = pw_test_seed();
	uint8_t addresses[NB_RA][6], other[6];

	(void)state;
	/* The first 16 and the others stand apart: 8.2.3.7.9. */
	for (unsigned n = 0; n < NB_RA; n++) {
		uint32_t reg = n < 16 ? 0x5400 + 8 * n : 0xa200 + 8 * n;

		any_address(&seed, addresses[n], false);
		rig_write(&rig, reg,
			addresses[n][0] | addresses[n][1] << 8 | addresses[n][2] << 16 |
				(uint32_t)addresses[n][3] << 24);
		rig_write(&rig, reg + 4,
			addresses[n][4] | addresses[n][5] << 8 | (n % 3 ? 1u << 31 : 0));
	}
	rig_control(&rig);
	for (unsigned n = 0; n < NB_RA; n++)
		assert_int_equal(ask(addresses[n], false, 0), n % 3 ? TAKEN : LEFT);
	for (unsigned n = 0; n < NB_RA; n++) {
		memcpy(other, addresses[n], 6);
		other[pw_test_random(&seed, 6)] ^= 2 << pw_test_random(&seed, 7);
		assert_int_equal(ask(other, false, 0), LEFT);
	}
}

static void
the_port_has_its_address_after_a_reset(void **state)
{
	(void)state;
	assert_int_equal(ask(rig.nic.mac, false, 0), TAKEN);
}

static void
promiscuity_is_of_each_kind(void **state)
{
	static const uint8_t unicast[6] = {2, 9, 9, 9, 9, 9}, multicast[6] = {3, 9, 9, 9, 9, 9};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		bool upe = i & 1, mpe = i & 2, bam = i & 4;

		rig_write(&rig, REG_FCTRL,
			(upe ? 1 << 9 : 0) | (mpe ? 1 << 8 : 0) | (bam ? 1 << 10 : 0));
		rig_control(&rig);
		assert_int_equal(ask(unicast, false, 0), upe ? TAKEN_INEXACT : LEFT);
		assert_int_equal(ask(multicast, false, 0), mpe ? TAKEN_INEXACT : LEFT);
		assert_int_equal(ask(broadcast, false, 0) != LEFT, mpe || bam);
	}
}

/* Which bits of the address are looked up: as ixgbe_mta_vector() sets them for each MO. */
static unsigned
table_bit(const uint8_t address[6], unsigned mo)
{
	switch (mo) {
	case 0: /* bits 47:36 */
		return address[4] >> 4 | address[5] << 4;
	case 1: /* bits 46:35 */
		return (address[4] >> 3 | address[5] << 5) & 0xfff;
	case 2: /* bits 45:34 */
		return (address[4] >> 2 | address[5] << 6) & 0xfff;
	default: /* bits 43:32 */
		return (address[4] | address[5] << 8) & 0xfff;
	}
}

static void
the_multicast_table_is_looked_up_as_mo_says(void **state)
{
	uint64_t seed = pw_test_seed();
	uint8_t address[6];

	(void)state;
	for (unsigned mo = 0; mo < 4; mo++)
		for (unsigned round = 0; round < 300; round++) {
			unsigned bit;

			any_address(&seed, address, true);
			bit = table_bit(address, mo);
			/* This bit alone, then all but this one. */
			for (unsigned i = 0; i < 128; i++)
				rig_write(&rig, 0x5200 + 4 * i, i == bit / 32 ? 1u << bit % 32 : 0);
			rig_write(&rig, REG_MCSTCTRL, mo | 4);
			rig_control(&rig);
			assert_int_equal(ask(address, false, 0), TAKEN_INEXACT);
			address[0] ^= 1;
			assert_int_equal(ask(address, false, 0), LEFT);
			address[0] ^= 1;
			for (unsigned i = 0; i < 128; i++)
				rig_write(&rig, 0x5200 + 4 * i,
					i == bit / 32 ? ~(1u << bit % 32) : UINT32_MAX);
			assert_int_equal(ask(address, false, 0), LEFT);
			/* Off. */
			rig_write(&rig, REG_MCSTCTRL, mo);
			rig_write(&rig, 0x5200 + 4 * (bit / 32), UINT32_MAX);
			rig_control(&rig);
			assert_int_equal(ask(address, false, 0), LEFT);
		}
}

static void
vlans_pass_by_their_bit(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		uint16_t tag = (uint16_t)pw_test_random(&seed, 65536);
		unsigned id = tag % 4096;

		for (unsigned i = 0; i < 128; i++)
			rig_write(&rig, 0xa000 + 4 * i, i == id / 32 ? 1u << id % 32 : 0);
		rig_write(&rig, REG_VLNCTRL, 1 << 30);
		rig_control(&rig);
		assert_int_equal(ask(rig.nic.mac, true, tag), TAKEN);
		assert_int_equal(
			ask(rig.nic.mac, true, tag ^ 1 << pw_test_random(&seed, 12)), LEFT);
		assert_int_equal(ask(rig.nic.mac, false, 0), TAKEN);
		/* A VLAN does not help an address. */
		assert_int_equal(ask(broadcast, true, tag), LEFT);
		rig_write(&rig, REG_VLNCTRL, 0);
		rig_control(&rig);
		assert_int_equal(ask(rig.nic.mac, true, tag ^ 0xfff), TAKEN);
	}
	assert_int_equal(rig.nic.counters.rx_vlan_filtered, 1000);
	assert_int_equal(rig.nic.counters.rx_filtered, 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_own_addresses_pass, begin, end),
		cmocka_unit_test_setup_teardown(the_port_has_its_address_after_a_reset, begin, end),
		cmocka_unit_test_setup_teardown(promiscuity_is_of_each_kind, begin, end),
		cmocka_unit_test_setup_teardown(
			the_multicast_table_is_looked_up_as_mo_says, begin, end),
		cmocka_unit_test_setup_teardown(vlans_pass_by_their_bit, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
