/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "mempool.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>

struct rte_mempool *
pw_bench_mempool_create(
	const char *ops, char *config, uint32_t n, uint32_t elt_bytes, uint32_t cache)
{
	static unsigned number;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;
	int rc;

	snprintf(name, sizeof(name), "bench%u", number++);
	mp = rte_mempool_create_empty(name, n, elt_bytes, cache, 0, (int)rte_socket_id(), 0);
	if (mp == NULL)
		return NULL;
	rc = rte_mempool_set_ops_byname(mp, ops, config);
	if (rc == 0)
		rc = rte_mempool_populate_default(mp);
	if (rc >= 0)
		return mp;
	rte_mempool_free(mp);
	rte_errno = -rc;
	return NULL;
}

unsigned
pw_bench_mempool_settle(struct rte_mempool *mp)
{
	unsigned lcore;

	RTE_LCORE_FOREACH (lcore) {
		struct rte_mempool_cache *cache = rte_mempool_default_cache(mp, lcore);

		if (cache != NULL)
			rte_mempool_cache_flush(cache, mp);
	}
	return rte_mempool_avail_count(mp);
}
