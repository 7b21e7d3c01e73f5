/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STORE_H
#define PW_STORE_H

/**
 * @file
 * A store of objects of one size, cut from the pages of an arena of lent memory.
 *
 * Each lcore has a magazine: a stack of objects that only it uses. An lcore that finds its magazine
 * empty takes the objects of one page, which it then hands out from the page's end to its start.
 * What a freed object does is the strategy's choice: without reuse it goes back to its page, and a
 * page whose objects are all back goes home to the arena; with reuse it stays on the magazine and
 * is the next to go out.
 *
 * Threads that are no lcores share one magazine, and so do lcores that the process which made the
 * store did not have; in a secondary process, lcores of the same number share theirs with the
 * primary's.
 *
 * A store never writes into an object, and never fails while enough objects are free: it gathers
 * them from partly free pages and from all magazines before it says no.
 *
 * Unless said otherwise, functions may be called by any thread at any time.
 */

#include <stdint.h>

#include "pw_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_store;

struct pw_store_params {
	struct pw_strategy strategy;
	uint32_t stride_bytes; /**< distance of two objects; at most a page */
	uint32_t offset_bytes; /**< from where a stride begins to the object it holds */
	int socket_id;
};

struct pw_store_stats {
	uint64_t objects;      /**< all objects */
	uint64_t free;	       /**< objects in the store */
	uint64_t gets;	       /**< objects handed out */
	uint64_t puts;	       /**< objects taken back */
	uint64_t page_objects; /**< objects taken from pages for handing out */
	uint64_t reuses;       /**< objects handed out again in place: gets less page_objects */
	uint64_t flushes;      /**< objects that left a full magazine for their pages */
	uint64_t gathers;      /**< times that all magazines were emptied to serve one get */
	uint64_t failures;     /**< gets refused: not enough objects free */
	uint64_t foreign_puts; /**< refused: not an object of this store */
	uint64_t double_puts;  /**< refused: the object was free already */
	uint64_t waste_bytes;  /**< bytes of the pages that hold no object */
	struct pw_arena_stats pages;
};

/**
 * Make a store without objects.
 *
 * @return NULL with rte_errno EINVAL (a stride of 0, or an object outside its stride), EMSGSIZE
 *	(the stride is larger than a page of the strategy) or ENOMEM
 */
struct pw_store *pw_store_create(const struct pw_store_params *params);

/** Free the store's own memory; objects are not looked at. NULL is allowed. */
void pw_store_destroy(struct pw_store *store);

/** Called for each new object, before it can be handed out. iova may be RTE_BAD_IOVA. */
typedef void (*pw_store_init_t)(void *obj, rte_iova_t iova, void *ctx);

/**
 * Cut lent memory into objects. One thread at a time; the memory must outlive the store.
 *
 * No object crosses a multiple of the strategy's page size.
 *
 * @param iova  IO address of addr, contiguous over len, or RTE_BAD_IOVA
 * @return the number of objects added, at most max_objects, or a negative errno as
 *	pw_arena_adopt()
 */
int pw_store_add(struct pw_store *store, void *addr, rte_iova_t iova, size_t len_bytes,
	uint32_t max_objects, pw_store_init_t init, void *ctx);

/**
 * Hand out n objects.
 *
 * @return 0, or -ENOBUFS: fewer are free; objs is untouched then
 */
int pw_store_get(struct pw_store *store, void **objs, unsigned n);

/**
 * Take n objects back.
 *
 * What is not a handed-out object is refused and counted where it comes to its page: without reuse
 * at once, with reuse when it leaves a full magazine. An object put twice into a magazine goes out
 * twice.
 */
void pw_store_put(struct pw_store *store, void *const *objs, unsigned n);

/** Number of objects in the store. Stops all others for a moment, so call it now and then only. */
unsigned pw_store_count(struct pw_store *store);

/** The strategy the store was made with. */
const struct pw_strategy *pw_store_strategy(const struct pw_store *store);

/** Read the counters. Exact when nobody gets or puts. */
void pw_store_get_stats(struct pw_store *store, struct pw_store_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
