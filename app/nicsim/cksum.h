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
	uint64_t word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		sum += word;
		sum += sum < word; /* end-around carry */
	}
	word = 0;
	memcpy(&word, p, len);
	sum += word;
	return sum + (sum < word);
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
