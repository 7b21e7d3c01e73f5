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

/* What is not cut yet is not out, though its bits say so: who puts it is refused. */
static void
set_uncut(struct pw_page *page, uint32_t uncut)
{
	__atomic_store_n(&pw_store_page_priv(page)->uncut, uncut, __ATOMIC_RELAXED);
}

/* Leave the page being cut: the objects that were not cut off it stay there. */
static void
leave_cut(struct pw_store *store, struct pw_store_part *part)
{
	uint32_t left = part->cut_left;

	if (left == 0)
		return;
	for (uint32_t i = 0; i < left; i++)
		set_in_page(pw_store_page_priv(part->cut), i, true);
	set_uncut(part->cut, 0);
	part->cut_left = 0;
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
	set_uncut(page, sp->nb_objects);
	for (uint32_t w = 0; w < pw_store_words(sp->nb_objects); w++)
		__atomic_store_n(&sp->bits[w], 0, __ATOMIC_RELEASE);
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
	if (part->cut_left == 1)
		set_uncut(part->cut, 0);
	return pw_store_page_object(part->cut, &store->layout, --part->cut_left);
}

/* Half of a page. */
struct flip {
	struct pw_page *page;
	uint32_t half; /* the number of its object */
};

static void
queue_flip(struct pw_flip_queue *queue, struct flip flip)
{
	uint32_t tail = (queue->head + queue->len++) % PW_FLIP_PAGES;

	queue->pages[tail] = flip.page;
	queue->halves[tail] = flip.half;
}

static struct flip
unqueue_flip(struct pw_flip_queue *queue)
{
	struct flip flip = {.page = queue->pages[queue->head], .half = queue->halves[queue->head]};

	queue->head = (queue->head + 1) % PW_FLIP_PAGES;
	queue->len--;
	return flip;
}

static bool
is_half_free(struct pw_page *page, uint32_t half)
{
	return __atomic_load_n(&pw_store_page_priv(page)->bits[0], __ATOMIC_ACQUIRE) >> half & 1;
}

/* Begin a page with its last half: both are in it, but a short page may have but one. */
static bool
begin_flip(struct pw_store *store, struct flip *flip)
{
	flip->page = pw_page_cache_get(store->pages, false);
	if (flip->page == NULL)
		return false;
	flip->half = pw_store_page_priv(flip->page)->nb_objects - 1;
	__atomic_store_n(&flip->page->refs, 1, __ATOMIC_RELEASE);
	return true;
}

/* Flip the oldest page in the queue when it is full. A page of another NUMA node does not stay. */
static bool
flip_oldest(struct pw_store *store, struct pw_flip_queue *queue, struct flip *flip)
{
	if (queue->len < PW_FLIP_PAGES)
		return false;
	*flip = unqueue_flip(queue);
	flip->half = !flip->half;
	if (likely(is_half_free(flip->page, flip->half) && !(flip->page->flags & PW_PAGE_OFF_NODE)))
		return true;
	drop_refs(store, flip->page, 1);
	return false;
}

/* The other half of the page whose turn it is, if it is free, else half of an empty page. */
static void *
take_half(struct pw_store *store, struct pw_store_part *part)
{
	struct flip flip;

	if (flip_oldest(store, part->flip, &flip))
		part->counts.flips++;
	else if (begin_flip(store, &flip))
		part->counts.page_objects++;
	else
		return NULL;
	set_in_page(pw_store_page_priv(flip.page), flip.half, false);
	__atomic_add_fetch(&flip.page->refs, 1, __ATOMIC_RELAXED);
	queue_flip(part->flip, flip);
	return pw_store_page_object(flip.page, &store->layout, flip.half);
}

uint32_t
pw_cut_take(struct pw_store *store, struct pw_store_part *part, void **objs, uint32_t n)
{
	uint32_t taken;

	for (taken = 0; taken < n; taken++) {
		objs[taken] = part->flip != NULL ? take_half(store, part) : cut(store, part);
		if (objs[taken] == NULL)
			break;
	}
	/* A page cut up may be home and cut by another by now: it was told before the last object.
	 */
	if (part->cut_left > 0)
		set_uncut(part->cut, part->cut_left);
	return taken;
}

/* Whether an object of the page was out; it is in its page now. */
static bool
return_object(struct pw_page *page, uint32_t i)
{
	struct pw_store_page *sp = pw_store_page_priv(page);
	uint32_t *word = &sp->bits[i / PW_STORE_WORD_BITS];
	uint32_t bit = UINT32_C(1) << (i % PW_STORE_WORD_BITS), old;

	if (i < __atomic_load_n(&sp->uncut, __ATOMIC_RELAXED))
		return false;
	if (__atomic_load_n(&page->refs, __ATOMIC_ACQUIRE) != 1)
		return !set_in_page(sp, i, true);
	old = __atomic_load_n(word, __ATOMIC_RELAXED);
	if (unlikely(old & bit))
		return false; /* the one reference is somebody else's */
	__atomic_store_n(word, old | bit, __ATOMIC_RELAXED);
	return true;
}

unsigned
pw_cut_put(struct pw_store *store, struct pw_store_counts *counts, void *const *objs, uint32_t n)
{
	unsigned refused = 0;

	for (uint32_t o = 0; o < n; o++) {
		uint32_t i;
		struct pw_page *page = pw_store_find(store, objs[o], &i);

		if (unlikely(page == NULL || !return_object(page, i))) {
			pw_store_refuse(store, counts, objs[o], page != NULL);
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
			drop_refs(store, unqueue_flip(part->flip).page, 1);
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
