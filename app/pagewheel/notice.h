/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NOTICE_H
#define NOTICE_H

/**
 * @file
 * Lines that polling lcores have to say: the main lcore prints them. An lcore never waits for the
 * output; what does not fit is lost, and counted.
 */

#include <rte_common.h>

/** Returns a descriptor that is readable when there is something to print, or a negative errno. */
int pw_notice_open(void);

/** Say a line, at most 255 characters. Any thread; never blocks. */
__rte_format_printf(1, 2) void pw_notice(const char *format, ...);

/** Print what was said. Main lcore. */
void pw_notice_print(void);

#endif
