/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "notice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define NOTICE_BYTES 256 /* below PIPE_BUF: a write is whole or not at all */

static int fds[2] = {-1, -1};
static uint64_t lost; /* atomic */

int
pw_notice_open(void)
{
	return pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : fds[0];
}

void
pw_notice(const char *format, ...)
{
	char line[NOTICE_BYTES];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (len < 0)
		return;
	len = RTE_MIN(len, NOTICE_BYTES - 2);
	line[len++] = '\n';
	if (write(fds[1], line, len) != len)
		__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
}

void
pw_notice_print(void)
{
	char text[4096];
	uint64_t n;
	ssize_t len;

	while ((len = read(fds[0], text, sizeof(text))) > 0)
		fwrite(text, 1, len, stdout);
	n = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
	if (n > 0)
		printf("%" PRIu64 " lines were lost: they came faster than they could be printed\n",
			n);
	fflush(stdout);
}
