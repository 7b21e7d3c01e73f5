/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Against forged segments and errors, silent peers, and congestion marks. */

#include <errno.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

/* RFC 5961 7: sixteen in a second, then none until the next. */
static void
challenges_are_limited(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_packet syn = {.flags = RTE_TCP_SYN_FLAG};
	struct pw_packet old = {.flags = RTE_TCP_ACK_FLAG};

	pw_tcp_rig_connect(rig);
	syn.seq = rig->peer_isn + 1;
	old.seq = rig->peer_isn - 5;
	old.ack = rig->our_isn + 1;
	for (unsigned i = 0; i < 50; i++)
		pw_tcp_rig_input(rig, i % 2 ? &syn : &old);
	assert_int_equal(rig->nb_sent, 16);
	assert_int_equal(pw_tcp_rig_stats(rig).challenge_limited, 34);
	pw_tcp_rig_run(rig, "> *\n+1000\n< S 1:1(0) win 1000\n> . 1:1(0) ack 1");
	/* What has data is answered: its ACK may have been lost. */
	pw_tcp_rig_run(rig, "< . 1:1001(1000) ack 1 win 1000\n+40\n> . 1:1(0) ack 1001");
	old.payload_bytes = 10;
	for (unsigned i = 0; i < 50; i++)
		pw_tcp_rig_input(rig, &old);
	assert_int_equal(rig->nb_sent, 50);
	pw_tcp_rig_run(rig, "> *");
}

/* RFC 7323 5.5. */
static void
timestamps_expire(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,ts 1000 0>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000 <ts 1000 0>\n"
		"< . 1:11(10) ack 1 win 1000 <ts 999 0>\n"
		"> . 1:1(0) ack 1 <ts ecr 1000>");
	pw_tcp_rig_tick(rig, 24 * 24 * 3600 * 1000000ull - 2000000);
	pw_tcp_rig_run(rig,
		"< . 1:11(10) ack 1 win 1000 <ts 999 0>\n"
		"> . 1:1(0) ack 1 <ts ecr 1000>");
	assert_int_equal(pw_tcp_rig_stats(rig).paws_drop, 2);
	pw_tcp_rig_tick(rig, 3000000);
	pw_tcp_rig_run(rig,
		"< . 1:11(10) ack 1 win 1000 <ts 999 0>\n"
		"+40\n"
		"> . 1:1(0) ack 11 <ts ecr 999>");
	assert_int_equal(rig->received, 10);
}

/* RFC 6191 2: a later timestamp opens a new connection in TIME-WAIT, whatever the number. */
static void
a_later_timestamp_ends_time_wait(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,ts 5 0>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000 <ts 5 0>\n"
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000 <ts 5 0>\n"
		"> . 2:2(0) ack 2\n"
		"< S 0:0(0) win 65535 <mss 1460,ts 5 0>\n"
		"> . 2:2(0) ack 2\n"
		"< S 0:0(0) win 65535 <mss 1460,ts 6 0>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000 <ts 6 0>");
	assert_int_equal(rig->opened, 2);
	assert_int_equal(rig->closed, 1);
}

static void
a_silent_peer_is_probed(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.keepalive_s = 80;
	pw_tcp_rig_restart(rig);
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"+50000\n"
		"< . 1:11(10) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 11\n"
		"+79960\n"
		"> . 0:0(0) ack 11\n"
		"+10\n"
		"< . 11:11(0) ack 1 win 1000\n"
		"+80000\n"
		"> . 0:0(0) ack 11");
	for (unsigned i = 0; i < 8; i++)
		pw_tcp_rig_run(rig, "+10000\n> . 0:0(0) ack 11");
	assert_int_equal(pw_tcp_rig_stats(rig).keepalives, 10);
	pw_tcp_rig_run(rig, "+10000\n> R. 1:1(0) ack 11");
	assert_int_equal(rig->closed, 1);
	assert_int_equal(rig->error, ETIMEDOUT);
	pw_tcp_rig_expect_all_home(rig);
}

/* FIN-WAIT-2 lasts while the peer sends. */
static void
half_closed_goes_on(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< . 1:1(0) ack 2 win 1000");
	for (unsigned i = 0; i < 5; i++)
		pw_tcp_rig_runf(rig, "+30000\n< . %u:%u(10) ack 2 win 1000\n+40\n> . 2:2(0) ack %u",
			1 + 10 * i, 11 + 10 * i, 11 + 10 * i);
	pw_tcp_rig_run(rig, "+59959");
	assert_int_equal(rig->closed, 0);
	pw_tcp_rig_run(rig, "+1");
	pw_tcp_rig_expect_all_home(rig);
}

static void
urgent_data_is_data(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< U. 1:101(100) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 101");
	assert_int_equal(rig->received, 100);
	/* SYN with FIN in a connection is a SYN, and no FIN. */
	pw_tcp_rig_run(rig,
		"< SF. 101:101(0) ack 1 win 1000\n"
		"> . 1:1(0) ack 101");
	assert_int_equal(rig->at_end, 0);
}

static int
error(struct pw_tcp_rig *rig, enum pw_inet_error_kind kind, uint32_t seq)
{
	struct pw_inet_error error = {.kind = kind,
		.sent = {.src = pw_tcp_rig_ip.dst, .dst = pw_tcp_rig_ip.src},
		.proto = 6};

	pw_frame_put(error.head, rig->our_port, 2);
	pw_frame_put(error.head + 2, rig->peer_port, 2);
	pw_frame_put(error.head + 4, rig->our_isn + seq, 4);
	return pw_tcp_error(rig->tcp, &error, rig->now_us);
}

static void
errors_end_what_is_not_open(void **state)
{
	struct pw_tcp_rig *rig = *state;

	assert_int_equal(error(rig, PW_INET_REFUSED, 0), -ENOENT);
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig, "> S 0:0(0)");
	assert_int_equal(error(rig, PW_INET_REFUSED, 1), 0); /* never sent */
	assert_int_equal(error(rig, PW_INET_REFUSED, -1), 0);
	assert_int_equal(pw_tcp_rig_stats(rig).icmp_ignored, 3);
	assert_int_equal(rig->failed, 0);
	assert_int_equal(error(rig, PW_INET_REFUSED, 0), 0);
	assert_int_equal(rig->failed, 1);
	assert_int_equal(rig->error, ECONNREFUSED);
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig, "> S 0:0(0)");
	assert_int_equal(error(rig, PW_INET_UNREACHABLE, 0), 0);
	assert_int_equal(rig->error, EHOSTUNREACH);
	assert_int_equal(rig->failed, 2);
	pw_tcp_rig_expect_all_home(rig);
}

static void
errors_are_remembered(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 100;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig, "> P. 1:101(100) ack 1");
	assert_int_equal(error(rig, PW_INET_UNREACHABLE, 101), 0);
	assert_int_equal(error(rig, PW_INET_UNREACHABLE, 0), 0);
	assert_int_equal(pw_tcp_rig_stats(rig).icmp_ignored, 2);
	assert_int_equal(error(rig, PW_INET_UNREACHABLE, 1), 0);
	assert_int_equal(pw_tcp_rig_stats(rig).icmp_ignored, 2);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, 1);
	for (unsigned i = 0; i < 600; i++)
		pw_tcp_rig_tick(rig, 1000000);
	pw_tcp_rig_run(rig, "> *");
	assert_int_equal(rig->closed, 1);
	assert_int_equal(rig->error, EHOSTUNREACH);
	pw_tcp_rig_expect_all_home(rig);
}

/* RFC 3168 6.1.3: told until the sender says that it slowed down. */
static void
marks_are_echoed(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_run(rig,
		"< SEW 0:0(0) win 65535 <mss 1460>\n"
		"> [not-ect] SE. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"< [ect0] . 1:101(100) ack 1 win 65535\n"
		"+40\n"
		"> [not-ect] . 1:1(0) ack 101\n"
		"< [ce] . 101:201(100) ack 1 win 65535\n"
		"> E. 1:1(0) ack 201\n"
		"< [ect0] . 201:301(100) ack 1 win 65535\n"
		"+40\n"
		"> E. 1:1(0) ack 301\n"
		"< [ect0] W. 301:401(100) ack 1 win 65535\n"
		"> . 1:1(0) ack 401\n"
		"< [ce] W. 401:501(100) ack 1 win 65535\n"
		"> E. 1:1(0) ack 501");
	assert_int_equal(pw_tcp_rig_stats(rig).ecn_ce, 2);
	/* New data is ECT(0), what is sent again is not. */
	rig->send_bytes = 10;
	pw_tcp_rig_run(rig,
		"< W. 501:511(10) ack 1 win 65535\n"
		"> [ect0] P. 1:11(10) ack 511\n"
		"+*1000\n"
		"> [not-ect] P. 1:11(10) ack 511\n"
		"> *\n"
		"< R 511:511(0)");
	/* Without ECN a mark means nothing. */
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< [ce] . 1:101(100) ack 1 win 65535\n"
		"+40\n"
		"> [not-ect] . 1:1(0) ack 101");
	assert_int_equal(pw_tcp_rig_stats(rig).ecn_ce, 2);
}

/* Small segments in buffers of their own, which are not the tests' exact ones. */
static void
data_in(struct pw_tcp_rig *rig, uint32_t offset, uint32_t bytes)
{
	struct pw_packet packet = {.seq = rig->peer_isn + 1 + offset,
		.ack = rig->our_isn + 1,
		.flags = RTE_TCP_ACK_FLAG,
		.window = 1000,
		.src_port = rig->peer_port,
		.dst_port = RIG_PORT,
		.payload_base = rig->peer_isn + 1,
		.payload_bytes = bytes};

	pw_tcp_input(rig->tcp, pw_packet_segment(rig->pool, &packet), &pw_tcp_rig_ip, rig->now_us);
	rig->nb_sent = rig->nb_expected = 0;
}

static void
small_segments_share_buffers(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_stats stats;

	rig->hold = true;
	pw_tcp_rig_connect(rig);
	for (unsigned i = 0; i < 400; i++)
		data_in(rig, 5 * i, 5);
	stats = pw_tcp_rig_stats(rig);
	assert_in_range(stats.held_mbufs, 1, 2);
	assert_int_equal(stats.rcv_coalesce, 400 - stats.held_mbufs);
	/* Out of order too. */
	for (unsigned i = 0; i < 300; i++)
		data_in(rig, 2001 + 5 * i, 5);
	assert_in_range(
		pw_tcp_rig_stats(rig).held_mbufs, stats.held_mbufs + 1, stats.held_mbufs + 3);
	rig->hold = false;
	data_in(rig, 2000, 1);
	assert_int_equal(rig->received, 3501);
	assert_int_equal(pw_tcp_rig_stats(rig).held_mbufs, 0);
}

struct reader {
	uint32_t step, done;
};

static void
on_read(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct reader *reader = app_ctx;
	uint8_t data[64];
	uint32_t n;

	n = pw_tcp_read(conn, data, reader->step);
	for (uint32_t i = 0; i < n; i++, reader->done++)
		assert_int_equal(data[i], pw_packet_byte(reader->done));
}

/* As many bytes as asked for, across packets, and the rest stays. */
static void
a_reader_with_its_own_memory(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct reader reader = {.step = 7};
	struct pw_tcp_app app = {.readable = on_read};
	uint32_t sent = 0;

	assert_int_equal(pw_tcp_listen(rig->tcp, 81, &app, &reader), 0);
	pw_tcp_destroy(rig->tcp);
	rig->tcp = pw_tcp_create(&rig->params);
	assert_non_null(rig->tcp);
	assert_int_equal(pw_tcp_listen(rig->tcp, RIG_PORT, &app, &reader), 0);
	pw_tcp_rig_connect(rig);
	for (unsigned bytes = 1; bytes < 40; bytes++) {
		struct pw_packet packet = {.seq = rig->peer_isn + 1 + sent,
			.ack = rig->our_isn + 1,
			.flags = RTE_TCP_ACK_FLAG,
			.payload_bytes = bytes};

		reader.step = bytes < 20 ? 7 : 64;
		pw_tcp_rig_input(rig, &packet);
		sent += bytes;
		if (bytes == 19)
			assert_int_equal(reader.done, 112);
	}
	pw_tcp_rig_run(rig, "> *");
	assert_int_equal(reader.done, sent);
	assert_int_equal(pw_tcp_rig_stats(rig).held_mbufs, 0);
	pw_tcp_rig_run(rig, "< R 781:781(0)");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(challenges_are_limited),
		TEST(timestamps_expire),
		TEST(a_later_timestamp_ends_time_wait),
		TEST(a_silent_peer_is_probed),
		TEST(half_closed_goes_on),
		TEST(urgent_data_is_data),
		TEST(errors_end_what_is_not_open),
		TEST(errors_are_remembered),
		TEST(marks_are_echoed),
		TEST(small_segments_share_buffers),
		TEST(a_reader_with_its_own_memory),
	};

	return cmocka_run_group_tests_name("tcp_harden", tests, pw_test_eal, NULL);
}
