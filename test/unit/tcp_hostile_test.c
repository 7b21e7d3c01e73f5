/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Hostile peers, and corners of the protocol that others leave out. */

#include <errno.h>

#include <rte_tcp.h>

#include "pw_tcp_priv.h"
#include "pw_tcp_rig.h"

#define HOGS 28
#define HOG_SNDBUF 65536

/* RFC 7323 2.2: the window of a SYN-ACK is never scaled, also where both opened at once. */
static void
crossing_syn_acks_have_no_scale(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->send_bytes = 20000;
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> S 0:0(0)\n"
		"< S 0:0(0) win 2000 <mss 1000,ws 7>\n"
		"> S. 0:0(0) ack 1\n"
		"< S. 0:0(0) ack 1 win 2000 <mss 1000,ws 7>\n"
		"> . 1:1001(1000) ack 1\n"
		"> . 1001:2001(1000) ack 1");
}

/* pw_tcp_get_error(): 0 tells that both sides ended their streams. This peer did not. */
static void
half_closed_and_left_is_no_clean_end(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< . 1:1(0) ack 2 win 1000\n"
		"+*61000");
	if (rig->closed > 0) {
		assert_int_equal(rig->at_end, 0);
		assert_int_not_equal(rig->error, 0);
	}
}

/* TIME-WAIT waits for nobody. */
static void
time_wait_is_not_kept_alive(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.keepalive_s = 2;
	pw_tcp_rig_restart(rig);
	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2\n"
		"+*61000");
	assert_int_equal(rig->closed, 1);
	assert_int_equal(rig->error, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).keepalives, 0);
}

/* RFC 9293 3.10.7.4, eighth step: a FIN that comes again starts the time anew. */
static void
a_fin_again_restarts_time_wait(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2\n"
		"+50000\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2\n"
		"+50000");
	assert_int_equal(rig->closed, 0);
}

/* RFC 5961 5.2: an ACK older than the largest window is a guess, and so is its data. */
static void
data_with_a_guessed_ack_is_refused(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_runf(rig, "< . 1:11(10) ack %u win 1000\n> . 1:1(0) ack 1", 1 - 1000000000u);
	assert_int_equal(rig->received, 0);
}

/* A SYN is not too big for anything: its error is forged, or of a broken router. */
static void
too_big_says_nothing_of_a_syn(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct pw_inet_error error = {.kind = PW_INET_TOO_BIG, .proto = 6, .mtu_bytes = 552};

	pw_tcp_rig_open(rig);
	error.sent.src = pw_tcp_rig_ip.dst;
	error.sent.dst = pw_tcp_rig_ip.src;
	pw_frame_put(error.head, rig->our_port, 2);
	pw_frame_put(error.head + 2, rig->peer_port, 2);
	pw_frame_put(error.head + 4, rig->our_isn, 4);
	pw_tcp_rig_run(rig, "> S 0:0(0)");
	pw_tcp_error(rig->tcp, &error, rig->now_us);
	pw_tcp_rig_run(rig, "+100");
}

/* Only a listener may let a new connection take the place of one in TIME-WAIT. */
static void
time_wait_of_an_active_open_stays(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> S 0:0(0)\n"
		"< S. 0:0(0) ack 1 win 1000 <mss 1000>\n"
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2\n"
		"< S 100000:100000(0) win 1000\n"
		"> *");
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 1);
}

/* RFC 9293 3.10.7.4, TIME-WAIT: the new numbers lie beyond the old ones, however fast those went.
 */
static void
a_new_incarnation_has_new_numbers(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint32_t end;

	rig->send_bytes = 30000;
	rig->close = true;
	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"> *\n"
		"< . 1:1(0) ack 14601 win 65535\n"
		"> *\n"
		"< F. 1:1(0) ack 30002 win 65535\n"
		"> . 30002:30002(0) ack 2");
	end = rig->our_isn + 30002;
	pw_tcp_rig_run(rig,
		"+10\n"
		"< S 100000:100000(0) win 1000\n"
		"> *");
	assert_true((int32_t)(rig->our_isn - end) > 0);
}

/* RFC 9293 3.8.6.3: each second full segment, of the size that comes, not of the one we may send.
 */
static void
each_second_segment_is_acknowledged(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.mtu_bytes = 9000;
	rig->params.rcvbuf_bytes = 100000;
	pw_tcp_rig_restart(rig);
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 8960>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535\n"
		"< . 1:1449(1448) ack 1 win 65535\n"
		"< . 1449:2897(1448) ack 1 win 65535\n"
		"> . 1:1(0) ack 2897");
}

static struct pw_tcp_conn *busy; /* whose callback runs */
static bool closed_while_busy;
static unsigned reconnects;

static void
reconnect(struct pw_tcp_rig *rig)
{
	if (reconnects++ < 2)
		pw_tcp_connect(rig->tcp, &pw_tcp_rig_ip.dst, 0, &pw_tcp_rig_ip.src, 99, &rig->app,
			rig, NULL, rig->now_us);
}

static void
reconnect_at_end(struct pw_tcp_conn *conn, void *ctx)
{
	busy = conn;
	reconnect(ctx);
	busy = NULL;
}

static void
reconnect_when_closed(struct pw_tcp_conn *conn, void *ctx)
{
	struct pw_tcp_rig *rig = ctx;

	closed_while_busy |= conn == busy;
	rig->closed += pw_tcp_get_user(conn) == rig;
	reconnect(rig);
}

/* Room for a new connection is not made by freeing one that is on the stack below. */
static void
no_connection_goes_during_its_callback(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.max_conns = 2;
	pw_tcp_rig_restart(rig);
	closed_while_busy = false;
	reconnects = 0;
	for (unsigned i = 0; i < 2; i++) {
		rig->peer_port = 1000 + i;
		rig->close = true;
		pw_tcp_rig_connect(rig);
		pw_tcp_rig_run(rig,
			"> F. 1:1(0) ack 1\n"
			"< . 1:1(0) ack 2 win 1000");
		if (i == 1) {
			rig->app.readable = reconnect_at_end;
			rig->app.writable = NULL;
			rig->app.closed = reconnect_when_closed;
		}
		pw_tcp_rig_run(rig,
			"< F. 1:1(0) ack 2 win 1000\n"
			"> *");
	}
	reconnects = 2; /* none at the end */
	assert_false(closed_while_busy);
}

static void
ack_all(struct pw_tcp_rig *rig)
{
	const struct pw_packet *last = &rig->sent[rig->nb_sent - 1];
	struct pw_packet ack = {
		.flags = RTE_TCP_ACK_FLAG,
		.seq = rig->peer_isn + 1,
		.ack = last->seq + last->payload_bytes,
		.window = 65535,
	};

	rig->nb_sent = rig->nb_expected = 0;
	pw_tcp_rig_input(rig, &ack);
}

/* Let a peer with tiny segments have all our send buffer in flight. */
static void
hog_records(struct pw_tcp_rig *rig, unsigned i)
{
	rig->peer_port = 2000 + i;
	rig->send_bytes = 0;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 64>\n"
		"> S. 0:0(0) ack 1");
	rig->send_bytes = 4 * HOG_SNDBUF;
	pw_tcp_rig_input(rig,
		&(struct pw_packet){.flags = RTE_TCP_ACK_FLAG,
			.seq = rig->peer_isn + 1,
			.ack = rig->our_isn + 1,
			.window = 65535});
	for (unsigned round = 0; round < 8 && rig->nb_sent > 0; round++)
		ack_all(rig);
	rig->nb_sent = rig->nb_expected = 0;
}

/* What is kept of segments in flight is shared fairly. */
static void
tiny_segments_starve_nobody(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.sndbuf_bytes = HOG_SNDBUF / 2;
	pw_tcp_rig_restart(rig);
	for (unsigned i = 0; i < HOGS; i++)
		hog_records(rig, i);
	assert_int_equal(pw_tcp_rig_stats(rig).no_frag, 0);
	rig->peer_port = 5000;
	rig->send_bytes = 0;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1000>\n"
		"> S. 0:0(0) ack 1");
	rig->send_bytes = 20000;
	pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 65535\n> . 1:1001(1000) ack 1\n> *");
}

/* So that no ACK, time-out or undo has more to look through, however small the segments are. */
static void
segments_in_flight_are_bounded(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.sndbuf_bytes = 4 * HOG_SNDBUF;
	pw_tcp_rig_restart(rig);
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 64,ws 2>\n"
		"> S. 0:0(0) ack 1");
	rig->send_bytes = 32 * HOG_SNDBUF;
	pw_tcp_rig_input(rig,
		&(struct pw_packet){.flags = RTE_TCP_ACK_FLAG,
			.seq = rig->peer_isn + 1,
			.ack = rig->our_isn + 1,
			.window = 65535});
	/* The window doubles with each round. */
	for (unsigned round = 0; round < 20; round++) {
		assert_in_range(rig->nb_sent, 1, PW_TCP_SENT_MAX);
		rig->now_us += 10;
		ack_all(rig);
	}
	assert_int_equal(rig->nb_sent, PW_TCP_SENT_MAX);
	rig->nb_sent = rig->nb_expected = 0;
}

/* Peers that ask for much and never take it leave memory to others. */
static void
closed_windows_starve_nobody(void **state)
{
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < HOGS + 16; i++) {
		rig->peer_port = 2000 + i;
		rig->send_bytes = 0;
		pw_tcp_rig_run(rig,
			"< S 0:0(0) win 0 <mss 1460>\n"
			"> S. 0:0(0) ack 1");
		rig->send_bytes = HOG_SNDBUF;
		pw_tcp_rig_run(rig, "< . 1:1(0) ack 1 win 0\n> *");
	}
	rig->peer_port = 5000;
	rig->send_bytes = 0;
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1");
	rig->send_bytes = 1000;
	pw_tcp_rig_run(rig,
		"< . 1:1(0) ack 1 win 65535\n"
		"> . 1:1001(1000) ack 1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(crossing_syn_acks_have_no_scale),
		TEST(half_closed_and_left_is_no_clean_end),
		TEST(time_wait_is_not_kept_alive),
		TEST(a_fin_again_restarts_time_wait),
		TEST(data_with_a_guessed_ack_is_refused),
		TEST(too_big_says_nothing_of_a_syn),
		TEST(time_wait_of_an_active_open_stays),
		TEST(a_new_incarnation_has_new_numbers),
		TEST(each_second_segment_is_acknowledged),
		TEST(no_connection_goes_during_its_callback),
		TEST(tiny_segments_starve_nobody),
		TEST(segments_in_flight_are_bounded),
		TEST(closed_windows_starve_nobody),
	};

	return cmocka_run_group_tests_name("tcp_hostile", tests, pw_test_eal, NULL);
}
