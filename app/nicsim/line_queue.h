/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_LINE_QUEUE_H
#define NICSIM_LINE_QUEUE_H

/** @file Copies of frames that are on a line, in the order in which they will leave it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "frame.h"

/** More than this is not on a line: 30 ms of 10 Gbit/s. */
#define LINE_HELD_BYTES_MAX (48 << 20)

/** A frame that others should overtake waits so much longer for them. */
#define LINE_OVERTAKE_NS 1000000

/** A frame on the line. */
struct held {
	TAILQ_ENTRY(held) link;
	uint64_t due_ns;
	uint64_t place;	     /**< in the order of leaving; twice the number of arrival, or later */
	uint32_t size_bytes; /**< of data */
	uint32_t len_bytes, flags;
	uint8_t data[];
};

TAILQ_HEAD(held_list, held);

struct line_queue {
	struct held_list waiting, out;
	uint64_t nb_waiting, bytes, arrivals, last_due_ns;
};

/** Space for a frame, or NULL: no memory, or the queue is full. */
struct held *line_queue_alloc(const struct line_queue *queue, uint32_t size_bytes);

/** Make the queue empty, before its first use too. */
void line_queue_init(struct line_queue *queue);

/** Free all frames in it, those handed out too. */
void line_queue_clear(struct line_queue *queue);

/**
 * Put a frame on the line, which owns it from now.
 *
 * @param due_ns  when it leaves; not before the one put last
 * @param behind  how many later frames go first
 */
void line_queue_push(struct line_queue *queue, struct held *held, uint64_t due_ns, unsigned behind);

/** Whether a frame may leave. */
bool line_queue_is_due(const struct line_queue *queue, uint64_t now_ns);

/** Take frames that are due, at most n. They stay valid until line_queue_release(). */
unsigned line_queue_pop(
	struct line_queue *queue, uint64_t now_ns, struct frame *frames, unsigned n);

/** Free the frames that were taken. */
void line_queue_release(struct line_queue *queue);

#endif
