/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_PAGE_STATS_H
#define PW_PAGE_STATS_H

/** @file Rows of pw_stat.h for the counters of pages, in a struct that holds these as fields. */

#include "pw_page_cache.h"
#include "pw_stat.h"

/** The counters of struct pw_page_cache_stats, field `cache` of struct group. */
#define PW_PAGE_CACHE_STATS(group)                                              \
	PW_STAT_AS("cache_hits", group, cache.cache_hits, "pages"),             \
		PW_STAT_AS("ring_hits", group, cache.ring_hits, "pages"),       \
		PW_STAT_AS("buddy_hits", group, cache.buddy_hits, "pages"),     \
		PW_STAT_AS("fallbacks", group, cache.fallbacks, "pages"),       \
		PW_STAT_AS("remote_pages", group, cache.remote_frees, "pages"), \
		PW_STAT_AS("page_spills", group, cache.spills, "pages"),        \
		PW_STAT_AS("page_drains", group, cache.drains, "times"),        \
		PW_STAT_AS("pages_refused", group, cache.failures, "pages"),    \
		PW_STAT_AS("pages_cached", group, cache.cached, "pages"),       \
		PW_STAT_AS("cache_meta_bytes", group, cache.meta_bytes, "bytes")

/** The counters of struct pw_arena_stats, field `pages`. */
#define PW_ARENA_STATS(group)                                                       \
	PW_STAT_AS("bytes", group, pages.bytes, "bytes"),                           \
		PW_STAT_AS("bytes_held", group, pages.bytes_held, "bytes"),         \
		PW_STAT_AS("bytes_held_max", group, pages.bytes_held_max, "bytes"), \
		PW_STAT_AS("page_bytes", group, pages.page_bytes, "bytes"),         \
		PW_STAT_AS("pages", group, pages.pages, "pages"),                   \
		PW_STAT_AS("pages_held", group, pages.pages_held, "pages"),         \
		PW_STAT_AS("pages_held_max", group, pages.pages_held_max, "pages"), \
		PW_STAT_AS("pages_touched", group, pages.pages_touched, "pages"),   \
		PW_STAT_AS("pages_off_node", group, pages.pages_off_node, "pages"), \
		PW_STAT_AS("page_allocs", group, pages.page_allocs, "pages"),       \
		PW_STAT_AS("page_frees", group, pages.page_frees, "pages"),         \
		PW_STAT_AS("page_failures", group, pages.page_failures, "times"),   \
		PW_STAT_AS("page_splits", group, pages.splits, "times"),            \
		PW_STAT_AS("page_merges", group, pages.merges, "times"),            \
		PW_STAT_AS("bad_page_frees", group, pages.bad_frees, "pages"),      \
		PW_STAT_AS("page_meta_bytes", group, pages.meta_bytes, "bytes")

#endif
