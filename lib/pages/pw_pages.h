/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_PAGES_H
#define PW_PAGES_H

/**
 * @file
 * An arena: hugepage memory of one socket, cut into pages of one order.
 *
 * The memory is reserved from EAL (pw_arena_reserve()) or lent by somebody else, such as a chunk of
 * a mempool (pw_arena_adopt()). All bookkeeping lies outside the pages, in EAL memory, so secondary
 * processes see it too.
 *
 * Unless said otherwise a function may be called by any thread at any time. Memory must be added
 * before, or while nobody else uses, the arena.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_common.h>
#include <rte_memory.h>

#include "pw_strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_arena;

/**
 * One page. Lent memory may begin or end inside a page; such a page is shorter than its order says.
 */
struct pw_page {
	TAILQ_ENTRY(pw_page)
	link;		 /**< the arena's free list; the owner's while it holds the page */
	char *addr;	 /**< first byte */
	rte_iova_t iova; /**< IO address of addr, or RTE_BAD_IOVA */
	uint32_t len_bytes;
	uint32_t refs; /**< references, for lib/frag; atomic */
	bool touched;  /**< was given out at least once */
};
TAILQ_HEAD(pw_page_list, pw_page);

struct pw_arena_params {
	int socket_id;		  /**< NUMA socket or external heap, or SOCKET_ID_ANY */
	unsigned page_order;	  /**< 0 to PW_PAGE_ORDER_MAX */
	uint32_t page_priv_bytes; /**< room for the owner behind each struct pw_page */
};

struct pw_arena_stats {
	uint64_t page_bytes; /**< bytes of a full page */
	uint64_t pages;	     /**< all pages */
	uint64_t bytes;	     /**< of all pages: less than pages * page_bytes if some are short */
	uint64_t pages_held; /**< pages given out now */
	uint64_t pages_held_max; /**< most pages given out at one time */
	uint64_t pages_touched;	 /**< different pages given out since the start */
	uint64_t page_allocs;
	uint64_t page_frees;
	uint64_t page_failures; /**< requests with no page left */
	uint64_t meta_bytes;	/**< bookkeeping outside the pages */
};

/**
 * Make an arena without memory.
 *
 * @return the arena, or NULL with rte_errno EINVAL (order, socket) or ENOMEM
 */
struct pw_arena *pw_arena_create(const struct pw_arena_params *params);

/**
 * Give the arena's memory and bookkeeping back.
 *
 * Pages still held become invalid: a caller that cannot know that none is asks
 * pw_arena_get_stats() first. NULL is allowed.
 */
void pw_arena_destroy(struct pw_arena *arena);

/**
 * Reserve pages from EAL's memory.
 *
 * @param name  of the memzone; at most 31 characters, not used yet
 * @return 0, or -EEXIST, -ENAMETOOLONG, -ENOMEM, -EINVAL; the arena is as before then
 */
int pw_arena_reserve(struct pw_arena *arena, const char *name, uint32_t pages);

/**
 * Decides on each page of memory that is being added.
 *
 * @return false to leave the page out
 */
typedef bool (*pw_page_init_t)(struct pw_page *page, void *ctx);

/**
 * Add memory that the caller owns; it must outlive the arena, which never frees it. Memory of which
 * no page is wanted is not added.
 *
 * Pages lie at multiples of their size; at both ends of the memory they may be shorter.
 *
 * @param iova  IO address of addr, contiguous over len, or RTE_BAD_IOVA
 * @param init  called for each page before it can be given out; may be NULL
 * @return 0, or -EINVAL (nothing to add, overlap), -ENOMEM
 */
int pw_arena_adopt(struct pw_arena *arena, void *addr, rte_iova_t iova, size_t len_bytes,
	pw_page_init_t init, void *ctx);

/** Take an empty page: the one that came back last. NULL (rte_errno ENOMEM) when there is none. */
struct pw_page *pw_page_alloc(struct pw_arena *arena);

/** Put a page back. It must have come from pw_page_alloc() of the same arena. */
void pw_page_free(struct pw_arena *arena, struct pw_page *page);

/** The page that an address lies in, or NULL when it is not of this arena. */
struct pw_page *pw_page_of(const struct pw_arena *arena, const void *addr);

/** The owner's private room of a page, zero at first. */
static inline void *
pw_page_priv(struct pw_page *page)
{
	return page + 1;
}

/** Bytes of a full page of this arena. */
size_t pw_arena_page_bytes(const struct pw_arena *arena);

/** Read the counters. */
void pw_arena_get_stats(struct pw_arena *arena, struct pw_arena_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
