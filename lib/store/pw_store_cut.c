/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Objects cut off pages, as page fragments are: an lcore takes an empty page, cuts it from its end
 * to its start, and leaves it. Each object goes back to its page; when all are back the page goes
 * home, the way of the strategy. Or the page is flipped: the lcore keeps it in a queue, and if its
 * other half is free as its turn comes, that is the next to go out.
 *
 * page->refs counts the objects that are not in the page: out, or still to be cut off it; and one
 * for the queue that a flipped page is in. Any lcore may put an object back at any time, so bits
 * and references are atomic, but where one reference is all there is: then nobody else is at the
 * page.
 */

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_malloc.h>

#include "pw_store_priv.h"

int
pw_cut_create_part(struct pw_store *store, struct pw_store_part *part)
{
	if (store->strategy.reuse != PW_REUSE_FLIP)
		return 0;
	part->flip = rte_zmalloc_socket(
		"pw_flip_queue", sizeof(*part->flip), RTE_CACHE_LINE_SIZE, store->socket_id);
	return part->flip == NULL ? -ENOMEM : 0;
}

void
pw_cut_destroy_part(struct pw_store_part *part)
{
	rte_free(part->flip);
}

/* The last reference sends the page home. Release what was done to it, acquire what others did. */
static void
drop_refs(struct pw_store *store, struct pw_page *page, uint32_t count)
{
	if (__atomic_load_n(&page->refs, __ATOMIC_ACQUIRE) == count)
		__atomic_store_n(&page->refs, 0, __ATOMIC_RELAXED);
	else if (__atomic_sub_fetch(&page->refs, count, __ATOMIC_ACQ_REL) > 0)
		return;
	pw_page_cache_put(store->pages, page);
}

/* Mark an object as being in its page, or not; tells whether it was. */
static bool
set_in_page(struct pw_store_page *sp, uint32_t i, bool in_page)
{
	uint32_t *word = &sp->bits[i / PW_STORE_WORD_BITS];
	uint32_t bit = UINT32_C(1) << (i % PW_STORE_WORD_BITS);
	uint32_t old = in_page ? __atomic_fetch_or(word, bit, __ATOMIC_ACQ_REL)
			       : __atomic_fetch_and(word, ~bit, __ATOMIC_ACQ_REL);

	return old & bit;
}

/* Leave the page being cut: the objects that were not cut off it stay there. */
static void
leave_cut(struct pw_store *store, struct pw_store_part *part)
{
	uint32_t left = part->cut_left;

	for (uint32_t i = 0; i < left; i++)
		set_in_page(pw_store_page_priv(part->cut), i, true);
	part->cut_left = 0;
	if (left > 0)
		drop_refs(store, part->cut, left);
}

/* Take an empty page to cut: all its objects count as being out already. */
static bool
begin_cut(struct pw_store *store, struct pw_store_part *part)
{
	struct pw_page *page = pw_page_cache_get(store->pages, false);
	struct pw_store_page *sp;

	if (page == NULL)
		return false;
	sp = pw_store_page_priv(page);
	for (uint32_t w = 0; w < pw_store_words(sp->nb_objects); w++)
		__atomic_store_n(&sp->bits[w], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&page->refs, sp->nb_objects, __ATOMIC_RELEASE);
	part->cut = page;
	part->cut_left = sp->nb_objects;
	return true;
}

static void *
cut(struct pw_store *store, struct pw_store_part *part)
{
	if (part->cut_left == 0 && !begin_cut(store, part))
		return NULL;
	part->counts.page_objects++;
	return pw_store_page_object(part->cut, &store->layout, --part->cut_left);
}

static void
queue_page(struct pw_flip_queue *queue, struct pw_page *page)
{
	queue->pages[(queue->head + queue->len++) % PW_FLIP_PAGES] = page;
}

static struct pw_page *
unqueue_page(struct pw_flip_queue *queue)
{
	struct pw_page *page = queue->pages[queue->head];

	queue->head = (queue->head + 1) % PW_FLIP_PAGES;
	queue->len--;
	return page;
}

/* The half of the page that is free, the upper one if both are. */
static uint32_t
free_half(const struct pw_page *page)
{
	const struct pw_store_page *sp = pw_page_priv((struct pw_page *)(uintptr_t)page);
	uint32_t bits = __atomic_load_n(&sp->bits[0], __ATOMIC_ACQUIRE);

	return bits == 0 ? PW_STORE_NO_OBJECT : 31 - (uint32_t)__builtin_clz(bits);
}

/* Begin a page: both halves are in it. */
static struct pw_page *
begin_flip(struct pw_store *store)
{
	struct pw_page *page = pw_page_cache_get(store->pages, false);

	if (page != NULL)
		__atomic_store_n(&page->refs, 1, __ATOMIC_RELEASE);
	return page;
}

/* The oldest page in the queue if it has a free half, else an empty page. */
static void *
flip(struct pw_store *store, struct pw_store_part *part)
{
	struct pw_flip_queue *queue = part->flip;
	struct pw_page *page = NULL;
	uint32_t half;

	if (queue->len == PW_FLIP_PAGES) {
		page = unqueue_page(queue);
		if (free_half(page) == PW_STORE_NO_OBJECT) {
			drop_refs(store, page, 1);
			page = NULL;
		} else {
			part->counts.flips++;
		}
	}
	if (page == NULL) {
		page = begin_flip(store);
		if (page == NULL)
			return NULL;
		part->counts.page_objects++;
	}
	half = free_half(page);
	set_in_page(pw_store_page_priv(page), half, false);
	__atomic_add_fetch(&page->refs, 1, __ATOMIC_RELAXED);
	queue_page(queue, page);
	return pw_store_page_object(page, &store->layout, half);
}

uint32_t
pw_cut_take(struct pw_store *store, struct pw_store_part *part, void **objs, uint32_t n)
{
	uint32_t taken;

	for (taken = 0; taken < n; taken++) {
		objs[taken] = part->flip != NULL ? flip(store, part) : cut(store, part);
		if (objs[taken] == NULL)
			break;
	}
	return taken;
}

/* Put an object into its page; tells whether it was there already. */
static bool
put_in_page(struct pw_page *page, uint32_t i)
{
	struct pw_store_page *sp = pw_store_page_priv(page);
	uint32_t *word = &sp->bits[i / PW_STORE_WORD_BITS];
	uint32_t bit = UINT32_C(1) << (i % PW_STORE_WORD_BITS), old;

	if (__atomic_load_n(&page->refs, __ATOMIC_ACQUIRE) != 1)
		return set_in_page(sp, i, true);
	old = __atomic_load_n(word, __ATOMIC_RELAXED);
	__atomic_store_n(word, old | bit, __ATOMIC_RELAXED);
	return old & bit;
}

unsigned
pw_cut_put(struct pw_store *store, struct pw_store_counts *counts, void *const *objs, uint32_t n)
{
	unsigned refused = 0;

	for (uint32_t o = 0; o < n; o++) {
		struct pw_page *page = pw_page_of(store->arena, objs[o]);
		uint32_t i = page == NULL ? PW_STORE_NO_OBJECT
					  : pw_store_page_index(page, &store->layout, objs[o]);
		bool is_double = i != PW_STORE_NO_OBJECT && put_in_page(page, i);

		if (unlikely(i == PW_STORE_NO_OBJECT || is_double)) {
			pw_store_refuse(store, counts, objs[o], is_double);
			refused++;
			continue;
		}
		drop_refs(store, page, 1);
	}
	return refused;
}

void
pw_cut_gather(struct pw_store *store)
{
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		struct pw_store_part *part = store->parts[i];

		if (part == NULL)
			continue;
		leave_cut(store, part);
		while (part->flip != NULL && part->flip->len > 0)
			drop_refs(store, unqueue_page(part->flip), 1);
	}
	pw_page_cache_drain(store->pages);
}

/* What pw_cut_take_any() hands to take_in_use(). */
struct take_ctx {
	struct pw_store *store;
	void **objs;
	uint32_t left;
};

/* Nobody else is at work: all parts are locked. */
static void
take_in_use(struct pw_page *page, void *ctx)
{
	struct take_ctx *take = ctx;
	struct pw_store_page *sp = pw_store_page_priv(page);

	for (uint32_t w = 0; w < pw_store_words(sp->nb_objects) && take->left > 0; w++)
		for (uint32_t bits = sp->bits[w]; bits != 0 && take->left > 0; bits &= bits - 1) {
			uint32_t i = w * PW_STORE_WORD_BITS + __builtin_ctz(bits);

			set_in_page(sp, i, false);
			page->refs++;
			*take->objs++ = pw_store_page_object(page, &take->store->layout, i);
			take->left--;
		}
}

/* Take all objects of an empty page, or as many as are wanted; the rest stay in it. */
static uint32_t
take_empty(struct pw_store *store, struct pw_page *page, void **objs, uint32_t n)
{
	struct take_ctx take = {.store = store, .objs = objs, .left = n};

	page->refs = 0;
	take_in_use(page, &take);
	return n - take.left;
}

uint32_t
pw_cut_take_any(struct pw_store *store, struct pw_store_counts *counts, void **objs, uint32_t n)
{
	struct take_ctx take = {.store = store, .objs = objs, .left = n};
	struct pw_page *page;
	uint32_t taken;

	/* Pages partly in use first: there is no other use for them. */
	pw_arena_walk_held(store->arena, take_in_use, &take);
	taken = n - take.left;
	while (taken < n && (page = pw_page_cache_get(store->pages, false)) != NULL)
		taken += take_empty(store, page, objs + taken, n - taken);
	counts->page_objects += taken;
	return taken;
}
