/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

/** @file Random numbers from a seed, cheap enough for a measured loop: xorshift64*. */

#include <stdint.h>

/** A state for pw_bench_random(); near seeds give unlike states (splitmix64). */
static inline uint64_t
pw_bench_random_init(uint64_t seed)
{
	uint64_t z = seed + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return z == 0 ? 1 : z;
}

static inline uint64_t
pw_bench_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/** A number from 0 to n - 1. */
static inline uint32_t
pw_bench_random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((pw_bench_random(state) >> 32) * n) >> 32);
}

/** Put pointers into an order at random. */
static inline void
pw_bench_shuffle(void **items, unsigned n, uint64_t seed)
{
	uint64_t state = pw_bench_random_init(seed);

	for (unsigned i = n; i > 1; i--) {
		unsigned j = pw_bench_random_below(&state, i);
		void *swap = items[i - 1];

		items[i - 1] = items[j];
		items[j] = swap;
	}
}

#endif
