/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frame_ring.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 64 /* a cache line */

struct frame_ring *
frame_ring_create(void)
{
	struct frame_ring *ring = calloc(1, sizeof(*ring));

	if (ring == NULL)
		return NULL;
	ring->bytes = malloc(FRAME_RING_BYTES);
	if (ring->bytes == NULL) {
		free(ring);
		return NULL;
	}
	return ring;
}

void
frame_ring_destroy(struct frame_ring *ring)
{
	if (ring == NULL)
		return;
	free(ring->bytes);
	free(ring);
}

static uint32_t
align(uint32_t bytes)
{
	return (bytes + ALIGN - 1) & ~(uint32_t)(ALIGN - 1);
}

/* Where the oldest frame is. */
static uint32_t
read_at(const struct frame_ring *ring)
{
	return (uint32_t)(ring->slots[ring->tail % FRAME_RING_SLOTS].data - ring->bytes);
}

/* Frames of the largest size. No frame is in two pieces: an end too short for one is left out. */
static uint32_t
room_in_bytes(const struct frame_ring *ring)
{
	const uint32_t largest = align(FRAME_MAX_BYTES);

	if (ring->head == ring->tail)
		return FRAME_RING_BYTES / largest;
	if (ring->write_at <= read_at(ring))
		return (read_at(ring) - ring->write_at) / largest;
	return (FRAME_RING_BYTES - ring->write_at) / largest + read_at(ring) / largest;
}

unsigned
frame_ring_room(const struct frame_ring *ring)
{
	uint32_t slots = FRAME_RING_SLOTS - (ring->head - ring->tail);
	uint32_t room = room_in_bytes(ring);

	return slots < room ? slots : room;
}

void
frame_ring_put(struct frame_ring *ring, const struct frame *frame)
{
	uint32_t len_bytes = frame->len_bytes;

	if (ring->head == ring->tail || FRAME_RING_BYTES - ring->write_at < align(len_bytes))
		ring->write_at = 0;
	memcpy(ring->bytes + ring->write_at, frame->data, len_bytes);
	ring->slots[ring->head++ % FRAME_RING_SLOTS] = (struct frame){
		ring->bytes + ring->write_at, len_bytes, frame->flags};
	ring->write_at += align(len_bytes);
}

unsigned
frame_ring_get(struct frame_ring *ring, struct frame *frames, unsigned n)
{
	ring->tail += ring->nb_out;
	if (n > ring->head - ring->tail)
		n = ring->head - ring->tail;
	for (unsigned i = 0; i < n; i++)
		frames[i] = ring->slots[(ring->tail + i) % FRAME_RING_SLOTS];
	ring->nb_out = n;
	return n;
}
