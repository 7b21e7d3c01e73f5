/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef LINK_H
#define LINK_H

/**
 * @file
 * Saying when a port's link goes up or down, once each time. Main lcore.
 *
 * A look each second is for ports without interrupt, and for those of net_tap, which announces one
 * and has none. It costs no access to a device that has one.
 */

#include "port.h"

struct pw_app;

/** Say how the link is, and count, if that is news. */
void pw_link_say(struct pw_port *port, const struct pw_link *link);

/** Read the link of a started port, and say it if it is news. */
void pw_link_look(struct pw_port *port);

/** The port was stopped: whatever the link is next is news. */
void pw_link_forget(struct pw_port *port);

/** Look at all ports, if it is time to. */
void pw_link_poll(struct pw_app *app);

/** Milliseconds until it is. */
int pw_link_timeout_ms(void);

#endif
