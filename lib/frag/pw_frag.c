/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frag.h"

#include <errno.h>
#include <stdbool.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_malloc.h>

struct pw_frag_cache {
	struct pw_page *page; /* the page in use, or NULL */
	uint32_t offset;      /* fragments lie at and behind it */
	uint32_t bias;	      /* references of the page that the cache still holds */
	uint32_t page_bytes;
	enum pw_reuse reuse;
	struct pw_arena *arena;
	struct pw_frag_stats stats;
};

/*
 * References taken with a page: one for each byte is more than there can be fragments, and one more
 * keeps the page while it is in use.
 */
static uint32_t
full_bias(const struct pw_frag_cache *cache)
{
	return cache->page_bytes + 1;
}

/* Drop references; true for the last. The release pairs with the acquire of whoever gets the page.
 */
static bool
drop_refs(struct pw_page *page, uint32_t count)
{
	return __atomic_sub_fetch(&page->refs, count, __ATOMIC_ACQ_REL) == 0;
}

struct pw_frag_cache *
pw_frag_cache_create(struct pw_arena *arena, const struct pw_strategy *strategy)
{
	struct pw_arena_stats stats;
	struct pw_frag_cache *cache;

	pw_arena_get_stats(arena, &stats);
	if (pw_strategy_page_bytes(strategy) != stats.page_bytes ||
		stats.bytes != stats.pages * stats.page_bytes) {
		rte_errno = EINVAL;
		return NULL;
	}
	cache = rte_zmalloc("pw_frag_cache", sizeof(*cache), RTE_CACHE_LINE_SIZE);
	if (cache == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	cache->arena = arena;
	cache->page_bytes = stats.page_bytes;
	cache->reuse = strategy->reuse;
	return cache;
}

/* Let go of the page in use. */
static void
leave_page(struct pw_frag_cache *cache)
{
	struct pw_page *page = cache->page;

	cache->page = NULL;
	if (page != NULL && drop_refs(page, cache->bias))
		pw_page_free(cache->arena, page);
}

void
pw_frag_cache_destroy(struct pw_frag_cache *cache)
{
	if (cache == NULL)
		return;
	leave_page(cache);
	rte_free(cache);
}

/* Start at the end of a page that nobody else holds. */
static void
start_page(struct pw_frag_cache *cache, struct pw_page *page)
{
	cache->page = page;
	cache->bias = full_bias(cache);
	cache->offset = page->len_bytes;
	__atomic_store_n(&page->refs, cache->bias, __ATOMIC_RELAXED);
}

/* The cache is the only holder when the page has no reference but its own. */
static bool
is_only_holder(const struct pw_frag_cache *cache)
{
	return __atomic_load_n(&cache->page->refs, __ATOMIC_ACQUIRE) == cache->bias;
}

static bool
refill(struct pw_frag_cache *cache)
{
	struct pw_page *page;

	if (cache->page != NULL && is_only_holder(cache)) {
		if (cache->reuse == PW_REUSE_RESET) {
			cache->stats.reuses++;
			start_page(cache, cache->page);
			return true;
		}
		leave_page(cache); /* first: it may be the last page that is free */
	}

	page = pw_page_alloc(cache->arena);
	if (page == NULL) {
		cache->stats.failures++;
		return false;
	}
	cache->stats.refills++;
	leave_page(cache);
	start_page(cache, page);
	return true;
}

void *
pw_frag_alloc(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	uint32_t mask = ~((uint32_t)align_bytes - 1);

	if (unlikely(size_bytes == 0 || align_bytes == 0 || align_bytes > cache->page_bytes ||
		    (align_bytes & (align_bytes - 1)) != 0)) {
		rte_errno = EINVAL;
		return NULL;
	}
	if (unlikely(size_bytes > cache->page_bytes)) {
		rte_errno = EMSGSIZE;
		return NULL;
	}

	if (unlikely(cache->page == NULL || cache->offset < size_bytes) && !refill(cache))
		return NULL; /* rte_errno is pw_page_alloc()'s */

	/* A page begins at a multiple of its size: aligning the offset aligns the address. */
	cache->offset = (cache->offset - (uint32_t)size_bytes) & mask;
	cache->bias--;
	cache->stats.allocs++;
	cache->stats.bytes += size_bytes;
	return cache->page->addr + cache->offset;
}

int
pw_frag_ref(struct pw_arena *arena, void *frag)
{
	struct pw_page *page = pw_page_of(arena, frag);

	if (page == NULL)
		return -EINVAL;
	__atomic_add_fetch(&page->refs, 1, __ATOMIC_RELAXED);
	return 0;
}

int
pw_frag_free(struct pw_arena *arena, void *frag)
{
	struct pw_page *page = pw_page_of(arena, frag);

	if (page == NULL)
		return -EINVAL;
	if (drop_refs(page, 1))
		pw_page_free(arena, page);
	return 0;
}

void
pw_frag_get_stats(const struct pw_frag_cache *cache, struct pw_frag_stats *stats)
{
	*stats = cache->stats;
}
