/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

static void
acks_are_delayed(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< . 1:1461(1460) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 1461\n"
		/* Every second full segment at once. */
		"< . 1461:2921(1460) ack 1 win 1000\n"
		"< . 2921:4381(1460) ack 1 win 1000\n"
		"> . 1:1(0) ack 4381\n"
		"< . 4381:4391(10) ack 1 win 1000\n"
		"+39\n"
		"< . 4391:4401(10) ack 1 win 1000\n"
		"+1\n"
		"> . 1:1(0) ack 4401\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).delayed_acks, 2);
	assert_int_equal(pw_tcp_rig_stats(rig).in_bytes, 4400);
	assert_int_equal(rig->received, 4400);
	/* What is sent back carries the ACK. */
	rig->send_bytes = 5;
	pw_tcp_rig_run(rig,
		"< . 4401:4402(1) ack 1 win 1000\n"
		"> P. 1:6(5) ack 4402\n"
		"< . 4402:4402(0) ack 6 win 1000\n"
		"+100");
}

static void
a_gap_is_told_and_filled(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< . 1001:2001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< . 2001:3001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< . 4001:5001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< . 7001:8001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		/* Covers some of it twice. */
		"< . 1:1401(1400) ack 1 win 1000\n"
		"> . 1:1(0) ack 3001\n"
		"< . 2501:4001(1500) ack 1 win 1000\n"
		"> . 1:1(0) ack 5001\n"
		"< . 6001:7401(1400) ack 1 win 1000\n"
		"> . 1:1(0) ack 5001\n"
		"< . 5001:6001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 8001\n"
		/* All of it is old. */
		"< . 1:1001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 8001\n"
		"< . 7001:8001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 8001\n"
		"+100");
	assert_int_equal(rig->received, 8000);
	assert_int_equal(pw_tcp_rig_stats(rig).held_mbufs, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).rcv_old, 2);
}

static void
a_segment_without_ack_is_nothing(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< - 1:1001(1000)\n"
		"+100");
	assert_int_equal(rig->received, 0);
	pw_tcp_rig_run(rig,
		"< . 1:1001(1000) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 1001");
	assert_int_equal(rig->received, 1000);
	/* Nor is one that acknowledges what was never sent. */
	pw_tcp_rig_run(rig,
		"< . 1001:2001(1000) ack 2 win 1000\n"
		"> . 1:1(0) ack 1001");
	assert_int_equal(rig->received, 1000);
}

/* The buffer has 10000 bytes. One byte of ours lets the peer call the application. */
static void
fill_window(struct pw_tcp_rig *rig)
{
	rig->hold = true;
	rig->send_bytes = 1;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> P. 1:2(1) ack 1 win 10000\n"
		"< . 1:1461(1460) ack 1 win 1000\n"
		"< . 1461:2921(1460) ack 1 win 1000\n"
		"> . 2:2(0) ack 2921 win 7080\n"
		"< . 2921:4001(1080) ack 1 win 1000\n"
		"+40\n"
		"> . 2:2(0) ack 4001 win 6000\n"
		/* Ends beyond the window: dropped, the same ACK. */
		"< . 9001:10461(1460) ack 1 win 1000\n"
		"> . 2:2(0) ack 4001 win 6000\n"
		"< . 10001:10002(1) ack 1 win 1000\n"
		"> . 2:2(0) ack 4001 win 6000\n"
		"< . 4001:5461(1460) ack 1 win 1000\n"
		"< . 5461:6921(1460) ack 1 win 1000\n"
		"> . 2:2(0) ack 6921 win 3080\n"
		"< . 6921:8381(1460) ack 1 win 1000\n"
		"< . 8381:10001(1620) ack 1 win 1000\n"
		"> . 2:2(0) ack 10001 win 0\n"
		/* A probe. */
		"< . 10001:10002(1) ack 1 win 1000\n"
		"> . 2:2(0) ack 10001 win 0\n"
		"< . 10000:10000(0) ack 1 win 1000\n"
		"> . 2:2(0) ack 10001 win 0");
}

static void
the_window_follows_the_reader(void **state)
{
	struct pw_tcp_rig *rig = *state;

	fill_window(rig);
	assert_int_equal(pw_tcp_rig_stats(rig).rcv_beyond_window, 3);
	assert_true(pw_tcp_rig_stats(rig).zero_windows > 0);
	assert_int_equal(rig->received, 0);
	/* All is read when the peer acknowledges: an update goes out at once. */
	rig->hold = false;
	pw_tcp_rig_run(rig,
		"< . 10001:10001(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 10001 win 10000\n"
		"+1000\n"
		"< . 10001:11461(1460) ack 2 win 1000\n"
		"+40\n"
		"> . 2:2(0) ack 11461 win 10000");
	assert_int_equal(rig->received, 11460);
	assert_int_equal(pw_tcp_rig_stats(rig).window_updates, 1);
}

/* It takes a number, but no room. */
static void
a_fin_fits_a_closed_window(void **state)
{
	struct pw_tcp_rig *rig = *state;

	fill_window(rig);
	pw_tcp_rig_run(rig,
		"< F. 10001:10001(0) ack 1 win 1000\n"
		"> . 2:2(0) ack 10002 win 0");
	assert_int_equal(rig->at_end, 0);
	rig->hold = false;
	pw_tcp_rig_run(rig,
		"< . 10002:10002(0) ack 2 win 1000\n"
		"> *");
	assert_int_equal(rig->received, 10000);
	assert_int_equal(rig->at_end, 1);
}

static void
the_window_never_shrinks(void **state)
{
	struct pw_tcp_rig *rig = *state;

	/* Steps smaller than a segment are not offered, and nothing is taken back. */
	rig->hold = true;
	pw_tcp_rig_connect(rig);
	for (unsigned i = 0; i < 99; i++)
		pw_tcp_rig_runf(rig,
			"< P. %u:%u(100) ack 1 win 1000\n"
			"+*40\n"
			"> . 1:1(0) ack %u win %u",
			1 + 100 * i, 101 + 100 * i, 101 + 100 * i, 9900 - 100 * i);
	rig->hold = false;
	pw_tcp_rig_run(rig,
		"< P. 9901:10001(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 10001 win 10000");
}

static void
resets(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< R 2:2(0)\n" /* in the window: challenged (RFC 5961) */
		"> . 1:1(0) ack 1\n"
		"< R 10000:10000(0)\n"
		"> . 1:1(0) ack 1\n"
		"< R 0:0(0)\n" /* outside: ignored */
		"< R 10001:10001(0)\n"
		"< R 2000000:2000000(0)\n");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).challenge_acks, 2);
	pw_tcp_rig_run(rig, "< R 1:1(0)");
	assert_int_equal(rig->closed, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).estab_resets, 1);
	pw_tcp_rig_expect_all_home(rig);
}

static void
syns_are_challenged(void **state)
{
	static const uint32_t seqs[] = {0, 1, 2, 10000, 10001, 3000000};
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	for (unsigned i = 0; i < RTE_DIM(seqs); i++)
		pw_tcp_rig_runf(rig,
			"< S %u:%u(0) win 1000 <mss 1460>\n"
			"> . 1:1(0) ack 1\n"
			"< S. %u:%u(0) ack 1 win 1000 <mss 1460>\n"
			"> . 1:1(0) ack 1",
			seqs[i], seqs[i], seqs[i], seqs[i]);
	assert_int_equal(pw_tcp_rig_stats(rig).challenge_acks, 2 * RTE_DIM(seqs));
	pw_tcp_rig_run(rig,
		"< . 1:11(10) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 11");
}

static void
a_fin_ends_the_stream(void **state)
{
	struct pw_tcp_rig *rig = *state;

	/* With data. */
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< FP. 1:6(5) ack 1 win 1000\n"
		"> . 1:1(0) ack 7");
	assert_int_equal(rig->received, 5);
	assert_int_equal(rig->at_end, 1);
	/* Seen again. */
	pw_tcp_rig_run(rig,
		"< FP. 1:6(5) ack 1 win 1000\n"
		"> . 1:1(0) ack 7\n"
		"< F. 6:6(0) ack 1 win 1000\n"
		"> . 1:1(0) ack 7\n"
		/* Data behind the end. */
		"< . 7:17(10) ack 1 win 1000\n"
		"> . 1:1(0) ack 7\n"
		"< R 7:7(0)");
	assert_int_equal(rig->received, 5);
	pw_tcp_rig_expect_all_home(rig);
}

static void
a_fin_may_come_first(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< F. 2001:2001(0) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< . 1001:2001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1");
	assert_int_equal(rig->at_end, 0);
	pw_tcp_rig_run(rig,
		"< . 1:1001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 2002");
	assert_int_equal(rig->received, 2000);
	assert_int_equal(rig->at_end, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, 1);
}

/* A FIN, then data that lies across it: not read. */
static void
nothing_is_read_behind_a_fin(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< . 501:1501(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< F. 1001:1001(0) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< . 2001:2101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1\n"
		"< . 1:601(600) ack 1 win 1000\n"
		"> . 1:1(0) ack 1002");
	assert_int_equal(rig->received, 1000);
	assert_int_equal(rig->at_end, 1);
	pw_tcp_rig_run(rig, "< R 1002:1002(0)");
	pw_tcp_rig_expect_all_home(rig);
}

static void
half_close_echoes(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->echo = rig->close_at_end = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< FP. 1:2(1) ack 1 win 1000\n"
		"> FP. 1:2(1) ack 3\n"
		"< . 3:3(0) ack 3 win 1000");
	assert_int_equal(rig->closed, 1);
	pw_tcp_rig_expect_all_home(rig);
}

static void
we_close_first(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< . 1:1(0) ack 2 win 1000\n"
		"+5000\n" /* FIN-WAIT-2: the peer may go on, and we are silent */
		"< . 1:1001(1000) ack 2 win 1000\n"
		"+40\n"
		"> . 2:2(0) ack 1001\n"
		"< F. 1001:1001(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 1002\n"
		"+5000\n" /* TIME-WAIT: silent too */
		"< F. 1001:1001(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 1002\n"
		"< R 1002:1002(0)\n" /* RFC 1337 */
		"+59999");	     /* from the last FIN on */
	assert_int_equal(rig->received, 1000);
	assert_int_equal(rig->closed, 0);
	pw_tcp_rig_run(rig, "+1");
	pw_tcp_rig_expect_all_home(rig);
	assert_int_equal(pw_tcp_rig_stats(rig).estab_resets, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).window_probes, 0);
}

static void
both_close_at_once(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 1 win 1000\n" /* CLOSING */
		"> . 2:2(0) ack 2\n"
		"< . 2:2(0) ack 2 win 1000\n"
		"+60000\n");
	pw_tcp_rig_expect_all_home(rig);
	/* With the ACK of ours in it. */
	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2\n"
		"+59999\n");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 1);
	pw_tcp_rig_run(rig, "+1");
	pw_tcp_rig_expect_all_home(rig);
}

static void
time_wait_makes_room(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2\n"
		"< S 1:1(0) win 1000\n" /* an old one */
		"> . 2:2(0) ack 2\n"
		"+1000");
	rig->peer_isn += 5000;
	pw_tcp_rig_connect(rig);
	assert_int_equal(rig->opened, 2);
	assert_int_equal(rig->closed, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 1);
}

static void
a_silent_peer_in_fin_wait_2_is_left(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< . 1:1(0) ack 2 win 1000\n"
		"+59999");
	assert_int_equal(rig->closed, 0);
	pw_tcp_rig_run(rig, "+1");
	pw_tcp_rig_expect_all_home(rig);
}

static void
abort_resets(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->hold = true;
	pw_tcp_rig_connect(rig);
	rig->send_bytes = 3000;
	pw_tcp_rig_run(rig,
		"< . 1:1001(1000) ack 1 win 1000\n"
		"> . 1:1001(1000) ack 1001\n"
		"< . 2001:3001(1000) ack 1 win 1000\n"
		"> . 1001:1001(0) ack 1001");
	rig->abort = true;
	pw_tcp_rig_run(rig,
		"< . 1001:1101(100) ack 1 win 1000\n"
		"> R. 1001:1001(0) ack 1101");
	assert_int_equal(pw_tcp_rig_stats(rig).out_rsts, 1);
	pw_tcp_rig_expect_all_home(rig);
	/* In opened() already. */
	rig->abort = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig, "> R. 1:1(0) ack 1");
	pw_tcp_rig_expect_all_home(rig);
}

static struct pw_packet
data_at(struct pw_tcp_rig *rig, uint32_t offset, uint32_t bytes)
{
	return (struct pw_packet){.seq = rig->peer_isn + 1 + offset,
		.ack = rig->our_isn + 1,
		.flags = RTE_TCP_ACK_FLAG,
		.window = 1000,
		.payload_bytes = bytes};
}

/* A byte at every second number: what is held stays bounded, and others get on. */
static void
crumbs_are_capped(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint32_t crumbs_isn = rig->our_isn;

	rig->params.rcvbuf_bytes = 65535;
	pw_tcp_rig_restart(rig);
	pw_tcp_rig_connect(rig);
	crumbs_isn = rig->our_isn;
	for (unsigned i = 0; i < 100000; i++) {
		struct pw_packet crumb = data_at(rig, 1 + 2 * i % 60000, 1);

		pw_tcp_rig_input(rig, &crumb);
		assert_int_equal(rig->nb_sent, 1);
		assert_int_equal(rig->sent[0].ack, rig->peer_isn + 1);
		rig->nb_sent = 0;
	}
	assert_int_equal(pw_tcp_rig_stats(rig).held_mbufs, 256);
	assert_int_equal(pw_tcp_rig_stats(rig).ofo_queue, 256);

	rig->peer_port = 1001;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< . 1:1461(1460) ack 1 win 1000\n"
		"< . 1461:2921(1460) ack 1 win 1000\n"
		"> . 1:1(0) ack 2921");
	assert_int_equal(rig->received, 2920);
	/* The gaps can still be filled. */
	rig->peer_port = 1000;
	rig->our_isn = crumbs_isn;
	rig->received = 0;
	pw_tcp_rig_run(rig,
		"< . 1:601(600) ack 1 win 1000\n"
		"> . 1:1(0) ack 601");
	assert_int_equal(rig->received, 600);
	assert_int_equal(pw_tcp_rig_stats(rig).held_mbufs, 0);
}

/* Readers that do not read: together they hold no more than they may and the reserve. */
static void
held_mbufs_are_bounded(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint64_t drops;

	rig->params.max_held_mbufs = 100;
	pw_tcp_rig_restart(rig);
	rig->hold = true;
	for (unsigned n = 0; n < 5; n++, rig->peer_port++) {
		pw_tcp_rig_connect(rig);
		for (unsigned i = 0; i < 40; i++) {
			struct pw_packet packet = data_at(rig, 10 * (i + n % 2), 10);

			pw_tcp_rig_input(rig, &packet);
			assert_true(pw_tcp_rig_stats(rig).held_mbufs <= 150);
		}
		rig->nb_sent = rig->nb_expected = 0;
	}
	assert_true(pw_tcp_rig_stats(rig).held_mbufs >= 100);
	assert_true(pw_tcp_rig_stats(rig).rcv_mem_drop > 0);
	assert_true(pw_tcp_rig_stats(rig).ofo_drop > 0);

	/* One that reads is served all the same. */
	drops = pw_tcp_rig_stats(rig).rcv_mem_drop;
	rig->hold = false;
	pw_tcp_rig_connect(rig);
	for (unsigned i = 0; i < 100; i++) {
		struct pw_packet packet = data_at(rig, 10 * i, 10);

		pw_tcp_rig_input(rig, &packet);
	}
	rig->nb_sent = rig->nb_expected = 0;
	assert_int_equal(rig->received, 1000);
	assert_int_equal(pw_tcp_rig_stats(rig).rcv_mem_drop, drops);
}

/* Chained mbufs, cut at every place by what is new and by the FIN. */
static void
chains_are_cut(void **state)
{
	struct pw_tcp_rig *rig = *state;

	for (unsigned at = 20; at <= 119; at++) {
		struct pw_packet packet = {
			.dst_port = RIG_PORT, .flags = RTE_TCP_ACK_FLAG, .payload_bytes = 100};
		struct rte_mbuf *m;

		pw_tcp_rig_connect(rig);
		pw_tcp_rig_run(rig,
			"< F. 81:81(0) ack 1 win 1000\n"
			"> . 1:1(0) ack 1\n"
			"< . 1:31(30) ack 1 win 1000\n"
			"+40\n"
			"> . 1:1(0) ack 31");
		packet.src_port = rig->peer_port;
		packet.seq = packet.payload_base = rig->peer_isn + 1;
		packet.ack = rig->our_isn + 1;
		m = pw_packet_segment(rig->pool, &packet);
		pw_packet_split(rig->pool, m, at);
		if (at > 40)
			pw_packet_split(rig->pool, m, at - 20);
		pw_tcp_input(rig->tcp, m, &pw_tcp_rig_ip, rig->now_us);
		pw_tcp_rig_run(rig, "> . 1:1(0) ack 82");
		assert_int_equal(rig->received, 80);
		pw_tcp_rig_run(rig, "< R 82:82(0)");
		pw_tcp_rig_expect_all_home(rig);
	}
}

/* Nothing but gaps: together they leave three quarters to data in order. */
static void
gaps_share_a_quarter(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.max_held_mbufs = 100;
	pw_tcp_rig_restart(rig);
	for (unsigned n = 0; n < 5; n++, rig->peer_port++) {
		pw_tcp_rig_connect(rig);
		for (unsigned i = 0; i < 20; i++) {
			struct pw_packet packet = data_at(rig, 10 + 20 * i, 10);

			pw_tcp_rig_input(rig, &packet);
			assert_true(pw_tcp_rig_stats(rig).held_mbufs <= 25);
		}
		rig->nb_sent = rig->nb_expected = 0;
	}
	assert_int_equal(pw_tcp_rig_stats(rig).held_mbufs, 25);
	assert_int_equal(pw_tcp_rig_stats(rig).ofo_drop, 75);
}

/* What a connection held out of order is there for others when it is gone. */
static void
out_of_order_room_comes_back(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.max_held_mbufs = 100; /* 25 of them out of order */
	pw_tcp_rig_restart(rig);
	for (unsigned n = 0; n < 5; n++) {
		pw_tcp_rig_connect(rig);
		for (unsigned i = 0; i < 20; i++) {
			struct pw_packet packet = data_at(rig, 10 + 20 * i, 10);

			pw_tcp_rig_input(rig, &packet);
		}
		pw_tcp_rig_run(rig,
			"> *\n"
			"< R 1:1(0)");
		pw_tcp_rig_expect_all_home(rig);
	}
	assert_int_equal(pw_tcp_rig_stats(rig).ofo_drop, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).ofo_queue, 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(acks_are_delayed),
		TEST(a_gap_is_told_and_filled),
		TEST(a_segment_without_ack_is_nothing),
		TEST(the_window_follows_the_reader),
		TEST(a_fin_fits_a_closed_window),
		TEST(the_window_never_shrinks),
		TEST(resets),
		TEST(syns_are_challenged),
		TEST(a_fin_ends_the_stream),
		TEST(a_fin_may_come_first),
		TEST(nothing_is_read_behind_a_fin),
		TEST(half_close_echoes),
		TEST(we_close_first),
		TEST(both_close_at_once),
		TEST(time_wait_makes_room),
		TEST(a_silent_peer_in_fin_wait_2_is_left),
		TEST(abort_resets),
		TEST(crumbs_are_capped),
		TEST(held_mbufs_are_bounded),
		TEST(gaps_share_a_quarter),
		TEST(out_of_order_room_comes_back),
		TEST(chains_are_cut),
	};

	return cmocka_run_group_tests_name("tcp_receive", tests, pw_test_eal, NULL);
}
