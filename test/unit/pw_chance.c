/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_chance.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* PW_TEST_FILTER: the tests to run, as in "*_thread*". */
__attribute__((constructor)) static void
filter_tests(void)
{
	const char *pattern = getenv("PW_TEST_FILTER");

	if (pattern != NULL)
		cmocka_set_test_filter(pattern);
}

uint64_t
pw_test_seed(void)
{
	const char *text = getenv("PW_TEST_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

	printf("PW_TEST_SEED=%" PRIu64 "\n", seed);
	fflush(stdout); /* the program may die */
	return seed;
}

uint32_t
pw_test_random(uint64_t *seed, uint32_t below)
{
	/* SplitMix64: any seed will do. */
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z >> 32) * below >> 32;
}
