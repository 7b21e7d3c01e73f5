/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool_patterns.h"

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "pool_rig.h"
#include "random.h"

#define LINE_BYTES 64
/* More steps for the second lcore's sake: what is measured ends before the supply does. */
#define TAIL_STEPS (PW_POOL_HAND_OVER / PW_POOL_BURST)

/* Constants where they are passed: each loop is compiled for its own pair. */
typedef int (*get_t)(struct pw_pool_rig *rig, void **objs, unsigned n);
typedef void (*put_t)(struct pw_pool_rig *rig, void **objs, unsigned n);

static __rte_always_inline int
mempool_get(struct pw_pool_rig *rig, void **objs, unsigned n)
{
	return rte_mempool_get_bulk(rig->mp, objs, n);
}

static __rte_always_inline void
mempool_put(struct pw_pool_rig *rig, void **objs, unsigned n)
{
	rte_mempool_put_bulk(rig->mp, objs, n);
}

static __rte_always_inline int
floor_get(struct pw_pool_rig *rig, void **objs, unsigned n)
{
	memcpy(objs, rig->set + rig->top, n * sizeof(*objs));
	rig->top += n;
	return 0;
}

static __rte_always_inline void
floor_put(struct pw_pool_rig *rig, void **objs, unsigned n)
{
	rig->top -= n;
	memcpy(rig->set + rig->top, objs, n * sizeof(*objs));
}

static __rte_always_inline int
back_get(struct pw_pool_rig *rig, void **objs, unsigned n)
{
	return pw_bench_ring_get(&rig->wait, rig->hand_back, objs, n);
}

static __rte_always_inline void
back_put(struct pw_pool_rig *rig, void **objs, unsigned n)
{
	/* The ring has room for all there are. */
	rte_ring_sp_enqueue_bulk(rig->hand_back, objs, n, NULL);
}

/* As a NIC writes a packet. The mbuf is not touched: its buf_addr is computed. */
static __rte_always_inline uint64_t
write_burst(void **objs, unsigned n, unsigned len_bytes, uint64_t step)
{
	uint8_t value = (uint8_t)step;

	for (unsigned i = 0; i < n; i++)
		memset((char *)objs[i] + PW_POOL_DATA_OFFSET, value, len_bytes);
	pw_bench_keep(objs);
	return value * UINT64_C(0x0101010101010101) * n *
		((len_bytes + LINE_BYTES - 1) / LINE_BYTES);
}

/* As an application reads it: one word of each line, as it is the line that is waited for. */
static __rte_always_inline uint64_t
read_burst(void **objs, unsigned n, unsigned len_bytes)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++) {
		const char *data = (const char *)objs[i] + PW_POOL_DATA_OFFSET;

		for (unsigned at = 0; at < len_bytes; at += LINE_BYTES)
			sum += *(const uint64_t *)(const void *)(data + at);
	}
	return sum;
}

/* Fill the RX ring. */
static __rte_always_inline int
post_all(struct pw_pool_rig *rig, get_t get)
{
	for (unsigned i = 0; i < PW_POOL_POSTED; i += PW_POOL_BURST)
		if (get(rig, rig->posted + i, PW_POOL_BURST) < 0)
			return -1;
	rig->nb_posted = PW_POOL_POSTED;
	return 0;
}

/* After a failing get the pool is made anew, so nothing is given back. */
static __rte_always_inline void
run_dry(struct pw_pool_rig *rig)
{
	rig->failed_gets++;
	rig->cycles = 0;
}

static __rte_always_inline void
same(struct pw_pool_rig *rig, get_t get, put_t put)
{
	void *burst[PW_POOL_BURST];

	for (unsigned phase = 0; phase < 2; phase++) {
		uint64_t begin = rte_rdtsc_precise();

		for (uint64_t step = 0; step < rig->steps[phase]; step++) {
			if (unlikely(get(rig, burst, PW_POOL_BURST) < 0)) {
				run_dry(rig);
				return;
			}
			pw_bench_keep(burst);
			put(rig, burst, PW_POOL_BURST);
			pw_bench_keep(burst);
		}
		rig->cycles = rte_rdtsc_precise() - begin;
	}
}

/* Instead of some buffers of a burst, free others that were held; returns how many to free. */
static __rte_always_inline unsigned
exchange_held(struct pw_pool_rig *rig, void **burst, unsigned n)
{
	uint64_t random = pw_bench_random(&rig->random);
	unsigned kept = n;

	for (unsigned first = 0; first < n; first += PW_POOL_HELD_SHARE) {
		unsigned i = first + random % PW_POOL_HELD_SHARE;
		void **slot;

		random >>= 4;
		if (rig->nb_held < rig->held_max) {
			rig->held[rig->nb_held++] = burst[i];
			burst[i] = NULL;
			kept--;
			continue;
		}
		slot = &rig->held[((random & 0xffffff) * rig->held_max) >> 24];
		random >>= 24;
		RTE_SWAP(*slot, burst[i]);
	}
	if (unlikely(kept < n))
		for (unsigned i = 0, to = 0; i < n; i++)
			if (burst[i] != NULL)
				burst[to++] = burst[i];
	return kept;
}

/* A burst is received, looked at and freed, and as many buffers are posted again. */
static __rte_always_inline void
ring(struct pw_pool_rig *rig, get_t get, put_t put, unsigned len_bytes, bool hold)
{
	void *burst[PW_POOL_BURST];
	unsigned at = 0, n = PW_POOL_BURST;

	if (post_all(rig, get) < 0) {
		run_dry(rig);
		return;
	}
	for (unsigned phase = 0; phase < 2; phase++) {
		uint64_t begin = rte_rdtsc_precise();

		for (uint64_t step = 0; step < rig->steps[phase]; step++) {
			void **posted = rig->posted + at;

			rig->written += write_burst(posted, PW_POOL_BURST, len_bytes, step);
			rig->read += read_burst(posted, PW_POOL_BURST, len_bytes);
			memcpy(burst, posted, sizeof(burst));
			if (hold)
				n = exchange_held(rig, burst, PW_POOL_BURST);
			put(rig, burst, n);
			if (unlikely(get(rig, posted, PW_POOL_BURST) < 0)) {
				run_dry(rig);
				return;
			}
			at = (at + PW_POOL_BURST) % PW_POOL_POSTED;
		}
		rig->cycles = rte_rdtsc_precise() - begin;
	}
}

static inline uint64_t
split_steps(const struct pw_pool_rig *rig)
{
	return rig->steps[0] + rig->steps[1] + TAIL_STEPS;
}

/* The lcore that receives: a burst is replaced in the RX ring and handed over. */
static __rte_always_inline void
split_produce(struct pw_pool_rig *rig, get_t get, put_t put, unsigned len_bytes)
{
	const uint64_t steps = split_steps(rig);
	void *burst[PW_POOL_BURST];
	unsigned at = 0;

	(void)put;
	if (post_all(rig, get) < 0) {
		rig->failed_gets++;
		pw_bench_give_up(&rig->wait);
		return;
	}
	for (uint64_t step = 0; step < steps; step++) {
		void **posted = rig->posted + at;

		rig->written += write_burst(posted, PW_POOL_BURST, len_bytes, step);
		memcpy(burst, posted, sizeof(burst));
		if (unlikely(get(rig, posted, PW_POOL_BURST) < 0)) {
			rig->failed_gets++;
			pw_bench_give_up(&rig->wait);
			return;
		}
		if (unlikely(pw_bench_ring_put(&rig->wait, rig->hand_over, burst, PW_POOL_BURST) <
			    0)) {
			pw_bench_give_up(&rig->wait);
			return;
		}
		at = (at + PW_POOL_BURST) % PW_POOL_POSTED;
	}
}

/* The lcore that looks at them and frees them: its clock counts, as it sees what has arrived. */
static __rte_always_inline void
split_consume(struct pw_pool_rig *rig, get_t get, put_t put, unsigned len_bytes)
{
	const uint64_t first = rig->steps[0], last = first + rig->steps[1];
	const uint64_t steps = split_steps(rig);
	uint64_t begin = 0, cycles = 0, sum = 0;
	void *burst[PW_POOL_BURST];

	(void)get;
	for (uint64_t step = 0; step < steps; step++) {
		if (step == first)
			begin = rte_rdtsc_precise();
		else if (step == last)
			cycles = rte_rdtsc_precise() - begin;
		if (unlikely(pw_bench_ring_get(&rig->wait, rig->hand_over, burst, PW_POOL_BURST) <
			    0)) {
			pw_bench_give_up(&rig->wait);
			return;
		}
		sum += read_burst(burst, PW_POOL_BURST, len_bytes);
		put(rig, burst, PW_POOL_BURST);
	}
	rig->read = sum;
	rig->cycles = cycles;
}

/* A loop in its two forms, with their names. */
#define LOOP(name, body, floor, ...)                                \
	static void name##_mempool(struct pw_pool_rig *rig)         \
	{                                                           \
		body(rig, mempool_get, mempool_put, ##__VA_ARGS__); \
	}                                                           \
	static void name##_floor(struct pw_pool_rig *rig)           \
	{                                                           \
		body(rig, floor##_get, floor##_put, ##__VA_ARGS__); \
	}
#define FORMS(name) name##_mempool, name##_floor

LOOP(same, same, floor)
LOOP(ring128, ring, floor, 128, false)
LOOP(ring1500, ring, floor, 1500, false)
LOOP(hold, ring, floor, 128, true)
LOOP(produce128, split_produce, back, 128)
LOOP(consume128, split_consume, back, 128)
LOOP(produce1500, split_produce, back, 1500)
LOOP(consume1500, split_consume, back, 1500)

/* Counts make 3 to 10 ms of what a good handler needs. A new pattern is a new row here. */
static const struct pw_pool_pattern patterns[] = {
	{"same", "32 buffers are got and put, nothing is touched", {FORMS(same)}, {NULL, NULL},
		PW_POOL_FRESH, false, false, 4 << 20},
	{"ring128", "1024 posted, 128 bytes written and read", {FORMS(ring128)}, {NULL, NULL},
		PW_POOL_FRESH, false, false, 1 << 20},
	{"ring1500", "1024 posted, 1500 bytes written and read", {FORMS(ring1500)}, {NULL, NULL},
		PW_POOL_FRESH, false, false, 128 << 10},
	{"split128/fresh", "one lcore writes 128 bytes, another reads and frees",
		{FORMS(produce128)}, {FORMS(consume128)}, PW_POOL_FRESH, false, false, 512 << 10},
	{"split128/disorder", "the same, the pool's buffers at random before", {FORMS(produce128)},
		{FORMS(consume128)}, PW_POOL_DISORDER, false, false, 512 << 10},
	{"split1500/fresh", "one lcore writes 1500 bytes, another reads and frees",
		{FORMS(produce1500)}, {FORMS(consume1500)}, PW_POOL_FRESH, false, false, 128 << 10},
	{"split1500/disorder", "the same, the pool's buffers at random before",
		{FORMS(produce1500)}, {FORMS(consume1500)}, PW_POOL_DISORDER, false, false,
		128 << 10},
	{"hold", "as ring128, one buffer in 16 held for a random while", {FORMS(hold)},
		{NULL, NULL}, PW_POOL_FRESH, false, true, 512 << 10},
	{"plain_same", "as same, by a thread that is no lcore", {FORMS(same)}, {NULL, NULL},
		PW_POOL_FRESH, true, false, 4 << 20},
	{"plain_ring128", "as ring128, by a thread that is no lcore", {FORMS(ring128)},
		{NULL, NULL}, PW_POOL_FRESH, true, false, 1 << 20},
	{"plain_ring1500", "as ring1500, by a thread that is no lcore", {FORMS(ring1500)},
		{NULL, NULL}, PW_POOL_FRESH, true, false, 128 << 10},
};

const struct pw_pool_pattern *
pw_pool_patterns(unsigned *n)
{
	*n = RTE_DIM(patterns);
	return patterns;
}
