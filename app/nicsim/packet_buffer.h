/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PACKET_BUFFER_H
#define NICSIM_PACKET_BUFFER_H

/**
 * @file
 * The receive packet buffer of 512 KiB (datasheet 1.3): where frames wait when no descriptor is
 * there. First in, first out; a frame that does not fit is missed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

#define PACKET_BUFFER_BYTES (512 << 10)

struct packet_buffer {
	uint8_t *bytes;
	uint32_t head, used;
	uint32_t frames;
};

/** @return 0, or -ENOMEM */
int packet_buffer_init(struct packet_buffer *buffer);

void packet_buffer_fini(struct packet_buffer *buffer);

/** Copy a frame in. False: no room. */
bool packet_buffer_put(struct packet_buffer *buffer, const struct frame *frame);

/** The oldest frame, valid until it is dropped. False: empty. */
bool packet_buffer_peek(const struct packet_buffer *buffer, struct frame *frame);

/** Drop the oldest frame. */
void packet_buffer_drop(struct packet_buffer *buffer);

static inline bool
packet_buffer_is_empty(const struct packet_buffer *buffer)
{
	return buffer->frames == 0;
}

#endif
