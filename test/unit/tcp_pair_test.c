/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Two of our endpoints against each other, over a network that loses, turns round and marks. */

#include <inttypes.h>
#include <stdlib.h>

#include "pw_packet.h"
#include "pw_tcp_pair.h"
#include "pw_test.h"

#define MBUFS 4095
#define FRAGS_BYTES (8 << 20)
#define DELAY_US 1000 /* one way */
#define SECOND_US 1000000u
#define NEVER_LONGER_US (600 * (uint64_t)SECOND_US)

struct network {
	unsigned loss, reorder, duplicate, mark; /* of 1000 packets */
	bool newreno, ecn, ipv6;
	uint32_t rcvbuf_bytes;
	uint64_t bytes[2]; /* that each end sends */
};

struct rig {
	struct rte_mempool *pool;
	struct pw_frag_pool *frags;
	struct pw_tcp_pair pair;
	uint64_t arrival_us[PAIR_FLIGHT_MAX];
	unsigned nb_timed;
	uint64_t longest_pause_us;
};

static int
set_up(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct pw_frag_pool_params params = {
		.name = "pair", .socket_id = SOCKET_ID_ANY, .bytes = FRAGS_BYTES};

	if (rig == NULL)
		return -1;
	pw_strategy_parse("reuse", &params.strategy);
	rig->pool = pw_packet_pool(MBUFS, 2048);
	rig->frags = pw_frag_pool_create(&params);
	*state = rig;
	return rig->frags == NULL ? -1 : 0;
}

static int
tear_down(void **state)
{
	struct rig *rig = *state;
	int rc = rte_mempool_avail_count(rig->pool) == MBUFS ? 0 : -1;

	if (pw_frag_pool_destroy(rig->frags) != 0)
		rc = -1;
	rte_mempool_free(rig->pool);
	free(rig);
	return rc;
}

static uint64_t
progress(const struct rig *rig)
{
	return rig->pair.ends[0].read + rig->pair.ends[1].read;
}

/* Decide what becomes of each packet that was sent since the last call. */
static void
choose_fates(struct rig *rig, const struct network *net, uint64_t *seed)
{
	struct pw_tcp_pair *pair = &rig->pair;

	while (rig->nb_timed < pair->nb_flight) {
		unsigned i = rig->nb_timed;

		if (pw_test_random(seed, 1000) < net->loss) {
			pw_tcp_pair_drop(pair, i);
			continue;
		}
		if (pw_test_random(seed, 1000) < net->mark)
			pw_tcp_pair_mark_ce(pair, i);
		if (pw_test_random(seed, 1000) < net->duplicate)
			pw_tcp_pair_duplicate(pair, i);
		rig->arrival_us[i] = pair->now_us + DELAY_US;
		if (pw_test_random(seed, 1000) < net->reorder)
			rig->arrival_us[i] += pw_test_random(seed, DELAY_US);
		rig->nb_timed++;
	}
}

static void
deliver_due(struct rig *rig, const struct network *net, uint64_t *seed)
{
	for (unsigned i = 0; i < rig->nb_timed;) {
		if (rig->arrival_us[i] > rig->pair.now_us) {
			i++;
			continue;
		}
		rig->nb_timed--;
		memmove(&rig->arrival_us[i], &rig->arrival_us[i + 1],
			(rig->nb_timed - i) * sizeof(rig->arrival_us[0]));
		pw_tcp_pair_deliver(&rig->pair, i);
		choose_fates(rig, net, seed);
	}
}

static bool
is_done(const struct rig *rig, const struct network *net)
{
	return rig->pair.ends[1].read == net->bytes[0] && rig->pair.ends[0].read == net->bytes[1];
}

static void
run(struct rig *rig, const struct network *net, uint64_t seed)
{
	struct pw_tcp_params params = {
		.max_conns = 4,
		.rcvbuf_bytes = net->rcvbuf_bytes,
		.sndbuf_bytes = 256 << 10,
		.max_held_mbufs = 2048,
		.mtu_bytes = 1500,
		.congestion = net->newreno ? PW_TCP_NEWRENO : PW_TCP_CUBIC,
		.ecn = net->ecn,
	};
	struct pw_tcp_pair *pair = &rig->pair;
	uint64_t moved_us, seen = 0;

	rig->nb_timed = 0;
	rig->longest_pause_us = 0;
	pw_tcp_pair_open(pair, rig->pool, rig->frags, &params, net->ipv6);
	for (unsigned i = 0; i < 2; i++) {
		pair->ends[i].to_send = net->bytes[i];
		pair->ends[i].close = true;
	}
	moved_us = pair->now_us;
	while (!is_done(rig, net) && pair->now_us < NEVER_LONGER_US) {
		choose_fates(rig, net, &seed);
		deliver_due(rig, net, &seed);
		if (progress(rig) != seen) {
			seen = progress(rig);
			moved_us = pair->now_us;
		}
		rig->longest_pause_us = RTE_MAX(rig->longest_pause_us, pair->now_us - moved_us);
		pw_tcp_pair_wait(pair, 50);
	}
}

static void
finish(struct rig *rig)
{
	pw_tcp_pair_settle(&rig->pair, 200 * SECOND_US);
	for (unsigned i = 0; i < 2; i++) {
		struct pw_tcp_stats stats;

		assert_true(rig->pair.ends[i].closed);
		assert_int_equal(rig->pair.ends[i].error, 0);
		pw_tcp_get_stats(rig->pair.ends[i].tcp, &stats);
		assert_int_equal(stats.curr_conns, 0);
		assert_int_equal(stats.held_mbufs, 0);
	}
	pw_tcp_pair_close(&rig->pair);
}

static void
expect_whole(struct rig *rig, const struct network *net, uint64_t seed)
{
	run(rig, net, seed);
	if (!is_done(rig, net))
		fail_msg("%" PRIu64 " of %" PRIu64 " and %" PRIu64 " of %" PRIu64
			 " bytes arrived, seed %" PRIu64,
			rig->pair.ends[1].read, net->bytes[0], rig->pair.ends[0].read,
			net->bytes[1], seed);
	finish(rig);
}

static const struct network clean = {.bytes = {20 << 20, 20 << 20}, .rcvbuf_bytes = 512 << 10};

static void
a_clean_network_needs_no_retransmission(void **state)
{
	struct rig *rig = *state;
	struct network net = clean;

	for (unsigned i = 0; i < 4; i++) {
		struct pw_tcp_stats stats;

		net.newreno = i & 1;
		net.ipv6 = i & 2;
		run(rig, &net, 1);
		assert_true(is_done(rig, &net));
		for (unsigned end = 0; end < 2; end++) {
			pw_tcp_get_stats(rig->pair.ends[end].tcp, &stats);
			assert_int_equal(stats.retrans_segs, 0);
			assert_int_equal(stats.timeouts, 0);
		}
		finish(rig);
	}
}

/* The case of the step's text: loss and reordering in both directions. */
static void
streams_are_whole_behind_loss_and_reordering(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 8; i++) {
		struct network net = {
			.loss = 50,
			.reorder = 250,
			.duplicate = i & 1 ? 20 : 0,
			.newreno = i & 2,
			.ipv6 = i & 4,
			.rcvbuf_bytes = 128 << 10,
			.bytes = {2 << 20, 2 << 20},
		};

		expect_whole(rig, &net, 100 + i);
		/* An RTO is 200 ms at least here; its back-off twice as long. */
		assert_true(rig->longest_pause_us < 2 * SECOND_US);
	}
}

static void
heavy_loss_is_survived(void **state)
{
	struct rig *rig = *state;
	struct network net = {
		.loss = 200, .rcvbuf_bytes = 64 << 10, .bytes = {100 << 10, 100 << 10}};

	for (uint64_t seed = 1; seed <= 8; seed++)
		expect_whole(rig, &net, seed);
}

/* Reordering within a quarter of the round trip is no loss: RACK waits for it. */
static void
reordering_alone_costs_few_retransmissions(void **state)
{
	struct rig *rig = *state;
	struct network net = {.reorder = 250, .rcvbuf_bytes = 256 << 10, .bytes = {8 << 20, 0}};
	struct pw_tcp_stats stats;

	run(rig, &net, 7);
	assert_true(is_done(rig, &net));
	pw_tcp_get_stats(rig->pair.ends[0].tcp, &stats);
	print_message("%" PRIu64 " of %" PRIu64 " segments were sent again\n", stats.retrans_segs,
		stats.out_segs);
	assert_true(stats.retrans_segs < stats.out_segs / 20);
	finish(rig);
}

static void
marks_slow_down_without_loss(void **state)
{
	struct rig *rig = *state;
	struct network net = {
		.mark = 20, .ecn = true, .rcvbuf_bytes = 256 << 10, .bytes = {4 << 20, 0}};
	struct pw_tcp_stats stats;

	run(rig, &net, 3);
	assert_true(is_done(rig, &net));
	pw_tcp_get_stats(rig->pair.ends[0].tcp, &stats);
	assert_int_equal(stats.retrans_segs, 0);
	assert_true(stats.ecn_reductions > 0);
	pw_tcp_get_stats(rig->pair.ends[1].tcp, &stats);
	assert_true(stats.ecn_ce > 0);
	finish(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_clean_network_needs_no_retransmission, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			streams_are_whole_behind_loss_and_reordering, set_up, tear_down),
		cmocka_unit_test_setup_teardown(heavy_loss_is_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			reordering_alone_costs_few_retransmissions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_slow_down_without_loss, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("tcp_pair", tests, pw_test_eal, NULL);
}
