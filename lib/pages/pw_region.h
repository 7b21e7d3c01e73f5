/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_REGION_H
#define PW_REGION_H

/**
 * @file
 * The pieces of memory of an arena, found by address and by index. Internal to lib/pages.
 *
 * A pool's memory often comes in many pieces: rte_mempool cuts it where IO addresses are not
 * contiguous. So each address is looked up by its hugepage first, which tells where to begin.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_memzone.h>

/** Contiguous memory, and the descriptors of its pages. */
struct pw_region {
	char *start;
	char *end;
	char *base; /**< start, rounded down to a page of the largest order */
	char *descs;
	uint32_t first; /**< index of the page at base */
	uint32_t count;
	const struct rte_memzone *mz; /**< NULL: lent */
};

struct pw_regions {
	struct pw_region *all; /**< as added, so by their indices */
	uint32_t *by_addr;     /**< which region, by address */
	uint32_t n, room;
	uintptr_t first_hugepage; /**< number of that of the lowest address */
	uint32_t *places;	  /**< by hugepage: where in by_addr to begin; NULL: search */
	uint32_t nb_places, places_room;
};

/** Whether some of the memory is here already. */
bool pw_regions_overlap(const struct pw_regions *regions, const struct pw_region *region);

/** Make room for a region; 0 or -ENOMEM. */
int pw_regions_make_room(struct pw_regions *regions, const struct pw_region *region, int socket_id);

/** Insert a region, for which there is room. */
void pw_regions_insert(struct pw_regions *regions, const struct pw_region *region);

/** The region that an address lies in, or NULL. */
const struct pw_region *pw_region_of(const struct pw_regions *regions, const void *addr);

/** The region of an index, or NULL. */
const struct pw_region *pw_region_at(const struct pw_regions *regions, uint32_t index);

/** Bytes of the tables. */
size_t pw_regions_meta_bytes(const struct pw_regions *regions);

/** Free the tables, but nothing that a region points to. */
void pw_regions_free(struct pw_regions *regions);

#endif
