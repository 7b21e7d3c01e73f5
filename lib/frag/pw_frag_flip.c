/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Half-page flips, as Linux's ixgbe does them with the buffers of an RX queue
 * (ixgbe_can_reuse_rx_page()). There a page is looked at while the driver still holds the half that
 * went out, so that one count for both is enough; here it is looked at a turn of the ring later,
 * when either half may have been freed, or cloned, in any order: so each is counted.
 *
 * What a cache in use holds of a page in its ring is PW_REFS_CUT; its bias is what the owner freed
 * of the half in use, given back when the next one goes out.
 */

#include <rte_errno.h>

#include "pw_frag_priv.h"

#define NOBODY_ELSE (PW_REFS_HALVES | PW_REFS_CUT)

/* Give back what the owner freed of the half in use. */
static void
settle(struct pw_frag_cache *cache)
{
	uint32_t bias = pw_frag_bias(cache), refs, due;
	unsigned half;

	if (bias == 0)
		return;
	pw_frag_count_piece(cache);
	half = cache->begin != (uintptr_t)cache->page->addr;
	refs = pw_refs_load(cache->page);
	due = pw_bias_due(cache->pool, bias, pw_refs_of_half(refs, half))
		<< pw_refs_half_shift(half);
	/* Nobody else can change the count while all references are the cache's. */
	if (likely(refs == NOBODY_ELSE + due))
		pw_refs_store(cache->page, NOBODY_ELSE);
	else
		pw_refs_drop(cache->page, due);
}

/* Drop the page of a slot, which becomes empty. */
static void
clear_slot(struct pw_frag_cache *cache, struct pw_flip_slot *slot)
{
	if (slot->page == NULL)
		return;
	if (slot->page == cache->page)
		pw_frag_forget_piece(cache);
	pw_frag_page_drop(cache->pool, slot->page, PW_REFS_CUT);
	slot->page = NULL;
}

void
pw_flip_leave(struct pw_frag_cache *cache)
{
	settle(cache);
	for (unsigned i = 0; i < PW_FRAG_FIFO; i++)
		clear_slot(cache, &cache->slots[i]);
}

static bool
is_half_free(const struct pw_flip_slot *slot, unsigned half)
{
	return pw_refs_of_half(pw_refs_load(slot->page), half) == 0;
}

static bool
can_flip(const struct pw_flip_slot *slot)
{
	return slot->page != NULL && pw_frag_page_may_stay(slot->page) &&
		is_half_free(slot, !slot->half);
}

static void *
count(struct pw_frag_cache *cache, uintptr_t begin, size_t len_bytes, size_t size_bytes,
	size_t align_bytes)
{
	cache->stats.allocs++;
	cache->bytes += size_bytes;
	cache->stats.tail_bytes += len_bytes - size_bytes;
	return (void *)pw_frag_cut(begin + len_bytes, size_bytes, align_bytes);
}

/* Hand out a free half of the page whose turn it is, and go on to the next slot. */
static void *
hand_out(struct pw_frag_cache *cache, unsigned half, size_t size_bytes, size_t align_bytes)
{
	struct pw_flip_slot *slot = &cache->slots[cache->turn];
	struct pw_page *page = slot->page;
	uint32_t ref = UINT32_C(1) << pw_refs_half_shift(half);

	if (likely(pw_refs_load(page) == NOBODY_ELSE))
		pw_refs_store(page, NOBODY_ELSE + ref);
	else
		__atomic_add_fetch(&page->refs, ref, __ATOMIC_RELAXED);
	slot->half = half;
	cache->turn = (cache->turn + 1) % PW_FRAG_FIFO;
	cache->page = page;
	cache->len_bytes = pw_page_bytes(page) / 2;
	cache->begin = (uintptr_t)page->addr + half * cache->len_bytes;
	cache->cut = cache->begin; /* one fragment takes all of it */
	return count(cache, cache->begin, cache->len_bytes, size_bytes, align_bytes);
}

/* Hand out a page of its own, which the cache does not keep. */
static void *
hand_out_whole(
	struct pw_frag_cache *cache, struct pw_page *page, size_t size_bytes, size_t align_bytes)
{
	pw_refs_store(page, 1);
	return count(cache, (uintptr_t)page->addr, pw_page_bytes(page), size_bytes, align_bytes);
}

static struct pw_page *
get_page(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	struct pw_page *page = pw_frag_page_get(cache->pool, size_bytes, align_bytes);

	if (page != NULL) {
		cache->stats.refills++;
		cache->stats.fallback_pages += (page->flags & PW_PAGE_FALLBACK) != 0;
	}
	return page;
}

static void *
fail(struct pw_frag_cache *cache)
{
	cache->stats.failures++;
	rte_errno = ENOMEM;
	return NULL;
}

/* As no page is left: take the turn of any that has a free half. */
static void *
search(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	struct pw_flip_slot *turn = &cache->slots[cache->turn];

	for (unsigned i = 0; i < 2 * PW_FRAG_FIFO; i++) {
		struct pw_flip_slot *slot = &cache->slots[(cache->turn + i / 2) % PW_FRAG_FIFO];
		unsigned half = i % 2 == 0 ? !slot->half : slot->half;

		if (slot->page != NULL && is_half_free(slot, half)) {
			struct pw_flip_slot found = *slot;

			*slot = *turn;
			*turn = found;
			cache->stats.reuses++;
			return hand_out(cache, half, size_bytes, align_bytes);
		}
	}
	return fail(cache);
}

static void *
alloc_half(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	struct pw_flip_slot *slot = &cache->slots[cache->turn];
	struct pw_page *page;

	if (can_flip(slot)) {
		cache->stats.reuses++;
		return hand_out(cache, !slot->half, size_bytes, align_bytes);
	}
	page = get_page(cache, size_bytes, align_bytes);
	if (page == NULL)
		return search(cache, size_bytes, align_bytes);
	if (page->flags & PW_PAGE_FALLBACK) {
		cache->turn = (cache->turn + 1) % PW_FRAG_FIFO; /* the next may be free */
		return hand_out_whole(cache, page, size_bytes, align_bytes);
	}
	clear_slot(cache, slot);
	slot->page = page;
	pw_refs_store(page, NOBODY_ELSE);
	return hand_out(cache, 1, size_bytes, align_bytes);
}

/* Give back the pages of the ring that nobody else holds; tells how many. */
static unsigned
shrink(struct pw_frag_cache *cache)
{
	unsigned dropped = 0;

	for (unsigned i = 0; i < PW_FRAG_FIFO; i++) {
		struct pw_flip_slot *slot = &cache->slots[i];

		if (slot->page != NULL && pw_refs_load(slot->page) == NOBODY_ELSE) {
			clear_slot(cache, slot);
			dropped++;
		}
	}
	return dropped;
}

static void *
alloc_whole(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	struct pw_page *page = get_page(cache, size_bytes, align_bytes);

	if (page == NULL && shrink(cache) > 0)
		page = get_page(cache, size_bytes, align_bytes);
	if (page == NULL)
		return fail(cache);
	return hand_out_whole(cache, page, size_bytes, align_bytes);
}

void *
pw_flip_alloc(struct pw_frag_cache *cache, size_t size_bytes, size_t align_bytes)
{
	size_t half_bytes = cache->page_bytes / 2;

	settle(cache);
	if (size_bytes > half_bytes || align_bytes > half_bytes)
		return alloc_whole(cache, size_bytes, align_bytes);
	return alloc_half(cache, size_bytes, align_bytes);
}
