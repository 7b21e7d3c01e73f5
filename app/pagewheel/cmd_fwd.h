/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef CMD_FWD_H
#define CMD_FWD_H

/** @file Start and stop as the commands do them, for the main program. */

struct pw_app;

/** Start forwarding and say so. */
void pw_cmd_start(struct pw_app *app);

/** Stop forwarding and print its statistics. */
void pw_cmd_stop(struct pw_app *app);

#endif
