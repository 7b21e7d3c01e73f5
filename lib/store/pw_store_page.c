/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_store_page.h"

void
pw_store_layout_init(struct pw_store_layout *layout, size_t page_bytes, bool with_out_bits)
{
	uint64_t one = UINT64_C(1) << PW_STORE_DIV_SHIFT;

	layout->reciprocal = (one + layout->stride_bytes - 1) / layout->stride_bytes;
	layout->max_objects = RTE_MIN(
		page_bytes / layout->stride_bytes, (size_t)PW_STORE_PAGE_OBJECTS_MAX);
	layout->out_word = with_out_bits ? pw_store_words(layout->max_objects) : 0;
}

uint32_t
pw_store_page_priv_bytes(const struct pw_store_layout *layout)
{
	uint32_t words = pw_store_words(layout->max_objects) + layout->out_word;

	return sizeof(struct pw_store_page) + words * sizeof(uint32_t);
}

uint32_t
pw_store_page_init(struct pw_page *page, const struct pw_store_layout *layout, size_t len_bytes,
	uint32_t max_objects)
{
	struct pw_store_page *sp = pw_store_page_priv(page);
	size_t count = RTE_MIN(len_bytes / layout->stride_bytes, (size_t)layout->max_objects);

	sp->nb_objects = RTE_MIN(count, (size_t)max_objects);
	for (uint32_t w = 0; w < pw_store_words(sp->nb_objects); w++)
		sp->bits[w] = pw_store_word_mask(sp, w);
	return sp->nb_objects;
}

uint32_t
pw_store_page_count(struct pw_page *page)
{
	const struct pw_store_page *sp = pw_store_page_priv(page);
	uint32_t count = __atomic_load_n(&sp->uncut, __ATOMIC_RELAXED);

	for (uint32_t w = 0; w < pw_store_words(sp->nb_objects); w++)
		count += __builtin_popcount(__atomic_load_n(&sp->bits[w], __ATOMIC_RELAXED));
	return RTE_MIN(count, sp->nb_objects);
}
