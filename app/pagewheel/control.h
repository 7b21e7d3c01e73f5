/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef CONTROL_H
#define CONTROL_H

/**
 * @file
 * Starting, stopping and resetting ports with regard to forwarding, for commands and events. Errors
 * are told by a negative errno and printed where a sentence says that.
 */

#include <stdbool.h>

struct pw_app;
struct pw_port;

/** Returns 0, or -EALREADY, -ENODEV (closed), or another after it was printed. */
int pw_control_start(struct pw_port *port);

/** Returns 0, or -EALREADY, -ENODEV, or another. Not while forwarding. */
int pw_control_stop(struct pw_port *port);

/** Not while forwarding. */
int pw_control_close(struct pw_port *port);

/**
 * Reset a port, also while forwarding, which pauses. If the port does not come back, forwarding is
 * stopped, and that is printed.
 */
int pw_control_reset(struct pw_app *app, struct pw_port *port);

/** The device asks for a reset: it is said, and done. */
void pw_control_reset_asked(struct pw_app *app, struct pw_port *port);

/** The device is gone: it is said, forwarding stops, and the port is closed. */
void pw_control_removed(struct pw_app *app, struct pw_port *port);

/** Let all ports do what an engine needs (pw_port_ops.set_sending). Not while forwarding. */
int pw_control_set_sending(struct pw_app *app, bool needs_offloads);

/** The port that is not started, or NULL: all are. */
const struct pw_port *pw_control_find_idle(const struct pw_app *app);

#endif
