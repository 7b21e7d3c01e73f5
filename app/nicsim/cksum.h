/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_CKSUM_H
#define NICSIM_CKSUM_H

/** @file The Internet checksum (RFC 1071). Sums are of 16-bit words as they stand in memory. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Add bytes to a sum that is not folded yet; all but the last piece of an even length. */
static inline uint64_t
cksum_add(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t low = 0, high = 0, word;
	uint32_t four = 0;
	uint16_t two = 0, one = 0;

	/* Halves of words have room for their carries, so that the compiler can make vectors. */
	for (size_t i = 0; i < len / 8; i++) {
		memcpy(&word, p + 8 * i, 8);
		low += (uint32_t)word;
		high += word >> 32;
	}
	p += len & ~(size_t)7;
	if (len & 4)
		memcpy(&four, p, 4);
	if (len & 2)
		memcpy(&two, p + (len & 4), 2);
	if (len & 1)
		memcpy(&one, p + (len & 6), 1);
	word = low + high + four + two + one;
	sum += word;
	return sum + (sum < word); /* end-around carry */
}

/** Fold into 16 bits. */
static inline uint16_t
cksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

#endif
