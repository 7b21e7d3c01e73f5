/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_CHANCE_H
#define PW_CHANCE_H

/** @file Chance that can be repeated, for all tests; and PW_TEST_FILTER, which tests run. */

#include <stdint.h>

/** A seed: PW_TEST_SEED from the environment, else of the time. Printed, to repeat a failure. */
uint64_t pw_test_seed(void);

/** A number from 0 to below. */
uint32_t pw_test_random(uint64_t *seed, uint32_t below);

#endif
