/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef SIGNALS_H
#define SIGNALS_H

/**
 * @file
 * SIGINT, SIGTERM and SIGHUP: they are noted, and interrupt what the main thread waits for, so that
 * it can end in order.
 */

#include <stdbool.h>

/** Keep the signals away from threads that start from now on. Call it before EAL starts. */
void pw_signals_block(void);

/** Let the main thread, which calls this, have them. Returns a descriptor that is readable once one
 * came, or a negative errno. */
int pw_signals_open(void);

/** Last of all: standard output, which others may share, is as it was. */
void pw_signals_close(void);

/** Did one come? */
bool pw_signals_came(void);

#endif
