/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STORE_PAGE_H
#define PW_STORE_PAGE_H

/**
 * @file
 * The objects of one page: where they lie, and a bitmap of those that are in the page.
 *
 * Internal to lib/store. Bits are changed by pages' cutters and by all who free, at once, or under
 * the lock of the cold store: the former use the functions named atomic.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pw_pages.h"
#include "pw_store.h"

#define PW_STORE_WORD_BITS 32
#define PW_STORE_DIV_SHIFT 42

/** How objects lie in a page. */
struct pw_store_layout {
	uint32_t stride_bytes;
	uint32_t offset_bytes; /**< of the object in its stride */
	uint64_t reciprocal;   /**< of the stride: 2^42 / stride, rounded up */
	uint32_t max_objects;  /**< in a page that is not short */
	uint32_t out_word; /**< where in bits the ones of handed-out objects begin; 0: not kept */
};

/** In the private room of a page. */
struct pw_store_page {
	uint16_t nb_objects;
	uint16_t uncut;	 /**< objects at its start that its cutter has yet to hand out; atomic */
	uint32_t bits[]; /**< bit i: object i is in the page */
};

/** Lay out pages of page_bytes; stride and offset are set. */
void pw_store_layout_init(struct pw_store_layout *layout, size_t page_bytes, bool with_out_bits);

/** Room that a page needs. */
uint32_t pw_store_page_priv_bytes(const struct pw_store_layout *layout);

/** Lay at most max_objects into an empty page of len_bytes; all are in it; tells how many. */
uint32_t pw_store_page_init(struct pw_page *page, const struct pw_store_layout *layout,
	size_t len_bytes, uint32_t max_objects);

static inline struct pw_store_page *
pw_store_page_priv(struct pw_page *page)
{
	return pw_page_priv(page);
}

/** Objects that are in the page, or will be when it is cut. Any thread, at any time. */
uint32_t pw_store_page_count(struct pw_page *page);

/** Words of the bitmap of a page of nb_objects. */
static inline uint32_t
pw_store_words(uint32_t nb_objects)
{
	return (nb_objects + PW_STORE_WORD_BITS - 1) / PW_STORE_WORD_BITS;
}

/** The bits of word w that stand for objects. */
static inline uint32_t
pw_store_word_mask(const struct pw_store_page *sp, uint32_t w)
{
	uint32_t left = sp->nb_objects - w * PW_STORE_WORD_BITS;

	return left >= PW_STORE_WORD_BITS ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

/** Address of object i. */
static inline void *
pw_store_page_object(const struct pw_page *page, const struct pw_store_layout *layout, uint32_t i)
{
	return page->addr + (size_t)i * layout->stride_bytes + layout->offset_bytes;
}

/** Which object of the page begins at an address in it; PW_STORE_NO_OBJECT if none does. */
#define PW_STORE_NO_OBJECT UINT32_MAX
static inline uint32_t
pw_store_page_index(struct pw_page *page, const struct pw_store_layout *layout, const void *obj)
{
	/* Distances are below 2^21: multiplying by the reciprocal is exact. */
	uint64_t distance = (const char *)obj - page->addr - layout->offset_bytes;
	uint32_t i;

	if (distance >> (PW_PAGE_SHIFT + PW_PAGE_ORDER_MAX) != 0)
		return PW_STORE_NO_OBJECT;
	i = (distance * layout->reciprocal) >> PW_STORE_DIV_SHIFT;
	if (i >= pw_store_page_priv(page)->nb_objects || i * layout->stride_bytes != distance)
		return PW_STORE_NO_OBJECT;
	return i;
}

#endif
