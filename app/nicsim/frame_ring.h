/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_FRAME_RING_H
#define NICSIM_FRAME_RING_H

/** @file A bounded ring of copied frames. Frames of common sizes fill the slots, not the bytes. */

#include <stdint.h>

#include "frame.h"

#define FRAME_RING_SLOTS 4096
#define FRAME_RING_BYTES (8 << 20)

struct frame_ring {
	struct frame slots[FRAME_RING_SLOTS];
	uint32_t head, tail; /* of slots written and freed, without wrapping */
	uint32_t nb_out;     /* handed out, from tail on */
	uint32_t write_at;   /* in bytes, for the next frame */
	uint8_t *bytes;
};

/** @return NULL when there is no memory */
struct frame_ring *frame_ring_create(void);

void frame_ring_destroy(struct frame_ring *ring);

/** Frames that fit for sure, of any size. */
unsigned frame_ring_room(const struct frame_ring *ring);

/** Copy a frame into it: only as many as there is room for. */
void frame_ring_put(struct frame_ring *ring, const struct frame *frame);

/** Take the oldest frames, at most n. They stay valid until the next call. */
unsigned frame_ring_get(struct frame_ring *ring, struct frame *frames, unsigned n);

#endif
