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

/* A page of the lcore's own: from its stack, filled by the ring that others return pages by. */
static struct pw_page *
pop(struct stack *stack, struct rte_ring *ring)
{
	if (stack->len == 0 && ring != NULL) {
		stack->len = rte_ring_dequeue_burst(ring, (void **)stack->pages, BULK, NULL);
		stack->stats.ring_hits += stack->len;
	}
	if (stack->len == 0)
		return NULL;
	stack->stats.cache_hits++;
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
	struct pw_page *page = pw_page_alloc(cache->arena, cache->page_order);

	*fell_back = 0;
	if (page == NULL && pw_page_cache_drain(cache) > 0)
		page = pw_page_alloc(cache->arena, cache->page_order);
	if (page == NULL && fallback) {
		page = get_fallback(cache);
		*fell_back = page != NULL;
	}
	return page;
}

struct pw_page *
pw_page_cache_get(struct pw_page_cache *cache, bool fallback)
{
	unsigned slot = my_slot(cache);
	struct stack *stack = cache->stacks[slot];
	struct pw_page *page;
	uint64_t fell_back;

	rte_spinlock_lock(&stack->lock);
	page = pop(stack, cache->rings[slot]);
	rte_spinlock_unlock(&stack->lock);
	if (page != NULL) {
		page->owner = slot; /* who put it here may have got it from another */
		return page;
	}

	page = get_from_arena(cache, fallback, &fell_back);
	rte_spinlock_lock(&stack->lock);
	stack->stats.fallbacks += fell_back;
	stack->stats.failures += page == NULL;
	stack->stats.buddy_hits += page != NULL && !fell_back;
	rte_spinlock_unlock(&stack->lock);
	if (page != NULL)
		page->owner = slot;
	return page;
}

/* Put a page on a stack; what was there longest makes room. */
static void
push(struct pw_page_cache *cache, struct stack *stack, struct pw_page *page)
{
	if (stack->len == STACK_PAGES) {
		for (unsigned i = 0; i < BULK; i++)
			pw_page_free(cache->arena, stack->pages[i]);
		stack->stats.spills += BULK;
		stack->len -= BULK;
		for (unsigned i = 0; i < stack->len; i++)
			stack->pages[i] = stack->pages[i + BULK];
	}
	stack->pages[stack->len++] = page;
}

void
pw_page_cache_put(struct pw_page_cache *cache, struct pw_page *page)
{
	unsigned slot = my_slot(cache);
	struct stack *stack = cache->stacks[slot];
	struct rte_ring *ring = cache->rings[page->owner];
	bool remote = page->owner != slot;

	rte_spinlock_lock(&stack->lock);
	stack->stats.remote_frees += remote;
	if (cache->home == PW_HOME_BUDDY || (page->flags & (PW_PAGE_FALLBACK | PW_PAGE_OFF_NODE))) {
		pw_page_free(cache->arena, page);
	} else if (ring == NULL || !remote) {
		push(cache, stack, page);
	} else if (rte_ring_enqueue(ring, page) < 0) {
		stack->stats.spills++;
		pw_page_free(cache->arena, page);
	}
	rte_spinlock_unlock(&stack->lock);
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
	stack->stats.drains += drained > 0;
	rte_spinlock_unlock(&stack->lock);
	return drained;
}

unsigned
pw_page_cache_drain(struct pw_page_cache *cache)
{
	unsigned drained = 0;

	for (unsigned i = 0; i < PW_SLOTS; i++)
		if (cache->stacks[i] != NULL)
			drained += drain_slot(cache, i);
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
	sum->cache_hits += stats->cache_hits;
	sum->ring_hits += stats->ring_hits;
	sum->buddy_hits += stats->buddy_hits;
	sum->fallbacks += stats->fallbacks;
	sum->failures += stats->failures;
	sum->remote_frees += stats->remote_frees;
	sum->spills += stats->spills;
	sum->drains += stats->drains;
}

void
pw_page_cache_get_stats(struct pw_page_cache *cache, struct pw_page_cache_stats *stats)
{
	*stats = (struct pw_page_cache_stats){0};
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		struct stack *stack = cache->stacks[i];

		if (stack == NULL)
			continue;
		rte_spinlock_lock(&stack->lock);
		add_stats(stats, &stack->stats);
		stats->cached += stack->len;
		if (cache->rings[i] != NULL)
			stats->cached += rte_ring_count(cache->rings[i]);
		rte_spinlock_unlock(&stack->lock);
	}
}
