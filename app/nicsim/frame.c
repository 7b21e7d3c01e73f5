/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frame.h"

#include <zlib.h>

uint32_t
frame_crc(const uint8_t *data, uint32_t len_bytes)
{
	return (uint32_t)crc32(0, data, len_bytes);
}
