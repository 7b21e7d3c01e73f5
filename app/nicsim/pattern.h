/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PATTERN_H
#define NICSIM_PATTERN_H

/**
 * @file
 * What payloads are filled with: random bytes that come again after a prime number of them, so
 * that pieces that got mixed up, which mostly lie powers of two apart, differ.
 */

#include <stdint.h>

#include "frame.h"

#define PATTERN_PERIOD 16381

/** Make the bytes. All that is below needs it; again does nothing. */
void pattern_init(void);

/** FRAME_MAX_BYTES or more bytes that begin at a place below PATTERN_PERIOD. */
const uint8_t *pattern_at(uint32_t place);

/** Their Internet checksum, folded: without adding them up. len_bytes up to FRAME_MAX_BYTES. */
uint16_t pattern_sum(uint32_t place, uint32_t len_bytes);

#endif
