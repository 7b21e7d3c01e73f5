/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

static void
data_is_sent_and_acknowledged(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 3000;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> . 1:1461(1460) ack 1\n"
		"> . 1461:2921(1460) ack 1\n"
		"> P. 2921:3001(80) ack 1\n"
		"< . 1:1(0) ack 3001 win 65535\n"
		"+1000\n");
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 3000);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 0);
	/* The send queue is bounded. */
	rig->send_bytes = 100000;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 3001 win 65535\n"
		"> *");
	assert_int_equal(rig->queued, 3000 + 65536);
}

static void
lost_data_comes_again(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 2000;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> . 1:1461(1460) ack 1\n"
		"> P. 1461:2001(540) ack 1\n"
		"+200\n" /* the least RTO: the handshake took no time */
		"> . 1:1461(1460) ack 1\n"
		"+400\n"
		"> . 1:1461(1460) ack 1\n"
		"< . 1:1(0) ack 1461 win 65535\n"
		"> P. 1461:2001(540) ack 1\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 2);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 3);
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 2000);
}

static void
a_partial_ack_moves_the_resend(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 3000;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> *\n"
		"< . 1:1(0) ack 1501 win 65535\n"
		"+200\n"
		"> . 1501:2961(1460) ack 1\n"
		"< . 1:1(0) ack 2961 win 65535\n"
		"> P. 2961:3001(40) ack 1\n"
		"< . 1:1(0) ack 3001 win 65535");
}

static void
a_dead_peer_is_given_up(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 100;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig, "> P. 1:101(100) ack 1");
	for (unsigned i = 0, ms = 200; i < 8; i++, ms *= 2)
		pw_tcp_rig_runf(rig, "+%u\n> P. 1:101(100) ack 1", ms);
	pw_tcp_rig_run(rig, "+51199");
	assert_int_equal(rig->closed, 0);
	pw_tcp_rig_run(rig, "+1");
	pw_tcp_rig_expect_all_home(rig);
	assert_int_equal(pw_tcp_rig_stats(rig).estab_resets, 1);
	pw_tcp_rig_run(rig, "+100000");
}

static void
a_lost_fin_comes_again(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig, "> F. 1:1(0) ack 1");
	for (unsigned i = 0, ms = 200; i < 8; i++, ms *= 2)
		pw_tcp_rig_runf(rig, "+%u\n> F. 1:1(0) ack 1", ms);
	pw_tcp_rig_run(rig, "+51200");
	pw_tcp_rig_expect_all_home(rig);

	/* With data; the peer has closed already: LAST-ACK. */
	rig->close_at_end = true;
	rig->send_bytes = 2000;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> *\n"
		"< F. 1:1(0) ack 1 win 65535\n"
		"> F. 2001:2001(0) ack 2\n"
		"+200\n"
		"> . 1:1461(1460) ack 2\n"
		"< . 2:2(0) ack 1461 win 65535\n"
		"> F. 1461:2001(540) ack 2\n"
		"< . 2:2(0) ack 2001 win 65535\n"
		"+200\n"
		"> F. 2001:2001(0) ack 2\n"
		"< . 2:2(0) ack 2002 win 65535");
	pw_tcp_rig_expect_all_home(rig);
}

static void
a_closed_window_is_probed(void **state)
{
	struct pw_tcp_rig *rig = *state;
	unsigned ms = 200;

	rig->send_bytes = 2000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000\n"
		"> . 1:1001(1000) ack 1\n"
		"< . 1:1(0) ack 1001 win 0");
	/* A number the peer has seen: it answers. It stays as long as it does. */
	for (unsigned i = 0; i < 20; i++, ms = RTE_MIN(ms * 2, 60000U))
		pw_tcp_rig_runf(rig,
			"+%u\n"
			"> . 1000:1000(0) ack 1\n"
			"< . 1:1(0) ack 1001 win 0",
			ms);
	assert_int_equal(pw_tcp_rig_stats(rig).window_probes, 20);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1001 win 500\n"
		"> . 1001:1501(500) ack 1\n"
		"< . 1:1(0) ack 1501 win 65535\n"
		"> P. 1501:2001(500) ack 1\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"+100000");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, 1);
}

static void
a_closed_window_and_no_answer(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 2000;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> *\n"
		"< . 1:1(0) ack 2001 win 0\n");
	rig->send_bytes = 10;
	rig->close = true;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 2001 win 0\n"
		"+*40\n"
		"> *");
	for (unsigned i = 0; i < 200; i++)
		pw_tcp_rig_run(rig, "+*1000\n> *");
	assert_in_range(pw_tcp_rig_stats(rig).window_probes, 8, 9);
	pw_tcp_rig_expect_all_home(rig);
}

/* Eight answered probes, each after twice the time. */
static void
answer_probes(struct pw_tcp_rig *rig, unsigned ms, unsigned acked)
{
	for (unsigned i = 0; i < 8; i++, ms = RTE_MIN(ms * 2, 60000U))
		pw_tcp_rig_runf(rig,
			"+%u\n"
			"> . %u:%u(0) ack 1\n"
			"< . 1:1(0) ack %u win 0",
			ms, acked - 1, acked - 1, acked);
}

/* Probes back off. What is sent when the window opens, and lost, does not wait for as long. */
static void
probes_do_not_delay_resends(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 2000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000\n"
		"> . 1:1001(1000) ack 1\n"
		"< . 1:1(0) ack 1001 win 0");
	answer_probes(rig, 200, 1001);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1001 win 65535\n"
		"> P. 1001:2001(1000) ack 1\n"
		"+200\n" /* the least RTO */
		"> P. 1001:2001(1000) ack 1\n"
		"+400\n"
		"> P. 1001:2001(1000) ack 1\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"+100000");
	assert_int_equal(pw_tcp_rig_stats(rig).window_probes, 8);
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 2);
}

/* A window that shrinks to nothing leaves data out: it too is resent in time. */
static void
probes_do_not_delay_what_is_out(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 6000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 4000 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 4000\n"
		"> *\n"
		"< . 1:1(0) ack 1001 win 0");
	answer_probes(rig, 200, 1001);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1001 win 2000\n"
		"> . 1001:2001(1000) ack 1\n"
		"+200\n"
		"> . 1001:2001(1000) ack 1");
}

/* The SYN-ACK went twice, so no round trip is known (Karn): the initial RTO it is. */
static void
probes_do_not_delay_resends_without_rtt(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 500;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 0 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"+1000\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 0");
	answer_probes(rig, 2000, 1);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1 win 65535\n"
		"> P. 1:501(500) ack 1\n"
		"+1000\n"
		"> P. 1:501(500) ack 1\n"
		"< . 1:1(0) ack 501 win 65535\n"
		"+100000");
}

static void
a_window_shrinks_below_what_is_out(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 6000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 4000 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 4000\n"
		"> *\n"
		"< . 1:1(0) ack 1001 win 500\n"
		"< . 1:1(0) ack 1001 win 0");
	/* The peer answers: it is not given up (RFC 9293 3.8.6.1). */
	for (unsigned i = 0, ms = 200; i < 20; i++, ms = RTE_MIN(ms * 2, 60000U))
		pw_tcp_rig_runf(rig,
			"+%u\n"
			"> . 1000:1000(0) ack 1\n"
			"< . 1:1(0) ack 1001 win 0",
			ms);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_estab, 1);
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1001 win 2000\n"
		"> . 1001:2001(1000) ack 1\n"
		"< . 1:1(0) ack 4001 win 4000\n"
		"> . 4001:5001(1000) ack 1\n"
		"> P. 5001:6001(1000) ack 1\n"
		"< . 1:1(0) ack 6001 win 4000\n"
		"+1000");
}

/* A segment that fills a gap is older than the last one by its number, not by its ACK. */
static void
a_window_comes_with_a_new_ack(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 3000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 1000 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000\n"
		"> . 1:1001(1000) ack 1\n"
		"< . 1001:2001(1000) ack 1 win 1000\n"
		"> . 1001:1001(0) ack 1\n"
		"< . 1:1001(1000) ack 1001 win 0\n"
		"> . 1001:1001(0) ack 2001\n"
		/* It was sent before that one. */
		"< . 2001:2501(500) ack 1 win 1000\n"
		"+40\n"
		"> . 1001:1001(0) ack 2501\n"
		"< . 2501:2501(0) ack 1001 win 1000\n"
		"> . 1001:2001(1000) ack 2501");
}

static void
three_duplicates_resend(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 10000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		"> . 1001:2001(1000) ack 1\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		/* A partial ACK tells of the next loss (RFC 6582). */
		"< . 1:1(0) ack 4001 win 65535\n"
		"> . 4001:5001(1000) ack 1\n"
		"< . 1:1(0) ack 10001 win 65535\n"
		"+1000");
	assert_int_equal(pw_tcp_rig_stats(rig).fast_retrans, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 2);
	assert_int_equal(pw_tcp_rig_stats(rig).timeouts, 0);
	/* Neither data nor another window makes a duplicate. */
	rig->send_bytes = 5000;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 10001 win 65535\n"
		"> *\n"
		"< . 2:3(1) ack 10001 win 65535\n"
		"< . 3:3(0) ack 10001 win 65534\n"
		"< . 3:3(0) ack 10001 win 65533\n"
		"< . 3:3(0) ack 10001 win 65532\n");
	assert_int_equal(pw_tcp_rig_stats(rig).fast_retrans, 1);
}

static void
a_fast_resend_takes_the_fin(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 2000;
	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> . 1:1461(1460) ack 1\n"
		"> F. 1461:2001(540) ack 1\n"
		"< . 1:1(0) ack 1461 win 65535\n"
		"< . 1:1(0) ack 1461 win 65535\n"
		"< . 1:1(0) ack 1461 win 65535\n"
		"< . 1:1(0) ack 1461 win 65535\n"
		"> F. 1461:2001(540) ack 1\n"
		"< F. 1:1(0) ack 2002 win 65535\n"
		"> . 2002:2002(0) ack 2");
}

/* What was never sent, and would not fit the window, is not sent by a fast retransmission. */
static void
a_fast_resend_sends_nothing_new(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 100;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 400 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 400\n"
		"> P. 1:101(100) ack 1");
	for (unsigned i = 0; i < 3; i++) {
		rig->send_bytes = 100;
		pw_tcp_rig_runf(rig, "< . %u:%u(1) ack 1 win 400\n> *", 1 + i, 2 + i);
	}
	rig->send_bytes = 2000;
	pw_tcp_rig_run(rig,
		"< . 4:5(1) ack 1 win 400\n"
		"+40\n"
		"> . 401:401(0) ack 5\n"
		"< . 5:5(0) ack 1 win 400\n"
		"< . 5:5(0) ack 1 win 400\n"
		"< . 5:5(0) ack 1 win 400\n"
		"> . 1:401(400) ack 5\n"
		"< . 5:5(0) ack 401 win 400\n"
		"> . 401:801(400) ack 5");
	assert_int_equal(pw_tcp_rig_stats(rig).fast_retrans, 1);
}

/* After a time-out our numbers start again at the first one missing, but not those of ACKs: the
 * peer, which may have all of it, would drop them as old, and what they acknowledge with them.
 */
static void
acks_carry_the_highest_number(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 5000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *\n"
		"+200\n"
		"> . 1:1001(1000) ack 1\n"
		"< . 1:101(100) ack 1 win 65535\n"
		"+40\n"
		"> . 5001:5001(0) ack 101\n"
		"< . 1:101(100) ack 1 win 65535\n"
		"> . 5001:5001(0) ack 101");
}

/* A window of 150 with 100 out: the next 100 wait. */
static void
out_bytes_count_once(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 200;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 100 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 100\n"
		"> . 1:101(100) ack 1\n"
		"< . 1:1(0) ack 1 win 150\n"
		"+200\n"
		"> . 1:101(100) ack 1\n"
		"< . 1:1(0) ack 101 win 150\n"
		"> P. 101:201(100) ack 1\n"
		"+200\n"
		"> P. 101:201(100) ack 1\n"
		"< . 1:1(0) ack 201 win 150");
	assert_int_equal(pw_tcp_rig_stats(rig).out_bytes, 200);
	assert_int_equal(pw_tcp_rig_stats(rig).retrans_segs, 2);
}

static void
acks_of_nothing_sent_are_challenged(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 100;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> P. 1:101(100) ack 1\n"
		"< . 1:1(0) ack 102 win 65535\n"
		"> . 101:101(0) ack 1\n"
		"< . 1:1(0) ack 101 win 65535\n"
		"+1000");
}

static void
the_rto_follows_the_round_trip(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 100;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"+400\n" /* SRTT 400, RTTVAR 200: RTO 1200 */
		"< . 1:1(0) ack 1 win 65535\n"
		"> P. 1:101(100) ack 1\n"
		"+1200\n"
		"> P. 1:101(100) ack 1\n"
		"+100\n"
		"< . 1:1(0) ack 101 win 65535");
	/* Karn: the answer to what was sent twice is no sample. */
	rig->send_bytes = 100;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 101 win 65535\n"
		"> P. 101:201(100) ack 2\n"
		"+1200\n"
		"> P. 101:201(100) ack 2");
}

/* Hold all mbufs of the pool but some. */
static unsigned
exhaust(struct pw_tcp_rig *rig, struct rte_mbuf **mbufs, unsigned leave)
{
	unsigned n = 0;

	while (rte_mempool_avail_count(rig->pool) > leave)
		mbufs[n++] = rte_pktmbuf_alloc(rig->pool);
	return n;
}

/* The peer takes what comes, and says so, until it has all. */
static void
take_all(struct pw_tcp_rig *rig, uint32_t bytes)
{
	struct pw_packet ack = {
		.seq = rig->peer_isn + 1, .flags = RTE_TCP_ACK_FLAG, .window = 65535};
	uint32_t have = 0;

	for (unsigned i = 0; i < 100 && have < bytes; i++) {
		for (unsigned j = 0; j < rig->nb_sent; j++) {
			uint32_t offset = rig->sent[j].seq - rig->our_isn - 1;

			if (offset <= have)
				have = RTE_MAX(have, offset + rig->sent[j].payload_bytes);
		}
		rig->nb_sent = rig->nb_expected = 0;
		ack.ack = rig->our_isn + 1 + have;
		pw_tcp_rig_input(rig, &ack);
		pw_tcp_rig_tick(rig, 1000000);
	}
	rig->nb_sent = rig->nb_expected = 0;
	assert_int_equal(have, bytes);
}

/* Two mbufs take the peer's segment (see pw_packet_exact()); the rest is what we may have. */
static void
an_empty_pool_is_survived(void **state)
{
	static struct rte_mbuf *mbufs[2048];
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_stats stats;

	for (unsigned leave = 2; leave < 9; leave++) {
		unsigned n = exhaust(rig, mbufs, leave);

		rig->send_bytes = 5000;
		pw_tcp_rig_run(rig,
			"< S 0:0(0) win 65535 <mss 1460>\n"
			"> S. 0:0(0) ack 1\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> *\n"
			"+*300\n"
			"> *");
		rte_pktmbuf_free_bulk(mbufs, n);
		take_all(rig, 5000);
		assert_int_equal(rig->queued, 5000);
		pw_tcp_rig_run(rig, "< R 1:1(0)");
		pw_tcp_rig_expect_all_home(rig);
	}
	stats = pw_tcp_rig_stats(rig);
	assert_true(stats.no_mbuf > 0);
}

/* Not even a SYN-ACK can be sent. */
static void
a_syn_waits_for_an_mbuf(void **state)
{
	static struct rte_mbuf *mbufs[2048];
	struct pw_tcp_rig *rig = *state;
	struct pw_packet syn = {
		.seq = rig->peer_isn, .flags = RTE_TCP_SYN_FLAG, .src_port = 1000, .dst_port = 80};
	struct rte_mbuf *m = pw_packet_segment(rig->pool, &syn);
	unsigned n = exhaust(rig, mbufs, 0);

	pw_tcp_input(rig->tcp, m, &pw_tcp_rig_ip, rig->now_us);
	mbufs[n++] = rte_pktmbuf_alloc(rig->pool);
	assert_int_equal(pw_tcp_rig_stats(rig).no_mbuf, 0 + (rig->nb_sent == 0));
	rte_pktmbuf_free_bulk(mbufs, n);
	pw_tcp_rig_run(rig,
		"+1000\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 1000");
	assert_int_equal(rig->opened, 1);
}

static void
exhausted_fragments_are_survived(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_arena *arena = pw_frag_pool_arena(rig->frags);
	static struct pw_page *pages[513]; /* of 2 MiB, and NULL */
	unsigned n = 0;

	while ((pages[n] = pw_page_alloc(arena, 0)) != NULL)
		n++;
	rig->send_bytes = 5000;
	pw_tcp_rig_connect(rig);
	assert_int_equal(rig->queued, 0);
	while (n > 0)
		pw_page_free(arena, pages[--n]);
	/* Nothing is on its way that could bring an ACK: the application is asked again. */
	pw_tcp_rig_run(rig,
		"+*20\n"
		"> . 1:1461(1460) ack 1\n"
		"> *");
	assert_int_equal(rig->queued, 5000);
	assert_true(pw_tcp_rig_stats(rig).no_frag > 0);
}

static void
memory_in_small_pieces_will_do(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_arena *arena = pw_frag_pool_arena(rig->frags);

	assert_true(pw_arena_fragment(arena, 0) > 0);
	rig->send_bytes = 5000;
	pw_tcp_rig_connect(rig);
	assert_int_equal(rig->queued, 5000);
	pw_tcp_rig_run(rig,
		"> . 1:1461(1460) ack 1\n"
		"> *");
	assert_int_equal(pw_tcp_rig_stats(rig).no_frag, 0);
	pw_arena_defragment(arena);
}

/* All sizes of what the port cuts: by the window, its bytes, its mbufs, and its pieces. */
static void
the_port_cuts_what_it_can(void **state)
{
	static const struct {
		uint32_t tso_bytes;
		uint16_t tso_mbufs;
		uint16_t mss;
		unsigned packets_max;
	} rows[] = {
		{65535, 40, 1460, 4},
		{65535, 3, 1460, 30},
		{65535, 2, 500, 70},
		{3000, 40, 1460, 25},
		{65535, 40, 100, 15},
		{20000, 40, 536, 6},
	};
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct pw_tcp_stats stats;

		rig->params.tso_max_bytes = rows[i].tso_bytes;
		rig->params.tso_max_mbufs = rows[i].tso_mbufs;
		pw_tcp_rig_restart(rig);
		rig->send_bytes = 60000;
		pw_tcp_rig_runf(rig,
			"< S 0:0(0) win 65535 <mss %u,ts 1 0>\n"
			"> S. 0:0(0) ack 1\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> *",
			rows[i].mss);
		stats = pw_tcp_rig_stats(rig);
		/* RFC 6928: ten segments, as if we had cut them. */
		assert_int_equal(stats.out_bytes, 10 * (rows[i].mss - 12));
		assert_int_equal(stats.out_segs, 11);
		do {
			pw_tcp_rig_runf(rig, "< . 1:1(0) ack %u win 65535\n> *",
				1 + (unsigned)stats.out_bytes);
			stats = pw_tcp_rig_stats(rig);
		} while (stats.out_bytes < 60000);
		assert_in_range(stats.out_tso, 1, rows[i].packets_max);
		assert_int_equal(stats.out_bytes, 60000);
		assert_int_equal(stats.retrans_segs, 0);
		pw_tcp_rig_run(rig, "< R 1:1(0)");
	}
}

/* What was cut is lost but for its first piece: it is sent again, cut again as the window opens. */
static void
what_was_cut_is_sent_again(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_tcp_stats stats;

	rig->send_bytes = 10000;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"> *\n"
		"< . 1:1(0) ack 1001 win 65535\n"
		"+*300\n"
		"> . 1001:2001(1000) ack 1\n"
		"< . 1:1(0) ack 2001 win 65535\n"
		"> . 2001:3001(1000) ack 1\n"
		"> . 3001:4001(1000) ack 1\n"
		"< . 1:1(0) ack 4001 win 65535\n"
		"> *\n"
		"< . 1:1(0) ack 10001 win 65535\n"
		"+1000");
	stats = pw_tcp_rig_stats(rig);
	assert_int_equal(stats.retrans_segs, 7);
	assert_int_equal(stats.out_segs, 1 + 10 + 7);
	assert_int_equal(stats.timeouts, 1);
	assert_int_equal(stats.out_tso, 3);
}

/* A peer that takes all, and an application that never stops: no bytes are looked at. */
struct bulk {
	struct pw_tcp_params params;
	struct pw_tcp *tcp;
	uint32_t end; /* behind the last byte sent */
};

static void
bulk_output(void *ctx, struct rte_mbuf *m, const struct pw_ip_info *ip, uint64_t now_us)
{
	const struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod(m, const struct rte_tcp_hdr *);
	struct bulk *bulk = ctx;
	uint32_t end = rte_be_to_cpu_32(tcp->sent_seq) + m->pkt_len - (tcp->data_off >> 4) * 4;

	(void)ip;
	(void)now_us;
	if (tcp->tcp_flags & RTE_TCP_SYN_FLAG)
		bulk->end = end + 1;
	if ((int32_t)(end - bulk->end) > 0)
		bulk->end = end;
	rte_pktmbuf_free(m);
}

static void
bulk_send(struct pw_tcp_conn *conn, void *app_ctx)
{
	static const uint8_t zeros[UINT16_MAX];

	(void)app_ctx;
	while (pw_tcp_send(conn, zeros, sizeof(zeros)) == sizeof(zeros))
		;
}

static void
bulk_input(struct pw_tcp_rig *rig, struct bulk *bulk, uint32_t ack, const char *options)
{
	struct pw_packet packet = {.seq = 1,
		.ack = ack,
		.flags = RTE_TCP_ACK_FLAG,
		.window = 65535,
		.src_port = 1,
		.dst_port = RIG_PORT};

	if (options != NULL) {
		packet.seq = 0;
		packet.flags = RTE_TCP_SYN_FLAG;
		packet.options_bytes = strlen(options);
		memcpy(packet.options, options, packet.options_bytes);
	}
	pw_tcp_input(bulk->tcp, pw_packet_segment(rig->pool, &packet), &pw_tcp_rig_ip, rig->now_us);
}

/* More than half the space of numbers without a loss: the next loss is still seen as one. */
static void
a_loss_after_3_gib(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct bulk bulk = {.params = rig->params};
	struct pw_tcp_app app = {.opened = bulk_send, .writable = bulk_send};
	struct pw_tcp_stats stats;
	uint32_t lost;

	bulk.params.output = bulk_output;
	bulk.params.ctx = &bulk;
	bulk.params.mtu_bytes = UINT16_MAX;
	bulk.params.sndbuf_bytes = 1 << 20;
	bulk.tcp = pw_tcp_create(&bulk.params);
	assert_non_null(bulk.tcp);
	assert_int_equal(pw_tcp_listen(bulk.tcp, RIG_PORT, &app, NULL), 0);
	bulk_input(rig, &bulk, 0, "\2\4\377\377\1\3\3\7");
	do {
		bulk_input(rig, &bulk, bulk.end, NULL);
		pw_tcp_get_stats(bulk.tcp, &stats);
	} while (stats.out_bytes < 3ull << 30);
	assert_int_equal(stats.retrans_segs, 0);

	lost = bulk.end - 500000;
	for (unsigned i = 0; i < 4; i++)
		bulk_input(rig, &bulk, lost, NULL);
	pw_tcp_get_stats(bulk.tcp, &stats);
	assert_int_equal(stats.fast_retrans, 1);
	pw_tcp_destroy(bulk.tcp);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(data_is_sent_and_acknowledged),
		RIG_TEST(lost_data_comes_again),
		RIG_TEST(a_partial_ack_moves_the_resend),
		RIG_TEST(a_dead_peer_is_given_up),
		RIG_TEST(a_lost_fin_comes_again),
		RIG_TEST(a_closed_window_is_probed),
		RIG_TEST(a_closed_window_and_no_answer),
		RIG_TEST(probes_do_not_delay_resends),
		RIG_TEST(probes_do_not_delay_what_is_out),
		RIG_TEST(probes_do_not_delay_resends_without_rtt),
		RIG_TEST(a_window_shrinks_below_what_is_out),
		RIG_TEST(a_window_comes_with_a_new_ack),
		RIG_TEST(three_duplicates_resend),
		RIG_TEST(a_fast_resend_takes_the_fin),
		RIG_TEST(a_fast_resend_sends_nothing_new),
		RIG_TEST(acks_carry_the_highest_number),
		RIG_TEST(out_bytes_count_once),
		RIG_TEST(acks_of_nothing_sent_are_challenged),
		RIG_TEST(the_rto_follows_the_round_trip),
		RIG_TEST(an_empty_pool_is_survived),
		RIG_TEST(a_syn_waits_for_an_mbuf),
		RIG_TEST(exhausted_fragments_are_survived),
		RIG_TEST(memory_in_small_pieces_will_do),
		RIG_TEST(a_loss_after_3_gib),
		cmocka_unit_test_setup_teardown(
			the_port_cuts_what_it_can, pw_tcp_rig_set_up_tso, pw_tcp_rig_tear_down),
		cmocka_unit_test_setup_teardown(
			what_was_cut_is_sent_again, pw_tcp_rig_set_up_tso, pw_tcp_rig_tear_down),
	};

	return cmocka_run_group_tests_name("tcp_send", tests, pw_test_eal, NULL);
}
