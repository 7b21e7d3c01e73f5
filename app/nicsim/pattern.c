/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pattern.h"

#include <arpa/inet.h>
#include <byteswap.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cksum.h"

#define BYTES (PATTERN_PERIOD + FRAME_MAX_BYTES)

static uint8_t bytes[BYTES];
/* Of the bytes in front of each, as 16-bit words that begin at even places: below 2^31. */
static uint32_t sums[BYTES + 1];

void
pattern_init(void)
{
	unsigned short state[3] = {'p', 'w', 1};

	if (sums[BYTES] != 0)
		return;
	for (unsigned i = 0; i < PATTERN_PERIOD; i++)
		bytes[i] = jrand48(state) >> 16;
	memcpy(bytes + PATTERN_PERIOD, bytes, BYTES - PATTERN_PERIOD);
	for (unsigned i = 0; i < BYTES; i++)
		sums[i + 1] = sums[i] + bytes[i] * htons(i % 2 == 0 ? 0x100 : 1);
}

const uint8_t *
pattern_at(uint32_t place)
{
	return bytes + place;
}

uint16_t
pattern_sum(uint32_t place, uint32_t len_bytes)
{
	uint16_t sum = cksum_fold(sums[place + len_bytes] - sums[place]);

	/* RFC 1071 2(B): what begins at an odd place has its bytes swapped. */
	return place % 2 == 0 ? sum : bswap_16(sum);
}
