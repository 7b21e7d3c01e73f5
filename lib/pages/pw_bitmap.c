/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_bitmap.h"

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

/* Lay the levels out, each with one bit for a word of the level below. */
static void
lay_out(struct pw_bitmap *map, uint32_t nb_bits)
{
	uint32_t words = nb_bits;

	map->nb_bits = nb_bits;
	map->nb_levels = 0;
	map->nb_words = 0;
	do {
		words = words / 64 + (words % 64 != 0);
		map->level_at[map->nb_levels++] = map->nb_words;
		map->nb_words += words;
	} while (words > 1);
}

int
pw_bitmap_resize(struct pw_bitmap *map, uint32_t nb_bits, int socket_id)
{
	struct pw_bitmap old = *map, new = {0};
	uint32_t old_words = old.nb_levels > 1 ? old.level_at[1] : old.nb_words;

	if (nb_bits <= old.nb_bits)
		return 0;
	lay_out(&new, RTE_MAX(nb_bits, 2 * RTE_MIN(old.nb_bits, UINT32_MAX / 2)));
	new.words = rte_zmalloc_socket(
		"pw_bitmap", new.nb_words * sizeof(uint64_t), RTE_CACHE_LINE_SIZE, socket_id);
	if (new.words == NULL)
		return -ENOMEM;
	for (uint32_t w = 0; w < old_words; w++)
		for (uint64_t bits = old.words[w]; bits != 0; bits &= bits - 1)
			pw_bitmap_set(&new, w * 64 + __builtin_ctzll(bits));
	*map = new;
	rte_free(old.words);
	return 0;
}

void
pw_bitmap_free(struct pw_bitmap *map)
{
	rte_free(map->words);
	memset(map, 0, sizeof(*map));
}
