/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef LOOP_H
#define LOOP_H

struct pw_app;

/**
 * Block SIGINT, SIGTERM and SIGHUP, to be read by the main loop: call it before any thread starts.
 *
 * @return a descriptor, or a negative errno
 */
int pw_loop_open_signals(void);

/** Commands, signals and periodic statistics, until it is time to quit. */
void pw_loop_run(struct pw_app *app, int signals_fd);

#endif
