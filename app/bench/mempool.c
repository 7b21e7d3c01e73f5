/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "mempool.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

static struct rte_mempool *
create(const char *ops, char *config, uint32_t n, uint32_t elt_bytes, uint32_t cache,
	uint32_t private_bytes)
{
	static unsigned number;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;
	int rc;

	snprintf(name, sizeof(name), "bench%u", number++);
	mp = rte_mempool_create_empty(
		name, n, elt_bytes, cache, private_bytes, (int)rte_socket_id(), 0);
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

struct rte_mempool *
pw_bench_mempool_create(
	const char *ops, char *config, uint32_t n, uint32_t elt_bytes, uint32_t cache)
{
	return create(ops, config, n, elt_bytes, cache, 0);
}

struct rte_mempool *
pw_bench_pktmbuf_create(const char *ops, const char *config, uint32_t n, uint32_t cache)
{
	struct rte_pktmbuf_pool_private layout = {.mbuf_data_room_size = RTE_MBUF_DEFAULT_BUF_SIZE};
	struct rte_mempool *mp = create(ops, (char *)(uintptr_t)config, n,
		sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE, cache, sizeof(layout));

	if (mp == NULL)
		return NULL;
	rte_pktmbuf_pool_init(mp, &layout);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
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
