/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_FRAG_WHY_H
#define BENCH_FRAG_WHY_H

/** @file The counters that explain what a fragment costs. */

#include <stdint.h>

#include "pw_frag.h"

/** The counters at one moment. */
struct pw_bfrag_counters {
	struct pw_frag_stats frags;
	struct pw_page_cache_stats pages;
	struct pw_arena_stats arena;
};

/** What was counted in measurements, all of them together. */
struct pw_bfrag_why {
	uint64_t fragments;
	uint64_t refills;
	uint64_t reuses;
	uint64_t cache_hits;
	uint64_t ring_hits;
	uint64_t buddy_hits;
	uint64_t splits;
	uint64_t merges;
	uint64_t fallbacks;
	uint64_t tail_bytes;
	uint64_t held_bytes; /**< most at the end of a measurement, before all is freed */
};

/** How a counter is shown. */
struct pw_bfrag_why_row {
	const char *above, *below; /**< heading */
	const char *key;	   /**< in JSON */
	size_t offset;		   /**< in struct pw_bfrag_why */
	uint32_t per;		   /**< fragments; 0: as it is */
	uint32_t divide_by;	   /**< in the table */
};

/** The counters; the last one has no key. */
extern const struct pw_bfrag_why_row pw_bfrag_why_rows[];

/** Value of a row, for JSON. */
double pw_bfrag_why_value(const struct pw_bfrag_why *why, const struct pw_bfrag_why_row *row);

void pw_bfrag_counters_read(struct pw_bfrag_counters *counters, const struct pw_frag_cache *cache);

/**
 * Add what was counted between two moments.
 *
 * @param base_bytes  held by others
 */
void pw_bfrag_why_add(struct pw_bfrag_why *why, const struct pw_bfrag_counters *before,
	const struct pw_bfrag_counters *after, uint64_t base_bytes);

#endif
