/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_SUM_H
#define PW_SUM_H

/**
 * @file
 * One's complement sums, modulo 65535, as large as they come: added up first and folded once.
 * Internal to lib/inet and lib/gro.
 */

#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#define PW_SUM_VECTOR_WORDS 16 /* vectors do not pay for a header */

/** Sum of so many words of 32 bits, at most 16384 of them, by vectors. */
uint32_t pw_sum_words(const uint8_t *data, size_t words);

/** Sum of bytes, at most 65535 of them, the first one at an even place. */
static inline uint64_t
pw_sum_bytes(const uint8_t *data, uint32_t len_bytes)
{
	uint32_t words = len_bytes / 4, last = 0;
	uint64_t sum = 0;

	if (words >= PW_SUM_VECTOR_WORDS)
		sum = pw_sum_words(data, words);
	else
		for (uint32_t i = 0; i < words; i++) {
			uint32_t word;

			memcpy(&word, data + 4 * i, sizeof(word));
			sum += word;
		}
	memcpy(&last, data + words * 4, len_bytes % 4);
	return sum + last;
}

/** Sum of a packet's bytes from an offset on, in the mbufs where they lie. */
uint64_t pw_sum_packet(const struct rte_mbuf *m, uint32_t offset_bytes, uint32_t len_bytes);

/** To 1 to 65535; 0 stays 0. */
static inline uint16_t
pw_sum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

#endif
