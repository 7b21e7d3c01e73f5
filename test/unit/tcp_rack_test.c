/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What is taken for lost, and when: RFC 8985; and what was none after all: RFC 3522. */

#include "pw_tcp_priv.h"
#include "pw_tcp_rig.h"

/* MSS 1000, a round trip of 100 ms, so many bytes to send, which go out at the end. */
static void
connect_100ms(struct pw_tcp_rig *rig, uint32_t bytes)
{
	rig->send_bytes = bytes;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *");
}

/* A segment that is late by less than a quarter of the round trip is not sent again. */
static void
what_is_overtaken_is_not_lost(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 5000);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:2001>\n"
		"+20\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"< . 1:1(0) ack 2001 win 65535 <sack 4001:5001>\n"
		"+4\n"
		"< . 1:1(0) ack 5001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
	assert_true(pw_tcp_rig_stats(rig).reorder_seen > 0);
}

/* Once they were seen to overtake, three of them tell nothing; the time does. */
static void
three_may_overtake(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 8000);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:2001>\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"< . 1:1(0) ack 2001 win 65535 <sack 3001:8001>\n"
		"+24\n"
		"< . 1:1(0) ack 8001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
}

static void
what_is_late_is_lost(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 5000);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:2001>\n"
		"+25\n"
		"> . 1:1001(1000) ack 1\n"
		"+90\n"
		"< . 1:1(0) ack 5001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).fast_retrans, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).reorder_seen, 0);
}

/* The resend is lost too: what was sent after it, and arrives, tells so without a time-out. */
static void
a_lost_resend_comes_again(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 16000);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:5001>\n"
		"> . 1:1001(1000) ack 1\n"
		"> *\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:10001>\n"
		"> *\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:11001>\n"
		"> . 1:1001(1000) ack 1\n"
		"> *\n"
		"+100\n"
		"< . 1:1(0) ack 11001 win 65535\n"
		"> *");
	assert_int_equal(pw_tcp_rig_stats(rig).lost_retransmits, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 0);
}

/* The last ones of a flight are lost: a probe after two round trips brings the SACK. */
static void
a_probe_repairs_the_tail(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 5000);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"+200\n"
		"> P. 4001:5001(1000) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 2001 win 65535 <sack 4001:5001>\n"
		"> . 2001:3001(1000) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 3001 win 65535 <sack 4001:5001>\n"
		"> . 3001:4001(1000) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 5001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).loss_probes, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 3);
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 0);
}

/* The probe is the segment that was missing: a loss all the same (7.4). */
static void
a_probe_that_fills_the_gap_counts(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 5000);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 4001 win 65535\n");
	rig->send_bytes = 1000;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 4001 win 65535\n"
		"> P. 5001:6001(1000) ack 2\n"
		"+200\n"
		"> P. 5001:6001(1000) ack 2\n"
		"+50");
	rig->send_bytes = 1000;
	pw_tcp_rig_run(rig,
		"< . 2:3(1) ack 4001 win 65535\n"
		"> P. 6001:7001(1000) ack 3\n"
		"+50\n"
		"< . 3:3(0) ack 7001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).loss_probes, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).loss_probe_recoveries, 1);
}

/* New data is a better probe than old. */
static void
a_probe_takes_new_data(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_100ms(rig, 15000);
	pw_tcp_rig_run(rig,
		"+200\n"
		"> . 10001:11001(1000) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 11001 win 65535\n"
		"> *");
	assert_int_equal(pw_tcp_rig_stats(rig).loss_probes, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).loss_probe_recoveries, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
}

/* The timestamp of the last segment we sent; scripts leave it behind. */
static uint32_t
last_ts(const struct pw_tcp_rig *rig)
{
	const uint8_t *p = rig->sent[0].options + 4;

	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

/* A delay makes all time out; then come answers: to the originals, or to what was sent again. */
static void
time_out(struct pw_tcp_rig *rig, bool to_originals)
{
	uint32_t ts;

	rig->send_bytes = 20000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1012,ts 100 0>\n"
		"> S. 0:0(0) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <ts 101 0>\n"
		"> . 1:1001(1000) ack 1\n"
		"> *");
	ts = last_ts(rig);
	pw_tcp_rig_run(rig, "+300\n> . 1:1001(1000) ack 1");
	pw_tcp_rig_runf(rig,
		"+10\n"
		"< . 1:1(0) ack 1001 win 65535 <ts 102 %u>\n"
		"> *",
		to_originals ? ts : last_ts(rig));
}

static void
timestamps_undo_a_timeout(void **state)
{
	struct pw_tcp_rig *rig = *state;

	time_out(rig, true);
	assert_int_equal(pw_tcp_rig_stats(rig).spurious_undo, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 12000);
}

static void
a_true_timeout_is_not_undone(void **state)
{
	struct pw_tcp_rig *rig = *state;

	time_out(rig, false);
	assert_int_equal(pw_tcp_rig_stats(rig).spurious_undo, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 3);
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 10000);
	/* RFC 7323 4: the timestamp says what Karn could not: 10 ms, after 100. */
	assert_int_equal(TAILQ_FIRST(&rig->tcp->lists[PW_TCP_LIST_OPEN])->srtt_us,
		100000 - 100000 / 8 + 10000 / 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(what_is_overtaken_is_not_lost),
		RIG_TEST(three_may_overtake),
		RIG_TEST(what_is_late_is_lost),
		RIG_TEST(a_lost_resend_comes_again),
		RIG_TEST(a_probe_repairs_the_tail),
		RIG_TEST(a_probe_that_fills_the_gap_counts),
		RIG_TEST(a_probe_takes_new_data),
		RIG_TEST(timestamps_undo_a_timeout),
		RIG_TEST(a_true_timeout_is_not_undone),
	};

	return cmocka_run_group_tests_name("tcp_rack", tests, pw_test_eal, NULL);
}
