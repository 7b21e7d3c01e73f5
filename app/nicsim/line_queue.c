/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "line_queue.h"

#include <stdlib.h>

struct held *
line_queue_alloc(const struct line_queue *queue, uint32_t size_bytes)
{
	struct held *held;

	if (queue->bytes + sizeof(*held) + size_bytes > LINE_HELD_BYTES_MAX)
		return NULL;
	held = malloc(sizeof(*held) + size_bytes);
	if (held != NULL)
		held->size_bytes = size_bytes;
	return held;
}

void
line_queue_init(struct line_queue *queue)
{
	*queue = (struct line_queue){0};
	TAILQ_INIT(&queue->waiting);
	TAILQ_INIT(&queue->out);
}

void
line_queue_push(struct line_queue *queue, struct held *held, uint64_t due_ns, unsigned behind)
{
	struct held *before = TAILQ_LAST(&queue->waiting, held_list);

	if (due_ns > queue->last_due_ns)
		queue->last_due_ns = due_ns;
	held->due_ns = queue->last_due_ns;
	/* An odd place is just behind that of the frame that is the last to overtake. */
	held->place = 2 * (queue->arrivals++ + behind) + (behind > 0);
	while (before != NULL && before->place > held->place)
		before = TAILQ_PREV(before, held_list, link);
	if (before == NULL)
		TAILQ_INSERT_HEAD(&queue->waiting, held, link);
	else
		TAILQ_INSERT_AFTER(&queue->waiting, before, held, link);
	queue->nb_waiting++;
	queue->bytes += sizeof(*held) + held->size_bytes;
}

bool
line_queue_is_due(const struct line_queue *queue, uint64_t now_ns)
{
	const struct held *held = TAILQ_FIRST(&queue->waiting);

	if (held == NULL || held->due_ns > now_ns)
		return false;
	/* Those that should overtake it did, or do not come. */
	return held->place < 2 * queue->arrivals || now_ns - held->due_ns >= LINE_OVERTAKE_NS;
}

unsigned
line_queue_pop(struct line_queue *queue, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct held *held;
	unsigned i;

	for (i = 0; i < n && line_queue_is_due(queue, now_ns); i++) {
		held = TAILQ_FIRST(&queue->waiting);
		TAILQ_REMOVE(&queue->waiting, held, link);
		TAILQ_INSERT_TAIL(&queue->out, held, link);
		frames[i] = (struct frame){held->data, held->len_bytes, held->flags};
	}
	queue->nb_waiting -= i;
	return i;
}

void
line_queue_release(struct line_queue *queue)
{
	struct held *held;

	while ((held = TAILQ_FIRST(&queue->out)) != NULL) {
		TAILQ_REMOVE(&queue->out, held, link);
		queue->bytes -= sizeof(*held) + held->size_bytes;
		free(held);
	}
}

void
line_queue_clear(struct line_queue *queue)
{
	TAILQ_CONCAT(&queue->out, &queue->waiting, link);
	queue->nb_waiting = 0;
	line_queue_release(queue);
}
