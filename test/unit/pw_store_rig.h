/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STORE_RIG_H
#define PW_STORE_RIG_H

/** @file A store over one piece of lent memory, with canaries in it and around it. */

#include "pw_test.h"

#include "pw_store.h"

#define BOX_IOVA UINT64_C(0x700000000)
#define BOX_CANARY 0x5a
/** Canary before and behind what is lent: a multiple of most page sizes. */
#define BOX_MARGIN (64 << 10)
/** The size of objects of a box that open_simple() opens. */
#define BOX_OBJECT_BYTES 256
/** Much more than any magazine holds. */
#define BOX_MANY 6000

/** What a test of all strategies goes through: each name with two page orders, resets with three.
 */
extern const char *const box_strategies[];
extern const unsigned nb_box_strategies;

/** Those of them with hot magazines, and those that cut pages. */
bool box_is_hot(const char *strategy);
bool box_is_flip(const char *strategy);

struct box {
	struct pw_store *store;
	const char *strategy;
	unsigned char *memory; /**< all, canaries included */
	unsigned char *lent;
	size_t lent_bytes;
	uint32_t object_bytes; /**< of a stride that was asked for */
	uint32_t stride_bytes; /**< as the store has it */
	uint32_t offset_bytes;
	size_t page_bytes;
	unsigned objects; /**< as init told them */
	uint32_t *ids;	  /**< by lent byte: number of the object that begins there, from 1 */
	struct pw_test_memory before;
};

struct pw_store_params box_params(
	const char *strategy, uint32_t stride_bytes, uint32_t offset_bytes);

/** Lend len bytes from skew bytes behind a multiple of 64 KiB. */
struct box open_box(
	struct pw_store_params params, size_t skew_bytes, size_t len_bytes, unsigned max_objects);

/** A box with exactly so many objects, which checks puts or not. */
struct box open_simple(const char *strategy, unsigned objects, bool check);

/** How many objects a page of the box has. */
unsigned box_per_page(const struct box *box);

/** pw_store_init_t of a box: each object must be whole, in the memory and in one page, and new. */
void box_note_object(void *obj, rte_iova_t iova, void *ctx);

struct pw_store_stats box_stats(const struct box *box);

/** Number of an object, from 0; it must be one that the store told. */
unsigned box_id(const struct box *box, const void *obj);

/** All objects are back: the memory was never written to, and nothing leaked. */
void close_box(struct box *box);

/** Get all objects, n at a time, the lcores in turn: each comes once, and then no more. */
void take_all(const struct box *box, void **objs, unsigned n);

/** Get and put as an lcore; a get must succeed, a put must refuse nothing. */
void get_as(const struct box *box, unsigned lcore, void **objs, unsigned n);
void put_as(const struct box *box, unsigned lcore, void *const *objs, unsigned n);

/** Let all objects go to their pages, by a get that asks for more than there are. */
void gather_box(const struct box *box);

/** Mix a table of objects up. */
void shuffle(void **objs, unsigned n, uint64_t *seed);

/** Sort by address. */
void sort_objects(void **objs, unsigned n);

/** Fail unless two tables hold the same objects. Sorts both. */
void assert_same_objects(void **a, void **b, unsigned n);

#endif
