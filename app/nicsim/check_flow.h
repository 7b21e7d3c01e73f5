/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_CHECK_FLOW_H
#define NICSIM_CHECK_FLOW_H

/** @file Which sequence numbers of a flow, from 0 on, have come. */

#include <stdint.h>

#define CHECK_FLOW_SEEN 256 /**< the last so many numbers are known one by one; a power of two */

struct check_flow {
	uint32_t next;			     /**< behind the highest that came */
	uint64_t seen[CHECK_FLOW_SEEN / 64]; /**< a bit a number, at its place modulo the size */
};

enum check_order { CHECK_IN_ORDER, CHECK_LATE, CHECK_TWICE };

/**
 * Note a number.
 *
 * What comes later than CHECK_FLOW_SEEN numbers counts as late, also when it comes twice.
 *
 * @param missing  numbers that were left out in front of it
 */
static inline enum check_order
check_flow_note(struct check_flow *flow, uint32_t seq, uint32_t *missing)
{
	uint64_t bit = 1ULL << (seq % 64);
	uint64_t *word = &flow->seen[seq % CHECK_FLOW_SEEN / 64];
	int32_t ahead = (int32_t)(seq - flow->next);

	*missing = 0;
	if (ahead < 0) {
		if (ahead < -CHECK_FLOW_SEEN)
			return CHECK_LATE;
		if (*word & bit)
			return CHECK_TWICE;
		*word |= bit;
		return CHECK_LATE;
	}
	for (uint32_t i = 0; i < (uint32_t)ahead && i < CHECK_FLOW_SEEN; i++) {
		uint32_t left_out = seq - 1 - i;

		flow->seen[left_out % CHECK_FLOW_SEEN / 64] &= ~(1ULL << (left_out % 64));
	}
	*missing = (uint32_t)ahead;
	*word |= bit;
	flow->next = seq + 1;
	return CHECK_IN_ORDER;
}

#endif
