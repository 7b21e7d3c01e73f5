/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag_rig.h"

#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "random.h"

/* Each octave as often, and within it each size. */
static void
draw_sizes(struct pw_bfrag_rig *rig, uint64_t seed)
{
	const unsigned octaves = rte_log2_u32(PW_BFRAG_SIZE_MAX / PW_BFRAG_SIZE_MIN);
	uint64_t state = pw_bench_random_init(seed);

	for (unsigned i = 0; i < PW_BFRAG_RANDOM; i++) {
		uint32_t octave = PW_BFRAG_SIZE_MIN << pw_bench_random_below(&state, octaves);

		rig->sizes[i] = octave + pw_bench_random_below(&state, octave + 1);
	}
}

struct pw_bfrag_rig *
pw_bfrag_rig_create(uint64_t seed)
{
	static unsigned number;
	struct pw_bfrag_rig *rig = rte_zmalloc("rig", sizeof(*rig), PW_BENCH_APART);
	char name[RTE_RING_NAMESIZE];

	if (rig == NULL)
		return NULL;
	snprintf(name, sizeof(name), "frags%u", number++);
	rig->hand_over = rte_ring_create(name, PW_BFRAG_HAND_OVER, (int)rte_socket_id(),
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (rig->hand_over == NULL) {
		pw_bfrag_rig_destroy(rig);
		return NULL;
	}
	draw_sizes(rig, seed);
	return rig;
}

void
pw_bfrag_rig_destroy(struct pw_bfrag_rig *rig)
{
	if (rig == NULL)
		return;
	rte_ring_free(rig->hand_over);
	rte_free(rig);
}

void
pw_bfrag_rig_reset(struct pw_bfrag_rig *rig, const struct pw_bfrag_pattern *pattern,
	const struct pw_bfrag_allocator *allocator, uint64_t fragments, uint64_t seed)
{
	size_t stride = RTE_ALIGN_CEIL(allocator->size_bytes, PW_BFRAG_ALIGN);

	rig->pool = allocator->pool;
	rig->cache = allocator->cache;
	rig->mp = allocator->mp;
	rig->size_bytes = allocator->size_bytes;
	rig->steps[0] = PW_BFRAG_WARM_UP;
	rig->steps[1] = RTE_ALIGN_CEIL(fragments, PW_BFRAG_BURST);
	rig->floor_mask = pattern->floor_set - 1;
	for (unsigned i = 0; i < PW_BFRAG_FLOOR; i++)
		rig->floor[i] = allocator->memory + i * stride;
	pw_bench_wait_begin(&rig->wait);
	rig->ran_dry = false;
	rig->random = pw_bench_random_init(seed);
	rig->floor_at = rig->nb_burst = 0;
	memset(rig->window, 0, sizeof(rig->window));
	memset(rig->held, 0, sizeof(rig->held));
	memset(rig->counters, 0, sizeof(rig->counters));
	rig->cycles = 0;
}

static void
free_one(const struct pw_bfrag_allocator *allocator, void *frag)
{
	if (frag == NULL || allocator->kind == PW_BFRAG_FIXED)
		return;
	if (allocator->kind == PW_BFRAG_FRAG)
		pw_frag_cache_free(allocator->cache, frag);
	else if (allocator->kind == PW_BFRAG_MALLOC)
		rte_free(frag);
	else
		rte_mempool_put(allocator->mp, frag);
}

void
pw_bfrag_rig_give_back(struct pw_bfrag_rig *rig, const struct pw_bfrag_allocator *allocator)
{
	void *frag;

	for (unsigned i = 0; i < PW_BFRAG_WINDOW; i++)
		free_one(allocator, rig->window[i]);
	for (unsigned i = 0; i < PW_BFRAG_HELD; i++)
		free_one(allocator, rig->held[i]);
	for (unsigned i = 0; i < rig->nb_burst; i++)
		free_one(allocator, rig->burst[i]);
	while (rte_ring_sc_dequeue(rig->hand_over, &frag) == 0)
		free_one(allocator, frag);
}
