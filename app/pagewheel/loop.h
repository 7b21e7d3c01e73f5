/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>

struct pw_app;
struct pw_options;

/**
 * Commands, lines of the lcores, events of ports and periodic statistics, until it is time to quit.
 *
 * @param signals_fd  of pw_signals_open()
 * @param notices_fd  of pw_notice_open()
 * @param events_fd   of pw_events_open()
 */
void pw_loop_run(struct pw_app *app, int signals_fd, int notices_fd, int events_fd);

/** Without commands or a report to print again and again, Enter is what ends the program. */
bool pw_loop_waits_for_enter(const struct pw_options *options);

#endif
