/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_CONTROL_H
#define NICSIM_CONTROL_H

/**
 * @file
 * Commands while the model runs: a SOCK_SEQPACKET socket DIR/control, a line a packet, and the
 * answer in JSON: {"ok": true, ...} or {"ok": false, "error": "..."}. "nicsim ctl DIR COMMAND..."
 * sends one.
 */

#include "sim.h"

/** Open the socket. @return 0, or a negative errno after an error was printed */
int control_open(struct sim *sim);

/** Answer what has come; does not wait. */
void control_poll(struct sim *sim, uint64_t now_ns);

void control_close(struct sim *sim);

/** The client. @return an exit code */
int control_client(int argc, char **argv);

/** Print the help. */
void control_usage(void);

#endif
