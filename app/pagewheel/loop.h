/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef LOOP_H
#define LOOP_H

struct pw_app;

/**
 * Commands, lines of the lcores, events of ports and periodic statistics, until it is time to quit.
 *
 * @param signals_fd  of pw_signals_open()
 * @param notices_fd  of pw_notice_open()
 * @param events_fd   of pw_events_open()
 */
void pw_loop_run(struct pw_app *app, int signals_fd, int notices_fd, int events_fd);

#endif
