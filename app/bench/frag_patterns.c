/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag_patterns.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "frag_rig.h"
#include "random.h"

#define LINE_BYTES 64
/* More bursts for the second lcore's sake: what is measured ends before the supply does. */
#define TAIL_STEPS PW_BFRAG_HAND_OVER

/* What a loop does beside. */
enum {
	WRITE = 1, /* to the first line of each fragment */
	HOLD = 2,  /* one in 16 */
	MIX = 4,   /* sizes */
};

/* Constants where they are passed: each loop is compiled for its own set. */
typedef void *(*alloc_t)(struct pw_bfrag_rig *rig, uint32_t size_bytes);
typedef void (*free_t)(struct pw_bfrag_rig *rig, void *frag);

static __rte_always_inline void *
frag_alloc(struct pw_bfrag_rig *rig, uint32_t size_bytes)
{
	return pw_frag_alloc(rig->cache, size_bytes, PW_BFRAG_ALIGN);
}

static __rte_always_inline void
frag_free(struct pw_bfrag_rig *rig, void *frag)
{
	pw_frag_cache_free(rig->cache, frag);
}

static __rte_always_inline void
frag_free_remotely(struct pw_bfrag_rig *rig, void *frag)
{
	pw_frag_free(rig->pool, frag);
}

static __rte_always_inline void *
malloc_alloc(struct pw_bfrag_rig *rig, uint32_t size_bytes)
{
	(void)rig;
	return rte_malloc(NULL, size_bytes, PW_BFRAG_ALIGN);
}

static __rte_always_inline void
malloc_free(struct pw_bfrag_rig *rig, void *frag)
{
	(void)rig;
	rte_free(frag);
}

static __rte_always_inline void *
mempool_alloc(struct pw_bfrag_rig *rig, uint32_t size_bytes)
{
	void *frag;

	(void)size_bytes;
	return likely(rte_mempool_get(rig->mp, &frag) == 0) ? frag : NULL;
}

static __rte_always_inline void
mempool_free(struct pw_bfrag_rig *rig, void *frag)
{
	rte_mempool_put(rig->mp, frag);
}

static __rte_always_inline void *
floor_alloc(struct pw_bfrag_rig *rig, uint32_t size_bytes)
{
	(void)size_bytes;
	return rig->floor[rig->floor_at++ & rig->floor_mask];
}

static __rte_always_inline void
floor_free(struct pw_bfrag_rig *rig, void *frag)
{
	(void)rig;
	(void)frag;
}

#define malloc_free_remotely malloc_free
#define mempool_free_remotely mempool_free
#define floor_free_remotely floor_free

static void
read_counters(struct pw_bfrag_rig *rig, unsigned i)
{
	if (rig->cache != NULL)
		pw_bfrag_counters_read(&rig->counters[i], rig->cache);
}

static uint64_t
begin_phase(struct pw_bfrag_rig *rig, unsigned phase)
{
	read_counters(rig, phase);
	return rte_rdtsc_precise();
}

static void
end_phase(struct pw_bfrag_rig *rig, unsigned phase, uint64_t begin)
{
	rig->cycles = rte_rdtsc_precise() - begin;
	read_counters(rig, phase + 1);
}

/* rig->cycles tells what is valid. */
static __rte_noinline void
run_dry(struct pw_bfrag_rig *rig)
{
	rig->ran_dry = true;
	rig->cycles = 0;
}

static __rte_always_inline void
write_line(void *frag, uint64_t step)
{
	memset(frag, (uint8_t)step, LINE_BYTES);
}

static __rte_always_inline void
now(struct pw_bfrag_rig *rig, alloc_t alloc, free_t put, unsigned what)
{
	const uint32_t size_bytes = rig->size_bytes;

	for (unsigned phase = 0; phase < 2; phase++) {
		uint64_t begin = begin_phase(rig, phase);

		for (uint64_t step = 0; step < rig->steps[phase]; step++) {
			void *frag = alloc(rig, size_bytes);

			if (unlikely(frag == NULL)) {
				run_dry(rig);
				return;
			}
			if (what & WRITE)
				write_line(frag, step);
			pw_bench_keep(frag);
			put(rig, frag);
			pw_bench_keep(frag);
		}
		end_phase(rig, phase, begin);
	}
}

/* Instead of one in 16, free one that was held; returns what to free, or NULL. */
static __rte_always_inline void *
exchange_held(struct pw_bfrag_rig *rig, void *frag, uint64_t step)
{
	const uint64_t share = PW_BFRAG_HELD_SHARE;
	void **slot;

	if (step % share == 0)
		pw_bench_random(&rig->random);
	if (step % share != rig->random % share)
		return frag;
	slot = &rig->held[(rig->random >> 32) % PW_BFRAG_HELD];
	RTE_SWAP(*slot, frag);
	return frag;
}

/* One comes, and the oldest goes. */
static __rte_always_inline void
window(struct pw_bfrag_rig *rig, alloc_t alloc, free_t put, unsigned what)
{
	uint32_t size_bytes = rig->size_bytes;

	for (unsigned phase = 0; phase < 2; phase++) {
		uint64_t begin = begin_phase(rig, phase);

		for (uint64_t step = 0; step < rig->steps[phase]; step++) {
			void **slot = &rig->window[step % PW_BFRAG_WINDOW], *oldest = *slot, *frag;

			if (what & MIX)
				size_bytes = rig->sizes[step % PW_BFRAG_RANDOM];
			frag = alloc(rig, size_bytes);
			if (unlikely(frag == NULL)) {
				run_dry(rig);
				return;
			}
			if (what & WRITE)
				write_line(frag, step);
			*slot = frag;
			if (what & HOLD)
				oldest = exchange_held(rig, oldest, step);
			if (likely(oldest != NULL))
				put(rig, oldest);
			pw_bench_keep(frag);
		}
		end_phase(rig, phase, begin);
	}
}

/* Allocate a burst and hand it over; false: it is left in rig->burst. */
static __rte_always_inline bool
produce_burst(struct pw_bfrag_rig *rig, alloc_t alloc)
{
	for (unsigned i = 0; i < PW_BFRAG_BURST; i++) {
		rig->burst[i] = alloc(rig, rig->size_bytes);
		if (unlikely(rig->burst[i] == NULL)) {
			rig->nb_burst = i;
			rig->ran_dry = true;
			return false;
		}
	}
	if (likely(pw_bench_ring_put(&rig->wait, rig->hand_over, rig->burst, PW_BFRAG_BURST) == 0))
		return true;
	rig->nb_burst = PW_BFRAG_BURST;
	return false;
}

static __rte_always_inline void
produce(struct pw_bfrag_rig *rig, alloc_t alloc, free_t put, unsigned what)
{
	const uint64_t first = rig->steps[0], last = first + rig->steps[1];

	(void)put;
	(void)what;
	for (uint64_t step = 0; step < last + TAIL_STEPS; step += PW_BFRAG_BURST) {
		if (step == first)
			read_counters(rig, 1);
		else if (step == last)
			read_counters(rig, 2);
		if (unlikely(!produce_burst(rig, alloc))) {
			pw_bench_give_up(&rig->wait);
			return;
		}
	}
}

/* The lcore that frees: its clock counts, as it sees what has arrived. */
static __rte_always_inline void
consume(struct pw_bfrag_rig *rig, alloc_t alloc, free_t put, unsigned what)
{
	const uint64_t first = rig->steps[0], last = first + rig->steps[1];
	uint64_t begin = 0, cycles = 0;
	void *burst[PW_BFRAG_BURST];

	(void)alloc;
	(void)what;
	for (uint64_t step = 0; step < last + TAIL_STEPS; step += PW_BFRAG_BURST) {
		if (step == first)
			begin = rte_rdtsc_precise();
		else if (step == last)
			cycles = rte_rdtsc_precise() - begin;
		if (unlikely(pw_bench_ring_get(&rig->wait, rig->hand_over, burst, PW_BFRAG_BURST) <
			    0)) {
			pw_bench_give_up(&rig->wait);
			return;
		}
		for (unsigned i = 0; i < PW_BFRAG_BURST; i++)
			put(rig, burst[i]);
		pw_bench_keep(burst);
	}
	rig->cycles = cycles;
}

/* A loop for each kind, with their names. */
#define LOOP(name, body, put, what)                            \
	static void name##_frag(void *rig)                     \
	{                                                      \
		body(rig, frag_alloc, frag_##put, what);       \
	}                                                      \
	static void name##_malloc(void *rig)                   \
	{                                                      \
		body(rig, malloc_alloc, malloc_##put, what);   \
	}                                                      \
	static void name##_mempool(void *rig)                  \
	{                                                      \
		body(rig, mempool_alloc, mempool_##put, what); \
	}                                                      \
	static void name##_floor(void *rig)                    \
	{                                                      \
		body(rig, floor_alloc, floor_##put, what);     \
	}
/* In the order of enum pw_bfrag_kind. */
#define FORMS(name)                                                      \
	{                                                                \
		name##_frag, name##_malloc, name##_mempool, name##_floor \
	}

LOOP(now, now, free, 0)
LOOP(now_write, now, free, WRITE)
LOOP(window, window, free, 0)
LOOP(window_write, window, free, WRITE)
LOOP(hold, window, free, HOLD)
LOOP(mixed, window, free, MIX)
LOOP(produce, produce, free_remotely, 0)
LOOP(consume, consume, free_remotely, 0)

#define ALL PW_BFRAG_SIZE_MAX
#define SET PW_BFRAG_FLOOR

/* A new pattern is a new row here. */
static const struct pw_bfrag_pattern patterns[] = {
	{"now", "a fragment is allocated and freed at once", FORMS(now), {0}, ALL, false, false, 1},
	{"now/write", "the same, its first 64 bytes written", FORMS(now_write), {0}, ALL, false,
		false, 1},
	{"window", "64 in flight, the oldest one is freed as one comes", FORMS(window), {0}, ALL,
		false, false, SET},
	{"window/write", "the same, the first 64 bytes written", FORMS(window_write), {0}, ALL,
		false, false, SET},
	{"window/fragmented", "as window, of the arena every second page of 4 KiB is in use",
		FORMS(window), {0}, 4096, false, true, SET},
	{"hold", "as window, one in 16 held for a random while", FORMS(hold), {0}, ALL, false,
		false, SET},
	{"remote", "one lcore allocates, another one frees", FORMS(produce), FORMS(consume), ALL,
		false, false, SET},
	{"mixed", "as window, of random sizes from 64 to 16384 bytes", FORMS(mixed), {0}, ALL, true,
		false, SET},
};

const struct pw_bfrag_pattern *
pw_bfrag_patterns(unsigned *n)
{
	*n = RTE_DIM(patterns);
	return patterns;
}
