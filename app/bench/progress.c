/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

static double shown_s;

static bool
on_terminal(void)
{
	return isatty(STDERR_FILENO) == 1;
}

void
pw_bench_progress(const char *format, ...)
{
	double now_s = pw_bench_now_s();
	bool terminal = on_terminal();
	va_list args;

	if (shown_s == 0 && !terminal)
		shown_s = now_s; /* nothing at once in a log */
	if (now_s - shown_s < (terminal ? 0.25 : 5))
		return;
	shown_s = now_s;
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
