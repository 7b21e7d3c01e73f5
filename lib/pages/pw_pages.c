/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_pages.h"

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_memzone.h>
#include <rte_spinlock.h>

/* Contiguous memory, and the descriptors of its pages. */
struct region {
	char *start;
	char *end;
	char *base; /* start, rounded down to a page: where page 0 would begin */
	char *descs;
	const struct rte_memzone *mz; /* NULL: lent */
};

struct pw_arena {
	rte_spinlock_t lock; /* free_pages and stats */
	int socket_id;
	uint32_t page_shift;
	uint32_t desc_bytes; /* a struct pw_page and the owner's room behind it */
	struct pw_page_list free_pages;
	struct pw_arena_stats stats;
	struct region *regions; /* in the order of their addresses */
	uint32_t nb_regions;
	uint32_t cap_regions;
};

static size_t
page_bytes(const struct pw_arena *arena)
{
	return (size_t)1 << arena->page_shift;
}

struct pw_arena *
pw_arena_create(const struct pw_arena_params *params)
{
	struct pw_arena *arena;

	/* Heaps of external memory have numbers behind those of the NUMA sockets. */
	if (params->page_order > PW_PAGE_ORDER_MAX || params->socket_id < SOCKET_ID_ANY) {
		rte_errno = EINVAL;
		return NULL;
	}

	arena = rte_zmalloc_socket(
		"pw_arena", sizeof(*arena), RTE_CACHE_LINE_SIZE, params->socket_id);
	if (arena == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}

	rte_spinlock_init(&arena->lock);
	TAILQ_INIT(&arena->free_pages);
	arena->socket_id = params->socket_id;
	arena->page_shift = PW_PAGE_SHIFT + params->page_order;
	arena->desc_bytes = RTE_ALIGN_CEIL(sizeof(struct pw_page) + params->page_priv_bytes, 8);
	arena->stats.page_bytes = page_bytes(arena);
	arena->stats.meta_bytes = sizeof(*arena);
	return arena;
}

void
pw_arena_destroy(struct pw_arena *arena)
{
	if (arena == NULL)
		return;
	for (uint32_t i = 0; i < arena->nb_regions; i++) {
		rte_free(arena->regions[i].descs);
		rte_memzone_free(arena->regions[i].mz);
	}
	rte_free(arena->regions);
	rte_free(arena);
}

/* Index of the first region that ends behind addr. */
static uint32_t
find_region(const struct pw_arena *arena, const char *addr)
{
	uint32_t low = 0, high = arena->nb_regions;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (arena->regions[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int
grow_regions(struct pw_arena *arena)
{
	uint32_t cap = RTE_MAX(4U, arena->cap_regions * 2);
	struct region *regions;

	if (arena->nb_regions < arena->cap_regions)
		return 0;
	regions = rte_realloc_socket(
		arena->regions, cap * sizeof(*regions), RTE_CACHE_LINE_SIZE, arena->socket_id);
	if (regions == NULL)
		return -ENOMEM;
	arena->regions = regions;
	arena->cap_regions = cap;
	return 0;
}

static struct pw_page *
region_page(const struct pw_arena *arena, const struct region *region, size_t i)
{
	return (struct pw_page *)(void *)(region->descs + i * arena->desc_bytes);
}

/* Lent memory is IOVA-contiguous; a memzone need not be, but no page of it crosses a hugepage. */
static rte_iova_t
page_iova(const struct region *region, rte_iova_t iova, const char *addr)
{
	if (region->mz != NULL)
		return rte_mem_virt2iova(addr);
	return iova == RTE_BAD_IOVA ? RTE_BAD_IOVA : iova + (addr - region->start);
}

/* Describe the pages of a region; put those the owner wants on the free list, tell how many. */
static size_t
init_pages(struct pw_arena *arena, const struct region *region, rte_iova_t iova,
	pw_page_init_t init, void *ctx)
{
	size_t count = (region->end - region->base + page_bytes(arena) - 1) >> arena->page_shift;
	size_t wanted = 0;

	for (size_t i = 0; i < count; i++) {
		struct pw_page *page = region_page(arena, region, i);
		char *begin = region->base + (i << arena->page_shift);
		char *end = RTE_MIN(begin + page_bytes(arena), region->end);

		begin = RTE_MAX(begin, region->start);
		page->addr = begin;
		page->iova = page_iova(region, iova, begin);
		page->len_bytes = end - begin;
		if (init != NULL && !init(page, ctx))
			continue;
		wanted++;
		rte_spinlock_lock(&arena->lock);
		TAILQ_INSERT_TAIL(&arena->free_pages, page, link);
		arena->stats.pages++;
		arena->stats.bytes += page->len_bytes;
		rte_spinlock_unlock(&arena->lock);
	}
	return wanted;
}

static int
add_region(struct pw_arena *arena, void *addr, rte_iova_t iova, size_t len_bytes,
	const struct rte_memzone *mz, pw_page_init_t init, void *ctx)
{
	struct region region = {.start = addr, .end = (char *)addr + len_bytes, .mz = mz};
	size_t count;
	uint32_t at;

	if (len_bytes == 0 || region.end < region.start)
		return -EINVAL;
	at = find_region(arena, region.start);
	if (at < arena->nb_regions && arena->regions[at].start < region.end)
		return -EINVAL;
	if (grow_regions(arena) < 0)
		return -ENOMEM;

	region.base = RTE_PTR_ALIGN_FLOOR(region.start, page_bytes(arena));
	count = (region.end - region.base + page_bytes(arena) - 1) >> arena->page_shift;
	region.descs = rte_zmalloc_socket(
		"pw_pages", count * arena->desc_bytes, RTE_CACHE_LINE_SIZE, arena->socket_id);
	if (region.descs == NULL)
		return -ENOMEM;
	if (init_pages(arena, &region, iova, init, ctx) == 0) {
		rte_free(region.descs); /* of no use: its lender may have other plans */
		return 0;
	}

	memmove(&arena->regions[at + 1], &arena->regions[at],
		(arena->nb_regions - at) * sizeof(region));
	arena->regions[at] = region;
	arena->nb_regions++;
	arena->stats.meta_bytes += sizeof(region) + count * arena->desc_bytes;
	return 0;
}

int
pw_arena_reserve(struct pw_arena *arena, const char *name, uint32_t pages)
{
	const struct rte_memzone *mz;
	int rc;

	if (pages == 0)
		return -EINVAL;
	if (strlen(name) >= RTE_MEMZONE_NAMESIZE)
		return -ENAMETOOLONG;
	/* Aligned to a page, so that no page crosses a hugepage and each is IOVA-contiguous. */
	mz = rte_memzone_reserve_aligned(name, (size_t)pages << arena->page_shift, arena->socket_id,
		RTE_MEMZONE_2MB | RTE_MEMZONE_SIZE_HINT_ONLY, page_bytes(arena));
	if (mz == NULL)
		return -rte_errno;

	rc = add_region(
		arena, mz->addr, mz->iova, (size_t)pages << arena->page_shift, mz, NULL, NULL);
	if (rc < 0)
		rte_memzone_free(mz);
	return rc;
}

int
pw_arena_adopt(struct pw_arena *arena, void *addr, rte_iova_t iova, size_t len_bytes,
	pw_page_init_t init, void *ctx)
{
	return add_region(arena, addr, iova, len_bytes, NULL, init, ctx);
}

struct pw_page *
pw_page_alloc(struct pw_arena *arena)
{
	struct pw_arena_stats *stats = &arena->stats;
	struct pw_page *page;

	rte_spinlock_lock(&arena->lock);
	page = TAILQ_FIRST(&arena->free_pages);
	if (page != NULL) {
		TAILQ_REMOVE(&arena->free_pages, page, link);
		stats->page_allocs++;
		stats->pages_held++;
		stats->pages_held_max = RTE_MAX(stats->pages_held_max, stats->pages_held);
		stats->pages_touched += !page->touched;
		page->touched = true;
	} else {
		stats->page_failures++;
		rte_errno = ENOMEM;
	}
	rte_spinlock_unlock(&arena->lock);
	return page;
}

void
pw_page_free(struct pw_arena *arena, struct pw_page *page)
{
	rte_spinlock_lock(&arena->lock);
	TAILQ_INSERT_HEAD(&arena->free_pages, page, link);
	arena->stats.page_frees++;
	arena->stats.pages_held--;
	rte_spinlock_unlock(&arena->lock);
}

struct pw_page *
pw_page_of(const struct pw_arena *arena, const void *addr)
{
	uint32_t at = find_region(arena, addr);
	const struct region *region;

	if (at == arena->nb_regions)
		return NULL;
	region = &arena->regions[at];
	if ((const char *)addr < region->start)
		return NULL;
	return region_page(
		arena, region, (size_t)((const char *)addr - region->base) >> arena->page_shift);
}

size_t
pw_arena_page_bytes(const struct pw_arena *arena)
{
	return page_bytes(arena);
}

void
pw_arena_get_stats(struct pw_arena *arena, struct pw_arena_stats *stats)
{
	rte_spinlock_lock(&arena->lock);
	*stats = arena->stats;
	rte_spinlock_unlock(&arena->lock);
}
