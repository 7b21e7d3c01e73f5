/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_wheel.h"

#include <rte_common.h>

#define BITS PW_TCP_WHEEL_BITS
#define SLOTS PW_TCP_WHEEL_SLOTS
#define LEVELS PW_TCP_WHEEL_LEVELS
#define SPAN_US (UINT64_C(1) << (BITS * LEVELS))

void
pw_tcp_wheel_init(struct pw_tcp_wheel *wheel)
{
	*wheel = (struct pw_tcp_wheel){.next_us = UINT64_MAX};
}

static unsigned
index_at(uint64_t us, unsigned level)
{
	return (us >> (BITS * level)) % SLOTS;
}

/*
 * Where a time that is not over yet belongs. It stays there as time goes on, until the wheel gets
 * to this slot: up to then it is the same bits that differ first.
 */
static uint16_t
slot_of(const struct pw_tcp_wheel *wheel, uint64_t due_us)
{
	uint64_t differ = due_us ^ wheel->now_us;
	unsigned level = differ == 0 ? 0 : (63 - __builtin_clzll(differ)) / BITS;

	return level * SLOTS + index_at(due_us, level);
}

static void
place(struct pw_tcp_wheel *wheel, struct pw_tcp_wheel_node *node)
{
	uint16_t slot = slot_of(wheel, node->due_us);

	LIST_INSERT_HEAD(&wheel->slots[slot], node, link);
	wheel->used[slot / SLOTS] |= UINT64_C(1) << slot % SLOTS;
}

void
pw_tcp_wheel_add(struct pw_tcp_wheel *wheel, struct pw_tcp_wheel_node *node, uint64_t due_us)
{
	/* What differs above the highest level is put at its end: early is allowed. */
	uint64_t end_us = (wheel->now_us | (SPAN_US - 1));

	node->due_us = RTE_MIN(RTE_MAX(RTE_MAX(due_us, wheel->earliest_us), UINT64_C(1)), end_us);
	place(wheel, node);
	wheel->next_us = RTE_MIN(wheel->next_us, node->due_us);
}

void
pw_tcp_wheel_remove(struct pw_tcp_wheel *wheel, struct pw_tcp_wheel_node *node)
{
	uint16_t slot = slot_of(wheel, node->due_us);

	if (node->due_us == 0)
		return;
	LIST_REMOVE(node, link);
	node->due_us = 0;
	/* One that was about to fire lies in no slot; that slot is empty, or its bit stays. */
	if (LIST_EMPTY(&wheel->slots[slot]))
		wheel->used[slot / SLOTS] &= ~(UINT64_C(1) << slot % SLOTS);
}

/* The next slot in use: the lowest level comes first, as all of it lies in one slot of the next. */
static bool
next_slot(const struct pw_tcp_wheel *wheel, uint16_t *slot, uint64_t *start_us)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		uint64_t above = UINT64_MAX << (BITS * level) << BITS;
		unsigned i;

		if (wheel->used[level] == 0)
			continue;
		i = __builtin_ctzll(wheel->used[level]);
		*slot = level * SLOTS + i;
		*start_us = (wheel->now_us & above) | (uint64_t)i << (BITS * level);
		return true;
	}
	return false;
}

/* Empty a slot into a list of its own; its nodes stay removable. */
static void
detach(struct pw_tcp_wheel *wheel, uint16_t slot, struct pw_tcp_wheel_list *list)
{
	struct pw_tcp_wheel_node *node;

	LIST_INIT(list);
	while ((node = LIST_FIRST(&wheel->slots[slot])) != NULL) {
		LIST_REMOVE(node, link);
		LIST_INSERT_HEAD(list, node, link);
	}
	wheel->used[slot / SLOTS] &= ~(UINT64_C(1) << slot % SLOTS);
}

void
pw_tcp_wheel_advance(struct pw_tcp_wheel *wheel, uint64_t now_us,
	void (*fire)(struct pw_tcp_wheel_node *node, void *ctx), void *ctx)
{
	struct pw_tcp_wheel_list list;
	struct pw_tcp_wheel_node *node;
	uint64_t start_us;
	uint16_t slot;

	if (now_us < wheel->now_us)
		return;
	wheel->earliest_us = now_us + 1;
	while (next_slot(wheel, &slot, &start_us) && start_us <= now_us) {
		wheel->now_us = start_us;
		detach(wheel, slot, &list);
		while ((node = LIST_FIRST(&list)) != NULL) {
			LIST_REMOVE(node, link);
			if (node->due_us > start_us) {
				place(wheel, node);
				continue;
			}
			node->due_us = 0;
			fire(node, ctx);
		}
	}
	wheel->now_us = wheel->earliest_us = now_us;
	wheel->next_us = next_slot(wheel, &slot, &start_us) ? start_us : UINT64_MAX;
}
