/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_page_stats.h"
#include "pw_store.h"

const struct pw_stat pw_store_stat_table[] = {
	PW_STAT(pw_store_stats, objects, "buffers"),
	PW_STAT(pw_store_stats, free, "buffers"),
	PW_STAT(pw_store_stats, gets, "buffers"),
	PW_STAT(pw_store_stats, puts, "buffers"),
	PW_STAT(pw_store_stats, page_objects, "buffers"),
	PW_STAT(pw_store_stats, reuses, "buffers"),
	PW_STAT(pw_store_stats, flips, "buffers"),
	PW_STAT(pw_store_stats, depot_objects, "buffers"),
	PW_STAT(pw_store_stats, remote_frees, "buffers"),
	PW_STAT(pw_store_stats, flushes, "buffers"),
	PW_STAT(pw_store_stats, gathers, "times"),
	PW_STAT(pw_store_stats, failures, "times"),
	PW_STAT(pw_store_stats, foreign_puts, "buffers"),
	PW_STAT(pw_store_stats, double_puts, "buffers"),
	PW_STAT(pw_store_stats, pinned_pages, "pages"),
	PW_STAT(pw_store_stats, waste_bytes, "bytes"),
	PW_STAT(pw_store_stats, meta_bytes, "bytes"),
	PW_PAGE_CACHE_STATS(pw_store_stats),
	PW_ARENA_STATS(pw_store_stats),
	PW_STAT_END,
};
