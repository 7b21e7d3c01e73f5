/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_ERROR_H
#define NICSIM_ERROR_H

#include <stdbool.h>

/** @file What the program says when something is wrong. */

/** Print "nicsim: ..." and a line's end on stderr. */
__attribute__((format(printf, 1, 2))) void nicsim_error(const char *format, ...);

/** Print nothing, as who asked is answered elsewhere. */
void nicsim_hush(bool hush);

/** What was said last, to say it elsewhere too. */
const char *nicsim_last_error(void);

#endif
