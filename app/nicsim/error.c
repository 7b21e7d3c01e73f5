/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

void
nicsim_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	flockfile(stderr);
	fputs("nicsim: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
	funlockfile(stderr);
}
