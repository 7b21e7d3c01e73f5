/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The path takes less than we send: what a router says, and what nobody says. */

#include "pw_tcp_priv.h"
#include "pw_tcp_rig.h"

static struct pw_tcp_conn *
connect_100ms(struct pw_tcp_rig *rig, uint32_t bytes)
{
	rig->send_bytes = bytes;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *");
	return TAILQ_FIRST(&rig->tcp->lists[PW_TCP_LIST_OPEN]);
}

static void
what_is_too_big_goes_again_smaller(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_conn *conn = connect_100ms(rig, 2920);
	uint32_t cwnd = conn->cwnd;

	pw_tcp_mtu_too_big(conn, 1040, rig->now_us);
	pw_tcp_rig_run(rig,
		"> . 1:1001(1000) ack 1\n"
		"> . 1001:2001(1000) ack 1\n"
		"> P. 2001:2921(920) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 2921 win 65535\n"
		"+1000");
	assert_true(conn->cwnd >= cwnd);
	assert_int_equal(pw_tcp_rig_stats(rig).pmtu_reductions, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).fast_retrans, 0);
}

/* Nobody makes us send tiny segments, or larger ones than we would. */
static void
reports_are_bounded(void **state)
{
	static const struct {
		uint32_t mtu_bytes;
		uint16_t mss;
	} rows[] = {
		{1500, 1460},
		{65536 + 1000, 1460},
		{UINT32_MAX, 1460},
		{0, 1452}, /* an old router: the next of RFC 1191's plateaus */
		{0, 966},
		{0, 512},
		{0, 512},
		{68, 512},
		{1, 512},
		{1500, 512},
	};
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_conn *conn = connect_100ms(rig, 0);

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		pw_tcp_mtu_too_big(conn, rows[i].mtu_bytes, rig->now_us);
		assert_int_equal(conn->mss, rows[i].mss);
	}
	assert_int_equal(pw_tcp_rig_stats(rig).pmtu_reductions, 3);
}

static void
the_path_is_tried_again_after_ten_minutes(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_conn *conn = connect_100ms(rig, 0);

	pw_tcp_mtu_too_big(conn, 1040, rig->now_us);
	pw_tcp_rig_run(rig, "+*599000");
	rig->send_bytes = 1500;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 1 win 65535\n"
		"> . 1:1001(1000) ack 2\n"
		"> P. 1001:1501(500) ack 2\n"
		"< . 2:2(0) ack 1501 win 65535\n"
		"+1001");
	rig->send_bytes = 1500;
	pw_tcp_rig_run(rig,
		"< . 2:3(1) ack 1501 win 65535\n"
		"> . 1501:2961(1460) ack 3\n"
		"> P. 2961:3001(40) ack 3\n");
}

/* Full segments vanish, and no router says why. */
static void
a_black_hole_is_found(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 3000);
	pw_tcp_rig_run(rig, "+*250\n> *");
	for (unsigned ms = 300; ms < 300 << 2; ms *= 2)
		pw_tcp_rig_runf(rig, "+*%u\n> . 1:1461(1460) ack 1", ms);
	pw_tcp_rig_run(rig,
		"+*1200\n"
		"> . 1:1025(1024) ack 1\n"
		"< . 1:1(0) ack 1025 win 65535\n"
		"> . 1025:2049(1024) ack 1\n"
		"> *\n"
		"< . 1:1(0) ack 3001 win 65535");
	assert_int_equal(pw_tcp_rig_stats(rig).pmtu_blackholes, 1);
}

/* A peer that is gone takes the small ones no better; the small one it is then. */
static void
small_segments_are_no_black_hole(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 100);
	pw_tcp_rig_run(rig, "+*100000\n> *");
	assert_int_equal(pw_tcp_rig_stats(rig).pmtu_blackholes, 0);
	assert_true(pw_tcp_rig_stats(rig).timeouts > 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(what_is_too_big_goes_again_smaller),
		RIG_TEST(reports_are_bounded),
		RIG_TEST(the_path_is_tried_again_after_ten_minutes),
		RIG_TEST(a_black_hole_is_found),
		RIG_TEST(small_segments_are_no_black_hole),
	};

	return cmocka_run_group_tests_name("tcp_mtu", tests, pw_test_eal, NULL);
}
