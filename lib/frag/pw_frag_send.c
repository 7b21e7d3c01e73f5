/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frag_send.h"

#include <errno.h>

#include <rte_errno.h>

#include "pw_frag_priv.h"

static_assert(sizeof(struct pw_send_frag) <= 32, "one a socket: half a line at most");

static bool
is_only_holder(const struct pw_send_frag *sf)
{
	return pw_refs_load(sf->page) == PW_REFS_CUT;
}

static bool
refill(struct pw_send_frag *sf, struct pw_frag_pool *pool, size_t min_bytes)
{
	struct pw_page *page;

	if (sf->page != NULL && min_bytes <= sf->len_bytes && is_only_holder(sf)) {
		if (pw_frag_page_may_stay(sf->page)) {
			sf->offset_bytes = 0;
			return true;
		}
		pw_send_frag_release(sf, pool); /* first: it may be the last page */
	}
	page = pw_frag_page_get(pool, min_bytes, 1);
	if (page == NULL)
		return false;
	pw_send_frag_release(sf, pool);
	pw_refs_store(page, PW_REFS_CUT);
	*sf = (struct pw_send_frag){
		.page = page,
		.start = page->addr,
		.len_bytes = pw_page_bytes(page),
	};
	return true;
}

void *
pw_send_frag_room(
	struct pw_send_frag *sf, struct pw_frag_pool *pool, size_t min_bytes, size_t *room_bytes)
{
	if (unlikely(min_bytes == 0 || min_bytes > pw_strategy_page_bytes(&pool->strategy))) {
		rte_errno = min_bytes == 0 ? EINVAL : EMSGSIZE;
		return NULL;
	}
	if (sf->len_bytes - sf->offset_bytes < min_bytes && !refill(sf, pool, min_bytes))
		return NULL; /* rte_errno is pw_frag_page_get()'s */
	*room_bytes = sf->len_bytes - sf->offset_bytes;
	return sf->start + sf->offset_bytes;
}

void *
pw_send_frag_take(struct pw_send_frag *sf, size_t used_bytes)
{
	char *frag = sf->start + sf->offset_bytes;

	if (unlikely(used_bytes == 0 || used_bytes > sf->len_bytes - sf->offset_bytes)) {
		rte_errno = EINVAL;
		return NULL;
	}
	__atomic_add_fetch(&sf->page->refs, 1, __ATOMIC_RELAXED);
	sf->offset_bytes += used_bytes;
	return frag;
}

void
pw_send_frag_release(struct pw_send_frag *sf, struct pw_frag_pool *pool)
{
	if (sf->page != NULL)
		pw_frag_page_drop(pool, sf->page, PW_REFS_CUT);
	*sf = (struct pw_send_frag){0};
}
