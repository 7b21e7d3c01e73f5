/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What SACK blocks of the peer do: RFC 2018, 2883 and 6937. */

#include "pw_tcp_priv.h"
#include "pw_tcp_rig.h"

/* MSS 1000, a round trip of 100 ms, 10 segments out. */
static void
send_ten(struct pw_tcp_rig *rig)
{
	rig->send_bytes = 10000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"> S. 0:0(0) ack 1 <mss 1460,sackOK>\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *\n"
		"+100");
}

static void
only_what_is_missing_is_sent_again(void **state)
{
	struct pw_tcp_rig *rig = *state;

	send_ten(rig);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1001 win 65535\n"
		"< . 1:1(0) ack 1001 win 65535 <sack 2001:3001>\n"
		"< . 1:1(0) ack 1001 win 65535 <sack 4001:5001 2001:3001>\n"
		"< . 1:1(0) ack 1001 win 65535 <sack 4001:6001 2001:3001>\n"
		"> . 1001:2001(1000) ack 1\n"
		"< . 1:1(0) ack 1001 win 65535 <sack 4001:7001 2001:3001>\n"
		"> . 3001:4001(1000) ack 1\n"
		"< . 1:1(0) ack 1001 win 65535 <sack 4001:10001 2001:3001>\n"
		"+100\n"
		"< . 1:1(0) ack 3001 win 65535 <sack 4001:10001>\n"
		"< . 1:1(0) ack 10001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 2);
	assert_int_equal(pw_tcp_rig_stats(rig).sack_recoveries, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).spurious_undo, 0);
}

/* New data goes on while a loss is repaired, at a rate that falls to 0.7 (CUBIC). */
static void
new_data_goes_on(void **state)
{
	struct pw_tcp_rig *rig = *state;
	unsigned sent;

	rig->send_bytes = 30000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *\n"
		"+100");
	for (unsigned end = 2001; end <= 10001; end += 1000) {
		pw_tcp_rig_runf(rig, "< . 1:1(0) ack 1 win 65535 <sack 1001:%u>\n> *", end);
	}
	sent = pw_tcp_rig_stats(rig).out_segs - 1 - 10;
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 1);
	/* 9 were delivered: the first two let new ones go, then 0.7 of the rate. */
	assert_in_range(sent, 6, 8);
	pw_tcp_rig_run(rig,
		"+100\n"
		"< . 1:1(0) ack 10001 win 65535 <sack 11001:12001>\n"
		"> *");
	assert_in_range(pw_tcp_rig_stats(rig).out_bytes, 16000, 18000);
}

/* Nobody takes more records than pieces, or makes us send what was never sent. */
static void
blocks_of_a_liar_do_no_harm(void **state)
{
	struct pw_tcp_rig *rig = *state;

	send_ten(rig);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1 win 65535 <sack 10001:11001>\n"
		"< . 1:1(0) ack 1 win 65535 <sack 9001:11001>\n"
		"< . 1:1(0) ack 1 win 65535 <sack 3001:2001>\n"
		"< . 1:1(0) ack 1 win 65535 <sack 4001:2147490000>\n"
		"< . 1:1(0) ack 1 win 65535 <sack 2001:2001>\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1:10001>\n");
	for (unsigned i = 1001; i < 10000; i += 2)
		pw_tcp_rig_runf(rig, "< . 1:1(0) ack 1 win 65535 <sack %u:%u>", i, i + 1);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 10001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
}

/* Blocks that cut pieces in two: the whole ones inside count. */
static void
parts_of_segments_do_not_count(void **state)
{
	struct pw_tcp_rig *rig = *state;

	send_ten(rig);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1 win 65535 <sack 1500:6500>\n"
		"> . 1:1001(1000) ack 1\n"
		"> . 1001:2001(1000) ack 1\n" /* of which it has a half */
		"< . 1:1(0) ack 1001 win 65535 <sack 2001:10001>\n"
		"< . 1:1(0) ack 10001 win 65535\n"
		"+1000");
}

/* RFC 2018 8: the peer may drop what it said it has. */
static void
a_timeout_forgets_blocks(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 3000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *\n"
		"+100\n"
		"< . 1:1(0) ack 1 win 65535 <sack 1001:3001>\n"
		"+25\n" /* a quarter of the round trip: they may overtake */
		"> . 1:1001(1000) ack 1\n"
		"+300\n"
		"> . 1:1001(1000) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		"> . 1001:2001(1000) ack 1\n"
		"> P. 2001:3001(1000) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 3001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 1);
}

/* A D-SACK block for each resend: nothing was lost, and the window is as it was. */
static void
dsack_undoes(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint32_t sent;

	send_ten(rig);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1 win 65535 <sack 1001:5001>\n"
		"> . 1:1001(1000) ack 1\n"
		"+10\n"
		"< . 1:1(0) ack 10001 win 65535\n"
		"+90\n"
		"< . 1:1(0) ack 10001 win 65535 <sack 1:1001>");
	assert_int_equal(pw_tcp_rig_stats(rig).spurious_undo, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).dsack_recv, 1);
	sent = pw_tcp_rig_stats(rig).out_bytes;
	rig->send_bytes = 40000;
	pw_tcp_rig_run(rig, "< . 1:2(1) ack 10001 win 65535\n> *");
	assert_true(pw_tcp_rig_stats(rig).out_bytes - sent >= 10000);
}

/* Others have all records but some. */
static void
take_records(struct pw_tcp_rig *rig, struct pw_tcp_sent_list *taken, unsigned leave)
{
	struct pw_tcp_sent_pool *pool = &rig->tcp->sent_pool;

	TAILQ_INIT(taken);
	while (pool->nb_free > leave) {
		struct pw_tcp_sent *rec = TAILQ_FIRST(&pool->free);

		TAILQ_REMOVE(&pool->free, rec, by_seq);
		TAILQ_INSERT_TAIL(taken, rec, by_seq);
		pool->nb_free--;
	}
}

static void
give_back(struct pw_tcp_rig *rig, struct pw_tcp_sent_list *taken)
{
	struct pw_tcp_sent *rec;

	while ((rec = TAILQ_FIRST(taken)) != NULL) {
		TAILQ_REMOVE(taken, rec, by_seq);
		TAILQ_INSERT_TAIL(&rig->tcp->sent_pool.free, rec, by_seq);
		rig->tcp->sent_pool.nb_free++;
	}
}

/* An eighth is for cutting records in two; without any else, new data waits as for a fragment. */
static void
new_data_waits_for_records(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_sent_list taken;

	take_records(rig, &taken, rig->tcp->sent_pool.nb / 8 + 3);
	send_ten(rig);
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 3000);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 3001 win 65535\n"
		"> . 3001:4001(1000) ack 1\n"
		"> *");
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 6000);
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 6001 win 65535\n> *");
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 9001 win 65535\n> *");
	give_back(rig, &taken);
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 10001 win 65535\n+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
}

/* What was cut from one packet cannot be told apart, but comes again all the same. */
static void
no_record_to_split(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_sent_list taken, rest;

	take_records(rig, &taken, rig->tcp->sent_pool.nb / 8 + 1);
	send_ten(rig);
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 10000);
	take_records(rig, &rest, 0);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1 win 65535 <sack 5001:10001>\n"
		"+200\n"
		"> . 1:1001(1000) ack 1\n"
		"+100");
	for (unsigned i = 1001; i < 5001; i += 1000)
		pw_tcp_rig_runf(rig,
			"< . 1:1(0) ack %u win 65535 <sack 5001:10001>\n"
			"> . %u:%u(1000) ack 1",
			i, i, i + 1000);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 5001 win 65535\n"
		"> . 5001:6001(1000) ack 1\n"
		"> *\n"
		"< . 1:1(0) ack 10001 win 65535\n"
		"+1000");
	give_back(rig, &rest);
	give_back(rig, &taken);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(only_what_is_missing_is_sent_again),
		RIG_TEST(new_data_goes_on),
		RIG_TEST(blocks_of_a_liar_do_no_harm),
		RIG_TEST(parts_of_segments_do_not_count),
		RIG_TEST(a_timeout_forgets_blocks),
		RIG_TEST(dsack_undoes),
		cmocka_unit_test_setup_teardown(
			new_data_waits_for_records, pw_tcp_rig_set_up, pw_tcp_rig_tear_down),
		cmocka_unit_test_setup_teardown(
			no_record_to_split, pw_tcp_rig_set_up_tso, pw_tcp_rig_tear_down),
	};

	return cmocka_run_group_tests_name("tcp_sack", tests, pw_test_eal, NULL);
}
