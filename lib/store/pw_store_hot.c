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
pop(struct pw_store_part *part, void **objs, uint32_t n)
{
	n = RTE_MIN(n, part->own_len);
	part->own_len -= n;
	memcpy(objs, &part->own->objs[part->own_len], n * sizeof(*objs));
	return n;
}

static uint32_t
shift(struct pw_store_part *part, void **objs, uint32_t n)
{
	n = RTE_MIN(n, part->got_len - part->got_head);
	memcpy(objs, &part->got->objs[part->got_head], n * sizeof(*objs));
	part->got_head += n;
	return n;
}

/* Remove the oldest full magazine. */
static struct pw_magazine *
take_oldest(struct pw_depot *depot)
{
	struct pw_magazine *oldest = depot->full[0];

	depot->nb_full--;
	for (uint32_t i = 0; i < depot->nb_full; i++) {
		depot->full[i] = depot->full[i + 1];
		depot->owners[i] = depot->owners[i + 1];
	}
	return oldest;
}

/* What came from the depot. */
enum came {
	CAME_NOTHING,
	CAME_OWN,    /* what the lcore freed last itself: on its stack */
	CAME_OTHERS, /* what others freed first */
};

/* Swap an empty magazine of the lcore's for a full one. */
static enum came
take_from_depot(struct pw_depot *depot, struct pw_store_part *part, unsigned slot)
{
	enum came came = CAME_NOTHING;

	rte_spinlock_lock(&depot->lock);
	if (depot->nb_full > 0 && depot->owners[depot->nb_full - 1] == slot) {
		depot->empty[depot->nb_empty++] = part->own;
		part->own = depot->full[--depot->nb_full];
		came = CAME_OWN;
	} else if (depot->nb_full > 0) {
		depot->empty[depot->nb_empty++] = part->got;
		part->got = take_oldest(depot);
		came = CAME_OTHERS;
	}
	pw_unlock(&depot->lock);
	return came;
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

/* Both magazines are used up: fill one. False when there is nothing to be had. */
static bool
refill(struct pw_store *store, struct pw_store_part *part, unsigned slot, uint32_t wanted)
{
	enum came came = take_from_depot(&store->depot, part, slot);

	if (came == CAME_OWN) {
		part->own_len = PW_MAGAZINE_SIZE;
	} else {
		part->got_head = 0;
		part->got_len = came == CAME_OTHERS ? PW_MAGAZINE_SIZE
						    : take_from_pages(store, part, wanted);
	}
	if (came != CAME_NOTHING)
		part->counts.depot_objects += PW_MAGAZINE_SIZE;
	if (came == CAME_OTHERS)
		part->counts.remote_frees += PW_MAGAZINE_SIZE;
	return part->own_len > 0 || part->got_len > 0;
}

uint32_t
pw_hot_take(
	struct pw_store *store, struct pw_store_part *part, unsigned slot, void **objs, uint32_t n)
{
	uint32_t taken = pop(part, objs, n);

	taken += shift(part, objs + taken, n - taken);
	while (taken < n) {
		if (!refill(store, part, slot, n - taken))
			break;
		taken += pop(part, objs + taken, n - taken);
		taken += shift(part, objs + taken, n - taken);
	}
	return taken;
}

/* Give the lcore's full magazine to the depot for an empty one, or for the oldest full one. */
static struct pw_magazine *
give_to_depot(struct pw_depot *depot, struct pw_magazine *full, unsigned slot, bool *is_full)
{
	struct pw_magazine *out;

	rte_spinlock_lock(&depot->lock);
	*is_full = depot->nb_empty == 0;
	out = *is_full ? take_oldest(depot) : depot->empty[--depot->nb_empty];
	depot->owners[depot->nb_full] = slot;
	depot->full[depot->nb_full++] = full;
	pw_unlock(&depot->lock);
	return out;
}

/* The lcore's own magazine is full: make it an empty one. */
static unsigned
hand_over(struct pw_store *store, struct pw_store_part *part, unsigned slot)
{
	bool is_full;

	part->own = give_to_depot(&store->depot, part->own, slot, &is_full);
	part->own_len = 0;
	if (!is_full)
		return 0;
	return pw_cold_put(store, &part->counts, part->own->objs, PW_MAGAZINE_SIZE);
}

unsigned
pw_hot_put(struct pw_store *store, struct pw_store_part *part, unsigned slot, void *const *objs,
	uint32_t n)
{
	unsigned refused = 0;

	while (n > 0) {
		uint32_t count;

		if (part->own_len == PW_MAGAZINE_SIZE)
			refused += hand_over(store, part, slot);
		count = RTE_MIN(n, PW_MAGAZINE_SIZE - part->own_len);
		memcpy(&part->own->objs[part->own_len], objs, count * sizeof(*objs));
		part->own_len += count;
		objs += count;
		n -= count;
	}
	return refused;
}

unsigned
pw_hot_gather(struct pw_store *store, struct pw_store_counts *counts)
{
	struct pw_depot *depot = &store->depot;
	unsigned refused = 0;

	for (unsigned i = 0; i < PW_SLOTS; i++) {
		struct pw_store_part *part = store->parts[i];

		if (part == NULL)
			continue;
		refused += pw_cold_put(store, counts, part->own->objs, part->own_len);
		refused += pw_cold_put(store, counts, part->got->objs + part->got_head,
			part->got_len - part->got_head);
		part->own_len = part->got_head = part->got_len = 0;
	}
	rte_spinlock_lock(&depot->lock);
	while (depot->nb_full > 0) {
		struct pw_magazine *mag = depot->full[--depot->nb_full];

		refused += pw_cold_put(store, counts, mag->objs, PW_MAGAZINE_SIZE);
		depot->empty[depot->nb_empty++] = mag;
	}
	pw_unlock(&depot->lock);
	return refused;
}
