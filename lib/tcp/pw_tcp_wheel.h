/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_WHEEL_H
#define PW_TCP_WHEEL_H

/**
 * @file
 * A hierarchical timing wheel (Varghese and Lauck 1987, scheme 7). Internal to lib/tcp.
 *
 * A slot of a level is as long as all slots of the level below: 64 of 1 us, 64 of 64 us, and so
 * on. A node lies in the level where its time first differs from the wheel's, and comes down when
 * the wheel gets to its slot. Bit maps tell which slots are in use, so that time without timers
 * costs nothing.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define PW_TCP_WHEEL_BITS 6
#define PW_TCP_WHEEL_SLOTS (1 << PW_TCP_WHEEL_BITS)
#define PW_TCP_WHEEL_LEVELS 8 /* 2^48 us: nine years */

/** Zeroed: in no wheel. */
struct pw_tcp_wheel_node {
	LIST_ENTRY(pw_tcp_wheel_node) link;
	uint64_t due_us; /**< 0: in no wheel */
};
LIST_HEAD(pw_tcp_wheel_list, pw_tcp_wheel_node);

struct pw_tcp_wheel {
	uint64_t now_us;
	uint64_t earliest_us; /**< a node added now is not due before it */
	uint64_t next_us;     /**< no node is due before it; UINT64_MAX: there is none */
	uint64_t used[PW_TCP_WHEEL_LEVELS];
	struct pw_tcp_wheel_list slots[PW_TCP_WHEEL_LEVELS * PW_TCP_WHEEL_SLOTS];
};

void pw_tcp_wheel_init(struct pw_tcp_wheel *wheel);

/**
 * Add a node that is in no wheel. O(1).
 *
 * A time on the other side of a multiple of 2^48 us is taken as the end of this side: who adds
 * such a node has to look again when it fires.
 */
void pw_tcp_wheel_add(struct pw_tcp_wheel *wheel, struct pw_tcp_wheel_node *node, uint64_t due_us);

/** Take a node out, if it is in. O(1). */
void pw_tcp_wheel_remove(struct pw_tcp_wheel *wheel, struct pw_tcp_wheel_node *node);

/**
 * Let time go on to now_us: call fire() with each node that is due, in the order of their times.
 *
 * They are out of the wheel then. What fire() adds is due after now_us at the earliest. Costs at
 * most PW_TCP_WHEEL_LEVELS steps for each node, however long time jumps.
 */
void pw_tcp_wheel_advance(struct pw_tcp_wheel *wheel, uint64_t now_us,
	void (*fire)(struct pw_tcp_wheel_node *node, void *ctx), void *ctx);

#endif
