/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag_why.h"

#include <stddef.h>

#include <rte_common.h>

/* clang-format off */
#define ROW(above, below, key, field, per, divide_by) \
	{above, below, key, offsetof(struct pw_bfrag_why, field), per, divide_by}
/* clang-format on */

const struct pw_bfrag_why_row pw_bfrag_why_rows[] = {
	ROW("page", "refills", "refills_per_1000", refills, 1000, 1),
	ROW("", "reuses", "reuses_per_1000", reuses, 1000, 1),
	ROW("cache", "hits", "cache_hits_per_1000", cache_hits, 1000, 1),
	ROW("ring", "hits", "ring_hits_per_1000", ring_hits, 1000, 1),
	ROW("buddy", "hits", "buddy_hits_per_1000", buddy_hits, 1000, 1),
	ROW("", "splits", "splits_per_1000", splits, 1000, 1),
	ROW("", "merges", "merges_per_1000", merges, 1000, 1),
	ROW("", "fallbacks", "fallbacks_per_1000", fallbacks, 1000, 1),
	ROW("tail", "bytes", "tail_bytes_per_fragment", tail_bytes, 1, 1),
	ROW("KiB", "held", "held_bytes", held_bytes, 0, 1024),
	{0},
};

double
pw_bfrag_why_value(const struct pw_bfrag_why *why, const struct pw_bfrag_why_row *row)
{
	double value = (double)*(const uint64_t *)(const void *)((const char *)why + row->offset);

	if (row->per == 0 || why->fragments == 0)
		return value;
	return value * row->per / (double)why->fragments;
}

void
pw_bfrag_counters_read(struct pw_bfrag_counters *counters, const struct pw_frag_cache *cache)
{
	const struct pw_frag_pool *pool = pw_frag_cache_pool(cache);

	pw_frag_get_stats(cache, &counters->frags);
	/* Not pw_frag_pool_get_stats(): that visits all pages, in the middle of a measurement. */
	pw_page_cache_get_stats(pw_frag_pool_page_cache(pool), &counters->pages);
	pw_arena_get_stats(pw_frag_pool_arena(pool), &counters->arena);
}

void
pw_bfrag_why_add(struct pw_bfrag_why *why, const struct pw_bfrag_counters *before,
	const struct pw_bfrag_counters *after, uint64_t base_bytes)
{
	uint64_t held = after->arena.bytes_held - base_bytes;

	why->fragments += after->frags.allocs - before->frags.allocs;
	why->refills += after->frags.refills - before->frags.refills;
	why->reuses += after->frags.reuses - before->frags.reuses;
	why->cache_hits += after->pages.cache_hits - before->pages.cache_hits;
	why->ring_hits += after->pages.ring_hits - before->pages.ring_hits;
	why->buddy_hits += after->pages.buddy_hits - before->pages.buddy_hits;
	why->splits += after->arena.splits - before->arena.splits;
	why->merges += after->arena.merges - before->arena.merges;
	why->fallbacks += after->frags.fallback_pages - before->frags.fallback_pages;
	why->tail_bytes += after->frags.tail_bytes - before->frags.tail_bytes;
	why->held_bytes = RTE_MAX(why->held_bytes, held);
}
