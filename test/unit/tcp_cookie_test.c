/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The queue of half-open connections, and SYN cookies when it is full: RFC 4987. */

#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

/* A queue of one, with somebody in it who never ends the handshake. */
static void
fill(struct pw_tcp_rig *rig)
{
	uint16_t port = rig->peer_port;

	rig->params.max_half_open = 1;
	pw_tcp_rig_restart(rig);
	rig->peer_port = 1;
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000\n> S. 0:0(0) ack 1");
	rig->peer_port = port;
	assert_int_equal(pw_tcp_rig_stats(rig).curr_half_open, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_sent, 0);
}

/* Time goes by, and SYN-ACKs of others with it. */
static void
wait_s(struct pw_tcp_rig *rig, unsigned seconds)
{
	uint32_t our_isn = rig->our_isn;

	while (seconds-- > 0)
		pw_tcp_rig_tick(rig, 1000000);
	rig->nb_sent = rig->nb_expected = 0;
	rig->our_isn = our_isn;
}

static void
the_queue_is_bounded(void **state)
{
	struct pw_tcp_rig *rig = *state;

	/* An eighth of 64. */
	for (unsigned i = 0; i < 20; i++, rig->peer_port++)
		pw_tcp_rig_run(rig, "< S 0:0(0) win 1000\n> S. 0:0(0) ack 1 win 10000 <mss 1460>");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_half_open, 8);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 8);
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_sent, 12);
	/* Who was not remembered is not answered again; the others are left in the end. */
	for (unsigned i = 0; i < 70; i++)
		pw_tcp_rig_tick(rig, 1000000);
	assert_int_equal(rig->nb_sent, 5 * 8);
	assert_int_equal(pw_tcp_rig_stats(rig).attempt_fails, 8);
	pw_tcp_rig_run(rig, "> *");
	pw_tcp_rig_expect_all_home(rig);
}

/* What a SYN says, and the segments it gets: without a timestamp the MSS alone is kept. */
static void
a_cookie_opens(void **state)
{
	static const struct {
		const char *options;
		unsigned mss;
	} rows[] = {
		{"", 536},
		{"<mss 1>", 64},
		{"<mss 535>", 64},
		{"<mss 1299>", 1220},
		{"<mss 1460,ws 7,sackOK>", 1460},
		{"<mss 65535>", 1460},
	};
	struct pw_tcp_rig *rig = *state;

	fill(rig);
	for (unsigned i = 0; i < RTE_DIM(rows); i++, rig->peer_port++) {
		unsigned mss = rows[i].mss;

		rig->send_bytes = 2 * mss;
		pw_tcp_rig_runf(rig,
			"< S 0:0(0) win 65535 %s\n"
			"> S. 0:0(0) ack 1 <mss 1460>\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> . 1:%u(%u) ack 1\n"
			"> P. %u:%u(%u) ack 1\n"
			"< . 1:101(100) ack %u win 65535\n"
			"+40\n"
			"> . %u:%u(0) ack 101 <>\n"
			"< R 101:101(0)",
			rows[i].options, 1 + mss, mss, 1 + mss, 1 + 2 * mss, mss, 1 + 2 * mss,
			1 + 2 * mss, 1 + 2 * mss);
	}
	assert_int_equal(rig->opened, RTE_DIM(rows));
	assert_int_equal(pw_tcp_rig_stats(rig).passive_opens, RTE_DIM(rows));
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_recv, RTE_DIM(rows));
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_failed, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_half_open, 1);
}

/* The ACK was lost: the first data, and the end of the stream in it, do for it. */
static void
data_brings_a_cookie_too(void **state)
{
	struct pw_tcp_rig *rig = *state;

	fill(rig);
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< FP. 1:101(100) ack 1 win 65535\n"
		"> . 1:1(0) ack 102");
	assert_int_equal(rig->received, 100);
	assert_true(rig->at_end > 0);
}

static uint32_t
timestamp_of(const struct pw_packet *packet)
{
	uint32_t ts;

	assert_memory_equal(packet->options + 4, ((uint8_t[]){1, 1, 8, 10}), 4);
	memcpy(&ts, packet->options + 8, 4);
	return rte_be_to_cpu_32(ts);
}

/* Options live in the low bits of our timestamp, which is never later than our clock. */
static void
timestamps_keep_options(void **state)
{
	static const struct {
		const char *flags, *options;
		bool ecn, sack;
		unsigned window; /* that 3 in the header stands for */
	} rows[] = {
		{"S", "", false, false, 3},
		{"S", ",sackOK", false, true, 3},
		{"SEW", ",ws 0", true, false, 3},
		{"SEW", ",sackOK,ws 14", true, true, 3 << 14},
		{"S", ",ws 15", false, false, 3 << 14},
	};
	struct pw_tcp_rig *rig = *state;

	fill(rig);
	for (unsigned i = 0; i < RTE_DIM(rows); i++, rig->peer_port++) {
		struct pw_tcp_conn_info info = {0};
		uint32_t ts;

		pw_tcp_rig_tick(rig, 7000);
		pw_tcp_rig_runf(rig, "< %s 0:0(0) win 65535 <mss 1460,ts 5 0%s>\n> *",
			rows[i].flags, rows[i].options);
		assert_int_equal(
			rig->sent[0].flags & RTE_TCP_ECE_FLAG, rows[i].ecn ? RTE_TCP_ECE_FLAG : 0);
		ts = timestamp_of(&rig->sent[0]);
		pw_tcp_rig_runf(rig, "< . 1:1(0) ack 1 win 3 <ts 6 %u>\n> *", ts);
		for (uint32_t slot = 0; slot < rig->params.max_conns; slot++)
			if (pw_tcp_peek(rig->tcp, slot, &info) == 0 &&
				info.peer_port == rig->peer_port)
				break;
		assert_int_equal(info.peer_port, rig->peer_port);
		assert_true(info.timestamps);
		assert_int_equal(info.sack, rows[i].sack);
		assert_int_equal(info.ecn, rows[i].ecn);
		assert_int_equal(info.mss_bytes, 1448);
		assert_int_equal(info.snd_wnd_bytes, rows[i].window);
		rig->nb_sent = rig->nb_expected = 0;
		pw_tcp_rig_run(rig, "< . 2:3(1) ack 1 win 3 <ts 6 0>\n> *");
		memmove(rig->sent[0].options + 4, rig->sent[0].options, 12);
		assert_true((int32_t)(timestamp_of(&rig->sent[0]) - ts) >= 0);
	}
}

static void
forged_and_old_acks_are_reset(void **state)
{
	struct pw_tcp_rig *rig = *state;

	/* Nobody was sent a cookie: it cannot be one. */
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 77 win 1000\n> R 77:77(0)");
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_failed, 0);

	fill(rig);
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 1000 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 2:2(0) ack 1 win 1000\n"
		"> R 1:1(0)\n"
		"< . 1:1(0) ack 2 win 1000\n"
		"> R 2:2(0)\n"
		"< S. 1:1(0) ack 1 win 1000\n"
		"> R 1:1(0)");
	rig->peer_port++;
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 1000\n> R 1:1(0)");
	rig->peer_port--;
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_failed, 3);
	wait_s(rig, 119);
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 1000\n< R 1:1(0)");
	assert_int_equal(rig->opened, 1);
	wait_s(rig, 60);
	/* Others get cookies now, so one could still come. */
	rig->peer_port = 2;
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000\n> *\n< R 1:1(0)");
	assert_int_equal(rig->opened, 1);
}

static void
a_cookie_is_too_old(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint32_t our_isn;

	fill(rig);
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000 <mss 1460>\n> S. 0:0(0) ack 1");
	our_isn = rig->our_isn;
	wait_s(rig, 170);
	/* A new one to another, so that cookies are looked at. */
	for (rig->peer_port = 1; rig->peer_port < 3; rig->peer_port++)
		pw_tcp_rig_run(rig, "< S 0:0(0) win 1000\n> S. 0:0(0) ack 1");
	rig->peer_port = 1000;
	rig->our_isn = our_isn;
	wait_s(rig, 12);
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 1000\n> R 1:1(0)");
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_failed, 1);
	assert_int_equal(rig->opened, 0);
}

/* A cookie comes back with more than the window takes: it opens nothing, and is not kept for ever.
 */
static void
an_unacceptable_ack_is_forgotten(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_packet packet = {.flags = RTE_TCP_ACK_FLAG,
		.seq = rig->peer_isn + 1,
		.payload_base = rig->peer_isn + 1,
		.src_port = rig->peer_port,
		.dst_port = RIG_PORT,
		.payload_bytes = 1500};
	struct rte_mbuf *m, *more;

	rig->params.rcvbuf_bytes = 4096;
	fill(rig);
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000 <mss 1460>\n> S. 0:0(0) ack 1");
	packet.ack = rig->our_isn + 1;
	m = pw_packet_segment(rig->pool, &packet);
	for (unsigned i = 0; i < 2; i++) {
		more = pw_packet_segment(rig->pool, &packet);
		assert_int_equal(rte_pktmbuf_chain(m, more), 0);
	}
	pw_tcp_input(rig->tcp, m, &pw_tcp_rig_ip, rig->now_us);
	assert_int_equal(pw_tcp_rig_stats(rig).rcv_beyond_window, 1);
	assert_int_equal(rig->opened, 0);
	wait_s(rig, 70);
	pw_tcp_rig_expect_all_home(rig);
}

/* Random ACKs: 24 bits of a cookie are nobody's to guess, so a million open next to nothing. */
static void
guesses_open_nothing(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	fill(rig);
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000\n> S. 0:0(0) ack 1");
	for (unsigned i = 0; i < 20000; i++) {
		struct pw_packet ack = {.flags = RTE_TCP_ACK_FLAG,
			.seq = pw_test_random(&seed, UINT32_MAX),
			.ack = pw_test_random(&seed, UINT32_MAX)};

		pw_tcp_rig_input(rig, &ack);
		rig->nb_sent = 0;
	}
	assert_true(rig->opened <= 1);
	assert_true(pw_tcp_rig_stats(rig).syncookies_failed >= 19999);
	assert_true(pw_tcp_rig_stats(rig).curr_conns <= 2);
}

/* All in use but one that is half open: an ACK takes its place, a SYN does not. */
static void
established_ones_stay(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.max_conns = 8;
	pw_tcp_rig_restart(rig);
	for (unsigned i = 0; i < 7; i++, rig->peer_port++)
		pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000\n> S. 0:0(0) ack 1");
	rig->peer_port++;
	pw_tcp_rig_connect(rig);
	assert_int_equal(rig->opened, 8);
	assert_int_equal(rig->closed, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).conns_recycled, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).syncookies_recv, 1);
	rig->peer_port++;
	pw_tcp_rig_run(rig, "< S 0:0(0) win 1000");
	assert_int_equal(pw_tcp_rig_stats(rig).listen_drops, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, 8);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_queue_is_bounded),
		TEST(a_cookie_opens),
		TEST(data_brings_a_cookie_too),
		TEST(timestamps_keep_options),
		TEST(forged_and_old_acks_are_reset),
		TEST(a_cookie_is_too_old),
		TEST(an_unacceptable_ack_is_forgotten),
		TEST(guesses_open_nothing),
		TEST(established_ones_stay),
	};

	return cmocka_run_group_tests_name("tcp_cookie", tests, pw_test_eal, NULL);
}
