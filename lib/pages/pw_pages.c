/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The memory of an arena and the descriptors of its pages; pw_buddy.c gives the pages out. */

#include "pw_pages.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "pw_arena_priv.h"
#include "pw_lock.h"
#include "pw_numa.h"

#define HUGEPAGE_BYTES (2 << 20)

struct pw_arena *
pw_arena_create(const struct pw_arena_params *params)
{
	struct pw_arena *arena;

	/* Heaps of external memory have numbers behind those of the NUMA sockets. */
	if (params->max_order > PW_PAGE_ORDER_MAX || params->min_order > params->max_order ||
		params->socket_id < SOCKET_ID_ANY) {
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
	arena->params = *params;
	arena->desc_bytes = RTE_ALIGN_CEIL(sizeof(struct pw_page) + params->page_priv_bytes, 8);
	arena->stats.page_bytes = pw_arena_min_bytes(arena);
	arena->stats.meta_bytes = sizeof(*arena);
	return arena;
}

void
pw_arena_destroy(struct pw_arena *arena)
{
	if (arena == NULL)
		return;
	for (uint32_t i = 0; i < arena->regions.n; i++) {
		rte_free(arena->regions.all[i].descs);
		if (arena->regions.all[i].mz != NULL)
			rte_memzone_free(arena->regions.all[i].mz);
	}
	for (unsigned order = 0; order <= PW_PAGE_ORDER_MAX; order++)
		pw_bitmap_free(&arena->free[order]);
	pw_regions_free(&arena->regions);
	rte_free(arena);
}

/* Bits for the pages of one more region. */
static int
resize_bitmaps(struct pw_arena *arena, uint32_t count)
{
	const struct pw_arena_params *params = &arena->params;
	uint32_t indices = arena->nb_indices + count;

	for (unsigned order = params->min_order; order <= params->max_order; order++)
		if (pw_bitmap_resize(&arena->free[order],
			    (indices >> (order - params->min_order)) + 1, params->socket_id) < 0)
			return -ENOMEM;
	return 0;
}

/* As rte_mem_virt2iova(), which may ask the kernel for each page. */
static rte_iova_t
eal_iova(const char *addr)
{
	const struct rte_memseg *ms = rte_mem_virt2memseg(addr, NULL);

	if (ms == NULL || ms->iova == RTE_BAD_IOVA)
		return RTE_BAD_IOVA;
	return ms->iova + (addr - (const char *)ms->addr);
}

/* Lent memory is IOVA-contiguous; a memzone need not be, but no page of it crosses a hugepage. */
static rte_iova_t
page_iova(const struct pw_region *region, rte_iova_t iova, const char *addr)
{
	if (region->mz != NULL)
		return eal_iova(addr);
	return iova == RTE_BAD_IOVA ? RTE_BAD_IOVA : iova + (addr - region->start);
}

/* Describe a page and tell its length, which is 0 when there is no memory behind it. */
static size_t
describe(const struct pw_arena *arena, const struct pw_region *region, uint32_t i, rte_iova_t iova)
{
	struct pw_page *page = pw_region_page(arena, region, i);
	char *begin = region->base + (size_t)i * pw_arena_min_bytes(arena);
	char *end = RTE_MIN(begin + pw_arena_min_bytes(arena), region->end);

	begin = RTE_MAX(begin, region->start);
	page->index = region->first + i;
	page->head = page->index;
	page->order = arena->params.min_order;
	if (begin >= end)
		return 0;
	page->addr = begin;
	page->iova = page_iova(region, iova, begin);
	if ((size_t)(end - begin) < pw_arena_min_bytes(arena))
		page->flags |= PW_PAGE_SHORT;
	return end - begin;
}

/*
 * Mark a page that lies on another NUMA node. All of a hugepage lies on one: it is asked about
 * once, *off is the answer.
 */
static void
mark_node(const struct pw_arena *arena, const struct pw_region *region, struct pw_page *page,
	bool *off)
{
	if (page->addr == region->start || rte_is_aligned(page->addr, HUGEPAGE_BYTES))
		*off = pw_numa_is_off_node(page->addr, arena->params.socket_id);
	if (*off)
		page->flags |= PW_PAGE_OFF_NODE;
}

static void
add_page(struct pw_arena *arena, struct pw_page *page, size_t len_bytes)
{
	rte_spinlock_lock(&arena->lock);
	pw_buddy_add(arena, page);
	arena->stats.pages++;
	arena->stats.bytes += len_bytes;
	arena->stats.pages_off_node += (page->flags & PW_PAGE_OFF_NODE) != 0;
	pw_unlock(&arena->lock);
}

/* Describe the pages of a region; free those that the owner wants, tell how many. */
static uint32_t
init_pages(struct pw_arena *arena, const struct pw_region *region, rte_iova_t iova,
	pw_page_init_t init, void *ctx)
{
	uint32_t wanted = 0;
	bool off = false;

	for (uint32_t i = 0; i < region->count; i++) {
		struct pw_page *page = pw_region_page(arena, region, i);
		size_t len_bytes = describe(arena, region, i, iova);

		if (len_bytes == 0)
			continue;
		mark_node(arena, region, page, &off);
		if (init != NULL && !init(page, len_bytes, ctx))
			continue;
		add_page(arena, page, len_bytes);
		wanted++;
	}
	return wanted;
}

/* What bookkeeping takes, now that memory was added. */
static size_t
meta_bytes(const struct pw_arena *arena)
{
	size_t bytes = sizeof(*arena) + pw_regions_meta_bytes(&arena->regions);

	for (uint32_t i = 0; i < arena->regions.n; i++)
		bytes += (size_t)arena->regions.all[i].count * arena->desc_bytes;
	for (unsigned order = 0; order <= PW_PAGE_ORDER_MAX; order++)
		bytes += arena->free[order].nb_words * sizeof(uint64_t);
	return bytes;
}

static int
add_region(struct pw_arena *arena, void *addr, rte_iova_t iova, size_t len_bytes,
	const struct rte_memzone *mz, pw_page_init_t init, void *ctx)
{
	struct pw_region region = {.start = addr, .mz = mz};
	size_t max_bytes = (size_t)1 << (PW_PAGE_SHIFT + arena->params.max_order);
	size_t count;

	if (len_bytes == 0 || len_bytes > UINTPTR_MAX - (uintptr_t)addr)
		return -EINVAL;
	if (len_bytes > PTRDIFF_MAX)
		return -EFBIG;
	region.end = region.start + len_bytes;
	if (pw_regions_overlap(&arena->regions, &region))
		return -EINVAL;

	region.base = RTE_PTR_ALIGN_FLOOR(region.start, max_bytes);
	count = RTE_ALIGN_MUL_CEIL((size_t)(region.end - region.base), max_bytes) /
		pw_arena_min_bytes(arena);
	if (count >= UINT32_MAX - arena->nb_indices)
		return -EFBIG;
	region.first = arena->nb_indices;
	region.count = count;
	/* First, as it is by far the largest: most of what there is no room for fails here. */
	region.descs = rte_zmalloc_socket("pw_pages", count * arena->desc_bytes,
		RTE_CACHE_LINE_SIZE, arena->params.socket_id);
	if (region.descs == NULL)
		return -ENOMEM;
	if (resize_bitmaps(arena, count) < 0 ||
		pw_regions_make_room(&arena->regions, &region, arena->params.socket_id) < 0) {
		rte_free(region.descs);
		return -ENOMEM;
	}
	if (init_pages(arena, &region, iova, init, ctx) == 0) {
		rte_free(region.descs); /* of no use: its lender may have other plans */
		return 0;
	}
	pw_regions_insert(&arena->regions, &region);
	arena->nb_indices += region.count;
	arena->stats.meta_bytes = meta_bytes(arena);
	return 0;
}

int
pw_arena_reserve(struct pw_arena *arena, const char *name, size_t len_bytes)
{
	size_t max_bytes = (size_t)1 << (PW_PAGE_SHIFT + arena->params.max_order);
	const struct rte_memzone *mz;
	int rc;

	if (len_bytes == 0 || len_bytes > SIZE_MAX - max_bytes)
		return -EINVAL;
	if (strlen(name) >= RTE_MEMZONE_NAMESIZE)
		return -ENAMETOOLONG;
	len_bytes = RTE_ALIGN_CEIL(len_bytes, max_bytes);
	/* Aligned to a page, so that no page crosses a hugepage and each is IOVA-contiguous. */
	mz = rte_memzone_reserve_aligned(name, len_bytes, arena->params.socket_id,
		RTE_MEMZONE_2MB | RTE_MEMZONE_SIZE_HINT_ONLY, max_bytes);
	if (mz == NULL)
		return -rte_errno;

	rc = add_region(arena, mz->addr, mz->iova, len_bytes, mz, NULL, NULL);
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
pw_page_of(const struct pw_arena *arena, const void *addr)
{
	const struct pw_region *region = pw_region_of(&arena->regions, addr);
	struct pw_page *page, *block;
	unsigned shift;
	uint32_t head;

	if (unlikely(region == NULL))
		return NULL;
	page = pw_region_page(arena, region,
		(size_t)((const char *)addr - region->base) >>
			(PW_PAGE_SHIFT + arena->params.min_order));
	head = __atomic_load_n(&page->head, __ATOMIC_RELAXED);
	block = pw_region_page(arena, region, head - region->first);
	shift = PW_PAGE_SHIFT + __atomic_load_n(&block->order, __ATOMIC_RELAXED);
	/* The head of a free page is of the past, and may be given out again as a smaller block. */
	return likely((size_t)((const char *)addr - block->addr) >> shift == 0) ? block : page;
}

size_t
pw_arena_page_len(const struct pw_arena *arena, const struct pw_page *page)
{
	const char *end = page->addr + 1;

	if (likely(!(page->flags & PW_PAGE_SHORT)))
		return pw_page_bytes(page);
	end = RTE_PTR_ALIGN_CEIL(end, pw_arena_min_bytes(arena));
	return RTE_MIN(end, pw_region_of(&arena->regions, page->addr)->end) - page->addr;
}

struct pw_page *
pw_page_at(const struct pw_arena *arena, uint32_t index)
{
	const struct pw_region *region = pw_region_at(&arena->regions, index);

	return region == NULL ? NULL : pw_region_page(arena, region, index - region->first);
}

void
pw_arena_walk_held(struct pw_arena *arena, pw_page_visit_t visit, void *ctx)
{
	rte_spinlock_lock(&arena->lock);
	for (uint32_t r = 0; r < arena->regions.n; r++)
		for (uint32_t i = 0; i < arena->regions.all[r].count; i++) {
			struct pw_page *page = pw_region_page(arena, &arena->regions.all[r], i);

			if (page->flags & PW_PAGE_HELD)
				visit(page, ctx);
		}
	pw_unlock(&arena->lock);
}

uint32_t
pw_arena_nb_indices(const struct pw_arena *arena)
{
	return arena->nb_indices;
}

const struct pw_arena_params *
pw_arena_get_params(const struct pw_arena *arena)
{
	return &arena->params;
}

void
pw_arena_get_stats(struct pw_arena *arena, struct pw_arena_stats *stats)
{
	rte_spinlock_lock(&arena->lock);
	*stats = arena->stats;
	pw_unlock(&arena->lock);
}
