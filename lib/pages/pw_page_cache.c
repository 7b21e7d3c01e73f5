/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_page_cache.h"

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include "pw_arena_priv.h"
#include "pw_slot.h"

#define STACK_PAGES 64 /* as the stack of Linux's page_pool */
#define RING_PAGES 256
#define BULK (STACK_PAGES / 2)

/* The pages of one slot. */
struct stack {
	rte_spinlock_t lock;
	uint32_t len;
	struct pw_page_cache_stats stats;
	struct pw_page *pages[STACK_PAGES];
} __rte_cache_aligned;

struct pw_page_cache {
	struct pw_arena *arena;
	unsigned page_order;
	enum pw_home home;
	rte_spinlock_t draining;
	uint32_t drained; /* counts when pages were; atomic */
	bool stacked;	  /* pages went to stacks since these were drained last; atomic */
	struct stack
		*stacks[PW_SLOTS]; /* of the lcores there were at first, and of plain threads */
	struct rte_ring *rings[PW_SLOTS]; /* by which others return pages; of the home ring only */
};

static struct rte_ring *
create_ring(int socket_id)
{
	struct rte_ring *ring = rte_zmalloc_socket(
		"pw_page_ring", rte_ring_get_memsize(RING_PAGES), RTE_CACHE_LINE_SIZE, socket_id);

	if (ring != NULL)
		rte_ring_init(ring, "pw_page_ring", RING_PAGES, 0);
	return ring;
}

static int
create_slot(struct pw_page_cache *cache, unsigned slot, int socket_id)
{
	struct stack *stack = rte_zmalloc_socket(
		"pw_page_stack", sizeof(*stack), RTE_CACHE_LINE_SIZE, socket_id);

	if (stack == NULL)
		return -ENOMEM;
	rte_spinlock_init(&stack->lock);
	cache->stacks[slot] = stack;
	if (cache->home != PW_HOME_RING)
		return 0;
	cache->rings[slot] = create_ring(socket_id);
	return cache->rings[slot] == NULL ? -ENOMEM : 0;
}

struct pw_page_cache *
pw_page_cache_create(struct pw_arena *arena, const struct pw_strategy *strategy)
{
	const struct pw_arena_params *params = pw_arena_get_params(arena);
	struct pw_page_cache *cache;

	if (strategy->page_order < params->min_order || strategy->page_order > params->max_order) {
		rte_errno = EINVAL;
		return NULL;
	}
	cache = rte_zmalloc_socket(
		"pw_page_cache", sizeof(*cache), RTE_CACHE_LINE_SIZE, params->socket_id);
	if (cache == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	cache->arena = arena;
	cache->page_order = strategy->page_order;
	cache->home = strategy->home;
	rte_spinlock_init(&cache->draining);
	for (unsigned i = 0; i < PW_SLOTS; i++)
		if (pw_slot_enabled(i) && create_slot(cache, i, params->socket_id) < 0) {
			pw_page_cache_destroy(cache);
			rte_errno = ENOMEM;
			return NULL;
		}
	return cache;
}

void
pw_page_cache_destroy(struct pw_page_cache *cache)
{
	if (cache == NULL)
		return;
	pw_page_cache_drain(cache);
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		rte_free(cache->rings[i]);
		rte_free(cache->stacks[i]);
	}
	rte_free(cache);
}

/* Lcores that came later use one of the plain threads' stacks. */
static unsigned
my_slot(const struct pw_page_cache *cache)
{
	unsigned slot = pw_slot();

	return likely(cache->stacks[slot] != NULL) ? slot : RTE_MAX_LCORE;
}

/*
 * Counters are written by a stack's lcore, with or without its lock: where plain threads share one,
 * a count may be lost.
 */
static void
count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* A page of the lcore's own: from its stack, filled by the ring that others return pages by. */
static struct pw_page *
pop(struct stack *stack, struct rte_ring *ring)
{
	if (stack->len == 0 && ring != NULL) {
		stack->len = rte_ring_dequeue_burst(ring, (void **)stack->pages, BULK, NULL);
		count(&stack->stats.ring_hits, stack->len);
	}
	if (stack->len == 0)
		return NULL;
	count(&stack->stats.cache_hits, 1);
	return stack->pages[--stack->len];
}

static struct pw_page *
get_fallback(struct pw_page_cache *cache)
{
	unsigned min_order = pw_arena_get_params(cache->arena)->min_order;

	if (min_order == cache->page_order)
		return NULL;
	return pw_buddy_alloc(cache->arena, min_order, PW_PAGE_FALLBACK);
}

/* A page from the arena. The calling lcore's stack is not locked: draining locks all in turn. */
static struct pw_page *
get_from_arena(struct pw_page_cache *cache, bool fallback, uint64_t *fell_back)
{
	uint32_t before = __atomic_load_n(&cache->drained, __ATOMIC_ACQUIRE);
	struct pw_page *page = pw_page_alloc(cache->arena, cache->page_order);

	*fell_back = 0;
	/* Another one may have drained them meanwhile. */
	if (page == NULL &&
		(pw_page_cache_drain(cache) > 0 ||
			__atomic_load_n(&cache->drained, __ATOMIC_ACQUIRE) != before))
		page = pw_page_alloc(cache->arena, cache->page_order);
	if (page == NULL && fallback) {
		page = get_fallback(cache);
		*fell_back = page != NULL;
	}
	return page;
}

/* A page of the lcore's own, if the strategy keeps any. */
static struct pw_page *
get_cached(struct pw_page_cache *cache, unsigned slot)
{
	struct stack *stack = cache->stacks[slot];
	struct pw_page *page;

	if (cache->home == PW_HOME_BUDDY)
		return NULL;
	rte_spinlock_lock(&stack->lock);
	page = pop(stack, cache->rings[slot]);
	pw_unlock(&stack->lock);
	return page;
}

struct pw_page *
pw_page_cache_get(struct pw_page_cache *cache, bool fallback)
{
	unsigned slot = my_slot(cache);
	struct pw_page_cache_stats *stats = &cache->stacks[slot]->stats;
	struct pw_page *page = get_cached(cache, slot);
	uint64_t fell_back;

	if (page == NULL) {
		page = get_from_arena(cache, fallback, &fell_back);
		if (page == NULL) {
			count(&stats->failures, 1);
			return NULL;
		}
		count(fell_back ? &stats->fallbacks : &stats->buddy_hits, 1);
	}
	page->owner = slot; /* who put it on the stack may have got it from another */
	return page;
}

/* Put a page on a stack; what was there longest makes room. */
static void
push(struct pw_page_cache *cache, struct stack *stack, struct pw_page *page)
{
	if (stack->len == STACK_PAGES) {
		for (unsigned i = 0; i < BULK; i++)
			pw_page_free(cache->arena, stack->pages[i]);
		count(&stack->stats.spills, BULK);
		stack->len -= BULK;
		for (unsigned i = 0; i < stack->len; i++)
			stack->pages[i] = stack->pages[i + BULK];
	}
	stack->pages[stack->len++] = page;
}

/* Keep an empty page on the lcore's stack, or return it to the lcore that took it. */
static void
put_cached(struct pw_page_cache *cache, struct pw_page *page, unsigned slot)
{
	struct stack *stack = cache->stacks[slot];
	struct rte_ring *ring = cache->rings[page->owner];

	if (ring == NULL || page->owner == slot) {
		rte_spinlock_lock(&stack->lock);
		push(cache, stack, page);
		/* Under the lock: who drains has cleared it before, or finds the page. */
		if (unlikely(!__atomic_load_n(&cache->stacked, __ATOMIC_RELAXED)))
			__atomic_store_n(&cache->stacked, true, __ATOMIC_RELAXED);
		pw_unlock(&stack->lock);
	} else if (rte_ring_enqueue(ring, page) < 0) {
		count(&stack->stats.spills, 1);
		pw_page_free(cache->arena, page);
	}
}

void
pw_page_cache_put(struct pw_page_cache *cache, struct pw_page *page)
{
	unsigned slot = my_slot(cache);

	if (page->owner != slot)
		count(&cache->stacks[slot]->stats.remote_frees, 1);
	if (cache->home == PW_HOME_BUDDY || (page->flags & (PW_PAGE_FALLBACK | PW_PAGE_OFF_NODE)))
		pw_page_free(cache->arena, page);
	else
		put_cached(cache, page, slot);
}

static unsigned
drain_slot(struct pw_page_cache *cache, unsigned slot)
{
	struct stack *stack = cache->stacks[slot];
	struct rte_ring *ring = cache->rings[slot];
	unsigned drained = 0;
	void *page;

	rte_spinlock_lock(&stack->lock);
	while (stack->len > 0) {
		pw_page_free(cache->arena, stack->pages[--stack->len]);
		drained++;
	}
	/* Bounded: others may go on to fill it. */
	for (unsigned i = 0; ring != NULL && i < RING_PAGES; i++) {
		if (rte_ring_dequeue(ring, &page) < 0)
			break;
		pw_page_free(cache->arena, page);
		drained++;
	}
	if (drained > 0)
		count(&stack->stats.drains, 1);
	pw_unlock(&stack->lock);
	return drained;
}

static unsigned
drain_slots(struct pw_page_cache *cache)
{
	unsigned drained = 0;

	for (unsigned i = 0; i < PW_SLOTS; i++)
		if (cache->stacks[i] != NULL)
			drained += drain_slot(cache, i);
	return drained;
}

unsigned
pw_page_cache_drain(struct pw_page_cache *cache)
{
	unsigned drained = 0;

	if (cache->home == PW_HOME_BUDDY)
		return 0; /* nothing ever lies here */
	rte_spinlock_lock(&cache->draining);
	/* While memory is short this is asked for each page, and mostly nothing lies on stacks. */
	if (__atomic_exchange_n(&cache->stacked, false, __ATOMIC_RELAXED) ||
		cache->home == PW_HOME_RING)
		drained = drain_slots(cache);
	if (drained > 0)
		__atomic_add_fetch(&cache->drained, 1, __ATOMIC_RELEASE);
	pw_unlock(&cache->draining);
	return drained;
}

struct pw_arena *
pw_page_cache_arena(const struct pw_page_cache *cache)
{
	return cache->arena;
}

static void
add_stats(struct pw_page_cache_stats *sum, const struct pw_page_cache_stats *stats)
{
	sum->cache_hits += __atomic_load_n(&stats->cache_hits, __ATOMIC_RELAXED);
	sum->ring_hits += __atomic_load_n(&stats->ring_hits, __ATOMIC_RELAXED);
	sum->buddy_hits += __atomic_load_n(&stats->buddy_hits, __ATOMIC_RELAXED);
	sum->fallbacks += __atomic_load_n(&stats->fallbacks, __ATOMIC_RELAXED);
	sum->failures += __atomic_load_n(&stats->failures, __ATOMIC_RELAXED);
	sum->remote_frees += __atomic_load_n(&stats->remote_frees, __ATOMIC_RELAXED);
	sum->spills += __atomic_load_n(&stats->spills, __ATOMIC_RELAXED);
	sum->drains += __atomic_load_n(&stats->drains, __ATOMIC_RELAXED);
}

void
pw_page_cache_get_stats(struct pw_page_cache *cache, struct pw_page_cache_stats *stats)
{
	*stats = (struct pw_page_cache_stats){.meta_bytes = sizeof(*cache)};
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		struct stack *stack = cache->stacks[i];

		if (stack == NULL)
			continue;
		add_stats(stats, &stack->stats);
		rte_spinlock_lock(&stack->lock);
		stats->cached += stack->len;
		pw_unlock(&stack->lock);
		stats->meta_bytes += sizeof(*stack);
		if (cache->rings[i] != NULL) {
			stats->cached += rte_ring_count(cache->rings[i]);
			stats->meta_bytes += rte_ring_get_memsize(RING_PAGES);
		}
	}
}
