/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_copybreak.h"
#include "pw_frag.h"
#include "pw_page_stats.h"

const struct pw_stat pw_frag_stat_table[] = {
	PW_STAT(pw_frag_stats, allocs, "fragments"),
	PW_STAT(pw_frag_stats, bytes, "bytes"),
	PW_STAT(pw_frag_stats, local_frees, "fragments"),
	PW_STAT(pw_frag_stats, refills, "pages"),
	PW_STAT(pw_frag_stats, fallback_pages, "pages"),
	PW_STAT(pw_frag_stats, reuses, "pages"),
	PW_STAT(pw_frag_stats, failures, "times"),
	PW_STAT(pw_frag_stats, tail_bytes, "bytes"),
	PW_STAT_END,
};

const struct pw_stat pw_frag_pool_stat_table[] = {
	PW_STAT(pw_frag_pool_stats, frags_in_flight, "fragments"),
	PW_STAT(pw_frag_pool_stats, bytes_in_use, "bytes"),
	PW_STAT(pw_frag_pool_stats, pages_in_use, "pages"),
	PW_STAT(pw_frag_pool_stats, pages_pinned, "pages"),
	PW_STAT(pw_frag_pool_stats, refused, "fragments"),
	PW_PAGE_CACHE_STATS(pw_frag_pool_stats),
	PW_ARENA_STATS(pw_frag_pool_stats),
	PW_STAT_END,
};

const struct pw_stat pw_copybreak_stat_table[] = {
	PW_STAT(pw_copybreak_stats, copied, "packets"),
	PW_STAT(pw_copybreak_stats, copied_bytes, "bytes"),
	PW_STAT(pw_copybreak_stats, passed_large, "packets"),
	PW_STAT(pw_copybreak_stats, no_memory, "packets"),
	PW_STAT_END,
};
