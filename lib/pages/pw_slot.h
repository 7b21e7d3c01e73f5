/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_SLOT_H
#define PW_SLOT_H

/**
 * @file
 * Which part of something kept apart for each lcore a thread uses.
 *
 * Threads that are no lcores (rte_lcore_id() is LCORE_ID_ANY) are dealt out to a few slots of their
 * own, so that one or two of them do not meet in one. A slot may have several users, so each has a
 * lock, which is free as a rule: an uncontended spinlock costs next to nothing.
 *
 * Internal to lib.
 */

#include <stdbool.h>

#include <rte_lcore.h>

#include "pw_lock.h"

#define PW_SLOTS_PLAIN 8 /* a power of two */
#define PW_SLOTS (RTE_MAX_LCORE + PW_SLOTS_PLAIN)

/** The slot of this plain thread, dealt out at its first call. */
unsigned pw_slot_plain(void);

/** The slot of the calling thread, below PW_SLOTS. */
static inline unsigned
pw_slot(void)
{
	unsigned lcore = rte_lcore_id();

	return lcore < RTE_MAX_LCORE ? lcore : pw_slot_plain();
}

/** Whether slots of this number are wanted: an lcore that runs, or plain threads. */
static inline bool
pw_slot_enabled(unsigned slot)
{
	return slot >= RTE_MAX_LCORE || rte_lcore_is_enabled(slot);
}

#endif
