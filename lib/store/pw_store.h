/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STORE_H
#define PW_STORE_H

/**
 * @file
 * A store of objects of one size, cut from the pages of an arena of lent memory.
 *
 * A strategy that resets pages in place (reuse) keeps freed objects hot. Each lcore has a stack of
 * what it freed; full ones of 256 objects go by a depot of two to whichever lcore needs objects, so
 * that they come home in batches where one lcore receives and another frees. What the depot has no
 * place for is sorted by page, and goes out again in the order of addresses, whole pages first.
 *
 * The other strategies treat a page as page fragments do: an lcore cuts an empty page from its end
 * to its start, an object goes back to its page, and a page whose objects are all back goes where
 * the strategy's empty pages go. With flip an lcore hands out the other half of a page when its
 * turn comes, if it is free.
 *
 * Threads that are no lcores share a few parts of their own. In a secondary process, lcores of the
 * same number share theirs with the primary's.
 *
 * A store never writes into an object, and never fails while enough objects are free: it gathers
 * them from all lcores and from pages partly in use before it says no.
 *
 * Unless said otherwise, functions may be called by any thread at any time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pw_page_cache.h"
#include "pw_stat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_store;

struct pw_store_params {
	struct pw_strategy strategy;
	uint32_t stride_bytes; /**< distance of two objects; at most a page, for flip half of one */
	uint32_t offset_bytes; /**< from where a stride begins to the object it holds */
	int socket_id;
	/**
	 * Check each object that is put, at some cost: see pw_store_put(). Without it, what is
	 * checked costs nothing that can be measured.
	 */
	bool check;
};

struct pw_store_stats {
	uint64_t objects;	/**< all objects */
	uint64_t free;		/**< objects in the store */
	uint64_t gets;		/**< objects handed out */
	uint64_t puts;		/**< objects taken back */
	uint64_t page_objects;	/**< objects taken from pages for handing out */
	uint64_t reuses;	/**< objects handed out again in place: gets less page_objects */
	uint64_t flips;		/**< of these, as the other half of a page */
	uint64_t depot_objects; /**< objects received by the depot, for handing out */
	uint64_t remote_frees;	/**< of these, objects that another lcore freed */
	uint64_t flushes;	/**< objects sorted into their pages, as the depot was full */
	uint64_t gathers;	/**< times that all lcores' objects were gathered to serve a get */
	uint64_t failures;	/**< gets refused: not enough objects free */
	uint64_t foreign_puts;	/**< refused: not an object of this store */
	uint64_t double_puts;	/**< refused: the object was free already */
	uint64_t pinned_pages;	/**< pages held of which one object or two are out */
	uint64_t waste_bytes;	/**< bytes of the pages that hold no object */
	uint64_t meta_bytes;	/**< bookkeeping of the store, without that of its pages */
	struct pw_page_cache_stats cache; /**< zero where the strategy has no use for it */
	struct pw_arena_stats pages;
};

/**
 * Make a store without objects.
 *
 * @return NULL with rte_errno EINVAL (a stride of 0, or an object outside its stride), EMSGSIZE
 *	(the stride is too large for a page of the strategy) or ENOMEM
 */
struct pw_store *pw_store_create(const struct pw_store_params *params);

/** Free the store's own memory; objects are not looked at. NULL is allowed. */
void pw_store_destroy(struct pw_store *store);

/** Called for each new object, before it can be handed out. iova may be RTE_BAD_IOVA. */
typedef void (*pw_store_init_t)(void *obj, rte_iova_t iova, void *ctx);

/**
 * Cut lent memory into objects. One thread at a time, and no other calls meanwhile; the memory must
 * outlive the store.
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
 * What is not an object that is out is refused and counted: by a store that checks, and by
 * strategies without reuse, at once. A store with reuse refuses at once what lies outside its
 * memory, and all else when the object comes to its page; until then an object put twice may go out
 * twice. pw_store_last_bad_put() tells where the last one was.
 *
 * @return how many were refused, at once or as they came to their pages now
 */
unsigned pw_store_put(struct pw_store *store, void *const *objs, unsigned n);

/**
 * Let all objects that lcores keep at hand go to their pages, and empty pages to the arena: for a
 * pool that will be idle. Stops all others for a moment.
 */
void pw_store_gather(struct pw_store *store);

/** The address that was refused last, or NULL. */
const void *pw_store_last_bad_put(const struct pw_store *store);

/** Number of objects in the store. Stops all others for a moment, so call it now and then only. */
unsigned pw_store_count(struct pw_store *store);

/** Most objects that a page is cut into; more would need larger descriptors of all pages. */
#define PW_STORE_PAGE_OBJECTS_MAX UINT16_MAX

/** Bytes of a page that objects of a strategy have to fit into: for flip, half of its pages. */
size_t pw_store_room_bytes(const struct pw_strategy *strategy);

/** Distance of two objects: what was asked for, or for flip half a page. */
uint32_t pw_store_stride_bytes(const struct pw_store *store);

/** Pages of the memory added that lie on another NUMA node than asked for. */
uint64_t pw_store_pages_off_node(const struct pw_store *store);

/** The strategy the store was made with. */
const struct pw_strategy *pw_store_strategy(const struct pw_store *store);

/** Read the counters. Exact when nobody gets or puts. */
void pw_store_get_stats(struct pw_store *store, struct pw_store_stats *stats);

/** Names and units of struct pw_store_stats. */
extern const struct pw_stat pw_store_stat_table[];

#ifdef __cplusplus
}
#endif

#endif
