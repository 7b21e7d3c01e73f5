/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The mempool handler "pagewheel": an adapter from rte_mempool's operations to lib/store.
 *
 * The strategy is the pool_config of rte_mempool_set_ops_byname(), a string; where a program passes
 * none, which is what rte_pktmbuf_pool_create() does, it is read from the environment variable
 * PAGEWHEEL_STRATEGY.
 *
 * pool_data is a struct pool in shared memory, without pointers to code: secondary processes use
 * it.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_debug.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_telemetry.h>

#include "pw_mempool.h"
#include "pw_store.h"

RTE_LOG_REGISTER(pw_mempool_logtype, pmd.mempool.pagewheel, NOTICE);

/* What is said of wrong puts of one pool, at most. */
#define BAD_PUTS_LOGGED 10

/* What is done about each buffer that is put. */
enum check {
	CHECK_OFF,
	CHECK_COUNT,
	CHECK_STOP,
};

/*
 * A secondary process without this plugin, or with others before it, has another handler where ours
 * is, and nothing of ours runs there to say so. What follows is for DPDK's ring and stack, which
 * would go round for ever, or write to the pool: to them it is an empty one that has no room.
 */
#define EMPTY_TO_OTHERS_BYTES 512

struct pool {
	char empty_to_others[EMPTY_TO_OTHERS_BYTES];
	struct pw_store *store;
	enum check check;
	bool warned_of_placement;
	unsigned bad_puts_logged; /* atomic */
	struct rte_mempool *mp;
	LIST_ENTRY(pool) next;
};

/*
 * The pools that this process made, for telemetry's thread. rte_mempool_walk() would not do: it
 * takes another lock than rte_mempool_free(), so that what it visits may be freed meanwhile. The
 * lock also keeps telemetry away while memory is added.
 */
static LIST_HEAD(, pool) pools = LIST_HEAD_INITIALIZER(pools);
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

#define PW_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, pw_mempool_logtype, "mempool pagewheel: " fmt "\n", ##__VA_ARGS__)

static struct pw_store *
store_of(const struct rte_mempool *mp)
{
	return ((const struct pool *)mp->pool_data)->store;
}

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

static int
read_check(const struct rte_mempool *mp, enum check *check)
{
	static const char *const names[] = {
		[CHECK_OFF] = "off", [CHECK_COUNT] = "count", [CHECK_STOP] = "stop"};
	const char *text = getenv(PW_MEMPOOL_CHECK_ENV);

#ifdef PW_DEBUG
	*check = CHECK_STOP;
#else
	*check = CHECK_OFF;
#endif
	if (text == NULL || text[0] == '\0')
		return 0;
	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (strcmp(text, names[i]) == 0) {
			*check = i;
			return 0;
		}
	PW_LOG(ERR, "pool %s: " PW_MEMPOOL_CHECK_ENV "=%.32s: expected off, count or stop",
		mp->name, text);
	return -EINVAL;
}

/* Say which page order would do. */
static void
explain_too_large(const struct rte_mempool *mp, const struct pw_store_params *params)
{
	struct pw_strategy larger = params->strategy;

	while (larger.page_order < PW_PAGE_ORDER_MAX &&
		pw_store_room_bytes(&larger) < params->stride_bytes)
		larger.page_order++;
	PW_LOG(ERR,
		"pool %s: an object of %u bytes (%u with its header) does not fit the %zu bytes that "
		"strategy %s has for one; with a page order behind the name, as in %.*s:%u, it has "
		"%zu bytes",
		mp->name, mp->elt_size, params->stride_bytes,
		pw_store_room_bytes(&params->strategy), params->strategy.name,
		(int)strcspn(params->strategy.name, ":"), params->strategy.name, larger.page_order,
		pw_store_room_bytes(&larger));
}

static struct pw_store *
create_store(const struct rte_mempool *mp, enum check check)
{
	struct pw_store_params params = {
		.stride_bytes = stride_bytes(mp),
		.offset_bytes = mp->header_size,
		.socket_id = mp->socket_id,
		.check = check != CHECK_OFF,
	};
	struct pw_store *store;

	if (read_strategy(mp, &params.strategy) < 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	store = pw_store_create(&params);
	if (store != NULL) {
		PW_LOG(NOTICE, "pool %s: strategy %s, pages of %zu bytes%s", mp->name,
			params.strategy.name, pw_strategy_page_bytes(&params.strategy),
			params.check ? ", each put is checked" : "");
	} else if (rte_errno == EMSGSIZE) {
		explain_too_large(mp, &params);
		rte_errno = EINVAL;
	} else {
		PW_LOG(ERR, "pool %s: cannot make a store: %s", mp->name, rte_strerror(rte_errno));
	}
	return store;
}

static int
pagewheel_alloc(struct rte_mempool *mp)
{
	struct pool *pool;
	enum check check;
	int rc;

	if (read_check(mp, &check) < 0)
		return -EINVAL;
	pool = rte_zmalloc_socket("pw_pool", sizeof(*pool), RTE_CACHE_LINE_SIZE, mp->socket_id);
	if (pool == NULL)
		return -ENOMEM;
	pool->check = check;
	pool->store = create_store(mp, check);
	if (pool->store == NULL) {
		rc = -rte_errno;
		rte_free(pool);
		return rc;
	}
	pool->mp = mp;
	mp->pool_data = pool;
	pthread_mutex_lock(&pools_lock);
	LIST_INSERT_HEAD(&pools, pool, next);
	pthread_mutex_unlock(&pools_lock);
	return 0;
}

static void
pagewheel_free(struct rte_mempool *mp)
{
	struct pool *pool = mp->pool_data;

	if (pool == NULL)
		return;
	pthread_mutex_lock(&pools_lock);
	LIST_REMOVE(pool, next);
	pthread_mutex_unlock(&pools_lock);
	pw_store_destroy(pool->store);
	rte_free(pool);
	mp->pool_data = NULL;
}

/* Who frees a buffer twice, or into the wrong pool, wants to know where. */
static void
report_bad_put(const struct rte_mempool *mp, unsigned refused)
{
	struct pool *pool = mp->pool_data;
	const void *obj = pw_store_last_bad_put(pool->store);

	if (__atomic_fetch_add(&pool->bad_puts_logged, 1, __ATOMIC_RELAXED) < BAD_PUTS_LOGGED)
		PW_LOG(ERR,
			"pool %s: %u buffers refused that were free already or are of no use here, the "
			"last at %p",
			mp->name, refused, obj);
	if (pool->check == CHECK_STOP)
		rte_panic("pool %s: a buffer at %p was freed twice, or is none of this pool\n",
			mp->name, obj);
}

static int
pagewheel_enqueue(struct rte_mempool *mp, void *const *objs, unsigned n)
{
	unsigned refused = pw_store_put(store_of(mp), objs, n);

	if (unlikely(refused > 0))
		report_bad_put(mp, refused);
	return 0;
}

static int
pagewheel_dequeue(struct rte_mempool *mp, void **objs, unsigned n)
{
	return pw_store_get(store_of(mp), objs, n);
}

static unsigned
pagewheel_get_count(const struct rte_mempool *mp)
{
	return pw_store_count(store_of(mp));
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
	const struct pw_strategy *strategy = pw_store_strategy(store_of(mp));
	size_t page = pw_strategy_page_bytes(strategy);
	size_t stride = pw_store_stride_bytes(store_of(mp));
	size_t per_page;

	if (pg_shift != 0 && ((size_t)1 << pg_shift) < page)
		page = (size_t)1 << pg_shift;
	if (page < stride)
		page = RTE_ALIGN_CEIL(stride, page);
	per_page = RTE_MIN(page / stride, (size_t)PW_STORE_PAGE_OBJECTS_MAX);

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
	struct pool *pool = mp->pool_data;
	struct pw_store *fresh;
	struct pw_store_stats stats;

	if (mp->nb_mem_chunks > 0)
		return 0;
	pw_store_get_stats(pool->store, &stats);
	if (stats.objects == 0)
		return 0;
	fresh = create_store(mp, pool->check);
	if (fresh == NULL)
		return -rte_errno;
	pw_store_destroy(pool->store);
	pool->store = fresh;
	return 0;
}

/* Memory on the wrong node costs each access; said once for a pool. */
static void
warn_of_placement(const struct rte_mempool *mp)
{
	struct pool *pool = mp->pool_data;

	if (pool->warned_of_placement || pw_store_pages_off_node(pool->store) == 0)
		return;
	pool->warned_of_placement = true;
	PW_LOG(WARNING,
		"pool %s: asked for memory of socket %d, but pages lie on another one: reserve "
		"hugepages there, as in echo N > "
		"/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/nr_hugepages",
		mp->name, mp->socket_id, mp->socket_id);
}

/* Objects become free in the store's pages: no lcore gets a share before it asks for one. */
static int
pagewheel_populate(struct rte_mempool *mp, unsigned max_objs, void *vaddr, rte_iova_t iova,
	size_t len, rte_mempool_populate_obj_cb_t *obj_cb, void *obj_cb_arg)
{
	struct populate_ctx ctx = {.mp = mp, .obj_cb = obj_cb, .arg = obj_cb_arg};
	int rc;

	pthread_mutex_lock(&pools_lock);
	rc = forget_freed_memory(mp);
	if (rc == 0)
		rc = pw_store_add(store_of(mp), vaddr, iova, len, max_objs, init_object, &ctx);
	pthread_mutex_unlock(&pools_lock);
	if (rc < 0) {
		/* rte_mempool would keep the memory in its list, though its caller frees it. */
		PW_LOG(ERR, "pool %s: cannot take %zu bytes at %p: %s", mp->name, len, vaddr,
			rte_strerror(-rc));
		return 0;
	}
	warn_of_placement(mp);
	return rc;
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

static bool
is_ours(const struct rte_mempool *mp)
{
	/* Who measures the handler may have put something around the other functions. */
	return rte_mempool_get_ops(mp->ops_index)->get_count == pagewheel_get_count &&
		mp->pool_data != NULL;
}

int
pw_mempool_get_stats(const struct rte_mempool *mp, struct pw_store_stats *stats)
{
	if (!is_ours(mp))
		return -ENOTSUP;
	pthread_mutex_lock(&pools_lock);
	pw_store_get_stats(store_of(mp), stats);
	pthread_mutex_unlock(&pools_lock);
	return 0;
}

/* What a telemetry request looks for, and whether it was found. */
struct request {
	const char *name; /* NULL: list all */
	struct rte_tel_data *data;
	bool found;
};

static void
answer_for_pool(struct rte_mempool *mp, void *arg)
{
	struct request *request = arg;
	struct pw_store_stats stats;

	if (!is_ours(mp))
		return;
	if (request->name == NULL) {
		rte_tel_data_add_array_string(request->data, mp->name);
	} else if (strcmp(request->name, mp->name) == 0) {
		request->found = true;
		pw_store_get_stats(store_of(mp), &stats);
		rte_tel_data_start_dict(request->data);
		rte_tel_data_add_dict_string(
			request->data, "strategy", pw_store_strategy(store_of(mp))->name);
		pw_stat_add_to_dict(request->data, pw_store_stat_table, &stats);
	}
}

static void
answer_for_all(struct request *request)
{
	struct pool *pool;

	pthread_mutex_lock(&pools_lock);
	LIST_FOREACH (pool, &pools, next)
		answer_for_pool(pool->mp, request);
	pthread_mutex_unlock(&pools_lock);
}

static int
answer(const char *cmd, const char *params, struct rte_tel_data *data)
{
	struct request request = {.name = params, .data = data};

	(void)cmd;
	if (params == NULL || params[0] == '\0') {
		request.name = NULL;
		request.found = true;
		rte_tel_data_start_array(data, RTE_TEL_STRING_VAL);
	}
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		answer_for_all(&request);
	else
		rte_mempool_walk(answer_for_pool, &request); /* the primary made them */
	return request.found ? 0 : -ENOENT;
}

RTE_INIT(pagewheel_telemetry)
{
	rte_telemetry_register_cmd("/pagewheel/pool", answer,
		"Pools with this handler; with the name of one, its counters");
}
