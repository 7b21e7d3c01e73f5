/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frag_pool.h"

#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "pw_frag_priv.h"

static void
free_pool(struct pw_frag_pool *pool)
{
	pw_page_cache_destroy(pool->pages);
	pw_arena_destroy(pool->arena);
	rte_free(pool);
}

static int
init_pool(struct pw_frag_pool *pool, const struct pw_frag_pool_params *params)
{
	struct pw_arena_params arena = {
		.socket_id = params->socket_id,
		.min_order = 0,
		.max_order = PW_PAGE_ORDER_MAX,
	};
	int rc;

	pool->strategy = params->strategy;
	rte_spinlock_init(&pool->lock);
	LIST_INIT(&pool->caches);
	pool->arena = pw_arena_create(&arena);
	if (pool->arena == NULL)
		return -rte_errno;
	rc = pw_arena_reserve(pool->arena, params->name, params->bytes);
	if (rc < 0)
		return rc;
	pool->pages = pw_page_cache_create(pool->arena, &pool->strategy);
	return pool->pages == NULL ? -rte_errno : 0;
}

struct pw_frag_pool *
pw_frag_pool_create(const struct pw_frag_pool_params *params)
{
	struct pw_frag_pool *pool;
	int rc;

	/* Heaps of external memory have numbers behind those of the NUMA sockets. */
	if (params->name == NULL || params->name[0] == '\0' || params->bytes == 0 ||
		params->socket_id < SOCKET_ID_ANY) {
		rte_errno = EINVAL;
		return NULL;
	}
	pool = rte_zmalloc_socket(
		"pw_frag_pool", sizeof(*pool), RTE_CACHE_LINE_SIZE, params->socket_id);
	if (pool == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	rc = init_pool(pool, params);
	if (rc < 0) {
		free_pool(pool);
		rte_errno = -rc;
		return NULL;
	}
	return pool;
}

/* What the pages given out are held for. */
struct census {
	uint64_t refs;
	uint64_t pages;
	uint64_t bytes;
	uint64_t pinned;
};

static void
visit_page(struct pw_page *page, void *ctx)
{
	struct census *census = ctx;
	uint32_t refs = pw_refs_load(page);
	uint32_t count = pw_refs_count(refs);

	/* Without a reference it lies in the page cache, or a test took it from the arena. */
	if ((refs & ~PW_REFS_HALVES) == 0)
		return;
	census->refs += count;
	census->pages++;
	census->bytes += pw_page_bytes(page);
	census->pinned += (refs & PW_REFS_CUT) == 0 && count <= 2;
}

static struct census
take_census(struct pw_frag_pool *pool)
{
	struct census census = {0};
	const struct pw_frag_cache *cache;
	uint64_t bias = 0;

	rte_spinlock_lock(&pool->lock);
	pw_arena_walk_held(pool->arena, visit_page, &census);
	LIST_FOREACH (cache, &pool->caches, next_cache)
		bias += pw_frag_bias(cache);
	rte_spinlock_unlock(&pool->lock);
	/* Others may be at work between the two. */
	census.refs -= RTE_MIN(census.refs, bias);
	return census;
}

int
pw_frag_pool_destroy(struct pw_frag_pool *pool)
{
	if (pool == NULL)
		return 0;
	if (!LIST_EMPTY(&pool->caches) || take_census(pool).pages > 0)
		return -EBUSY;
	free_pool(pool);
	return 0;
}

uint64_t
pw_frag_pool_in_flight(struct pw_frag_pool *pool)
{
	return take_census(pool).refs;
}

void
pw_frag_pool_get_stats(struct pw_frag_pool *pool, struct pw_frag_pool_stats *stats)
{
	struct census census = take_census(pool);

	pw_arena_get_stats(pool->arena, &stats->pages);
	pw_page_cache_get_stats(pool->pages, &stats->cache);
	stats->frags_in_flight = census.refs;
	stats->bytes_in_use = census.bytes;
	stats->pages_in_use = census.pages;
	stats->pages_pinned = census.pinned;
	stats->refused = __atomic_load_n(&pool->refused, __ATOMIC_RELAXED);
}

const struct pw_strategy *
pw_frag_pool_strategy(const struct pw_frag_pool *pool)
{
	return &pool->strategy;
}

struct pw_arena *
pw_frag_pool_arena(const struct pw_frag_pool *pool)
{
	return pool->arena;
}

struct pw_page_cache *
pw_frag_pool_page_cache(const struct pw_frag_pool *pool)
{
	return pool->pages;
}

struct pw_page *
pw_frag_page_get(struct pw_frag_pool *pool, size_t size_bytes, size_t align_bytes)
{
	const size_t small = (size_t)1 << PW_PAGE_SHIFT;

	return pw_page_cache_get(pool->pages, size_bytes <= small && align_bytes <= small);
}
