/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static int wake_fds[2];
static int output_flags = -1; /* of standard output; -1: it is a terminal, which is let alone */

static void
fill_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static void
on_signal(int number)
{
	int saved = errno;

	(void)number;
	came = 1;
	/* If nobody reads our output, the rest of it is lost rather than waited for. */
	if (output_flags != -1)
		fcntl(STDOUT_FILENO, F_SETFL, output_flags | O_NONBLOCK);
	/* When the pipe is full it is readable already. */
	if (write(wake_fds[1], "", 1) < 0)
		errno = saved;
	errno = saved;
}

void
pw_signals_block(void)
{
	sigset_t set;

	fill_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Whoever reads our output may go: that is seen when it is written. */
	signal(SIGPIPE, SIG_IGN);
}

int
pw_signals_open(void)
{
	/* No SA_RESTART: a write to a full pipe, or an open of a FIFO, ends. */
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;

	if (pipe2(wake_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	if (!isatty(STDOUT_FILENO))
		output_flags = fcntl(STDOUT_FILENO, F_GETFL);
	fill_set(&set);
	action.sa_mask = set;
	if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0 ||
		sigaction(SIGHUP, &action, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &set, NULL) < 0)
		return -errno;
	return wake_fds[0];
}

void
pw_signals_close(void)
{
	pw_signals_block();
	if (output_flags != -1)
		fcntl(STDOUT_FILENO, F_SETFL, output_flags);
}

bool
pw_signals_came(void)
{
	return came != 0;
}
