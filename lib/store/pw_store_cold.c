/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The cold store of a hot store: objects sorted by page. Those of empty pages go out first, lowest
 * address first and in the order of their addresses: the CPU's prefetcher follows from one object
 * to the next, and what is in use stays together. Pages partly in use serve when no other is left.
 *
 * page->refs counts the objects that are not in the page.
 */

#include <rte_branch_prediction.h>

#include "pw_store_priv.h"

/* Statistics read the bits without the lock. */
static void
set_bits(struct pw_store_page *sp, uint32_t w, uint32_t bits)
{
	__atomic_store_n(&sp->bits[w], bits, __ATOMIC_RELAXED);
}

/* Take up to max objects of a page, in the order of their addresses. */
static uint32_t
take_from(const struct pw_store *store, struct pw_page *page, void **objs, uint32_t max)
{
	struct pw_store_page *sp = pw_store_page_priv(page);
	uint32_t taken = 0;

	for (uint32_t w = 0; w < pw_store_words(sp->nb_objects) && taken < max; w++) {
		uint32_t bits = sp->bits[w];

		for (; bits != 0 && taken < max; bits &= bits - 1)
			objs[taken++] = pw_store_page_object(
				page, &store->layout, w * PW_STORE_WORD_BITS + __builtin_ctz(bits));
		set_bits(sp, w, bits);
	}
	page->refs += taken;
	return taken;
}

static struct pw_page *
begin_page(struct pw_store *store)
{
	struct pw_cold *cold = &store->cold;
	struct pw_page *page = pw_page_alloc(store->arena, store->strategy.page_order);
	uint32_t index;

	if (page != NULL)
		return page;
	index = pw_bitmap_first(&cold->partial);
	if (index == PW_BITMAP_NONE)
		return NULL;
	pw_bitmap_clear(&cold->partial, index);
	return pw_page_at(store->arena, index);
}

static uint32_t
take(struct pw_store *store, void **objs, uint32_t max)
{
	struct pw_cold *cold = &store->cold;
	uint32_t taken = 0;

	while (taken < max) {
		if (cold->begun == NULL)
			cold->begun = begin_page(store);
		if (cold->begun == NULL)
			break;
		taken += take_from(store, cold->begun, objs + taken, max - taken);
		if (cold->begun->refs == pw_store_page_priv(cold->begun)->nb_objects)
			cold->begun = NULL;
	}
	cold->free -= taken;
	return taken;
}

uint32_t
pw_cold_take(struct pw_store *store, struct pw_store_counts *counts, void **objs, uint32_t max)
{
	uint32_t taken;

	rte_spinlock_lock(&store->cold.lock);
	taken = take(store, objs, max);
	pw_unlock(&store->cold.lock);
	counts->page_objects += taken;
	return taken;
}

/* An object came to its page: list the page as partly in use, or send it home when it is whole. */
static void
update_page(struct pw_store *store, struct pw_page *page)
{
	struct pw_cold *cold = &store->cold;
	uint32_t nb_objects = pw_store_page_priv(page)->nb_objects;

	if (page == cold->begun)
		return;
	if (page->refs == 0) {
		if (nb_objects > 1)
			pw_bitmap_clear(&cold->partial, page->index);
		pw_page_free(store->arena, page);
	} else if (page->refs == nb_objects - 1) {
		pw_bitmap_set(&cold->partial, page->index);
	}
}

/* Pages lie at multiples of their size; of short ones, two may lie where one would. */
static bool
lies_in(const struct pw_page *page, const void *obj)
{
	return page != NULL && !(page->flags & PW_PAGE_SHORT) &&
		((uintptr_t)obj ^ (uintptr_t)page->addr) < pw_page_bytes(page);
}

/* Put one object into its page; *page is that of the one before, which is often the same. */
static bool
put(struct pw_store *store, struct pw_store_counts *counts, struct pw_page **page, void *obj)
{
	struct pw_store_page *sp;
	uint32_t i, bit;

	if (!lies_in(*page, obj))
		*page = pw_page_of(store->arena, obj);
	i = *page == NULL ? PW_STORE_NO_OBJECT : pw_store_page_index(*page, &store->layout, obj);
	if (unlikely(i == PW_STORE_NO_OBJECT)) {
		pw_store_refuse(store, counts, obj, false);
		return false;
	}
	sp = pw_store_page_priv(*page);
	bit = UINT32_C(1) << (i % PW_STORE_WORD_BITS);
	if (unlikely(sp->bits[i / PW_STORE_WORD_BITS] & bit)) {
		pw_store_refuse(store, counts, obj, true);
		return false;
	}
	set_bits(sp, i / PW_STORE_WORD_BITS, sp->bits[i / PW_STORE_WORD_BITS] | bit);
	(*page)->refs--;
	update_page(store, *page);
	return true;
}

unsigned
pw_cold_put(struct pw_store *store, struct pw_store_counts *counts, void *const *objs, uint32_t n)
{
	struct pw_page *page = NULL;
	unsigned refused = 0;

	rte_spinlock_lock(&store->cold.lock);
	for (uint32_t i = 0; i < n; i++)
		refused += !put(store, counts, &page, objs[i]);
	store->cold.free += n - refused;
	pw_unlock(&store->cold.lock);
	counts->flushes += n - refused;
	return refused;
}
