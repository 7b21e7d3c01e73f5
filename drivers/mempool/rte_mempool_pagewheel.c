/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The mempool handler "pagewheel": an adapter from rte_mempool's operations to lib/store.
 *
 * The strategy is the pool_config of rte_mempool_set_ops_byname(), a string; where a program passes
 * none, which is what rte_pktmbuf_pool_create() does, it is read from the environment variable
 * PAGEWHEEL_STRATEGY.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mempool.h>

#include "pw_mempool.h"
#include "pw_store.h"

RTE_LOG_REGISTER(pw_mempool_logtype, pmd.mempool.pagewheel, NOTICE);

#define PW_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, pw_mempool_logtype, "mempool pagewheel: " fmt "\n", ##__VA_ARGS__)

static size_t
stride_bytes(const struct rte_mempool *mp)
{
	return (size_t)mp->header_size + mp->elt_size + mp->trailer_size;
}

static int
read_strategy(const struct rte_mempool *mp, struct pw_strategy *strategy)
{
	const char *text = mp->pool_config;
	char list[256];

	if (text == NULL)
		text = getenv(PW_MEMPOOL_STRATEGY_ENV);
	if (pw_strategy_parse(text, strategy) < 0) {
		PW_LOG(ERR,
			"pool %s: unknown strategy '%.32s'; " PW_MEMPOOL_STRATEGY_ENV " may be: %s",
			mp->name, text, pw_strategy_list(list, sizeof(list)));
		return -EINVAL;
	}
	return 0;
}

/* Say which page order would do. */
static void
explain_too_large(const struct rte_mempool *mp, const struct pw_store_params *params)
{
	struct pw_strategy larger = params->strategy;

	while (larger.page_order < PW_PAGE_ORDER_MAX &&
		pw_strategy_page_bytes(&larger) < params->stride_bytes)
		larger.page_order++;
	PW_LOG(ERR,
		"pool %s: an object of %u bytes (%u with its header) does not fit a page of %zu bytes, "
		"which strategy %s cuts; with a page order behind the name, as in %.*s:%u, pages have "
		"%zu bytes",
		mp->name, mp->elt_size, params->stride_bytes,
		pw_strategy_page_bytes(&params->strategy), params->strategy.name,
		(int)strcspn(params->strategy.name, ":"), params->strategy.name, larger.page_order,
		pw_strategy_page_bytes(&larger));
}

static int
pagewheel_alloc(struct rte_mempool *mp)
{
	struct pw_store_params params = {
		.stride_bytes = stride_bytes(mp),
		.offset_bytes = mp->header_size,
		.socket_id = mp->socket_id,
	};
	struct pw_store *store;
	int rc;

	rc = read_strategy(mp, &params.strategy);
	if (rc < 0)
		return rc;

	store = pw_store_create(&params);
	if (store == NULL && rte_errno == EMSGSIZE) {
		explain_too_large(mp, &params);
		return -EINVAL;
	}
	if (store == NULL) {
		PW_LOG(ERR, "pool %s: cannot make a store: %s", mp->name, rte_strerror(rte_errno));
		return -rte_errno;
	}
	PW_LOG(NOTICE, "pool %s: strategy %s, pages of %zu bytes", mp->name, params.strategy.name,
		pw_strategy_page_bytes(&params.strategy));
	mp->pool_data = store;
	return 0;
}

static void
pagewheel_free(struct rte_mempool *mp)
{
	pw_store_destroy(mp->pool_data);
	mp->pool_data = NULL;
}

static int
pagewheel_enqueue(struct rte_mempool *mp, void *const *objs, unsigned n)
{
	pw_store_put(mp->pool_data, objs, n);
	return 0;
}

static int
pagewheel_dequeue(struct rte_mempool *mp, void **objs, unsigned n)
{
	return pw_store_get(mp->pool_data, objs, n);
}

static unsigned
pagewheel_get_count(const struct rte_mempool *mp)
{
	return pw_store_count(mp->pool_data);
}

/*
 * Bytes for obj_num objects in pages that may not be aligned: then one object of each page's worth
 * is lost at the two ends, so one more stride makes up for it. Memory whose own pages (pg_shift)
 * are smaller than ours may come to populate in pieces of that size.
 */
static ssize_t
pagewheel_calc_mem_size(const struct rte_mempool *mp, uint32_t obj_num, uint32_t pg_shift,
	size_t *min_chunk_size, size_t *align)
{
	const struct pw_strategy *strategy = pw_store_strategy(mp->pool_data);
	size_t page = pw_strategy_page_bytes(strategy);
	size_t stride = stride_bytes(mp);
	size_t per_page;

	if (pg_shift != 0 && ((size_t)1 << pg_shift) < page)
		page = (size_t)1 << pg_shift;
	if (page < stride)
		page = RTE_ALIGN_CEIL(stride, page);
	per_page = page / stride;

	*min_chunk_size = stride;
	*align = RTE_MAX((size_t)RTE_MEMPOOL_ALIGN, pw_strategy_page_bytes(strategy));
	return ((obj_num + per_page - 1) / per_page) * page + stride;
}

struct populate_ctx {
	struct rte_mempool *mp;
	rte_mempool_populate_obj_cb_t *obj_cb;
	void *arg;
};

static void
init_object(void *obj, rte_iova_t iova, void *ctx)
{
	struct populate_ctx *populate = ctx;

	populate->obj_cb(populate->mp, populate->arg, obj, iova);
}

/*
 * A populate that fails gives all memory of the pool back, and may be tried again: then what the
 * store knows is void.
 */
static int
forget_freed_memory(struct rte_mempool *mp)
{
	struct pw_store *old = mp->pool_data;
	struct pw_store_stats stats;
	int rc;

	if (mp->nb_mem_chunks > 0)
		return 0;
	pw_store_get_stats(old, &stats);
	if (stats.objects == 0)
		return 0;
	rc = pagewheel_alloc(mp);
	if (rc == 0)
		pw_store_destroy(old);
	return rc;
}

/* Objects become free in the store's pages: no lcore gets a share before it asks for one. */
static int
pagewheel_populate(struct rte_mempool *mp, unsigned max_objs, void *vaddr, rte_iova_t iova,
	size_t len, rte_mempool_populate_obj_cb_t *obj_cb, void *obj_cb_arg)
{
	struct populate_ctx ctx = {.mp = mp, .obj_cb = obj_cb, .arg = obj_cb_arg};
	int rc = forget_freed_memory(mp);

	if (rc < 0)
		return rc;
	return pw_store_add(mp->pool_data, vaddr, iova, len, max_objs, init_object, &ctx);
}

static struct rte_mempool_ops pagewheel_ops = {
	.name = PW_MEMPOOL_OPS_NAME,
	.alloc = pagewheel_alloc,
	.free = pagewheel_free,
	.enqueue = pagewheel_enqueue,
	.dequeue = pagewheel_dequeue,
	.get_count = pagewheel_get_count,
	.calc_mem_size = pagewheel_calc_mem_size,
	.populate = pagewheel_populate,
};

RTE_MEMPOOL_REGISTER_OPS(pagewheel_ops);

int
pw_mempool_get_stats(const struct rte_mempool *mp, struct pw_store_stats *stats)
{
	const struct rte_mempool_ops *ops = rte_mempool_get_ops(mp->ops_index);

	if (ops->enqueue != pagewheel_enqueue || mp->pool_data == NULL)
		return -ENOTSUP;
	pw_store_get_stats(mp->pool_data, stats);
	return 0;
}
