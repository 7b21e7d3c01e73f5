/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef EVENTS_H
#define EVENTS_H

/**
 * @file
 * What happens to ports: told by threads of EAL's, acted upon by the main loop.
 */

#include "port.h"

struct pw_app;

enum pw_event_kind {
	PW_EVENT_LINK,	  /**< it went up or down */
	PW_EVENT_RESET,	  /**< the device has to be reset to go on */
	PW_EVENT_REMOVED, /**< the device is gone */
};

struct pw_event {
	uint16_t port;
	enum pw_event_kind kind;
	struct pw_link link; /**< with PW_EVENT_LINK: how it was then */
};

/** Returns a descriptor that is readable when something has happened, or a negative errno. */
int pw_events_open(void);

/** Tell. Any thread; never blocks. */
void pw_events_raise(const struct pw_event *event);

/** Act on what was told. Main lcore. */
void pw_events_handle(struct pw_app *app);

#endif
