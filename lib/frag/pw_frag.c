/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frag.h"

#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "pw_frag_priv.h"

struct pw_frag_cache *
pw_frag_cache_create(struct pw_frag_pool *pool)
{
	bool flips = pool->strategy.reuse == PW_REUSE_FLIP;
	size_t size = sizeof(struct pw_frag_cache) +
		(flips ? PW_FRAG_FIFO : 0) * sizeof(struct pw_flip_slot);
	struct pw_frag_cache *cache = rte_zmalloc_socket("pw_frag_cache", size, RTE_CACHE_LINE_SIZE,
		pw_arena_get_params(pool->arena)->socket_id);

	if (cache == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	cache->pool = pool;
	cache->page_bytes = pw_strategy_page_bytes(&pool->strategy);
	cache->flips = flips;
	cache->kept_max = flips ? PW_KEPT_MAX_HALF : PW_KEPT_MAX;
	pw_frag_forget_piece(cache);
	rte_spinlock_lock(&pool->lock);
	LIST_INSERT_HEAD(&pool->caches, cache, next_cache);
	rte_spinlock_unlock(&pool->lock);
	return cache;
}

/* Let go of the page in use. */
static void
leave_page(struct pw_frag_cache *cache)
{
	if (cache->page != NULL) {
		uint32_t count = pw_refs_count(pw_refs_load(cache->page));

		pw_frag_page_drop(cache->pool, cache->page,
			PW_REFS_CUT + pw_bias_due(cache->pool, pw_frag_bias(cache), count));
	}
	pw_frag_forget_piece(cache);
}

void
pw_frag_cache_destroy(struct pw_frag_cache *cache)
{
	if (cache == NULL)
		return;
	rte_spinlock_lock(&cache->pool->lock);
	LIST_REMOVE(cache, next_cache);
	rte_spinlock_unlock(&cache->pool->lock);
	if (cache->flips)
		pw_flip_leave(cache);
	else
		leave_page(cache);
	rte_free(cache);
}

/* Start at the end of a page that nobody else holds. */
static void
start_page(struct pw_frag_cache *cache, struct pw_page *page)
{
	pw_frag_count_piece(cache);
	cache->page = page;
	cache->len_bytes = pw_page_bytes(page);
	cache->begin = (uintptr_t)page->addr;
	cache->cut = cache->begin + cache->len_bytes;
	cache->taken = cache->len_bytes; /* PW_TAKEN_MAX */
	pw_refs_store(page, PW_REFS_CUT + cache->taken);
}

/* The cache is the only holder when the page has no reference but its own. */
static bool
is_only_holder(const struct pw_frag_cache *cache)
{
	return pw_refs_load(cache->page) == PW_REFS_CUT + pw_frag_bias(cache);
}

static bool
may_reset(const struct pw_frag_cache *cache)
{
	return cache->pool->strategy.reuse == PW_REUSE_RESET && pw_frag_page_may_stay(cache->page);
}

static bool
refill(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	uint64_t tail_bytes = cache->cut - cache->begin;
	struct pw_page *page;

	/* A page too small for this stays: what is smaller may still be cut from it. */
	if (RTE_MAX(size_bytes, align_bytes) <= cache->len_bytes && is_only_holder(cache)) {
		cache->stats.tail_bytes += tail_bytes;
		if (may_reset(cache)) {
			cache->stats.reuses++;
			start_page(cache, cache->page);
			return true;
		}
		leave_page(cache); /* first: it may be the last page, and is the hottest */
		tail_bytes = 0;
	}

	page = pw_frag_page_get(cache->pool, size_bytes, align_bytes);
	if (page == NULL) {
		cache->stats.failures++;
		return false;
	}
	cache->stats.refills++;
	cache->stats.fallback_pages += (page->flags & PW_PAGE_FALLBACK) != 0;
	cache->stats.tail_bytes += tail_bytes;
	leave_page(cache);
	start_page(cache, page);
	return true;
}

static void *
refuse(size_t size_bytes, size_t align_bytes, size_t page_bytes)
{
	bool aligned = align_bytes - 1 < page_bytes && rte_is_power_of_2(align_bytes);

	rte_errno = size_bytes == 0 || !aligned ? EINVAL : EMSGSIZE;
	return NULL;
}

static void *
hand_out(struct pw_frag_cache *cache, uintptr_t frag, size_t size_bytes)
{
	cache->cut = frag;
	cache->handed++;
	cache->bytes += size_bytes;
	return (void *)frag;
}

/* All but the common case, apart: so that the common one saves no registers. */
static __rte_noinline void *
alloc_slowly(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	/* 0 wraps around to what is too large. */
	if (size_bytes - 1 >= cache->page_bytes || align_bytes - 1 >= cache->page_bytes ||
		!rte_is_power_of_2(align_bytes))
		return refuse(size_bytes, align_bytes, cache->page_bytes);
	if (cache->flips)
		return pw_flip_alloc(cache, size_bytes, align_bytes);
	if (!refill(cache, size_bytes, align_bytes))
		return NULL; /* rte_errno is pw_frag_page_get()'s */
	return hand_out(cache, pw_frag_cut(cache->cut, size_bytes, align_bytes), size_bytes);
}

void *
pw_frag_alloc(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	uintptr_t frag = pw_frag_cut(cache->cut, size_bytes, align_bytes);

	if (unlikely(size_bytes - 1 >= cache->page_bytes || align_bytes - 1 >= cache->page_bytes ||
		    (align_bytes & (align_bytes - 1)) != 0 || frag < cache->begin))
		return alloc_slowly(cache, size_bytes, align_bytes);
	return hand_out(cache, frag, size_bytes);
}

/*
 * The page of a fragment, and what one reference of the fragment counts there. NULL, counted, when
 * nothing is handed out where the address points: what the arena then finds may be any page.
 */
static struct pw_page *
find_frag(struct pw_frag_pool *pool, const void *frag, uint32_t *ref)
{
	struct pw_page *page = pw_page_of(pool->arena, frag);
	uint32_t refs, mask = PW_REFS_CUT - 1;
	size_t at;

	*ref = 1;
	if (unlikely(page == NULL))
		goto refused;
	at = (const char *)frag - page->addr;
	refs = pw_refs_load(page);
	if (refs & PW_REFS_HALVES) {
		*ref <<= pw_refs_half_shift(at >= pw_page_bytes(page) / 2);
		mask = PW_REFS_HALF_MASK * *ref;
	}
	if (likely(at < pw_page_bytes(page) && (refs & mask) != 0))
		return page;
refused:
	__atomic_add_fetch(&pool->refused, 1, __ATOMIC_RELAXED);
	return NULL;
}

int
pw_frag_ref(struct pw_frag_pool *pool, const void *frag)
{
	uint32_t ref;
	struct pw_page *page = find_frag(pool, frag, &ref);

	if (unlikely(page == NULL))
		return -EINVAL;
	__atomic_add_fetch(&page->refs, ref, __ATOMIC_RELAXED);
	return 0;
}

int
pw_frag_free(struct pw_frag_pool *pool, const void *frag)
{
	uint32_t ref;
	struct pw_page *page = find_frag(pool, frag, &ref);

	if (unlikely(page == NULL))
		return -EINVAL;
	pw_frag_page_drop(pool, page, ref);
	return 0;
}

static __rte_noinline int
free_slowly(struct pw_frag_cache *cache, const void *frag)
{
	int rc = pw_frag_free(cache->pool, frag);

	cache->stats.local_frees += rc == 0;
	return rc;
}

int
pw_frag_cache_free(struct pw_frag_cache *cache, const void *frag)
{
	if (unlikely((uintptr_t)frag - cache->begin >= cache->len_bytes ||
		    cache->kept == cache->kept_max))
		return free_slowly(cache, frag);
	cache->kept++;
	return 0;
}

rte_iova_t
pw_frag_iova(const struct pw_frag_pool *pool, const void *frag)
{
	const struct pw_page *page = pw_page_of(pool->arena, frag);

	if (page == NULL || page->iova == RTE_BAD_IOVA)
		return RTE_BAD_IOVA;
	return page->iova + ((const char *)frag - page->addr);
}

struct pw_frag_pool *
pw_frag_cache_pool(const struct pw_frag_cache *cache)
{
	return cache->pool;
}

void
pw_frag_get_stats(const struct pw_frag_cache *cache, struct pw_frag_stats *stats)
{
	*stats = cache->stats;
	stats->allocs += cache->handed;
	stats->local_frees += cache->kept;
	stats->bytes = cache->bytes;
}
