/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_MEMPOOL_H
#define PW_MEMPOOL_H

/**
 * @file
 * The mempool handler, for programs that know it. Others load the plugin and name it.
 */

#include <rte_mempool.h>

#include "pw_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the mempool operations. */
#define PW_MEMPOOL_OPS_NAME "pagewheel"

/** Environment variable that names the strategy where the program passes no pool_config. */
#define PW_MEMPOOL_STRATEGY_ENV "PAGEWHEEL_STRATEGY"

/**
 * Environment variable that says whether each buffer that is freed is checked, at some cost, where
 * the program does not: "count" refuses and counts what is wrong and logs its address, "stop" ends
 * the program too, "off" does neither. Unset: "stop" in a debug build, else "off".
 */
#define PW_MEMPOOL_CHECK_ENV "PAGEWHEEL_CHECK"

/**
 * Read the counters of a pool's store. Any thread.
 *
 * Buffers in rte_mempool's own per-lcore caches count as handed out.
 *
 * @return 0, or -ENOTSUP when the pool has another handler
 */
int pw_mempool_get_stats(const struct rte_mempool *mp, struct pw_store_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
