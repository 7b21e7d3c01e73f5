/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Random streams through instances with random parameters. The rig (pw_gro_rig.h) checks what must
 * hold: per flow all comes out as it went in and in its order, nothing is lost, counters add up.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pw_gro_sender.h"

/* Sanitizers take their time. */
#ifdef __SANITIZE_ADDRESS__
#define PACKETS 100000
#define EXACT_IN 3
#else
#define PACKETS 1000000
#define EXACT_IN 100
#endif
#define BURST_MAX 64
#define MBUFS_LOW 1000
#define COUNTERS 64

struct run {
	struct pw_gro_weather weather;
	struct pw_gro_sender senders[PW_GRO_SENDERS];
	unsigned nb_senders;
	unsigned train; /* how many packets of a flow come behind each other */
};

static struct pw_gro_params
random_params(uint64_t *seed)
{
	static const uint32_t types[] = {0, PW_GRO_UDP, PW_GRO_TCP_IPV4, PW_GRO_TCP_IPV6,
		PW_GRO_UDP_IPV4, PW_GRO_UDP_IPV6 | PW_GRO_TCP_IPV4};
	static const uint16_t max_mbufs[] = {0, 0, 0, 1, 2, 3, 17, 64};

	return (struct pw_gro_params){
		.types = pw_chance(seed, 5) ? types[pw_test_random(seed, RTE_DIM(types))]
					    : PW_GRO_TCP | PW_GRO_UDP,
		.max_flows = pw_chance(seed, 3) ? 0 : 1 << pw_test_random(seed, 8),
		.max_mbufs = max_mbufs[pw_test_random(seed, RTE_DIM(max_mbufs))],
		.exact_tso = pw_chance(seed, 4),
	};
}

static void
start_run(struct run *run, struct pw_gro_rig *rig, uint64_t *seed)
{
	unsigned first = pw_test_random(seed, PW_GRO_SENDERS);

	pw_gro_rig_simd(pw_test_random(seed, RIG_SIMD_KINDS));
	pw_gro_rig_open(rig, random_params(seed));
	run->weather = pw_gro_weather_random(seed);
	run->nb_senders = pw_chance(seed, 3) ? 1 + pw_test_random(seed, 4) : PW_GRO_SENDERS;
	run->train = 1 + pw_test_random(seed, 8);
	for (unsigned i = 0; i < run->nb_senders; i++)
		pw_gro_sender_start(
			&run->senders[i], &run->weather, (first + 5 * i) % PW_GRO_SENDERS, seed);
}

static uint32_t
choose_size(uint64_t *seed)
{
	static const uint16_t usual[] = {1448, 1448, 1448, 999, 101, 1};

	return pw_chance(seed, 8) ? pw_test_random(seed, 1461)
				  : usual[pw_test_random(seed, RTE_DIM(usual))];
}

/* Frames in trains of a flow, some of them swapped with their neighbours. */
static void
make_items(struct run *run, struct pw_gro_rig *rig, struct pw_gro_item *items, unsigned n,
	uint64_t *seed)
{
	unsigned s = 0;
	uint32_t size = 0;

	for (unsigned i = 0; i < n; i++) {
		if (i == 0 || pw_chance(seed, run->train)) {
			s = pw_test_random(seed, run->nb_senders);
			size = choose_size(seed);
		}
		items[i] = pw_gro_sender_next(&run->senders[s], rig, size, seed);
	}
	for (unsigned i = 1; i < n; i++)
		if (pw_chance(seed, 20 * run->weather.calm))
			RTE_SWAP(items[i], items[i - 1]);
}

static unsigned
send_burst(struct run *run, struct pw_gro_rig *rig, uint64_t *seed)
{
	static struct pw_gro_item items[BURST_MAX];
	struct rte_mbuf *burst[BURST_MAX];
	unsigned n = 1 + pw_test_random(seed, BURST_MAX);

	make_items(run, rig, items, n, seed);
	for (unsigned i = 0; i < n; i++)
		burst[i] = pw_gro_item_note(&items[i], rig, pw_chance(seed, EXACT_IN), seed);
	pw_gro_rig_receive(rig, burst, n);
	return n;
}

static void
let_time_pass(struct pw_gro_rig *rig, uint64_t *seed)
{
	rig->now_us += pw_test_random(seed, 100);
	if (pw_chance(seed, 4))
		pw_gro_rig_flush_older(rig, rig->now_us - pw_test_random(seed, 200));
	if (pw_chance(seed, 8) || rte_mempool_avail_count(rig->pool) < MBUFS_LOW)
		pw_gro_rig_flush(rig);
}

static void
add_counters(const struct pw_gro_rig *rig, uint64_t *totals)
{
	struct pw_gro_stats stats;

	pw_gro_get_stats(rig->gro, &stats);
	for (unsigned i = 0; pw_gro_stat_table[i].name != NULL; i++) {
		assert_true(i < COUNTERS);
		totals[i] += pw_stat_value(&pw_gro_stat_table[i], &stats);
	}
}

/* All ways out were taken, else the streams were not random enough. */
static void
check_totals(const uint64_t *totals)
{
	for (unsigned i = 0; pw_gro_stat_table[i].name != NULL; i++) {
		const char *name = pw_gro_stat_table[i].name;

		print_message("%s %" PRIu64 "\n", name, totals[i]);
		if (totals[i] == 0 && strcmp(name, "held") != 0)
			fail_msg("%s was not reached", name);
		if (strcmp(name, "merged") == 0)
			assert_true(totals[i] > PACKETS / 5);
	}
}

static void
random_streams_are_unchanged(void **state)
{
	uint64_t seed = pw_test_seed(), totals[COUNTERS] = {0};
	struct pw_gro_rig *rig = *state;
	static struct run run;

	rig->now_us = 1000;
	for (unsigned packets = 0; packets < PACKETS;) {
		unsigned end = packets + 200 + pw_test_random(&seed, 3000);

		start_run(&run, rig, &seed);
		while (packets < end) {
			packets += send_burst(&run, rig, &seed);
			let_time_pass(rig, &seed);
		}
		pw_gro_rig_flush(rig);
		add_counters(rig, totals);
	}
	check_totals(totals);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {RIG_TEST(random_streams_are_unchanged)};

	return cmocka_run_group_tests_name("gro_random", tests, pw_test_eal, NULL);
}
