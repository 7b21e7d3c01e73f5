/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_sum.h"

/* The compiler makes vectors of the loop: of 32 bytes where the CPU has them. For clang only of
 * what was not declared before. */
#if defined(__x86_64__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

/* Halves are added apart: each below 2^16 * 2^14, so that both fit. */
FOR_EACH_CPU static uint32_t
sum_words(const uint8_t *data, size_t words)
{
	uint32_t low = 0, high = 0;

	for (size_t i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, data + 4 * i, sizeof(word));
		low += word & 0xffff;
		high += word >> 16;
	}
	return low + high;
}

uint32_t
pw_sum_words(const uint8_t *data, size_t words)
{
	return sum_words(data, words);
}

uint64_t
pw_sum_packet(const struct rte_mbuf *m, uint32_t offset_bytes, uint32_t len_bytes)
{
	uint64_t sum = 0;
	unsigned shift = 0;

	for (; len_bytes > 0; m = m->next) {
		uint32_t skip = RTE_MIN(offset_bytes, m->data_len);
		uint32_t here = RTE_MIN(m->data_len - skip, len_bytes);

		sum += pw_sum_bytes(rte_pktmbuf_mtod_offset(m, const uint8_t *, skip), here)
			<< shift;
		offset_bytes -= skip;
		len_bytes -= here;
		shift ^= here % 2 * 8;
	}
	return sum;
}
