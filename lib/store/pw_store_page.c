/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_store_page.h"

#include <errno.h>

#include <rte_common.h>

#define WORD_BITS 64

static struct pw_store_page *
page_objects(const struct pw_page *page)
{
	return pw_page_priv((struct pw_page *)(uintptr_t)page);
}

uint32_t
pw_store_page_priv_bytes(uint32_t max_objects)
{
	uint32_t words = (max_objects + WORD_BITS - 1) / WORD_BITS;

	return sizeof(struct pw_store_page) + words * sizeof(uint64_t);
}

uint32_t
pw_store_page_init(struct pw_page *page, const struct pw_store_layout *layout, uint32_t max_objects)
{
	struct pw_store_page *sp = page_objects(page);
	uint32_t count = RTE_MIN(page->len_bytes / layout->stride_bytes, max_objects);

	sp->nb_objects = count;
	sp->nb_free = count;
	for (uint32_t i = 0; i < count; i++)
		sp->free[i / WORD_BITS] |= UINT64_C(1) << (i % WORD_BITS);
	return count;
}

void *
pw_store_page_object(const struct pw_page *page, const struct pw_store_layout *layout, uint32_t i)
{
	return page->addr + (size_t)i * layout->stride_bytes + layout->offset_bytes;
}

uint32_t
pw_store_page_take(
	struct pw_page *page, const struct pw_store_layout *layout, void **objs, uint32_t max)
{
	struct pw_store_page *sp = page_objects(page);
	uint32_t taken = RTE_MIN(max, sp->nb_free);
	uint32_t left = taken;
	uint32_t word = (sp->nb_objects + WORD_BITS - 1) / WORD_BITS;

	while (left > 0) {
		uint64_t *bits = &sp->free[--word];

		while (*bits != 0 && left > 0) {
			uint32_t bit = WORD_BITS - 1 - __builtin_clzll(*bits);

			*bits &= ~(UINT64_C(1) << bit);
			objs[--left] = pw_store_page_object(page, layout, word * WORD_BITS + bit);
		}
	}
	sp->nb_free -= taken;
	return taken;
}

int
pw_store_page_put(struct pw_page *page, const struct pw_store_layout *layout, void *obj)
{
	struct pw_store_page *sp = page_objects(page);
	size_t distance = (char *)obj - page->addr - layout->offset_bytes;
	size_t i = distance / layout->stride_bytes;
	uint64_t bit = UINT64_C(1) << (i % WORD_BITS);

	if (i >= sp->nb_objects || distance % layout->stride_bytes != 0)
		return -EINVAL;
	if (sp->free[i / WORD_BITS] & bit)
		return -EALREADY;
	sp->free[i / WORD_BITS] |= bit;
	sp->nb_free++;
	return 0;
}
