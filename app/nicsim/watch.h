/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_WATCH_H
#define NICSIM_WATCH_H

/**
 * @file
 * The application, watched from outside: whether it lives, and when it reads statistics, which
 * clears them.
 *
 * Memory does not tell who reads it. A hardware breakpoint does: one on each thread of the
 * application at the first and the last register of a reading. It leaves a record in a ring that we
 * see, and holds the thread up for about a microsecond, in which the registers can be made ready.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nic.h"

#define WATCH_PORTS_MAX 4

struct watch_process;

struct watch {
	struct nic *nics;
	unsigned nb_nics;
	dev_t bar_device[WATCH_PORTS_MAX];
	ino_t bar_inode[WATCH_PORTS_MAX];
	pid_t root;			 /**< what was started; 0: nothing yet */
	struct watch_process *processes; /**< those that have a BAR mapped */
	uint64_t next_look_ns;
	bool swept; /**< memory was, since the queues stopped */
	bool blind; /**< breakpoints cannot be set: counters in registers stay 0 */
};

/** @param bar_fds  the file of each port's BAR */
void watch_init(struct watch *watch, struct nic *nics, unsigned nb_nics, const int bar_fds[]);

/** Watch this process and its children. */
void watch_attach(struct watch *watch, pid_t pid);

/** See what was read; called in each round, so it is cheap. */
void watch_poll(struct watch *watch);

/** Look for new processes and threads, and for ended ones, ten times a second. */
void watch_look(struct watch *watch, uint64_t now_ns);

/** Whether the application has a port mapped. */
static inline bool
watch_is_used(const struct watch *watch)
{
	return watch->processes != NULL;
}

/** Whether the application lives, also if it has no port mapped yet. */
bool watch_has_application(const struct watch *watch);

void watch_fini(struct watch *watch);

#endif
