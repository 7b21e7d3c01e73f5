/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include "histogram.h"
#include "pw_test.h"

static struct pw_histogram histogram;

static int
set_up(void **state)
{
	(void)state;
	memset(&histogram, 0, sizeof(histogram));
	return 0;
}

static void
an_empty_one_says_zero(void **state)
{
	(void)state;
	assert_int_equal(pw_histogram_quantile(&histogram, 0), 0);
	assert_int_equal(pw_histogram_quantile(&histogram, 500), 0);
	assert_int_equal(pw_histogram_quantile(&histogram, 1000), 0);
}

/* Each value alone comes back as itself, and among others within a thirty-second part of it. */
static void
values_of_all_sizes(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		for (int delta = -1; delta <= 1; delta++) {
			uint64_t value = (UINT64_C(1) << bit) + delta, found;

			memset(&histogram, 0, sizeof(histogram));
			pw_histogram_add(&histogram, value);
			assert_int_equal(pw_histogram_quantile(&histogram, 500), value);
			pw_histogram_add(&histogram, UINT64_MAX);
			found = pw_histogram_quantile(&histogram, 500);
			assert_true(found >= value && found - value <= value / 32);
			assert_int_equal(histogram.min, value);
			assert_int_equal(histogram.max, UINT64_MAX);
		}
	}
}

static void
quantiles_of_a_thousand(void **state)
{
	static const unsigned permille[] = {1, 10, 500, 990, 999, 1000};

	(void)state;
	for (uint64_t i = 1000; i > 0; i--)
		pw_histogram_add(&histogram, i * 1000);
	for (unsigned i = 0; i < sizeof(permille) / sizeof(permille[0]); i++) {
		uint64_t right = permille[i] * 1000;
		uint64_t found = pw_histogram_quantile(&histogram, permille[i]);

		assert_true(found >= right && found <= right + right / 32);
	}
	assert_int_equal(pw_histogram_quantile(&histogram, 1000), 1000000);
}

static void
merged_is_as_if_added(void **state)
{
	static struct pw_histogram parts[2], none;

	(void)state;
	for (uint64_t i = 1; i < 100000; i = i * 3 / 2 + 1) {
		pw_histogram_add(&histogram, i);
		pw_histogram_add(&parts[i % 2], i);
	}
	pw_histogram_merge(&parts[0], &none);
	pw_histogram_merge(&none, &parts[0]);
	pw_histogram_merge(&none, &parts[1]);
	assert_memory_equal(&none, &histogram, sizeof(histogram));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_empty_one_says_zero, set_up),
		cmocka_unit_test_setup(values_of_all_sizes, set_up),
		cmocka_unit_test_setup(quantiles_of_a_thousand, set_up),
		cmocka_unit_test_setup(merged_is_as_if_added, set_up),
	};

	return cmocka_run_group_tests_name("app_histogram", tests, NULL, NULL);
}
