/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_RING_H
#define NICSIM_RING_H

/**
 * @file
 * A descriptor ring in the driver's memory (datasheet 7.1.9, 7.2.3.3). Receive and transmit queues
 * have the same registers at the same offsets.
 */

#include <stdbool.h>
#include <stdint.h>

struct nic;

struct ring {
	void *descs; /**< of 16 bytes each; NULL: the queue does not run */
	uint64_t address;
	uint32_t nb_desc, head, tail;
	uint32_t reg; /**< the queue's first register */
};

/** The ring as the registers say; it stays stopped unless they make sense. */
void ring_start(struct nic *nic, struct ring *ring);

/** Stop it, and set head and tail to 0 for the next start. */
void ring_stop(struct nic *nic, struct ring *ring);

/** Translate its address again; it stops if its memory has gone. */
void ring_remap(struct nic *nic, struct ring *ring);

/** Whether the driver has it enabled (RXDCTL, TXDCTL). */
bool ring_is_enabled(const struct nic *nic, const struct ring *ring);

/** Look up the tail: its line is the driver's. A tail outside of the ring is no tail. */
void ring_read_tail(const struct nic *nic, struct ring *ring);

/** Show a head. The driver polls it only where it stops a queue, and each write takes its line. */
void ring_show_head(struct nic *nic, const struct ring *ring, uint32_t head);

/** Descriptors that are the card's: [head, tail). */
static inline uint32_t
ring_used(const struct ring *ring)
{
	return ring->tail >= ring->head ? ring->tail - ring->head
					: ring->nb_desc - ring->head + ring->tail;
}

static inline uint32_t
ring_next(const struct ring *ring, uint32_t index)
{
	return index + 1 == ring->nb_desc ? 0 : index + 1;
}

#endif
