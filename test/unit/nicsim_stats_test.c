/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Statistics registers, that a driver's reading clears (datasheet 8.2.3.23). */

#include "nicsim_test.h"

#include <string.h>

#include "nicsim_rig.h"

#define MS 1000000

static struct rig rig;

static int
begin(void **state)
{
	(void)state;
	rig_open(&rig, false);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	rig_close(&rig);
	return 0;
}

/* As the driver numbers the registers: ixgbe_type.h. */
static const struct {
	unsigned stat;
	uint32_t low, high; /* high 0: 32 bits */
} registers[] = {
	{STAT_CRCERRS, 0x4000, 0},
	{STAT_MPC, 0x3fa0, 0},
	{STAT_RLEC, 0x4040, 0},
	{STAT_GPRC, 0x4074, 0},
	{STAT_BPRC, 0x4078, 0},
	{STAT_MPRC, 0x407c, 0},
	{STAT_GPTC, 0x4080, 0},
	{STAT_GORC, 0x4088, 0x408c},
	{STAT_GOTC, 0x4090, 0x4094},
	{STAT_RUC, 0x40a4, 0},
	{STAT_ROC, 0x40ac, 0},
	{STAT_TOR, 0x40c0, 0x40c4},
	{STAT_TPR, 0x40d0, 0},
	{STAT_TPT, 0x40d4, 0},
	{STAT_MPTC, 0x40f0, 0},
	{STAT_BPTC, 0x40f4, 0},
	{STAT_XEC, 0x4120, 0},
	{STAT_PRC + 0, 0x405c, 0},
	{STAT_PRC + 1, 0x4060, 0},
	{STAT_PRC + 2, 0x4064, 0},
	{STAT_PRC + 3, 0x4068, 0},
	{STAT_PRC + 4, 0x406c, 0},
	{STAT_PRC + 5, 0x4070, 0},
	{STAT_PTC + 0, 0x40d8, 0},
	{STAT_PTC + 1, 0x40dc, 0},
	{STAT_PTC + 2, 0x40e0, 0},
	{STAT_PTC + 3, 0x40e4, 0},
	{STAT_PTC + 4, 0x40e8, 0},
	{STAT_PTC + 5, 0x40ec, 0},
	{STAT_QPRC + 0, 0x1030, 0},
	{STAT_QPRC + 15, 0x13f0, 0},
	{STAT_QBRC + 0, 0x1034, 0x1038},
	{STAT_QBRC + 15, 0x13f4, 0x13f8},
	{STAT_QPRDC + 0, 0x1430, 0},
	{STAT_QPRDC + 15, 0x17f0, 0},
	{STAT_QPTC + 0, 0x6030, 0},
	{STAT_QPTC + 15, 0x63f0, 0},
	{STAT_QBTC + 0, 0x8700, 0x8704},
	{STAT_QBTC + 15, 0x8778, 0x877c},
};

#define NB_REGISTERS (sizeof(registers) / sizeof(registers[0]))

static uint64_t
shown(unsigned i)
{
	uint64_t value = rig_read(&rig, registers[i].low);

	if (registers[i].high != 0)
		value |= (uint64_t)rig_read(&rig, registers[i].high) << 32;
	return value;
}

static void
pass(uint64_t ns)
{
	rig.nic.now_ns += ns;
	stats_publish(&rig.nic);
}

static void
each_total_has_its_register(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NB_STATS; i++)
		rig.nic.stats.total[i] = 1000 + i;
	pass(2 * MS);
	for (unsigned i = 0; i < NB_REGISTERS; i++)
		assert_int_equal(shown(i), 1000 + registers[i].stat);
}

/* A wide one has 36 bits, the others 32: what does not fit comes with the next reading. */
static void
no_count_is_lost_as_it_does_not_fit(void **state)
{
	const uint64_t total = UINT64_C(5) << 36 | 12345;

	(void)state;
	for (unsigned i = 0; i < NB_REGISTERS; i++) {
		bool wide = registers[i].high != 0;
		uint64_t most = wide ? (UINT64_C(1) << 36) - 1 : UINT32_MAX, sum = 0;
		uint64_t wanted = wide ? total : total >> 4;

		rig.nic.stats.total[registers[i].stat] = wanted;
		for (unsigned reading = 0; reading < 10; reading++) {
			pass(2 * MS);
			assert_true(shown(i) <= most);
			if (registers[i].high != 0)
				assert_true(rig_read(&rig, registers[i].high) < 16);
			sum += shown(i);
			stats_was_read(&rig.nic, 1);
		}
		if (wide)
			assert_int_equal(sum, wanted);
		else
			assert_int_equal(sum, 10 * most < wanted ? 10 * most : wanted);
	}
}

/* The driver adds up what it reads; whenever it does, it ends with the total. */
static void
the_driver_ends_with_the_totals(void **state)
{
	uint64_t seed = pw_test_seed(), driver[NB_REGISTERS] = {0};

	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		unsigned times = pw_test_random(&seed, 3);
		bool frozen = pw_test_random(&seed, 2);

		for (unsigned i = 0; i < NB_STATS; i++)
			rig.nic.stats.total[i] += pw_test_random(&seed, 1000);
		pass(pw_test_random(&seed, 2 * MS));
		if (times == 0)
			continue;
		if (frozen)
			stats_reading_began(&rig.nic);
		/* A thread reads twice before we see it: the memory still shows the same. */
		for (unsigned t = 0; t < times; t++)
			for (unsigned i = 0; i < NB_REGISTERS; i++) {
				driver[i] += shown(i);
				/* Frames come while it reads. */
				rig.nic.stats.total[registers[i].stat] += pw_test_random(&seed, 9);
				if (frozen)
					pass(pw_test_random(&seed, MS / 2));
			}
		stats_was_read(&rig.nic, times);
	}
	/* What was read twice is made up for by what comes later. */
	for (unsigned reading = 0; reading < 3; reading++) {
		for (unsigned i = 0; i < NB_STATS; i++)
			rig.nic.stats.total[i] += 3000;
		pass(2 * MS);
		for (unsigned i = 0; i < NB_REGISTERS; i++)
			driver[i] += shown(i);
		stats_was_read(&rig.nic, 1);
	}
	for (unsigned i = 0; i < NB_REGISTERS; i++)
		assert_int_equal(driver[i], rig.nic.stats.total[registers[i].stat]);
}

static void
nothing_changes_during_a_reading(void **state)
{
	(void)state;
	rig.nic.stats.total[STAT_GPRC] = 5;
	pass(2 * MS);
	stats_reading_began(&rig.nic);
	rig.nic.stats.total[STAT_GPRC] = 7;
	pass(40 * MS);
	assert_int_equal(rig_read(&rig, REG_GPRC), 5);
	/* It was not a whole one: it ends by itself, and nothing was cleared. */
	pass(11 * MS);
	assert_int_equal(rig_read(&rig, REG_GPRC), 7);
	stats_reading_began(&rig.nic);
	stats_was_read(&rig.nic, 1);
	assert_int_equal(rig_read(&rig, REG_GPRC), 0);
	rig.nic.stats.total[STAT_GPRC] = 8;
	pass(2 * MS);
	assert_int_equal(rig_read(&rig, REG_GPRC), 1);
}

static void
a_reset_clears_them(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NB_STATS; i++)
		rig.nic.stats.total[i] = 1000 + i;
	pass(2 * MS);
	rig.nic.stats.total[STAT_GPRC] += 5; /* not even shown yet */
	rig_write(&rig, REG_CTRL, CTRL_RST);
	rig_control(&rig);
	pass(2 * MS);
	for (unsigned i = 0; i < NB_REGISTERS; i++)
		assert_int_equal(shown(i), 0);
	rig.nic.stats.total[STAT_GPRC] += 3;
	pass(2 * MS);
	assert_int_equal(rig_read(&rig, REG_GPRC), 3);
}

static void
sizes_have_the_limits_of_the_datasheet(void **state)
{
	static const uint32_t last[] = {64, 127, 255, 511, 1023, 16000};
	unsigned size = 0;

	(void)state;
	for (uint32_t len = 14; len <= 16000; len++) {
		if (len > last[size])
			size++;
		assert_int_equal(stats_size(len), size);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_total_has_its_register, begin, end),
		cmocka_unit_test_setup_teardown(no_count_is_lost_as_it_does_not_fit, begin, end),
		cmocka_unit_test_setup_teardown(the_driver_ends_with_the_totals, begin, end),
		cmocka_unit_test_setup_teardown(nothing_changes_during_a_reading, begin, end),
		cmocka_unit_test_setup_teardown(a_reset_clears_them, begin, end),
		cmocka_unit_test(sizes_have_the_limits_of_the_datasheet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
