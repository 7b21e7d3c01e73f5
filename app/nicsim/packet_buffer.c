/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "packet_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A frame stands in one piece behind its length; this one says: go on at the beginning. */
#define WRAP UINT32_MAX

struct entry {
	uint32_t len_bytes, flags;
	uint8_t data[];
};

int
packet_buffer_init(struct packet_buffer *buffer)
{
	*buffer = (struct packet_buffer){.bytes = aligned_alloc(64, PACKET_BUFFER_BYTES)};
	return buffer->bytes == NULL ? -ENOMEM : 0;
}

void
packet_buffer_fini(struct packet_buffer *buffer)
{
	free(buffer->bytes);
	buffer->bytes = NULL;
}

static uint32_t
entry_bytes(uint32_t len_bytes)
{
	return (sizeof(struct entry) + len_bytes + 7) & ~7u;
}

static struct entry *
entry_at(const struct packet_buffer *buffer, uint32_t offset)
{
	return (struct entry *)(void *)(buffer->bytes + offset);
}

bool
packet_buffer_put(struct packet_buffer *buffer, const struct frame *frame)
{
	uint32_t need = entry_bytes(frame->len_bytes);
	uint32_t tail = (buffer->head + buffer->used) % PACKET_BUFFER_BYTES;
	uint32_t skip = PACKET_BUFFER_BYTES - tail < need ? PACKET_BUFFER_BYTES - tail : 0;
	struct entry *entry;

	if (buffer->used + skip + need > PACKET_BUFFER_BYTES)
		return false;
	if (skip > 0) {
		entry_at(buffer, tail)->len_bytes = WRAP;
		tail = 0;
	}
	entry = entry_at(buffer, tail);
	entry->len_bytes = frame->len_bytes;
	entry->flags = frame->flags;
	memcpy(entry->data, frame->data, frame->len_bytes);
	buffer->used += skip + need;
	buffer->frames++;
	return true;
}

bool
packet_buffer_peek(const struct packet_buffer *buffer, struct frame *frame)
{
	struct entry *entry = entry_at(buffer, buffer->head);

	if (buffer->frames == 0)
		return false;
	if (entry->len_bytes == WRAP)
		entry = entry_at(buffer, 0);
	*frame = (struct frame){entry->data, entry->len_bytes, entry->flags};
	return true;
}

void
packet_buffer_drop(struct packet_buffer *buffer)
{
	struct entry *entry = entry_at(buffer, buffer->head);

	if (entry->len_bytes == WRAP) {
		buffer->used -= PACKET_BUFFER_BYTES - buffer->head;
		buffer->head = 0;
		entry = entry_at(buffer, 0);
	}
	buffer->used -= entry_bytes(entry->len_bytes);
	buffer->head = (buffer->head + entry_bytes(entry->len_bytes)) % PACKET_BUFFER_BYTES;
	buffer->frames--;
	/* Start anew: the whole buffer in one piece. */
	if (buffer->frames == 0)
		buffer->head = buffer->used = 0;
}
