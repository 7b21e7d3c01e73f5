/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static char last[512];
static bool hushed;

void
nicsim_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
	/* What was asked may be any bytes, and goes to terminals and into JSON. */
	for (char *c = last; *c != '\0'; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	if (hushed)
		return;
	fflush(stdout);
	fprintf(stderr, "nicsim: %s\n", last);
}

void
nicsim_hush(bool hush)
{
	hushed = hush;
}

const char *
nicsim_last_error(void)
{
	return last;
}
