/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_GEN_MARK_H
#define NICSIM_GEN_MARK_H

/**
 * @file
 * What a frame of the generator carries at the beginning of its payload. Behind it follows the
 * pattern, from a place that the variant tells.
 *
 * The sequence number and its complement, and the complement of the flow number with the port and
 * address that it is in, add up to the same always: one checksum is right for all of them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "pattern.h"

#define GEN_FLOWS_MAX 65536 /* as the flow number has 16 bits */

/* As it lies in the frame: 3 bytes of magic, then these. */
#define GEN_MARK_VARIANT 3
#define GEN_MARK_FLOW 4
#define GEN_MARK_SEQ 6
#define GEN_MARK_SEQ_CHECK 10
#define GEN_MARK_BYTES 14 /* all that a frame of 64 bytes with a VLAN tag has room for */

static const uint8_t gen_mark_magic[GEN_MARK_VARIANT] = {'p', 'w', 'G'};

/** Whether a payload is the generator's. */
static inline bool
gen_mark_is_own(const uint8_t *payload, uint32_t len_bytes)
{
	return len_bytes >= GEN_MARK_BYTES &&
		memcmp(payload, gen_mark_magic, sizeof(gen_mark_magic)) == 0;
}

static inline void
gen_mark_write(uint8_t *mark, uint16_t flow, uint32_t seq)
{
	put_be16(mark + GEN_MARK_FLOW, (uint16_t)~flow);
	put_be32(mark + GEN_MARK_SEQ, seq);
	put_be32(mark + GEN_MARK_SEQ_CHECK, ~seq);
}

/** The bytes behind the mark. */
static inline const uint8_t *
gen_mark_content(uint8_t variant)
{
	return pattern_at(variant * 61U);
}

#endif
