/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TRIPWIRE_H
#define NICSIM_TRIPWIRE_H

/** @file A hardware breakpoint on an address of another thread, that counts accesses to it. */

#include <stdint.h>
#include <sys/types.h>

struct tripwire {
	int fd;
	void *ring; /**< what the kernel writes records to */
	uint64_t tail;
};

/**
 * Set it.
 *
 * @param address  in the address space of the thread; 4 bytes are watched
 * @return 0, or a negative errno: -ENOSPC when the thread has no free debug register
 */
int tripwire_set(struct tripwire *wire, pid_t thread, uint64_t address);

/** How often the address was accessed since the last call. */
unsigned tripwire_count(struct tripwire *wire);

void tripwire_clear(struct tripwire *wire);

#endif
