/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool_rig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "random.h"

#define HELD_MAX 4096U

struct pw_pool_rig *
pw_pool_rig_create(uint32_t pool_size)
{
	static unsigned number;
	struct pw_pool_rig *rig = rte_zmalloc("rig", sizeof(*rig), PW_BENCH_APART);
	char name[RTE_RING_NAMESIZE];

	if (rig == NULL)
		return NULL;
	rig->held_max = RTE_MIN(pool_size / PW_POOL_HELD_SHARE, HELD_MAX);
	rig->held = rte_zmalloc("held", rig->held_max * sizeof(void *), RTE_CACHE_LINE_SIZE);
	/* The floor's set is as large as a pattern can have in use. */
	rig->set = rte_zmalloc("set",
		(PW_POOL_POSTED + PW_POOL_HAND_OVER + rig->held_max) * sizeof(void *),
		RTE_CACHE_LINE_SIZE);
	snprintf(name, sizeof(name), "over%u", number);
	rig->hand_over = rte_ring_create(name, PW_POOL_HAND_OVER, (int)rte_socket_id(),
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	snprintf(name, sizeof(name), "back%u", number++);
	rig->hand_back = rte_ring_create(name, PW_POOL_POSTED + PW_POOL_HAND_OVER,
		(int)rte_socket_id(), RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (rig->held == NULL || rig->set == NULL || rig->hand_over == NULL ||
		rig->hand_back == NULL) {
		pw_pool_rig_destroy(rig);
		return NULL;
	}
	return rig;
}

void
pw_pool_rig_destroy(struct pw_pool_rig *rig)
{
	if (rig == NULL)
		return;
	rte_ring_free(rig->hand_over);
	rte_ring_free(rig->hand_back);
	rte_free(rig->held);
	rte_free(rig->set);
	rte_free(rig);
}

/* The floor's set, by address: on the stack, and for split in the ring. */
static int
reset_floor(struct pw_pool_rig *rig, const struct pw_pool_handler *floor)
{
	unsigned in_split = PW_POOL_POSTED + PW_POOL_HAND_OVER;
	unsigned n = in_split + rig->held_max;

	if (n > floor->nb_buffers)
		return -ENOBUFS;
	memcpy(rig->set, floor->buffers, n * sizeof(*rig->set));
	rig->top = 0;
	rte_ring_reset(rig->hand_back);
	rte_ring_sp_enqueue_bulk(rig->hand_back, floor->buffers, in_split, NULL);
	return 0;
}

int
pw_pool_rig_reset(struct pw_pool_rig *rig, const struct pw_pool_pattern *pattern,
	const struct pw_pool_handler *handler, uint64_t seed)
{
	uint64_t steps = pattern->buffers / PW_POOL_BURST;

	rig->mp = handler->mp;
	rig->steps[0] = steps / 4;
	rig->steps[1] = steps;
	if (pattern->holds) /* until all slots are taken, and some exchanges more */
		rig->steps[0] += rig->held_max * (uint64_t)PW_POOL_HELD_SHARE / PW_POOL_BURST;
	pw_bench_wait_begin(&rig->wait);
	rig->written = rig->read = rig->cycles = rig->failed_gets = 0;
	rig->random = pw_bench_random_init(seed);
	rig->nb_held = rig->nb_posted = 0;
	rte_ring_reset(rig->hand_over);
	return handler->kind == PW_BENCH_FLOOR ? reset_floor(rig, handler) : 0;
}

static void
put_all(struct rte_mempool *mp, void **objs, unsigned n)
{
	for (unsigned i = 0; i < n; i += PW_POOL_BURST)
		rte_mempool_put_bulk(mp, objs + i, RTE_MIN(n - i, PW_POOL_BURST));
}

void
pw_pool_rig_give_back(struct pw_pool_rig *rig)
{
	put_all(rig->mp, rig->posted, rig->nb_posted);
	put_all(rig->mp, rig->held, rig->nb_held);
}
