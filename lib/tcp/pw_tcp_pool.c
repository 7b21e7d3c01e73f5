/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_pool.h"

#include <errno.h>

#include <rte_common.h>
#include <rte_malloc.h>

#define SLAB_OBJECTS 64U

static size_t
slab_bytes(uint32_t object_bytes)
{
	return RTE_CACHE_LINE_SIZE + (size_t)SLAB_OBJECTS * object_bytes;
}

static int
grow(struct pw_tcp_pool *pool)
{
	uint32_t n = RTE_MIN(SLAB_OBJECTS, pool->max - pool->nb);
	struct pw_tcp_pool_link *slab;
	char *objects;

	if (n == 0)
		return -ENOMEM;
	slab = rte_malloc_socket(
		pool->name, slab_bytes(pool->object_bytes), RTE_CACHE_LINE_SIZE, pool->socket_id);
	if (slab == NULL)
		return -ENOMEM;
	SLIST_INSERT_HEAD(&pool->slabs, slab, next);
	objects = (char *)slab + RTE_CACHE_LINE_SIZE;
	for (uint32_t i = n; i-- > 0;)
		pw_tcp_pool_give(pool, objects + (size_t)i * pool->object_bytes);
	pool->nb += n;
	return 0;
}

int
pw_tcp_pool_init(struct pw_tcp_pool *pool, const char *name, uint32_t object_bytes, uint32_t max,
	int socket_id)
{
	*pool = (struct pw_tcp_pool){
		.name = name,
		.object_bytes = RTE_ALIGN_CEIL(object_bytes, RTE_CACHE_LINE_SIZE),
		.max = RTE_MIN(max, (uint32_t)PW_TCP_POOL_MAX),
		.socket_id = socket_id,
	};
	return grow(pool);
}

void
pw_tcp_pool_fini(struct pw_tcp_pool *pool)
{
	struct pw_tcp_pool_link *slab;

	while ((slab = SLIST_FIRST(&pool->slabs)) != NULL) {
		SLIST_REMOVE_HEAD(&pool->slabs, next);
		rte_free(slab);
	}
}

void *
pw_tcp_pool_take(struct pw_tcp_pool *pool)
{
	struct pw_tcp_pool_link *object;

	if (pool->nb_free == 0 && grow(pool) < 0)
		return NULL;
	object = SLIST_FIRST(&pool->free);
	SLIST_REMOVE_HEAD(&pool->free, next);
	pool->nb_free--;
	return object;
}

void
pw_tcp_pool_give(struct pw_tcp_pool *pool, void *object)
{
	struct pw_tcp_pool_link *link = object;

	SLIST_INSERT_HEAD(&pool->free, link, next);
	pool->nb_free++;
}

size_t
pw_tcp_pool_bytes(uint32_t object_bytes, uint32_t objects)
{
	uint32_t n = RTE_MIN(objects, (uint32_t)PW_TCP_POOL_MAX);

	return (size_t)(n + SLAB_OBJECTS - 1) / SLAB_OBJECTS *
		slab_bytes(RTE_ALIGN_CEIL(object_bytes, RTE_CACHE_LINE_SIZE));
}
