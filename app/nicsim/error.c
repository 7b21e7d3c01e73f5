/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static char last[512];

void
nicsim_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
	fflush(stdout);
	fprintf(stderr, "nicsim: %s\n", last);
}

const char *
nicsim_last_error(void)
{
	return last;
}
