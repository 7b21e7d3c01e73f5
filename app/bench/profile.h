/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

/** @file Where the time goes, by symbol: perf looks at this process. */

#include <jansson.h>

/** Work of at least some tenths of a second. */
typedef void (*pw_bench_profile_work_t)(void *ctx);

/**
 * Run work while perf takes samples.
 *
 * @param lines  array of texts, "12.3 %  symbol", added to
 * @return 0, or -ENOTSUP: there is no perf, or it may not look; the work may have been done
 */
int pw_bench_profile(json_t *lines, pw_bench_profile_work_t work, void *ctx);

#endif
