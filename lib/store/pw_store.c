/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_store.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "pw_store_priv.h"

/* A mempool cache that is filled is handed out from its end: it gets the first to go out last. */
#define REVERSE_MIN 64
/* A page with so few objects out is one that they pin. */
#define FEW_OBJECTS 2

static struct pw_store_part *
create_part(struct pw_store *store)
{
	struct pw_store_part *part = rte_zmalloc_socket(
		"pw_store_part", sizeof(*part), RTE_CACHE_LINE_SIZE, store->socket_id);

	if (part != NULL)
		rte_spinlock_init(&part->lock);
	return part;
}

static int
create_parts(struct pw_store *store)
{
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		int rc;

		if (!pw_slot_enabled(i))
			continue;
		store->parts[i] = create_part(store);
		if (store->parts[i] == NULL)
			return -ENOMEM;
		rc = store->hot ? pw_hot_create_part(store, store->parts[i])
				: pw_cut_create_part(store, store->parts[i]);
		if (rc < 0)
			return rc;
	}
	return store->hot ? pw_hot_create_depot(store) : 0;
}

/* Each page of the arena is of the strategy's order; a page cache is of use where pages go home. */
static int
create_pages(struct pw_store *store)
{
	struct pw_arena_params params = {
		.socket_id = store->socket_id,
		.min_order = store->strategy.page_order,
		.max_order = store->strategy.page_order,
		.page_priv_bytes = pw_store_page_priv_bytes(&store->layout),
	};

	store->arena = pw_arena_create(&params);
	if (store->arena == NULL)
		return -ENOMEM;
	if (store->hot)
		return 0;
	store->pages = pw_page_cache_create(store->arena, &store->strategy);
	return store->pages == NULL ? -ENOMEM : 0;
}

size_t
pw_store_room_bytes(const struct pw_strategy *strategy)
{
	return pw_strategy_page_bytes(strategy) >> (strategy->reuse == PW_REUSE_FLIP);
}

static int
check_params(const struct pw_store_params *params)
{
	if (params->stride_bytes == 0 || params->offset_bytes >= params->stride_bytes)
		return -EINVAL;
	return params->stride_bytes > pw_store_room_bytes(&params->strategy) ? -EMSGSIZE : 0;
}

struct pw_store *
pw_store_create(const struct pw_store_params *params)
{
	const struct pw_strategy *strategy = &params->strategy;
	int rc = check_params(params);
	struct pw_store *store;

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	store = rte_zmalloc_socket(
		"pw_store", sizeof(*store), RTE_CACHE_LINE_SIZE, params->socket_id);
	if (store == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	store->strategy = *strategy;
	store->hot = strategy->reuse == PW_REUSE_RESET;
	store->socket_id = params->socket_id;
	store->start = UINTPTR_MAX;
	store->layout.stride_bytes = strategy->reuse == PW_REUSE_FLIP
		? pw_store_room_bytes(strategy)
		: params->stride_bytes;
	store->layout.offset_bytes = params->offset_bytes;
	pw_store_layout_init(&store->layout, pw_strategy_page_bytes(strategy), params->check);
	rte_spinlock_init(&store->cold.lock);
	if (create_pages(store) < 0 || create_parts(store) < 0) {
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
	pw_hot_destroy(store);
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		if (store->parts[i] != NULL)
			pw_cut_destroy_part(store->parts[i]);
		rte_free(store->parts[i]);
	}
	pw_page_cache_destroy(store->pages);
	pw_bitmap_free(&store->cold.partial);
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
init_page(struct pw_page *page, size_t len_bytes, void *ctx)
{
	struct add_ctx *add = ctx;
	struct pw_store *store = add->store;
	uint32_t count = pw_store_page_init(page, &store->layout, len_bytes, add->left);

	for (uint32_t i = 0; i < count; i++) {
		char *obj = pw_store_page_object(page, &store->layout, i);
		rte_iova_t iova = page->iova;

		if (iova != RTE_BAD_IOVA)
			iova += obj - page->addr;
		add->init(obj, iova, add->ctx);
	}
	add->left -= count;
	store->objects += count;
	if (count > 0)
		store->waste_bytes += len_bytes - (size_t)count * store->layout.stride_bytes;
	return count > 0;
}

/* Widen the range that all objects lie in. */
static void
cover(struct pw_store *store, const void *addr, size_t len_bytes)
{
	uintptr_t start = RTE_MIN(store->start, (uintptr_t)addr);
	uintptr_t end = store->span == 0 ? 0 : store->start + store->span;

	store->start = start;
	store->span = RTE_MAX(end, (uintptr_t)addr + len_bytes) - start;
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
	/* Its pages, and one more at each end that may be short. */
	size_t indices = pw_arena_nb_indices(store->arena) +
		len_bytes / pw_strategy_page_bytes(&store->strategy) + 2;
	uint64_t before = store->objects;
	int rc = indices > INT32_MAX
		? -EFBIG
		: pw_bitmap_resize(&store->cold.partial, indices, store->socket_id);

	if (rc == 0)
		rc = pw_arena_adopt(store->arena, addr, iova, len_bytes, init_page, &add);
	if (rc < 0)
		return rc;
	if (store->objects > before)
		cover(store, addr, len_bytes);
	store->cold.free += store->objects - before;
	return store->objects - before;
}

/* The part of the calling thread. Lcores that came later use one of the plain threads'. */
static struct pw_store_part *
my_part(const struct pw_store *store, unsigned *slot)
{
	*slot = pw_slot();
	if (unlikely(store->parts[*slot] == NULL))
		*slot = RTE_MAX_LCORE;
	return store->parts[*slot];
}

/* Nothing moves while all parts are locked. */
static void
lock_parts(struct pw_store *store)
{
	for (unsigned i = 0; i < PW_SLOTS; i++)
		if (store->parts[i] != NULL)
			rte_spinlock_lock(&store->parts[i]->lock);
}

static void
unlock_parts(struct pw_store *store)
{
	for (unsigned i = 0; i < PW_SLOTS; i++)
		if (store->parts[i] != NULL)
			pw_unlock(&store->parts[i]->lock);
}

/* Objects in the store. With the locks of all parts. */
static uint64_t
count_free(const struct pw_store *store)
{
	uint64_t free = store->objects;

	for (unsigned i = 0; i < PW_SLOTS; i++)
		if (store->parts[i] != NULL)
			free += store->parts[i]->counts.puts - store->parts[i]->counts.gets;
	/* An object put twice counts twice until it comes to its page. */
	return RTE_MIN(free, store->objects);
}

/* The word with an object's bit in a page of a store that checks: whether it is out. */
static uint32_t *
out_word(const struct pw_store *store, struct pw_page *page, uint32_t i)
{
	return &pw_store_page_priv(page)->bits[store->layout.out_word + i / PW_STORE_WORD_BITS];
}

/* Objects of the store's own are out now. */
static void
mark_out(struct pw_store *store, void *const *objs, unsigned n)
{
	for (unsigned o = 0; o < n; o++) {
		uint32_t i;
		struct pw_page *page = pw_store_find(store, objs[o], &i);

		__atomic_fetch_or(out_word(store, page, i), UINT32_C(1) << (i % PW_STORE_WORD_BITS),
			__ATOMIC_RELAXED);
	}
}

/* Let an object that is out be so no more; false, with a count, when it was not out. */
static bool
check_put(struct pw_store *store, struct pw_store_counts *counts, void *obj)
{
	uint32_t i, bit;
	struct pw_page *page = pw_store_find(store, obj, &i);

	if (page != NULL) {
		bit = UINT32_C(1) << (i % PW_STORE_WORD_BITS);
		if (__atomic_fetch_and(out_word(store, page, i), ~bit, __ATOMIC_RELAXED) & bit)
			return true;
	}
	pw_store_refuse(store, counts, obj, page != NULL);
	return false;
}

void
pw_store_refuse(
	struct pw_store *store, struct pw_store_counts *counts, const void *obj, bool is_double)
{
	if (is_double)
		counts->double_puts++;
	else
		counts->foreign_puts++;
	__atomic_store_n(&store->last_bad_put, obj, __ATOMIC_RELAXED);
}

static unsigned
put_all(struct pw_store *store, struct pw_store_part *part, unsigned slot, void *const *objs,
	unsigned n)
{
	unsigned refused = store->hot ? pw_hot_put(store, part, slot, objs, n)
				      : pw_cut_put(store, &part->counts, objs, n);

	part->counts.puts += n - refused;
	return refused;
}

/* Let all objects go to their pages. With the locks of all parts. */
static void
gather(struct pw_store *store, struct pw_store_counts *counts)
{
	counts->gathers++;
	/* What was put twice shows now, and was counted as put before. */
	if (store->hot)
		counts->puts -= pw_hot_gather(store, counts);
	else
		pw_cut_gather(store);
}

void
pw_store_gather(struct pw_store *store)
{
	unsigned slot;
	struct pw_store_part *part = my_part(store, &slot);

	lock_parts(store);
	gather(store, &part->counts);
	unlock_parts(store);
}

static uint32_t
take_gathered(struct pw_store *store, struct pw_store_counts *counts, void **objs, unsigned n)
{
	if (count_free(store) < n)
		return 0;
	return store->hot ? pw_cold_take(store, counts, objs, n)
			  : pw_cut_take_any(store, counts, objs, n);
}

/* Serve from pages, all others waiting: all n objects, or none if there are not so many. */
static int
get_gathered(struct pw_store *store, struct pw_store_counts *counts, void **objs, unsigned n)
{
	int rc = -ENOBUFS;

	lock_parts(store);
	/* The count errs upwards only: that there are too few it tells without a look at any. */
	if (count_free(store) >= n)
		gather(store, counts);
	if (take_gathered(store, counts, objs, n) == n) {
		counts->gets += n;
		rc = 0;
	} else {
		counts->failures++;
	}
	unlock_parts(store);
	return rc;
}

static void
copy_reversed(void **to, void *const *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = from[n - 1 - i];
}

/* Objects that were taken in vain. Puts that were wrong may show as they go. */
static void
put_back(struct pw_store *store, struct pw_store_part *part, unsigned slot, void *const *objs,
	unsigned n)
{
	if (store->hot)
		part->counts.puts -= pw_hot_put(store, part, slot, objs, n);
	else
		pw_cut_put(store, &part->counts, objs, n);
}

/* Take from wherever the lcore may without asking others; what does not suffice goes back. */
static bool
get_some(struct pw_store *store, struct pw_store_part *part, unsigned slot, void **objs, unsigned n)
{
	void *taken[PW_STORE_GET_MAX];
	unsigned count;

	if (n > PW_STORE_GET_MAX)
		return false;
	count = store->hot ? pw_hot_take(store, part, slot, taken, n)
			   : pw_cut_take(store, part, taken, n);
	if (count < n) {
		put_back(store, part, slot, taken, count);
		return false;
	}
	if (n >= REVERSE_MIN)
		copy_reversed(objs, taken, n);
	else
		memcpy(objs, taken, n * sizeof(*objs));
	return true;
}

int
pw_store_get(struct pw_store *store, void **objs, unsigned n)
{
	unsigned slot;
	struct pw_store_part *part = my_part(store, &slot);
	int rc = 0;

	rte_spinlock_lock(&part->lock);
	if (likely(store->hot && part->own_len >= n)) {
		part->own_len -= n;
		memcpy(objs, &part->own->objs[part->own_len], n * sizeof(*objs));
		part->counts.gets += n;
	} else if (get_some(store, part, slot, objs, n)) {
		part->counts.gets += n;
	} else {
		rc = -1;
	}
	pw_unlock(&part->lock);
	if (unlikely(rc < 0))
		rc = get_gathered(store, &part->counts, objs, n);
	if (store->layout.out_word != 0 && rc == 0)
		mark_out(store, objs, n);
	return rc;
}

/*
 * Whether all lie in the store's memory: no distance from its ends is negative, which the highest
 * bits tell. A few simple steps an object, done in vectors.
 */
static inline bool
all_inside(const struct pw_store *store, void *const *objs, unsigned n)
{
	uintptr_t start = store->start, last = start + store->span - 1, outside = 0;

	for (unsigned i = 0; i < n; i++)
		outside |= ((uintptr_t)objs[i] - start) | (last - (uintptr_t)objs[i]);
	return outside >> 63 == 0;
}

/* Put one by one what is right. */
static unsigned
put_checked(struct pw_store *store, struct pw_store_part *part, unsigned slot, void *const *objs,
	unsigned n)
{
	unsigned refused = 0;

	for (unsigned i = 0; i < n; i++) {
		if (store->layout.out_word != 0) {
			if (!check_put(store, &part->counts, objs[i])) {
				refused++;
				continue;
			}
		} else if ((uintptr_t)objs[i] - store->start >= store->span) {
			pw_store_refuse(store, &part->counts, objs[i], false);
			refused++;
			continue;
		}
		refused += put_all(store, part, slot, &objs[i], 1);
	}
	return refused;
}

unsigned
pw_store_put(struct pw_store *store, void *const *objs, unsigned n)
{
	unsigned slot, refused;
	struct pw_store_part *part = my_part(store, &slot);

	rte_spinlock_lock(&part->lock);
	if (unlikely(store->layout.out_word != 0 || !all_inside(store, objs, n)))
		refused = put_checked(store, part, slot, objs, n);
	else
		refused = put_all(store, part, slot, objs, n);
	pw_unlock(&part->lock);
	return refused;
}

const void *
pw_store_last_bad_put(const struct pw_store *store)
{
	return __atomic_load_n(&store->last_bad_put, __ATOMIC_RELAXED);
}

unsigned
pw_store_count(struct pw_store *store)
{
	uint64_t count;

	lock_parts(store);
	count = count_free(store);
	unlock_parts(store);
	return count;
}

uint32_t
pw_store_stride_bytes(const struct pw_store *store)
{
	return store->layout.stride_bytes;
}

uint64_t
pw_store_pages_off_node(const struct pw_store *store)
{
	struct pw_arena_stats stats;

	pw_arena_get_stats(store->arena, &stats);
	return stats.pages_off_node;
}

const struct pw_strategy *
pw_store_strategy(const struct pw_store *store)
{
	return &store->strategy;
}

static void
add_counts(struct pw_store_stats *stats, const struct pw_store_counts *counts)
{
	stats->gets += counts->gets;
	stats->puts += counts->puts;
	stats->page_objects += counts->page_objects;
	stats->flips += counts->flips;
	stats->depot_objects += counts->depot_objects;
	stats->remote_frees += counts->remote_frees;
	stats->flushes += counts->flushes;
	stats->gathers += counts->gathers;
	stats->failures += counts->failures;
	stats->foreign_puts += counts->foreign_puts;
	stats->double_puts += counts->double_puts;
}

static void
count_pinned(struct pw_page *page, void *ctx)
{
	uint32_t out = pw_store_page_priv(page)->nb_objects - pw_store_page_count(page);

	*(uint64_t *)ctx += out > 0 && out <= FEW_OBJECTS;
}

void
pw_store_get_stats(struct pw_store *store, struct pw_store_stats *stats)
{
	*stats = (struct pw_store_stats){.objects = store->objects};

	lock_parts(store);
	stats->free = count_free(store);
	stats->waste_bytes = store->waste_bytes;
	stats->meta_bytes = sizeof(*store) + store->cold.partial.nb_words * sizeof(uint64_t) +
		(store->hot ? PW_DEPOT_MAGAZINES * sizeof(struct pw_magazine) : 0);
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		if (store->parts[i] == NULL)
			continue;
		add_counts(stats, &store->parts[i]->counts);
		stats->meta_bytes += sizeof(*store->parts[i]) +
			(store->hot ? 2 * sizeof(struct pw_magazine) : 0) +
			(store->parts[i]->flip != NULL ? sizeof(struct pw_flip_queue) : 0);
	}
	unlock_parts(store);

	if (stats->gets > stats->page_objects)
		stats->reuses = stats->gets - stats->page_objects;
	if (store->pages != NULL)
		pw_page_cache_get_stats(store->pages, &stats->cache);
	pw_arena_walk_held(store->arena, count_pinned, &stats->pinned_pages);
	pw_arena_get_stats(store->arena, &stats->pages);
}
