/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Hot objects: magazines of the lcores, and the depot by which full ones go from lcores that free
 * to lcores that allocate.
 *
 * What an lcore freed itself goes out last in, first out, as it may still be in its caches. What
 * others freed goes out first in, first out: in the order in which it was freed, which is the order
 * of addresses if it once was. What the depot has no place for is sorted into its pages, which puts
 * disorder right.
 */

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_malloc.h>

#include "pw_store_priv.h"

static struct pw_magazine *
create_magazine(const struct pw_store *store)
{
	return rte_zmalloc_socket(
		"pw_magazine", sizeof(struct pw_magazine), RTE_CACHE_LINE_SIZE, store->socket_id);
}

int
pw_hot_create_part(struct pw_store *store, struct pw_store_part *part)
{
	part->own = create_magazine(store);
	part->got = create_magazine(store);
	return part->own == NULL || part->got == NULL ? -ENOMEM : 0;
}

int
pw_hot_create_depot(struct pw_store *store)
{
	struct pw_depot *depot = &store->depot;

	rte_spinlock_init(&depot->lock);
	for (; depot->nb_empty < PW_DEPOT_MAGAZINES; depot->nb_empty++) {
		depot->empty[depot->nb_empty] = create_magazine(store);
		if (depot->empty[depot->nb_empty] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
pw_hot_destroy(struct pw_store *store)
{
	struct pw_depot *depot = &store->depot;

	while (depot->nb_full > 0)
		rte_free(depot->full[--depot->nb_full]);
	while (depot->nb_empty > 0)
		rte_free(depot->empty[--depot->nb_empty]);
	for (unsigned i = 0; i < PW_SLOTS; i++) {
		if (store->parts[i] == NULL)
			continue;
		rte_free(store->parts[i]->own);
		rte_free(store->parts[i]->got);
	}
}

static uint32_t
pop(struct pw_magazine *own, void **objs, uint32_t n)
{
	n = RTE_MIN(n, own->len);
	own->len -= n;
	memcpy(objs, &own->objs[own->len], n * sizeof(*objs));
	return n;
}

static uint32_t
shift(struct pw_magazine *got, void **objs, uint32_t n)
{
	n = RTE_MIN(n, got->len - got->head);
	memcpy(objs, &got->objs[got->head], n * sizeof(*objs));
	got->head += n;
	return n;
}

/* Take the oldest full magazine for an empty one; the empty one back if there is none. */
static struct pw_magazine *
swap_for_full(struct pw_depot *depot, struct pw_magazine *empty)
{
	struct pw_magazine *full = empty;

	rte_spinlock_lock(&depot->lock);
	if (depot->nb_full > 0) {
		full = depot->full[0];
		depot->nb_full--;
		for (uint32_t i = 0; i < depot->nb_full; i++)
			depot->full[i] = depot->full[i + 1];
		depot->empty[depot->nb_empty++] = empty;
	}
	rte_spinlock_unlock(&depot->lock);
	return full;
}

/* Take an empty magazine for a full one; the oldest full one if there is no place. */
static struct pw_magazine *
swap_for_empty(struct pw_depot *depot, struct pw_magazine *full)
{
	struct pw_magazine *out;

	rte_spinlock_lock(&depot->lock);
	if (depot->nb_empty > 0) {
		out = depot->empty[--depot->nb_empty];
	} else {
		out = depot->full[0];
		depot->nb_full--;
		for (uint32_t i = 0; i < depot->nb_full; i++)
			depot->full[i] = depot->full[i + 1];
	}
	depot->full[depot->nb_full++] = full;
	rte_spinlock_unlock(&depot->lock);
	return out;
}

/*
 * From pages come as many as are wanted, and twice as many each time that this was not enough: an
 * lcore that uses few objects touches few pages.
 */
static uint32_t
take_from_pages(struct pw_store *store, struct pw_store_part *part, uint32_t wanted)
{
	part->refill_size = RTE_MIN(
		RTE_MAX(wanted, 2 * part->refill_size), (uint32_t)PW_MAGAZINE_SIZE);
	return pw_cold_take(store, &part->counts, part->got->objs, part->refill_size);
}

/* Fill the magazine of received objects, which is used up. */
static void
refill(struct pw_store *store, struct pw_store_part *part, unsigned slot, uint32_t wanted)
{
	struct pw_magazine *got = part->got;

	got->head = 0;
	got->len = 0;
	part->got = swap_for_full(&store->depot, got);
	if (part->got == got) {
		got->len = take_from_pages(store, part, wanted);
		return;
	}
	part->counts.depot_objects += part->got->len;
	if (part->got->owner != slot)
		part->counts.remote_frees += part->got->len;
}

uint32_t
pw_hot_take(
	struct pw_store *store, struct pw_store_part *part, unsigned slot, void **objs, uint32_t n)
{
	uint32_t taken = pop(part->own, objs, n);

	while (taken < n) {
		if (part->got->head == part->got->len)
			refill(store, part, slot, n - taken);
		if (part->got->head == part->got->len)
			break;
		taken += shift(part->got, objs + taken, n - taken);
	}
	return taken;
}

/* The lcore's own magazine is full: make it an empty one. */
static unsigned
hand_over(struct pw_store *store, struct pw_store_part *part, unsigned slot)
{
	struct pw_magazine *out;
	unsigned refused = 0;

	part->own->head = 0;
	part->own->owner = slot;
	out = swap_for_empty(&store->depot, part->own);
	if (out->len > 0)
		refused = pw_cold_put(store, &part->counts, out->objs, out->len);
	out->head = 0;
	out->len = 0;
	part->own = out;
	return refused;
}

unsigned
pw_hot_put(struct pw_store *store, struct pw_store_part *part, unsigned slot, void *const *objs,
	uint32_t n)
{
	unsigned refused = 0;

	while (n > 0) {
		struct pw_magazine *own;
		uint32_t count;

		if (part->own->len == PW_MAGAZINE_SIZE)
			refused += hand_over(store, part, slot);
		own = part->own;
		count = RTE_MIN(n, PW_MAGAZINE_SIZE - own->len);
		memcpy(&own->objs[own->len], objs, count * sizeof(*objs));
		own->len += count;
		objs += count;
		n -= count;
	}
	return refused;
}

static unsigned
empty_magazine(struct pw_store *store, struct pw_store_counts *counts, struct pw_magazine *mag)
{
	unsigned refused = pw_cold_put(store, counts, mag->objs + mag->head, mag->len - mag->head);

	mag->head = 0;
	mag->len = 0;
	return refused;
}

unsigned
pw_hot_gather(struct pw_store *store, struct pw_store_counts *counts)
{
	struct pw_depot *depot = &store->depot;
	unsigned refused = 0;

	for (unsigned i = 0; i < PW_SLOTS; i++) {
		if (store->parts[i] == NULL)
			continue;
		refused += empty_magazine(store, counts, store->parts[i]->own);
		refused += empty_magazine(store, counts, store->parts[i]->got);
	}
	rte_spinlock_lock(&depot->lock);
	while (depot->nb_full > 0) {
		struct pw_magazine *mag = depot->full[--depot->nb_full];

		refused += empty_magazine(store, counts, mag);
		depot->empty[depot->nb_empty++] = mag;
	}
	rte_spinlock_unlock(&depot->lock);
	return refused;
}
