/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAG_PRIV_H
#define PW_FRAG_PRIV_H

/** @file What the files of lib/frag share: the pool, a cache, and how a page counts. */

#include <assert.h>
#include <stdbool.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

#include "pw_frag.h"

/*
 * page->refs of a page that is held:
 *
 *	bit 31	     PW_REFS_HALVES: the two halves of the page are counted apart
 *	bit 30	     PW_REFS_CUT: somebody cuts fragments from the page, or will, and holds it
 *	bits 0..29   references, of fragments and of a cache's bias; or
 *	bits 15..29  those of the upper half, and bits 0..14 those of the lower one
 *
 * The page goes home when all but bit 31 is 0. One count for both halves would not do: once either
 * half had a reference more or less than the other, nobody could tell which of them is free.
 */
#define PW_REFS_HALVES (UINT32_C(1) << 31)
#define PW_REFS_CUT (UINT32_C(1) << 30)
#define PW_REFS_HALF_SHIFT 15
#define PW_REFS_HALF_MASK ((UINT32_C(1) << PW_REFS_HALF_SHIFT) - 1)

/* Most references that a cache keeps of what its owner frees; pw_frag.h promises the rest. */
#define PW_KEPT_MAX (UINT32_C(1) << 29)
#define PW_KEPT_MAX_HALF ((UINT32_C(1) << 14) - 1)
static_assert(PW_KEPT_MAX_HALF + (UINT32_C(1) << 14) <= PW_REFS_HALF_MASK, "room for 16384");

/* Taken with a page is one reference for each byte: there cannot be more fragments. */
#define PW_TAKEN_MAX (UINT32_C(1) << (PW_PAGE_SHIFT + PW_PAGE_ORDER_MAX))
static_assert(PW_TAKEN_MAX + PW_KEPT_MAX + (UINT32_C(1) << 28) < PW_REFS_CUT, "room for 2^28");

struct pw_frag_pool {
	struct pw_arena *arena;
	struct pw_page_cache *pages;
	struct pw_strategy strategy;
	uint64_t refused; /* atomic */
	rte_spinlock_t lock;
	LIST_HEAD(, pw_frag_cache) caches; /* whose bias is no fragment's; under the lock */
};

/* A page in the ring of a cache that flips. */
struct pw_flip_slot {
	struct pw_page *page;
	unsigned half; /* that went out last */
};

struct pw_frag_cache {
	/*
	 * One line for all that allocating and freeing touch. The bias is not kept as such: both
	 * would change it, each waiting for the other's store.
	 */
	uintptr_t begin;    /* of the piece in use: a page, or the half that went out last */
	uintptr_t cut;	    /* fragments lie at and behind it; at begin in a half */
	uint32_t len_bytes; /* of the piece */
	uint32_t taken;	    /* references taken with the piece */
	uint32_t handed;    /* of them handed out */
	uint32_t kept;	    /* references that the owner freed, and the cache has since */
	uint32_t kept_max;
	uint32_t page_bytes; /* of the strategy */
	uint64_t bytes;
	struct pw_page *page; /* of the piece, or NULL */

	struct pw_frag_pool *pool __rte_cache_aligned;
	struct pw_frag_stats stats; /* of former pieces */
	LIST_ENTRY(pw_frag_cache) next_cache;
	bool flips;
	unsigned turn; /* the slot whose turn is next */
	struct pw_flip_slot slots[];
} __rte_cache_aligned;

static_assert(offsetof(struct pw_frag_cache, pool) == RTE_CACHE_LINE_SIZE, "the hot line");

static inline uint32_t
pw_refs_load(const struct pw_page *page)
{
	return __atomic_load_n(&page->refs, __ATOMIC_ACQUIRE);
}

/* For the only holder, and for whoever takes an empty page. */
static inline void
pw_refs_store(struct pw_page *page, uint32_t refs)
{
	__atomic_store_n(&page->refs, refs, __ATOMIC_RELAXED);
}

static inline unsigned
pw_refs_half_shift(unsigned half)
{
	return half * PW_REFS_HALF_SHIFT;
}

static inline uint32_t
pw_refs_of_half(uint32_t refs, unsigned half)
{
	return refs >> pw_refs_half_shift(half) & PW_REFS_HALF_MASK;
}

/* All references of a page. */
static inline uint32_t
pw_refs_count(uint32_t refs)
{
	if (refs & PW_REFS_HALVES)
		return pw_refs_of_half(refs, 0) + pw_refs_of_half(refs, 1);
	return refs & (PW_REFS_CUT - 1);
}

/* Drop references; true for the last. The release pairs with the acquire of the page's next holder.
 */
static inline bool
pw_refs_drop(struct pw_page *page, uint32_t refs)
{
	/* Nobody else can change the count when these are all there are. */
	if ((pw_refs_load(page) & ~PW_REFS_HALVES) == refs) {
		pw_refs_store(page, 0);
		return true;
	}
	return (__atomic_sub_fetch(&page->refs, refs, __ATOMIC_ACQ_REL) & ~PW_REFS_HALVES) == 0;
}

static inline void
pw_frag_page_drop(struct pw_frag_pool *pool, struct pw_page *page, uint32_t refs)
{
	if (pw_refs_drop(page, refs))
		pw_page_cache_put(pool->pages, page);
}

/*
 * How much of its bias a cache may give back: all, unless its owner freed something twice. That is
 * counted then, and the count of the page stays right.
 */
static inline uint32_t
pw_bias_due(struct pw_frag_pool *pool, uint32_t bias, uint32_t count)
{
	if (likely(bias <= count))
		return bias;
	__atomic_add_fetch(&pool->refused, bias - count, __ATOMIC_RELAXED);
	return count;
}

/* References of the piece in use that the cache holds. */
static inline uint32_t
pw_frag_bias(const struct pw_frag_cache *cache)
{
	return cache->taken - cache->handed + cache->kept;
}

/* Count what happened with the piece in use, whose bias is given back or replaced. */
static inline void
pw_frag_count_piece(struct pw_frag_cache *cache)
{
	cache->stats.allocs += cache->handed;
	cache->stats.local_frees += cache->kept;
	cache->taken = 0;
	cache->handed = 0;
	cache->kept = 0;
}

/* The cache has no piece in use: wherever a fragment is cut, it lies below. */
static inline void
pw_frag_forget_piece(struct pw_frag_cache *cache)
{
	pw_frag_count_piece(cache);
	cache->page = NULL;
	cache->begin = UINTPTR_MAX;
	cache->cut = UINTPTR_MAX;
	cache->len_bytes = 0;
}

/* Where a fragment cut from the end of a piece begins; below the piece when it does not fit. */
static inline uintptr_t
pw_frag_cut(uintptr_t end, size_t size_bytes, size_t align_bytes)
{
	return (end - size_bytes) & ~((uintptr_t)align_bytes - 1);
}

/* Pages that the buddy allocator should have back as soon as they are empty. */
static inline bool
pw_frag_page_may_stay(const struct pw_page *page)
{
	return (page->flags & (PW_PAGE_FALLBACK | PW_PAGE_OFF_NODE)) == 0;
}

/** Take an empty page with room for a fragment; NULL with rte_errno ENOMEM. */
struct pw_page *pw_frag_page_get(struct pw_frag_pool *pool, size_t size_bytes, size_t align_bytes);

/** pw_frag_alloc() of a cache that flips, arguments checked. */
void *pw_flip_alloc(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes);

/** Let go of all pages of a cache that flips. */
void pw_flip_leave(struct pw_frag_cache *cache);

#endif
