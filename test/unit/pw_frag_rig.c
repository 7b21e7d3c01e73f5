/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frag_rig.h"

#include <stdio.h>
#include <string.h>

#include <rte_common.h>

struct pw_frag_pool_params
desk_params(const char *strategy, unsigned pages)
{
	static char name[32];
	struct pw_frag_pool_params params = {.name = name, .socket_id = SOCKET_ID_ANY};

	/* Two desks may be open at once. */
	snprintf(name, sizeof(name), "frag_test_%u", pw_test_memzones());
	assert_int_equal(pw_strategy_parse(strategy, &params.strategy), 0);
	params.bytes = pages * pw_strategy_page_bytes(&params.strategy);
	return params;
}

void
desk_leave_pages(struct desk *desk, unsigned pages)
{
	struct pw_page *page;

	while ((page = pw_page_alloc(desk->arena, desk->strategy.page_order)) != NULL) {
		assert_true(desk->nb_taken < DESK_TAKEN_MAX);
		desk->taken[desk->nb_taken++] = page;
	}
	assert_true(desk->nb_taken >= pages);
	for (unsigned i = 0; i < pages; i++)
		pw_page_free(desk->arena, desk->taken[--desk->nb_taken]);
}

void
desk_open(struct desk *desk, const char *strategy, unsigned pages)
{
	struct pw_frag_pool_params params;

	*desk = (struct desk){.before = pw_test_memory()};
	params = desk_params(strategy, pages);
	desk->strategy = params.strategy;
	desk->page_bytes = pw_strategy_page_bytes(&desk->strategy);
	desk->pool = pw_frag_pool_create(&params);
	assert_non_null(desk->pool);
	desk->arena = pw_frag_pool_arena(desk->pool);
	desk->cache = pw_frag_cache_create(desk->pool);
	assert_non_null(desk->cache);
	desk_leave_pages(desk, pages);
}

void
desk_close(struct desk *desk)
{
	struct pw_frag_pool_stats stats;

	pw_frag_cache_destroy(desk->cache);
	pw_arena_defragment(desk->arena);
	stats = desk_pool_stats(desk);
	assert_int_equal(stats.frags_in_flight, 0);
	assert_int_equal(stats.pages_in_use, 0);
	assert_int_equal(stats.bytes_in_use, 0);
	assert_int_equal(stats.pages_pinned, 0);
	assert_int_equal(stats.pages.bad_frees, 0);
	assert_int_equal(stats.pages.pages_held, stats.cache.cached + desk->nb_taken);
	pw_page_cache_drain(pw_frag_pool_page_cache(desk->pool));
	while (desk->nb_taken > 0)
		pw_page_free(desk->arena, desk->taken[--desk->nb_taken]);
	stats = desk_pool_stats(desk);
	assert_int_equal(stats.pages.pages_held, 0);
	assert_int_equal(stats.pages.free_pages[PW_PAGE_ORDER_MAX], stats.pages.bytes >> 21);
	assert_int_equal(pw_frag_pool_destroy(desk->pool), 0);
	pw_test_memory_equal(desk->before);
}

char *
desk_take(const struct desk *desk, size_t size_bytes)
{
	char *frag = pw_frag_alloc(desk->cache, size_bytes, 1);

	assert_non_null(frag);
	return frag;
}

void
desk_give(const struct desk *desk, void *frag)
{
	assert_int_equal(pw_frag_free(desk->pool, frag), 0);
}

char *
desk_page_start(const struct desk *desk, const void *frag)
{
	const struct pw_page *page = pw_page_of(desk->arena, frag);

	assert_non_null(page);
	return page->addr;
}

size_t
desk_page_bytes(const struct desk *desk, const void *frag)
{
	const struct pw_page *page = pw_page_of(desk->arena, frag);

	assert_non_null(page);
	return pw_page_bytes(page);
}

struct pw_frag_stats
desk_stats(const struct desk *desk)
{
	struct pw_frag_stats stats;

	pw_frag_get_stats(desk->cache, &stats);
	return stats;
}

struct pw_frag_pool_stats
desk_pool_stats(const struct desk *desk)
{
	struct pw_frag_pool_stats stats;

	pw_frag_pool_get_stats(desk->pool, &stats);
	return stats;
}
