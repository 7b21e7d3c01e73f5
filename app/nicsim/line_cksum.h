/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_LINE_CKSUM_H
#define NICSIM_LINE_CKSUM_H

/** @file A checksum made wrong. */

#include <stdbool.h>
#include <stdint.h>

/**
 * Make the checksum of TCP or UDP wrong, else that of IPv4.
 *
 * @return false when the frame has none, and is as it was
 */
bool line_cksum_spoil(uint8_t *data, uint32_t len_bytes);

#endif
