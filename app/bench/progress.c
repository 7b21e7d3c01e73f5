/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_cycles.h>

static uint64_t shown; /* TSC */

static bool
on_terminal(void)
{
	return isatty(STDERR_FILENO) == 1;
}

void
pw_bench_progress(const char *format, ...)
{
	uint64_t now = rte_rdtsc(), hz = rte_get_tsc_hz();
	bool terminal = on_terminal();
	va_list args;

	if (shown == 0)
		shown = terminal ? 1 : now; /* nothing at once in a log */
	if (now - shown < (terminal ? hz / 4 : 5 * hz))
		return;
	shown = now;
	if (terminal)
		fputs("\r\033[K", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (!terminal)
		fputc('\n', stderr);
	fflush(stderr);
}

void
pw_bench_progress_end(void)
{
	if (on_terminal()) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
}
