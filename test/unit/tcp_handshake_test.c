/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_tcp.h>

#include "pw_tcp_rig.h"

/* An MSS of the peer's, and what we make of it: segments of a reply of 3000 bytes. In
 * the last row it stands behind the end of options.
 */
static const struct {
	const char *option;
	unsigned segment;
} mss_rows[] = {
	{"", 536},
	{"<mss 0>", 64},
	{"<mss 1>", 64},
	{"<mss 48>", 64},
	{"<mss 64>", 64},
	{"<mss 1000>", 1000},
	{"<mss 1460>", 1460},
	{"<mss 65535>", 1460},
	{"<raw 0004000002040100>", 536},
};

static void
mss_is_kept(void **state)
{
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(mss_rows); i++) {
		unsigned mss = mss_rows[i].segment;

		rig->send_bytes = 2 * mss;
		pw_tcp_rig_runf(rig,
			"< S 0:0(0) win 65535 %s\n"
			"> S. 0:0(0) ack 1 win 10000 <mss 1460>\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> . 1:%u(%u) ack 1\n"
			"> P. %u:%u(%u) ack 1",
			mss_rows[i].option, 1 + mss, mss, 1 + mss, 1 + 2 * mss, mss);
		pw_tcp_rig_run(rig, "< R 1:1(0)");
		pw_tcp_rig_expect_all_home(rig);
	}
}

static void
scaling_needs_both(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.rcvbuf_bytes = 1000000; /* a shift of 4 */
	pw_tcp_rig_restart(rig);
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 1000 <mss 1460,ws 7>\n"
		"> S. 0:0(0) ack 1 win 65535 <mss 1460,ws 4>\n"
		"< . 1:1(0) ack 1 win 8\n"
		"> . 1:1(0) ack 1 win 62500\n" /* more than a SYN can say */
		"< . 1:11(10) ack 1 win 8\n"
		"+40\n"
		"> . 1:1(0) ack 11 win 62500");
	rig->send_bytes = 5000; /* 8 << 7 is 1024 */
	pw_tcp_rig_run(rig,
		"< . 11:12(1) ack 1 win 8\n"
		"> . 1:1025(1024) ack 12\n"
		"< R 12:12(0)");

	/* Only we could: windows are as they stand, and nothing is due after each segment. */
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 1000 <mss 1460>\n"
		"> S. 0:0(0) ack 1 win 65535 <mss 1460>\n"
		"< . 1:1(0) ack 1 win 1000\n"
		"< . 1:11(10) ack 1 win 1000\n"
		"< . 11:11(0) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 11 win 65525\n"
		"< R 11:11(0)");
	pw_tcp_rig_expect_all_home(rig);
}

static void
a_shift_of_15_is_14(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 60000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 0 <mss 1460,ws 15>\n"
		"> S. 0:0(0) ack 1 win 10000 <mss 1460,ws 0>\n"
		"< . 1:1(0) ack 1 win 1\n"
		"> *\n"
		"< . 1:1(0) ack 14601 win 1\n"
		"> *");
	/* The first flight has ten segments, the second the eleven that fit 16384. */
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 21 * 1460);
}

/* Options that lead parsers into loops or beyond the header. */
static const char *const odd_options[] = {
	"raw 01020000",
	"raw 50000000",
	"raw 02010000",
	"raw 08000000",
	"raw 01010108",
	"raw 01010102",
	"raw 020405b4080a0000",
	"raw 02ffffff",
	"raw 00020405b4000000",
	"raw 00000000000000000000000000000000000000000000000000000000000000000000000000000000",
};

static void
odd_options_are_survived(void **state)
{
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(odd_options); i++) {
		pw_tcp_rig_runf(rig, "< S 0:0(0) win 65535 <%s>\n> S. 0:0(0) ack 1 <mss 1460>",
			odd_options[i]);
		rig->peer_port++;
		pw_tcp_rig_run(rig,
			"+10\n"
			"< S 0:0(0) win 65535 <mss 1460>\n"
			"> S. 0:0(0) ack 1 <mss 1460>");
		rig->peer_port++;
	}
	/* The same on an established connection. */
	pw_tcp_rig_connect(rig);
	for (unsigned i = 0; i < RTE_DIM(odd_options); i++)
		pw_tcp_rig_runf(rig, "< P. %u:%u(1) ack 1 <%s>\n+40\n> . 1:1(0) ack %u", i + 1,
			i + 2, odd_options[i], i + 2);
}

/* An MSS of 256 that begins in a SYN's options and ends in its data is none. */
static void
options_end_with_the_header(void **state)
{
	static const uint8_t bytes[] = {1, 1, 1, 2, 4, 1, 0};
	struct pw_tcp_rig *rig = *state;

	for (unsigned skip = 0; skip < 3; skip++) {
		struct pw_packet syn = {.seq = rig->peer_isn,
			.flags = RTE_TCP_SYN_FLAG,
			.window = 65535,
			.src_port = rig->peer_port,
			.dst_port = RIG_PORT,
			.options_bytes = 4,
			.payload_bytes = 3 - skip};
		struct rte_mbuf *m = pw_packet_segment(rig->pool, &syn);

		memcpy(rte_pktmbuf_mtod_offset(m, char *, 20), bytes + skip, 7 - skip);
		rig->send_bytes = 2 * 536;
		pw_tcp_input(rig->tcp, pw_packet_exact(rig->pool, m), &pw_tcp_rig_ip, rig->now_us);
		pw_tcp_rig_run(rig,
			"> S. 0:0(0) ack 1\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> . 1:537(536) ack 1\n"
			"> P. 537:1073(536) ack 1\n"
			"< R 1:1(0)");
		pw_tcp_rig_expect_all_home(rig);
	}
}

static void
wrong_data_offsets_are_dropped(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_packet packet = {.seq = rig->peer_isn + 1,
		.flags = RTE_TCP_ACK_FLAG,
		.src_port = 1000,
		.dst_port = RIG_PORT,
		.payload_bytes = 20};

	pw_tcp_rig_connect(rig);
	packet.ack = rig->our_isn + 1;
	for (unsigned i = 0; i < 16; i++) {
		struct rte_mbuf *m = pw_packet_segment(rig->pool, &packet);

		if (i >= 5 && i <= 10)
			rte_pktmbuf_trim(m, 40 - i * 4 + 1);
		rte_pktmbuf_mtod(m, uint8_t *)[12] = i << 4;
		pw_tcp_input(rig->tcp, pw_packet_exact(rig->pool, m), &pw_tcp_rig_ip, rig->now_us);
	}
	assert_int_equal(pw_tcp_rig_stats(rig).in_errs, 16);
	assert_int_equal(rig->received, 0);
	pw_tcp_rig_run(rig,
		"< . 1:21(20) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 21");
}

static void
syns_of_all_kinds(void **state)
{
	struct pw_tcp_rig *rig = *state;

	/* ECN is granted to who asks for it with both flags. */
	pw_tcp_rig_run(rig,
		"< SEW 0:0(0) win 65535 <mss 1460>\n"
		"> SE. 0:0(0) ack 1\n"
		"< R 1:1(0)");
	pw_tcp_rig_run(rig,
		"< SE 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< R 1:1(0)");
	/* Data in a SYN comes again. */
	pw_tcp_rig_run(rig,
		"< S 0:10(10) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000\n"
		"< P. 1:31(30) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 31");
	assert_int_equal(rig->received, 30);
	pw_tcp_rig_run(rig, "< R 31:31(0)");
	/* A SYN that comes again is answered again. */
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< R 1:1(0)");
	pw_tcp_rig_run(rig, "< SF 0:0(0) win 65535");
	pw_tcp_rig_expect_all_home(rig);
}

static void
final_acks(void **state)
{
	struct pw_tcp_rig *rig = *state;

	/* Without the timestamp that was agreed on, as Linux 3.10 to 4.14 sends it. */
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,ts 100 0>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000");
	assert_int_equal(rig->opened, 1);
	pw_tcp_rig_run(rig, "< R 1:1(0)");
	/* Lost, and the first data does for it. */
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:101(100) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 101\n"
		"< R 101:101(0)");
	/* A wrong number is no handshake. */
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 2 win 1000\n"
		"> R 2:2(0)\n"
		"< . 1:1(0) ack 0 win 1000\n"
		"> R 0:0(0)");
	assert_int_equal(rig->opened, 2);
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 1000");
	assert_int_equal(rig->opened, 3);
	assert_int_equal(pw_tcp_rig_stats(rig).passive_opens, 3);
}

/* RFC 5961 holds before the handshake ends too. */
static void
resets_of_half_open(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< R 0:0(0)\n" /* outside: ignored */
		"< R 10001:10001(0)\n"
		"< R 2:2(0)\n" /* in the window: challenged */
		"> S. 0:0(0) ack 1\n"
		"< R 10000:10000(0)\n"
		"> S. 0:0(0) ack 1");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).challenge_acks, 2);
	pw_tcp_rig_run(rig, "< R 1:1(0)");
	pw_tcp_rig_expect_all_home(rig);
	assert_int_equal(pw_tcp_rig_stats(rig).estab_resets, 0);
	assert_int_equal(rig->opened, 0);
}

static void
timestamps(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,ts 100 0>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000 <ts 101 0>\n"
		"< . 1:11(10) ack 1 win 1000 <ts 102 0>\n"
		"+40\n"
		"> . 1:1(0) ack 11 <ts ecr 102>\n"
		/* Too old: dropped, answered (RFC 7323 5.3). */
		"< . 11:21(10) ack 1 win 1000 <ts 99 0>\n"
		"> . 1:1(0) ack 11 <ts ecr 102>\n"
		/* Beyond a gap: the timestamp to echo is the last one in order. */
		"< . 21:31(10) ack 1 win 1000 <ts 110 0>\n"
		"> . 1:1(0) ack 11 <ts ecr 102>\n"
		"< . 11:21(10) ack 1 win 1000 <ts 105 0>\n"
		"> . 1:1(0) ack 31 <ts ecr 105>\n");
	assert_int_equal(pw_tcp_rig_stats(rig).paws_drop, 1);
	/* Twelve bytes of each segment are the option's. */
	rig->send_bytes = 3000;
	pw_tcp_rig_run(rig,
		"< . 31:32(1) ack 1 win 9000 <ts 111 0>\n"
		"> . 1:1449(1448) ack 32 <ts ecr 111>\n"
		"> . 1449:2897(1448) ack 32 <ts ecr 111>\n"
		"> P. 2897:3001(104) ack 32 <ts ecr 111>\n");
}

static void
a_lost_syn_ack_comes_again(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"+1000\n"
		"> S. 0:0(0) ack 1 <mss 1460>\n"
		"+2000\n"
		"> S. 0:0(0) ack 1\n"
		"+4000\n"
		"> S. 0:0(0) ack 1\n"
		"+8000\n"
		"> S. 0:0(0) ack 1\n"
		"+16000\n"
		"> S. 0:0(0) ack 1\n"
		"+31999\n");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 1);
	pw_tcp_rig_run(rig, "+1");
	pw_tcp_rig_expect_all_home(rig);
}

static void
a_listener_answers_strays(void **state)
{
	static const char *const strays[] = {
		"< . 1:1(0) ack 77\n> R 77:77(0)",
		"< S. 0:0(0) ack 77\n> R 77:77(0)",
		"< F. 1:1(0) ack 77\n> R 77:77(0)",
		"< R 1:1(0)",
		"< R. 1:1(0) ack 77",
		"< SR 0:0(0)",
		"< - 1:1(0)",
		"< P 1:11(10)",
		"< F 1:1(0)",
	};
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(strays); i++) {
		rig->our_isn = 0;
		pw_tcp_rig_run(rig, strays[i]);
		pw_tcp_rig_expect_all_home(rig);
		pw_tcp_rig_connect(rig);
		pw_tcp_rig_run(rig, "< R 1:1(0)");
	}
	assert_int_equal(rig->opened, RTE_DIM(strays));
}

/* To a port that nobody listens on. */
static void
expect_reply(
	struct pw_tcp_rig *rig, struct pw_packet packet, uint8_t flags, uint32_t seq, uint32_t ack)
{
	packet.dst_port = 81;
	pw_tcp_rig_input(rig, &packet);
	assert_int_equal(rig->nb_sent, 1);
	assert_int_equal(rig->sent[0].flags, flags);
	assert_int_equal(rig->sent[0].seq, seq);
	assert_int_equal(rig->sent[0].ack, ack);
	assert_int_equal(rig->sent[0].window, 0);
	assert_int_equal(rig->sent[0].src_port, 81);
	assert_int_equal(rig->sent[0].dst_port, rig->peer_port);
	rig->nb_sent = 0;
}

static void
a_closed_port_resets(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_packet rst = {.flags = RTE_TCP_RST_FLAG, .dst_port = 81};

	expect_reply(rig, (struct pw_packet){.flags = RTE_TCP_SYN_FLAG, .seq = 500},
		RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG, 0, 501);
	expect_reply(rig,
		(struct pw_packet){.flags = RTE_TCP_SYN_FLAG, .seq = 500, .payload_bytes = 10},
		RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG, 0, 511);
	expect_reply(rig, (struct pw_packet){.flags = RTE_TCP_ACK_FLAG, .seq = 500, .ack = 900},
		RTE_TCP_RST_FLAG, 900, 0);
	expect_reply(rig, (struct pw_packet){.flags = RTE_TCP_FIN_FLAG, .seq = UINT32_MAX},
		RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG, 0, 0);
	pw_tcp_rig_input(rig, &rst);
	rst.flags |= RTE_TCP_ACK_FLAG;
	pw_tcp_rig_input(rig, &rst);
	assert_int_equal(rig->nb_sent, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).out_rsts, 4);
}

static void
flood(struct pw_tcp_rig *rig, unsigned n, uint64_t *seed)
{
	uint32_t our_isn = rig->our_isn;

	for (unsigned i = 0; i < n; i++) {
		struct pw_packet syn = {.flags = RTE_TCP_SYN_FLAG,
			.seq = pw_test_random(seed, UINT32_MAX),
			.src_port = pw_test_random(seed, UINT16_MAX),
			.dst_port = RIG_PORT};
		struct pw_ip_info ip = pw_tcp_rig_ip;

		ip.src.words[3] = rte_cpu_to_be_32(0x0b000000 | pw_test_random(seed, 1 << 24));
		pw_tcp_input(rig->tcp, pw_packet_segment(rig->pool, &syn), &ip, rig->now_us);
		if (i % 100 == 0)
			pw_tcp_rig_tick(rig, 1000);
		rig->nb_sent = rig->nb_expected = 0;
		assert_true(pw_tcp_rig_stats(rig).curr_conns <= rig->params.max_conns);
	}
	rig->our_isn = our_isn;
}

static void
a_flood_keeps_nobody_out(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint64_t seed = pw_test_seed();
	struct pw_tcp_stats stats;

	flood(rig, 50000, &seed);
	/* During the flood, with SYNs of others in between. */
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1");
	flood(rig, 30, &seed);
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 1000");
	assert_int_equal(rig->opened, 1);
	flood(rig, 50000, &seed);
	pw_tcp_rig_run(rig,
		"< P. 1:11(10) ack 1 win 1000\n"
		"+*40\n"
		"> *");
	assert_int_equal(rig->received, 10);
	rig->peer_port++;
	pw_tcp_rig_connect(rig);
	assert_int_equal(rig->opened, 2);

	stats = pw_tcp_rig_stats(rig);
	assert_true(stats.syncookies_sent > 99000);
	assert_int_equal(stats.curr_half_open, 8);
	assert_int_equal(stats.curr_estab, 2);
	for (unsigned i = 0; i < 70; i++) {
		pw_tcp_rig_tick(rig, 1000000);
		rig->nb_sent = 0;
	}
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 2);
}

static void
all_connections_in_use(void **state)
{
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < 64; i++, rig->peer_port++)
		pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig, "< S 0:0(0) win 65535 <mss 1460>");
	assert_int_equal(pw_tcp_rig_stats(rig).listen_drops, 1);
	rig->peer_port = 1000;
	pw_tcp_rig_run(rig, "< R 1:1(0)");
	rig->peer_port = 2000;
	pw_tcp_rig_connect(rig);
	assert_int_equal(rig->opened, 65);
}

static void
wrong_parameters_are_refused(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_params good = rig->params, wrong[9];

	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		wrong[i] = good;
	wrong[0].max_conns = 0;
	wrong[1].max_conns = (1 << 20) + 1;
	wrong[2].rcvbuf_bytes = 4095;
	wrong[3].sndbuf_bytes = 4095;
	wrong[4].mtu_bytes = 575;
	wrong[5].rcvbuf_bytes = UINT32_MAX;
	wrong[6].frags = NULL;
	wrong[7].tso_max_bytes = 65536;
	wrong[7].tso_max_mbufs = 40;
	wrong[8].tso_max_bytes = 65535;
	wrong[8].tso_max_mbufs = 1;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		size_t heap = pw_test_heap_bytes();

		assert_null(pw_tcp_create(&wrong[i]));
		assert_int_equal(rte_errno, EINVAL);
		assert_int_equal(pw_test_heap_bytes(), heap);
	}
	pw_tcp_destroy(NULL);
	assert_int_equal(pw_tcp_listen(rig->tcp, 0, &rig->app, rig), -EINVAL);
	assert_int_equal(pw_tcp_listen(rig->tcp, RIG_PORT, &rig->app, rig), -EADDRINUSE);
	for (uint16_t port = 1; port < 16; port++)
		assert_int_equal(pw_tcp_listen(rig->tcp, port, &rig->app, rig), 0);
	assert_int_equal(pw_tcp_listen(rig->tcp, 16, &rig->app, rig), -ENOSPC);
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_test_memory before = pw_test_memory();
	struct pw_tcp *tcp;
	int k = -1;

	do {
		pw_test_fail_alloc(++k);
		rte_errno = 0;
		tcp = pw_tcp_create(&rig->params);
		if (!pw_test_alloc_failed())
			break;
		assert_null(tcp);
		assert_int_equal(rte_errno, ENOMEM);
		pw_test_memory_equal(before);
	} while (true);
	pw_test_fail_alloc(-1);
	assert_non_null(tcp);
	assert_true(k >= 4);
	pw_tcp_destroy(tcp);
	pw_test_memory_equal(before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_parameters_are_refused),
		TEST(failed_allocations_leak_nothing),
		TEST(mss_is_kept),
		TEST(scaling_needs_both),
		TEST(a_shift_of_15_is_14),
		TEST(odd_options_are_survived),
		TEST(options_end_with_the_header),
		TEST(wrong_data_offsets_are_dropped),
		TEST(syns_of_all_kinds),
		TEST(final_acks),
		TEST(resets_of_half_open),
		TEST(timestamps),
		TEST(a_lost_syn_ack_comes_again),
		TEST(a_listener_answers_strays),
		TEST(a_closed_port_resets),
		TEST(a_flood_keeps_nobody_out),
		TEST(all_connections_in_use),
	};

	return cmocka_run_group_tests_name("tcp_handshake", tests, pw_test_eal, NULL);
}
