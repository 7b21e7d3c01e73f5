/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STORE_PAGE_H
#define PW_STORE_PAGE_H

/**
 * @file
 * The objects of one page: a bitmap of the free ones, in the page's private room.
 *
 * Internal to lib/store; the caller holds the store's lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pw_pages.h"

/** How objects lie in a page. */
struct pw_store_layout {
	uint32_t stride_bytes;
	uint32_t offset_bytes;
};

struct pw_store_page {
	uint32_t nb_objects;
	uint32_t nb_free;
	uint64_t free[]; /**< bit i: object i is free */
};

/** Room that a page with at most max_objects needs. */
uint32_t pw_store_page_priv_bytes(uint32_t max_objects);

/** Lay max_objects or fewer into an empty page, all free; tells how many. */
uint32_t pw_store_page_init(
	struct pw_page *page, const struct pw_store_layout *layout, uint32_t max_objects);

/** Address of object i. */
void *pw_store_page_object(
	const struct pw_page *page, const struct pw_store_layout *layout, uint32_t i);

/**
 * Take up to max free objects.
 *
 * They are written in the order of their addresses, those at the page's end: popped from a stack,
 * they go out from the page's end to its start.
 *
 * @return the number taken
 */
uint32_t pw_store_page_take(
	struct pw_page *page, const struct pw_store_layout *layout, void **objs, uint32_t max);

/**
 * Put an object back.
 *
 * @return 0, -EINVAL (no object begins there) or -EALREADY (it is free)
 */
int pw_store_page_put(struct pw_page *page, const struct pw_store_layout *layout, void *obj);

#endif
