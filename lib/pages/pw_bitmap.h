/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_BITMAP_H
#define PW_BITMAP_H

/**
 * @file
 * A bitmap that finds its lowest set bit in a few steps: each level above the bits has one bit a
 * word, set when that word is not 0. (rte_bitmap finds the next one after its last find instead.)
 *
 * Internal to lib; the caller locks.
 */

#include <stdbool.h>
#include <stdint.h>

#define PW_BITMAP_LEVELS 6 /* 64^6 bits: more than any index has; 64^5 are too few */
#define PW_BITMAP_NONE UINT32_MAX

struct pw_bitmap {
	uint64_t *words;
	uint32_t nb_bits;
	uint32_t nb_levels;
	uint32_t level_at[PW_BITMAP_LEVELS]; /**< first word of each level; 0: the bits */
	uint32_t nb_words;
};

/**
 * Make room for nb_bits, keeping those set, and for more, so that it does not cost much to do it
 * again and again. 0 or -ENOMEM (the bitmap is as before then).
 */
int pw_bitmap_resize(struct pw_bitmap *map, uint32_t nb_bits, int socket_id);

void pw_bitmap_free(struct pw_bitmap *map);

static inline void
pw_bitmap_set(struct pw_bitmap *map, uint32_t i)
{
	for (uint32_t level = 0; level < map->nb_levels; level++, i /= 64) {
		uint64_t *word = &map->words[map->level_at[level] + i / 64];
		uint64_t old = *word;

		*word = old | UINT64_C(1) << (i % 64);
		if (old != 0)
			return;
	}
}

static inline void
pw_bitmap_clear(struct pw_bitmap *map, uint32_t i)
{
	for (uint32_t level = 0; level < map->nb_levels; level++, i /= 64) {
		uint64_t *word = &map->words[map->level_at[level] + i / 64];

		*word &= ~(UINT64_C(1) << (i % 64));
		if (*word != 0)
			return;
	}
}

static inline bool
pw_bitmap_test(const struct pw_bitmap *map, uint32_t i)
{
	return map->words[i / 64] >> (i % 64) & 1;
}

/** The lowest set bit, or PW_BITMAP_NONE. */
static inline uint32_t
pw_bitmap_first(const struct pw_bitmap *map)
{
	uint32_t i = 0;

	for (uint32_t level = map->nb_levels; level-- > 0;) {
		uint64_t word = map->words[map->level_at[level] + i];

		if (word == 0)
			return PW_BITMAP_NONE;
		i = i * 64 + __builtin_ctzll(word);
	}
	return map->nb_levels == 0 ? PW_BITMAP_NONE : i;
}

#endif
