/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STORE_PRIV_H
#define PW_STORE_PRIV_H

/**
 * @file
 * The inside of a store, shared by its files.
 *
 * A store works in one of two ways. With reuse by reset it is "hot": freed objects stay near the
 * lcores in magazines, which go round by a depot, over a cold store sorted by page
 * (pw_store_hot.c, pw_store_cold.c). Otherwise lcores cut objects off pages and each goes back to
 * its page (pw_store_cut.c).
 *
 * Order of locks: parts by number, depot, cold store, page cache, arena.
 */

#include <rte_branch_prediction.h>
#include <rte_spinlock.h>

#include "pw_bitmap.h"
#include "pw_page_cache.h"
#include "pw_slot.h"
#include "pw_store.h"
#include "pw_store_page.h"

/*
 * Objects that change hands at once: enough to make a lock that others may hold rare, few enough to
 * be hot when they arrive.
 */
#define PW_MAGAZINE_SIZE 256
#define PW_DEPOT_MAGAZINES 2
/* Larger requests are served from pages alone, with all locks held. */
#define PW_STORE_GET_MAX 1024

/* What one slot counts. */
struct pw_store_counts {
	uint64_t gets;
	uint64_t puts;
	uint64_t page_objects;
	uint64_t flips;
	uint64_t depot_objects;
	uint64_t remote_frees;
	uint64_t flushes;
	uint64_t gathers;
	uint64_t failures;
	uint64_t foreign_puts;
	uint64_t double_puts;
};

/* Nothing but pointers: how many there are is known where it lies, so no line more has to move. */
struct pw_magazine {
	void *objs[PW_MAGAZINE_SIZE];
} __rte_cache_aligned;

/* Where the flip strategy keeps the pages whose other half may be next, as an RX ring does. */
#define PW_FLIP_PAGES 1024
struct pw_flip_queue {
	uint32_t head, len;
	struct pw_page *pages[PW_FLIP_PAGES];
	uint8_t halves[PW_FLIP_PAGES]; /* that went out last */
};

/* What one slot uses. */
struct pw_store_part {
	rte_spinlock_t lock;
	uint32_t own_len;
	struct pw_magazine *own; /* last in, first out: what this lcore freed */
	struct pw_magazine *got; /* first in, first out: from the depot, or from pages */
	uint32_t got_head, got_len;
	uint32_t refill_size; /* objects taken from pages last time */
	uint32_t cut_left;    /* objects of the page being cut not handed out, at its start */
	struct pw_page *cut;  /* that page, if any are */
	struct pw_flip_queue *flip;
	struct pw_store_counts counts;
} __rte_cache_aligned;

/* Full magazines on their way between lcores, and empty ones to give for them. */
struct pw_depot {
	rte_spinlock_t lock;
	uint16_t nb_full; /* with nb_empty always PW_DEPOT_MAGAZINES */
	uint16_t nb_empty;
	struct pw_magazine *full[PW_DEPOT_MAGAZINES]; /* oldest first */
	struct pw_magazine *empty[PW_DEPOT_MAGAZINES];
	uint32_t owners[PW_DEPOT_MAGAZINES]; /* slots that filled them */
} __rte_cache_aligned;

/* Objects in their pages. */
struct pw_cold {
	rte_spinlock_t lock;
	struct pw_page *begun;	  /* gives until it is used up; or NULL */
	struct pw_bitmap partial; /* by index: the other pages that have objects, but not all */
	uint64_t free;
} __rte_cache_aligned;

struct pw_store {
	struct pw_strategy strategy;
	struct pw_store_layout layout;
	bool hot;
	int socket_id;
	uintptr_t start; /* all objects lie in start to start + span */
	uintptr_t span;
	struct pw_arena *arena;
	struct pw_page_cache *pages; /* NULL in a hot store */
	uint64_t objects;
	uint64_t waste_bytes;
	const void *last_bad_put; /* atomic */
	struct pw_store_part *parts[PW_SLOTS];
	struct pw_depot depot;
	struct pw_cold cold;
};

/* The page of the object that begins at an address, and its number there; NULL if none does. */
static inline struct pw_page *
pw_store_find(const struct pw_store *store, const void *obj, uint32_t *i)
{
	struct pw_page *page = pw_page_of(store->arena, obj);

	*i = page == NULL ? PW_STORE_NO_OBJECT : pw_store_page_index(page, &store->layout, obj);
	return unlikely(*i == PW_STORE_NO_OBJECT) ? NULL : page;
}

/* An object that is refused: none of the store's, or free already. */
void pw_store_refuse(
	struct pw_store *store, struct pw_store_counts *counts, const void *obj, bool is_double);

/*
 * All below are called with the lock of the part that counts. What takes returns how many it took,
 * what puts how many it refused.
 */

/* pw_store_cold.c */
uint32_t pw_cold_take(
	struct pw_store *store, struct pw_store_counts *counts, void **objs, uint32_t max);
unsigned pw_cold_put(
	struct pw_store *store, struct pw_store_counts *counts, void *const *objs, uint32_t n);

/* pw_store_hot.c */
int pw_hot_create_part(struct pw_store *store, struct pw_store_part *part);
int pw_hot_create_depot(struct pw_store *store);
void pw_hot_destroy(struct pw_store *store);
uint32_t pw_hot_take(
	struct pw_store *store, struct pw_store_part *part, unsigned slot, void **objs, uint32_t n);
unsigned pw_hot_put(struct pw_store *store, struct pw_store_part *part, unsigned slot,
	void *const *objs, uint32_t n);
/* With the locks of all parts: let all objects go to their pages. Tells how many were refused. */
unsigned pw_hot_gather(struct pw_store *store, struct pw_store_counts *counts);

/* pw_store_cut.c, likewise */
int pw_cut_create_part(struct pw_store *store, struct pw_store_part *part);
void pw_cut_destroy_part(struct pw_store_part *part);
uint32_t pw_cut_take(struct pw_store *store, struct pw_store_part *part, void **objs, uint32_t n);
unsigned pw_cut_put(
	struct pw_store *store, struct pw_store_counts *counts, void *const *objs, uint32_t n);
void pw_cut_gather(struct pw_store *store);
/* After gathering: take objects of any page, whoever holds others of it. */
uint32_t pw_cut_take_any(
	struct pw_store *store, struct pw_store_counts *counts, void **objs, uint32_t n);

#endif
