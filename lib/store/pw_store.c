/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_store.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_spinlock.h>

#include "pw_store_page.h"

/*
 * rte_mempool's own cache asks for up to 512 objects and a burst at a time, and gives up to 768
 * back: both fit.
 */
#define MAGAZINE_SIZE 2048
/* What leaves a full magazine at once: enough to be worth the lock, few enough not to be felt. */
#define FLUSH_BATCH 256

/*
 * What one lcore uses. Its lock is taken by others only to gather objects or to count: an
 * uncontended spinlock costs next to nothing. Lock order: magazines by index, store, arena.
 */
struct magazine {
	rte_spinlock_t lock;
	uint32_t len;
	uint64_t gets;
	uint64_t puts;
	uint64_t page_objects;
	uint64_t flushes;
	void *objs[MAGAZINE_SIZE];
} __rte_cache_aligned;

struct pw_store {
	struct pw_strategy strategy;
	struct pw_store_layout layout;
	uint32_t objects_per_page;
	struct pw_arena *arena;
	int socket_id;

	/* Of the lcores enabled when the store was made; the last one is everybody else's. */
	struct magazine *magazines[RTE_MAX_LCORE + 1];

	rte_spinlock_t lock __rte_cache_aligned; /* all below, and the objects in pages */
	struct pw_page_list partial_pages;	 /* held, with free objects */
	struct pw_page *begun; /* one of them, which gives until it is used up; or NULL */
	uint64_t objects;
	uint64_t free; /* in pages */
	uint64_t gets; /* served around the magazines */
	uint64_t gathers;
	uint64_t failures;
	uint64_t foreign_puts;
	uint64_t double_puts;
	uint64_t waste_bytes;
};

static struct magazine *
alloc_magazine(const struct pw_store *store)
{
	struct magazine *mag = rte_zmalloc_socket(
		"pw_magazine", sizeof(*mag), RTE_CACHE_LINE_SIZE, store->socket_id);

	if (mag != NULL)
		rte_spinlock_init(&mag->lock);
	return mag;
}

static int
alloc_magazines(struct pw_store *store)
{
	unsigned lcore;

	RTE_LCORE_FOREACH (lcore) {
		store->magazines[lcore] = alloc_magazine(store);
		if (store->magazines[lcore] == NULL)
			return -ENOMEM;
	}
	store->magazines[RTE_MAX_LCORE] = alloc_magazine(store);
	return store->magazines[RTE_MAX_LCORE] == NULL ? -ENOMEM : 0;
}

static struct magazine *
my_magazine(const struct pw_store *store)
{
	unsigned lcore = rte_lcore_id();

	if (likely(lcore < RTE_MAX_LCORE && store->magazines[lcore] != NULL))
		return store->magazines[lcore];
	return store->magazines[RTE_MAX_LCORE];
}

struct pw_store *
pw_store_create(const struct pw_store_params *params)
{
	size_t page_bytes = pw_strategy_page_bytes(&params->strategy);
	struct pw_arena_params arena_params = {
		.socket_id = params->socket_id,
		.page_order = params->strategy.page_order,
	};
	struct pw_store *store;

	if (params->stride_bytes == 0 || params->offset_bytes >= params->stride_bytes) {
		rte_errno = EINVAL;
		return NULL;
	}
	if (params->stride_bytes > page_bytes) {
		rte_errno = EMSGSIZE;
		return NULL;
	}

	store = rte_zmalloc_socket(
		"pw_store", sizeof(*store), RTE_CACHE_LINE_SIZE, params->socket_id);
	if (store == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	store->strategy = params->strategy;
	store->layout.stride_bytes = params->stride_bytes;
	store->layout.offset_bytes = params->offset_bytes;
	store->objects_per_page = page_bytes / params->stride_bytes;
	store->socket_id = params->socket_id;
	rte_spinlock_init(&store->lock);
	TAILQ_INIT(&store->partial_pages);

	arena_params.page_priv_bytes = pw_store_page_priv_bytes(store->objects_per_page);
	store->arena = pw_arena_create(&arena_params);
	if (store->arena == NULL || alloc_magazines(store) < 0) {
		pw_store_destroy(store);
		rte_errno = ENOMEM;
		return NULL;
	}
	return store;
}

void
pw_store_destroy(struct pw_store *store)
{
	if (store == NULL)
		return;
	for (unsigned i = 0; i < RTE_DIM(store->magazines); i++)
		rte_free(store->magazines[i]);
	pw_arena_destroy(store->arena);
	rte_free(store);
}

/* What pw_store_add() hands through the arena to init_page(). */
struct add_ctx {
	struct pw_store *store;
	uint32_t left;
	pw_store_init_t init;
	void *ctx;
};

static bool
init_page(struct pw_page *page, void *ctx)
{
	struct add_ctx *add = ctx;
	struct pw_store *store = add->store;
	uint32_t count = pw_store_page_init(page, &store->layout, add->left);

	for (uint32_t i = 0; i < count; i++) {
		char *obj = pw_store_page_object(page, &store->layout, i);
		rte_iova_t iova = page->iova;

		if (iova != RTE_BAD_IOVA)
			iova += obj - page->addr;
		add->init(obj, iova, add->ctx);
	}
	add->left -= count;

	rte_spinlock_lock(&store->lock);
	store->objects += count;
	store->free += count;
	if (count > 0)
		store->waste_bytes += page->len_bytes - count * store->layout.stride_bytes;
	rte_spinlock_unlock(&store->lock);
	return count > 0;
}

int
pw_store_add(struct pw_store *store, void *addr, rte_iova_t iova, size_t len_bytes,
	uint32_t max_objects, pw_store_init_t init, void *ctx)
{
	struct add_ctx add = {
		.store = store,
		.left = RTE_MIN(max_objects, (uint32_t)INT32_MAX),
		.init = init,
		.ctx = ctx,
	};
	uint32_t asked = add.left;
	int rc = pw_arena_adopt(store->arena, addr, iova, len_bytes, init_page, &add);

	return rc < 0 ? rc : (int)(asked - add.left);
}

/*
 * The page to take objects of: the one begun, else an empty one, as a page allocator would give,
 * else one partly in use.
 */
static struct pw_page *
next_page(struct pw_store *store)
{
	struct pw_page *page = store->begun;

	if (page != NULL)
		return page;
	page = pw_page_alloc(store->arena);
	if (page == NULL)
		return TAILQ_FIRST(&store->partial_pages);
	TAILQ_INSERT_HEAD(&store->partial_pages, page, link);
	return page;
}

/* Take objects of one page. Called with the store's lock. */
static uint32_t
take_from_page(struct pw_store *store, void **objs, uint32_t max)
{
	struct pw_page *page = next_page(store);
	struct pw_store_page *sp;
	uint32_t taken;

	if (page == NULL)
		return 0;
	taken = pw_store_page_take(page, &store->layout, objs, max);
	sp = pw_page_priv(page);
	store->begun = page;
	if (sp->nb_free == 0) {
		store->begun = NULL;
		TAILQ_REMOVE(&store->partial_pages, page, link);
	}
	store->free -= taken;
	return taken;
}

/* Put one object into its page. Called with the store's lock. */
static void
put_to_page(struct pw_store *store, void *obj)
{
	struct pw_page *page = pw_page_of(store->arena, obj);
	struct pw_store_page *sp;
	int rc = page == NULL ? -EINVAL : pw_store_page_put(page, &store->layout, obj);

	if (unlikely(rc < 0)) {
		if (rc == -EALREADY)
			store->double_puts++;
		else
			store->foreign_puts++;
		return;
	}
	store->free++;
	sp = pw_page_priv(page);
	if (sp->nb_free == 1)
		TAILQ_INSERT_HEAD(&store->partial_pages, page, link);
	if (sp->nb_free == sp->nb_objects) {
		if (store->begun == page)
			store->begun = NULL;
		TAILQ_REMOVE(&store->partial_pages, page, link);
		pw_page_free(store->arena, page);
	}
}

static void
put_to_pages(struct pw_store *store, void *const *objs, uint32_t n)
{
	rte_spinlock_lock(&store->lock);
	for (uint32_t i = 0; i < n; i++)
		put_to_page(store, objs[i]);
	rte_spinlock_unlock(&store->lock);
}

/* Fill a magazine, page by page, until it has n objects. Called with its lock. */
static bool
refill(struct pw_store *store, struct magazine *mag, uint32_t n)
{
	rte_spinlock_lock(&store->lock);
	while (mag->len < n) {
		uint32_t taken = take_from_page(
			store, &mag->objs[mag->len], MAGAZINE_SIZE - mag->len);

		if (taken == 0)
			break;
		mag->len += taken;
		mag->page_objects += taken;
	}
	rte_spinlock_unlock(&store->lock);
	return mag->len >= n;
}

/* Nothing moves between magazines and pages while all their locks are held. */
static void
lock_magazines(struct pw_store *store)
{
	for (unsigned i = 0; i < RTE_DIM(store->magazines); i++)
		if (store->magazines[i] != NULL)
			rte_spinlock_lock(&store->magazines[i]->lock);
}

static void
unlock_magazines(struct pw_store *store)
{
	for (unsigned i = 0; i < RTE_DIM(store->magazines); i++)
		if (store->magazines[i] != NULL)
			rte_spinlock_unlock(&store->magazines[i]->lock);
}

static void
empty_magazine(struct pw_store *store, struct magazine *mag)
{
	put_to_pages(store, mag->objs, mag->len);
	mag->flushes += mag->len;
	mag->len = 0;
}

/* Gather what lies in all magazines, then serve from the pages alone: all n objects or none. */
static int
get_gathered(struct pw_store *store, void **objs, unsigned n)
{
	uint32_t got = 0;

	lock_magazines(store);
	for (unsigned i = 0; i < RTE_DIM(store->magazines); i++)
		if (store->magazines[i] != NULL)
			empty_magazine(store, store->magazines[i]);
	rte_spinlock_lock(&store->lock);
	store->gathers++;
	if (store->free >= n) {
		while (got < n)
			got += take_from_page(store, objs + got, n - got);
		store->gets += n;
	} else {
		store->failures++;
	}
	rte_spinlock_unlock(&store->lock);
	unlock_magazines(store);
	return got == n ? 0 : -ENOBUFS;
}

int
pw_store_get(struct pw_store *store, void **objs, unsigned n)
{
	struct magazine *mag = my_magazine(store);

	rte_spinlock_lock(&mag->lock);
	if (unlikely(mag->len < n) && (n > MAGAZINE_SIZE || !refill(store, mag, n))) {
		rte_spinlock_unlock(&mag->lock);
		return get_gathered(store, objs, n);
	}
	for (unsigned i = 0; i < n; i++)
		objs[i] = mag->objs[--mag->len];
	mag->gets += n;
	rte_spinlock_unlock(&mag->lock);
	return 0;
}

/* Let the coldest objects of a magazine go to their pages. */
static void
flush_coldest(struct pw_store *store, struct magazine *mag, uint32_t n)
{
	put_to_pages(store, mag->objs, n);
	mag->flushes += n;
	mag->len -= n;
	memmove(mag->objs, mag->objs + n, mag->len * sizeof(*mag->objs));
}

/* Push objects on a magazine, as many as fit; what does not fit goes to the pages. */
static void
put_to_magazine(struct pw_store *store, struct magazine *mag, void *const *objs, uint32_t n)
{
	if (n > MAGAZINE_SIZE) {
		put_to_pages(store, objs, n - MAGAZINE_SIZE);
		mag->flushes += n - MAGAZINE_SIZE;
		objs += n - MAGAZINE_SIZE;
		n = MAGAZINE_SIZE;
	}
	if (mag->len + n > MAGAZINE_SIZE)
		flush_coldest(store, mag,
			RTE_MIN(mag->len,
				RTE_MAX(mag->len + n - MAGAZINE_SIZE, (uint32_t)FLUSH_BATCH)));
	memcpy(&mag->objs[mag->len], objs, n * sizeof(*objs));
	mag->len += n;
}

void
pw_store_put(struct pw_store *store, void *const *objs, unsigned n)
{
	struct magazine *mag = my_magazine(store);

	rte_spinlock_lock(&mag->lock);
	if (store->strategy.reuse == PW_REUSE_NONE)
		put_to_pages(store, objs, n);
	else
		put_to_magazine(store, mag, objs, n);
	mag->puts += n;
	rte_spinlock_unlock(&mag->lock);
}

unsigned
pw_store_count(struct pw_store *store)
{
	uint64_t count;

	lock_magazines(store);
	count = store->free;
	for (unsigned i = 0; i < RTE_DIM(store->magazines); i++)
		if (store->magazines[i] != NULL)
			count += store->magazines[i]->len;
	unlock_magazines(store);
	return count;
}

const struct pw_strategy *
pw_store_strategy(const struct pw_store *store)
{
	return &store->strategy;
}

void
pw_store_get_stats(struct pw_store *store, struct pw_store_stats *stats)
{
	*stats = (struct pw_store_stats){.free = pw_store_count(store)};

	rte_spinlock_lock(&store->lock);
	stats->objects = store->objects;
	stats->gets = store->gets;
	stats->page_objects = store->gets;
	stats->gathers = store->gathers;
	stats->failures = store->failures;
	stats->foreign_puts = store->foreign_puts;
	stats->double_puts = store->double_puts;
	stats->waste_bytes = store->waste_bytes;
	rte_spinlock_unlock(&store->lock);

	for (unsigned i = 0; i < RTE_DIM(store->magazines); i++) {
		struct magazine *mag = store->magazines[i];

		if (mag == NULL)
			continue;
		rte_spinlock_lock(&mag->lock);
		stats->gets += mag->gets;
		stats->puts += mag->puts;
		stats->page_objects += mag->page_objects;
		stats->flushes += mag->flushes;
		rte_spinlock_unlock(&mag->lock);
	}
	if (stats->gets > stats->page_objects)
		stats->reuses = stats->gets - stats->page_objects;
	pw_arena_get_stats(store->arena, &stats->pages);
}
