/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_region.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_malloc.h>

#define HUGEPAGE_SHIFT 21
/* Memory may be scattered so much that a table by hugepages would be larger than it is worth. */
#define PLACES_PER_HUGEPAGE 8

static const struct pw_region *
at_place(const struct pw_regions *regions, uint32_t place)
{
	return &regions->all[regions->by_addr[place]];
}

/* Place of the first region that ends behind addr. */
static uint32_t
find_place(const struct pw_regions *regions, const char *addr)
{
	uint32_t low = 0, high = regions->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (at_place(regions, mid)->end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool
pw_regions_overlap(const struct pw_regions *regions, const struct pw_region *region)
{
	uint32_t place = find_place(regions, region->start);

	return place < regions->n && at_place(regions, place)->start < region->end;
}

/* Make *array, of elements, larger. */
static int
grow(void **array, size_t elements, size_t elt_bytes, int socket_id)
{
	void *new = rte_realloc_socket(
		*array, elements * elt_bytes, RTE_CACHE_LINE_SIZE, socket_id);

	if (new == NULL)
		return -ENOMEM;
	*array = new;
	return 0;
}

static int
grow_tables(struct pw_regions *regions, int socket_id)
{
	uint32_t room = RTE_MAX(4U, regions->room * 2);
	void *all = regions->all, *by_addr = regions->by_addr;
	int rc = grow(&all, room, sizeof(*regions->all), socket_id);

	regions->all = all;
	if (rc == 0)
		rc = grow(&by_addr, room, sizeof(*regions->by_addr), socket_id);
	regions->by_addr = by_addr;
	if (rc == 0)
		regions->room = room;
	return rc;
}

static uintptr_t
hugepage_of(const void *addr)
{
	return (uintptr_t)addr >> HUGEPAGE_SHIFT;
}

static size_t
hugepages_of(const struct pw_region *region)
{
	return hugepage_of(region->end - 1) - hugepage_of(region->start) + 1;
}

/* The table by hugepages with one more region: where it begins and ends, and whether it pays. */
static bool
extent(const struct pw_regions *regions, const struct pw_region *region, uintptr_t *first,
	uintptr_t *last)
{
	size_t hugepages = hugepages_of(region);

	*first = hugepage_of(region->start);
	*last = hugepage_of(region->end - 1);
	if (regions->n > 0) {
		*first = RTE_MIN(*first, hugepage_of(at_place(regions, 0)->start));
		*last = RTE_MAX(*last, hugepage_of(at_place(regions, regions->n - 1)->end - 1));
	}
	for (uint32_t i = 0; i < regions->n; i++)
		hugepages += hugepages_of(&regions->all[i]);
	return *last - *first < hugepages * PLACES_PER_HUGEPAGE;
}

int
pw_regions_make_room(struct pw_regions *regions, const struct pw_region *region, int socket_id)
{
	uintptr_t first, last;
	void *places = regions->places;

	if (regions->n == regions->room && grow_tables(regions, socket_id) < 0)
		return -ENOMEM;
	if (!extent(regions, region, &first, &last) || last - first < regions->places_room)
		return 0;
	if (grow(&places, 2 * (last - first + 1), sizeof(*regions->places), socket_id) < 0)
		return -ENOMEM;
	regions->places = places;
	regions->places_room = 2 * (last - first + 1);
	return 0;
}

static void
fill_places(struct pw_regions *regions)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < regions->nb_places; i++) {
		uintptr_t addr = (regions->first_hugepage + i) << HUGEPAGE_SHIFT;

		while (place + 1 < regions->n && (uintptr_t)at_place(regions, place)->end <= addr)
			place++;
		regions->places[i] = place;
	}
}

void
pw_regions_insert(struct pw_regions *regions, const struct pw_region *region)
{
	uint32_t place = find_place(regions, region->start);
	uintptr_t first, last;
	bool pays = extent(regions, region, &first, &last);

	memmove(&regions->by_addr[place + 1], &regions->by_addr[place],
		(regions->n - place) * sizeof(*regions->by_addr));
	regions->by_addr[place] = regions->n;
	regions->all[regions->n++] = *region;
	regions->first_hugepage = first;
	regions->nb_places = pays ? last - first + 1 : 0;
	fill_places(regions);
}

const struct pw_region *
pw_region_of(const struct pw_regions *regions, const void *addr)
{
	uintptr_t hugepage = hugepage_of(addr) - regions->first_hugepage;
	const struct pw_region *region;
	uint32_t place;

	if (likely(hugepage < regions->nb_places))
		place = regions->places[hugepage];
	else if (regions->nb_places > 0)
		return NULL;
	else
		place = find_place(regions, addr);
	for (; place < regions->n; place++) {
		region = at_place(regions, place);
		if (likely((const char *)addr < region->end))
			return (const char *)addr < region->start ? NULL : region;
	}
	return NULL;
}

const struct pw_region *
pw_region_at(const struct pw_regions *regions, uint32_t index)
{
	uint32_t low = 0, high = regions->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct pw_region *region = &regions->all[mid];

		if (index - region->first < region->count)
			return region;
		if (index < region->first)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

size_t
pw_regions_meta_bytes(const struct pw_regions *regions)
{
	return regions->room * (sizeof(*regions->all) + sizeof(*regions->by_addr)) +
		regions->places_room * sizeof(*regions->places);
}

void
pw_regions_free(struct pw_regions *regions)
{
	rte_free(regions->all);
	rte_free(regions->by_addr);
	rte_free(regions->places);
}
