/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_PAGES_H
#define PW_PAGES_H

/**
 * @file
 * An arena: hugepage memory of one socket, given out in pages of power-of-two orders.
 *
 * A buddy allocator: a page that is too large is split, and pages that come back are merged with
 * their buddies, up to the arena's largest order. Of the smallest free pages that would do, the one
 * with the lowest index goes out, which keeps what is in use together and what is free whole.
 * Indices follow the addresses, in the order in which memory was added.
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

#include <rte_common.h>
#include <rte_memory.h>

#include "pw_strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_arena;

/** Flags of a page. */
enum pw_page_flags {
	PW_PAGE_FREE = 1,    /**< the first of a free block */
	PW_PAGE_HELD = 2,    /**< the first of a block given out */
	PW_PAGE_TOUCHED = 4, /**< was given out, as the first of a block, at least once */
	PW_PAGE_SHORT = 8,   /**< lent memory begins or ends inside it: less than its order says */
	PW_PAGE_OFF_NODE = 16, /**< lies on another NUMA node than the arena's */
	PW_PAGE_FALLBACK = 32, /**< of a smaller order than was asked for */
	PW_PAGE_PINNED = 64,   /**< held by pw_arena_fragment() */
};

/** A page of the arena's smallest order, or the larger one that begins with it. */
struct pw_page {
	char *addr;	 /**< first byte */
	rte_iova_t iova; /**< IO address of addr, or RTE_BAD_IOVA */
	uint32_t refs;	 /**< the holder's, to count references; atomic */
	uint32_t index;	 /**< in units of the smallest order */
	uint32_t head;	 /**< index of the first page of the block it belongs to, while held */
	uint16_t owner;	 /**< the holder's, to know where it came from */
	uint8_t order;	 /**< 4096 << order bytes */
	uint8_t flags;
};

struct pw_arena_params {
	int socket_id;		  /**< NUMA socket or external heap, or SOCKET_ID_ANY */
	unsigned min_order;	  /**< 0 to max_order */
	unsigned max_order;	  /**< to PW_PAGE_ORDER_MAX */
	uint32_t page_priv_bytes; /**< room for the owner behind each struct pw_page */
};

/** "Pages" without an order are those given out, of whatever order. */
struct pw_arena_stats {
	uint64_t bytes;		 /**< of all pages */
	uint64_t bytes_held;	 /**< in pages given out now */
	uint64_t bytes_held_max; /**< most at one time */
	uint64_t page_bytes;	 /**< of one of the smallest order */
	uint64_t pages;		 /**< of the smallest order, a short one counting as one */
	uint64_t pages_held;	 /**< given out now */
	uint64_t pages_held_max; /**< most at one time */
	uint64_t pages_touched;	 /**< different ones given out since the start */
	uint64_t pages_off_node; /**< of the smallest order, on another NUMA node than asked for */
	uint64_t page_allocs;
	uint64_t page_frees;
	uint64_t page_failures; /**< requests with no page large enough */
	uint64_t splits;
	uint64_t merges;
	uint64_t bad_frees;			    /**< refused: the page was not given out */
	uint64_t meta_bytes;			    /**< bookkeeping outside the pages */
	uint64_t free_pages[PW_PAGE_ORDER_MAX + 1]; /**< free blocks of each order */
};

/**
 * Make an arena without memory.
 *
 * @return the arena, or NULL with rte_errno EINVAL (orders, socket) or ENOMEM
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
 * Reserve memory from EAL.
 *
 * @param name  of the memzone; at most 31 characters, not used yet
 * @param len_bytes  rounded up to pages of the largest order
 * @return 0, or -EEXIST, -ENAMETOOLONG, -ENOMEM, -EINVAL; the arena is as before then
 */
int pw_arena_reserve(struct pw_arena *arena, const char *name, size_t len_bytes);

/**
 * Decides on each page of the smallest order of memory that is being added.
 *
 * @param len_bytes  usable from page->addr: less than the order says in a short page
 * @return false to leave the page out
 */
typedef bool (*pw_page_init_t)(struct pw_page *page, size_t len_bytes, void *ctx);

/**
 * Add memory that the caller owns; it must outlive the arena, which never frees it. Memory of which
 * no page is wanted is not added.
 *
 * Pages lie at multiples of their size. Where the memory begins or ends inside a page of the
 * smallest order that page is short: it is given out like others of its order, but never merged.
 *
 * @param iova  IO address of addr, contiguous over len, or RTE_BAD_IOVA
 * @param init  called for each page before it can be given out; may be NULL
 * @return 0, or -EINVAL (nothing to add, overlap), -ENOMEM, -EFBIG (more than 2^32 pages)
 */
int pw_arena_adopt(struct pw_arena *arena, void *addr, rte_iova_t iova, size_t len_bytes,
	pw_page_init_t init, void *ctx);

/**
 * Take a free page, splitting a larger one where it has to be.
 *
 * @return NULL with rte_errno EINVAL (an order that the arena does not have) or ENOMEM
 */
struct pw_page *pw_page_alloc(struct pw_arena *arena, unsigned order);

/** Put a page back. What was not given out by pw_page_alloc() of this arena is refused, counted. */
void pw_page_free(struct pw_arena *arena, struct pw_page *page);

/**
 * The first page of the block that an address lies in, if it is given out; else some page without
 * PW_PAGE_HELD, or NULL when the address is not of this arena.
 */
struct pw_page *pw_page_of(const struct pw_arena *arena, const void *addr);

/** The page with an index, or NULL. */
struct pw_page *pw_page_at(const struct pw_arena *arena, uint32_t index);

/** One more than the highest index of a page. */
uint32_t pw_arena_nb_indices(const struct pw_arena *arena);

/** The owner's private room of a page, zero at first. */
static inline void *
pw_page_priv(struct pw_page *page)
{
	return page + 1;
}

/** Bytes of a page, if it is not a short one. */
static inline size_t
pw_page_bytes(const struct pw_page *page)
{
	return (size_t)1 << (PW_PAGE_SHIFT + page->order);
}

/**
 * For tests and experiments: hold pages so that no free one is larger than an order, as after long
 * use by others. Takes all larger free pages and leaves every second one of this order.
 *
 * @return the number of pages held
 */
uint32_t pw_arena_fragment(struct pw_arena *arena, unsigned order);

/** Give back what pw_arena_fragment() holds. */
void pw_arena_defragment(struct pw_arena *arena);

/** Looks at a page that is given out; must not call back into the arena. */
typedef void (*pw_page_visit_t)(struct pw_page *page, void *ctx);

/** Visit all pages given out. Takes long in large arenas, and the arena is locked meanwhile. */
void pw_arena_walk_held(struct pw_arena *arena, pw_page_visit_t visit, void *ctx);

/** Parameters the arena was made with. */
const struct pw_arena_params *pw_arena_get_params(const struct pw_arena *arena);

/** Read the counters. */
void pw_arena_get_stats(struct pw_arena *arena, struct pw_arena_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
