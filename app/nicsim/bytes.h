/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_BYTES_H
#define NICSIM_BYTES_H

/** @file Numbers in network order that stand at any address. */

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t
get_be16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return ntohs(value);
}

static inline uint32_t
get_be32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return ntohl(value);
}

static inline void
put_be16(uint8_t *p, uint16_t value)
{
	value = htons(value);
	memcpy(p, &value, sizeof(value));
}

static inline void
put_be32(uint8_t *p, uint32_t value)
{
	value = htonl(value);
	memcpy(p, &value, sizeof(value));
}

#endif
