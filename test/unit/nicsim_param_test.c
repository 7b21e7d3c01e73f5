/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Settings of the software NIC: what is read, and what is refused. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "param.h"

struct config {
	uint64_t count, time_ns, choice;
	double percent;
	const char *text;
};

static const char *const words[] = {"udp", "tcp", NULL};

static const struct param table[] = {
	{"count", "N", "how many", PARAM_UINT, offsetof(struct config, count), 1, 4096, NULL, NULL},
	{"time", "TIME", "how long", PARAM_TIME, offsetof(struct config, time_ns), 0, 10000, NULL,
		NULL},
	{"choice", "WORD", "which", PARAM_CHOICE, offsetof(struct config, choice), 0, 0, words,
		NULL},
	{"percent", "%", "how often", PARAM_PERCENT, offsetof(struct config, percent), 0, 100, NULL,
		NULL},
	{"text", "TEXT", "its name", PARAM_TEXT, offsetof(struct config, text), 0, 0, NULL, NULL},
	{0},
};

static int
set(struct config *config, const char *name, const char *value)
{
	return param_set(param_find(table, name), config, "test", value);
}

static void
values_carry_their_units(void **state)
{
	struct config config = {0};

	(void)state;
	assert_int_equal(set(&config, "count", "2K"), 0);
	assert_int_equal(config.count, 2048);
	assert_int_equal(set(&config, "time", "20us"), 0);
	assert_int_equal(config.time_ns, 20000);
	assert_int_equal(set(&config, "time", "1.5"), 0);
	assert_int_equal(config.time_ns, 1500000);
	assert_int_equal(set(&config, "choice", "tcp"), 0);
	assert_int_equal(config.choice, 1);
	assert_int_equal(set(&config, "percent", "1.5"), 0);
	assert_true(config.percent > 0.01499 && config.percent < 0.01501);
	assert_int_equal(set(&config, "text", "a=b"), 0);
	assert_string_equal(config.text, "a=b");
}

static void
what_is_no_value_is_refused_and_changes_nothing(void **state)
{
	static const char *const wrong[][2] = {
		{"count", ""},
		{"count", "0"},
		{"count", "4097"},
		{"count", "5G"},
		{"count", "-1"},
		{"count", "1.5"},
		{"count", "1x"},
		{"count", "0x10"},
		{"count", " 1"},
		{"count", "1e3"},
		{"count", "nan"},
		{"count", "99999999999999999999999999999"},
		{"time", "11s"},
		{"time", "1h"},
		{"time", "inf"},
		{"time", "-1ms"},
		{"choice", ""},
		{"choice", "TCP"},
		{"choice", "sctp"},
		{"percent", "101"},
		{"percent", "-1"},
		{"percent", "1 %"},
		{"percent", "nan"},
		{"text", ""},
	};
	struct config config = {7, 7, 7, 7, "seven"};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (set(&config, wrong[i][0], wrong[i][1]) == 0)
			fail_msg("%s=%s was taken", wrong[i][0], wrong[i][1]);
	assert_int_equal(config.count, 7);
	assert_int_equal(config.time_ns, 7);
	assert_int_equal(config.choice, 7);
	assert_string_equal(config.text, "seven");
}

static void
names_are_found_whole(void **state)
{
	(void)state;
	assert_null(param_find(table, "coun"));
	assert_null(param_find(table, "counts"));
	assert_null(param_find(NULL, "count"));
	assert_string_equal(param_find(table, "count")->name, "count");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_carry_their_units),
		cmocka_unit_test(what_is_no_value_is_refused_and_changes_nothing),
		cmocka_unit_test(names_are_found_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
