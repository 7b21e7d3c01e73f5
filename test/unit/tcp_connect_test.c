/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Connections that we open. */

#include <errno.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

static void
a_connection_is_opened(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.rcvbuf_bytes = 1000000;
	pw_tcp_rig_restart(rig);
	rig->send_bytes = 5;
	pw_tcp_rig_open(rig);
	assert_int_equal(rig->opened, 0);
	pw_tcp_rig_run(rig,
		"> S 0:0(0) win 65535\n"
		"+10\n"
		"< S. 0:0(0) ack 1 win 1000 <mss 1000,sackOK,ws 2>\n"
		"> P. 1:6(5) ack 1 win 62500\n"
		"< . 1:101(100) ack 6 win 1000\n"
		"+40\n"
		"> . 6:6(0) ack 101");
	assert_int_equal(rig->opened, 1);
	assert_int_equal(rig->received, 100);
	assert_int_equal(pw_tcp_rig_stats(rig).active_opens, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).passive_opens, 0);
	assert_int_equal(pw_tcp_rig_stats(rig).attempt_fails, 0);
	pw_tcp_rig_run(rig, "< R 101:101(0)");
	assert_int_equal(rig->closed, 1);
	assert_int_equal(rig->error, ECONNRESET);
	pw_tcp_rig_expect_all_home(rig);
}

static void
all_options_are_asked_for(void **state)
{
	struct pw_tcp_rig *rig = *state;
	const struct pw_packet *syn = &rig->sent[0];

	pw_tcp_rig_open(rig);
	assert_int_equal(syn->options_bytes, 4 + 12 + 4 + 4);
	assert_memory_equal(
		syn->options, ((uint8_t[]){2, 4, 1460 >> 8, 1460 & 255, 1, 1, 8, 10}), 8);
	assert_memory_equal(
		syn->options + 12, ((uint8_t[]){0, 0, 0, 0, 1, 1, 4, 2, 1, 3, 3, 0}), 12);
	assert_int_equal(syn->dst_port, rig->peer_port);
	assert_true(syn->src_port >= 49152);
	/* The window of a SYN is not scaled. */
	rig->send_bytes = 3000;
	pw_tcp_rig_run(rig,
		"> S 0:0(0)\n"
		"< S. 0:0(0) ack 1 win 1200 <mss 1000,ts 9 0,ws 7>\n"
		"> . 1:989(988) ack 1 <ts ecr 9>\n"
		"< . 1:1(0) ack 989 win 10 <ts 10 0>\n"
		"> . 989:1977(988) ack 1 <ts ecr 10>\n"
		"< R 1:1(0) <ts 10 0>");
}

static void
refused(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> S 0:0(0)\n"
		"< R 0:0(0)\n"	      /* without an ACK it may be anybody's */
		"< R. 0:0(0) ack 2\n" /* nor with a wrong one */
		"< . 1:1(0) ack 77\n"
		"> R 77:77(0)\n"
		"< F. 1:1(0) ack 1\n");
	assert_int_equal(rig->failed, 0);
	pw_tcp_rig_run(rig, "< R. 0:0(0) ack 1");
	assert_int_equal(rig->failed, 1);
	assert_int_equal(rig->error, ECONNREFUSED);
	assert_int_equal(pw_tcp_rig_stats(rig).attempt_fails, 1);
	assert_int_equal(pw_tcp_rig_stats(rig).estab_resets, 0);
	pw_tcp_rig_expect_all_home(rig);
}

static void
nobody_answers(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> S 0:0(0)\n"
		"+1000\n"
		"> S 0:0(0)\n"
		"+2000\n"
		"> S 0:0(0)\n"
		"+4000\n"
		"> S 0:0(0)\n"
		"+8000\n"
		"> S 0:0(0)\n"
		"+16000\n"
		"> S 0:0(0)\n"
		"+31999\n");
	assert_int_equal(rig->failed, 0);
	pw_tcp_rig_run(rig, "+1");
	assert_int_equal(rig->failed, 1);
	assert_int_equal(rig->error, ETIMEDOUT);
	pw_tcp_rig_expect_all_home(rig);
}

static void
both_open_at_once(void **state)
{
	struct pw_tcp_rig *rig = *state;

	for (unsigned i = 0; i < 2; i++) {
		pw_tcp_rig_open(rig);
		pw_tcp_rig_run(rig,
			"> S 0:0(0)\n"
			"< S 0:0(0) win 1000 <mss 1000>\n"
			"> S. 0:0(0) ack 1");
		/* The peer's SYN-ACK, or an ACK. */
		pw_tcp_rig_run(rig,
			i == 0 ? "< S. 0:0(0) ack 1 win 1000 <mss 1000>"
			       : "< . 1:1(0) ack 1 win 1000");
		assert_int_equal(rig->opened, i + 1);
		pw_tcp_rig_run(rig,
			"< . 1:11(10) ack 1 win 1000\n"
			"+40\n"
			"> . 1:1(0) ack 11\n"
			"< R 11:11(0)");
	}
	assert_int_equal(pw_tcp_rig_stats(rig).active_opens, 2);
	pw_tcp_rig_expect_all_home(rig);
}

static void
ecn_is_asked_for_once(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.ecn = true;
	pw_tcp_rig_restart(rig);
	rig->send_bytes = 10;
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> [not-ect] SEW 0:0(0)\n"
		"< SE. 0:0(0) ack 1 win 1000 <mss 1000>\n"
		"> [ect0] P. 1:11(10) ack 1\n"
		"< R 1:1(0)");
	/* A peer that echoes the bits knows nothing of ECN. */
	rig->send_bytes = 10;
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> SEW 0:0(0)\n"
		"< SEW. 0:0(0) ack 1 win 1000 <mss 1000>\n"
		"> [not-ect] P. 1:11(10) ack 1\n"
		"< R 1:1(0)");
	/* A network that drops it. */
	pw_tcp_rig_open(rig);
	pw_tcp_rig_run(rig,
		"> SEW 0:0(0)\n"
		"+1000\n"
		"> S 0:0(0)\n"
		"< S. 0:0(0) ack 1 win 1000 <mss 1000>\n"
		"> . 1:1(0) ack 1\n"
		"< R 1:1(0)");
}

static int
open_to(struct pw_tcp_rig *rig, uint16_t local_port, uint16_t peer_port)
{
	return pw_tcp_connect(rig->tcp, &pw_tcp_rig_ip.dst, local_port, &pw_tcp_rig_ip.src,
		peer_port, &rig->app, rig, NULL, rig->now_us);
}

static void
ports_are_used_once(void **state)
{
	static bool seen[65536];
	struct pw_tcp_rig *rig = *state;

	assert_int_equal(open_to(rig, 5000, 1), 0);
	assert_int_equal(open_to(rig, 5000, 1), -EADDRINUSE);
	assert_int_equal(open_to(rig, 5000, 2), 0);
	for (unsigned i = 0; i < 62; i++)
		assert_int_equal(open_to(rig, 0, 1), 0);
	assert_int_equal(open_to(rig, 0, 1), -ENOMEM);
	for (unsigned i = 2; i < 64; i++) {
		assert_in_range(rig->sent[i].src_port, 49152, 65535);
		assert_false(seen[rig->sent[i].src_port]);
		seen[rig->sent[i].src_port] = true;
	}
	pw_tcp_rig_run(rig, "> *");
	assert_int_equal(rig->opened + rig->closed, 0);
	pw_tcp_destroy(rig->tcp);
	assert_int_equal(rig->failed, 64);
	rig->tcp = pw_tcp_create(&rig->params);
	assert_non_null(rig->tcp);
}

/* 16384 to one peer; then there are none, until one is closed. */
static void
ports_end(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->params.max_conns = 20000;
	pw_tcp_rig_restart(rig);
	for (unsigned i = 0; i < 16384; i++) {
		assert_int_equal(open_to(rig, 0, 1), 0);
		if (i < 16383)
			rig->nb_sent = 0;
	}
	assert_int_equal(open_to(rig, 0, 1), -EADDRINUSE);
	rig->peer_port = 1;
	pw_tcp_rig_run(rig,
		"> *\n"
		"< R. 0:0(0) ack 1");
	assert_int_equal(rig->failed, 1);
	assert_int_equal(open_to(rig, 0, 1), 0);
	assert_int_equal(rig->sent[0].src_port, rig->our_port);
	pw_tcp_rig_run(rig, "> *");
}

/* We closed first: the port is not taken before TIME-WAIT is over. */
static void
time_wait_keeps_its_port(void **state)
{
	struct pw_tcp_rig *rig = *state;

	rig->close = true;
	assert_int_equal(open_to(rig, 5000, 1000), 0);
	pw_tcp_rig_run(rig,
		"> S 0:0(0)\n"
		"< S. 0:0(0) ack 1 win 1000 <mss 1000>\n"
		"> F. 1:1(0) ack 1\n"
		"< F. 1:1(0) ack 2 win 1000\n"
		"> . 2:2(0) ack 2");
	assert_int_equal(open_to(rig, 5000, 1000), -EADDRINUSE);
	pw_tcp_rig_run(rig, "+60000");
	assert_int_equal(rig->closed, 1);
	assert_int_equal(rig->error, 0);
	assert_int_equal(open_to(rig, 5000, 1000), 0);
	pw_tcp_rig_run(rig, "> S 0:0(0)");
}

/* An application that opens another one when one is gone. */
struct restless {
	struct pw_tcp_rig *rig;
	struct pw_tcp_app app;
	unsigned closed, refused;
};

static void
open_another(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct restless *restless = app_ctx;
	struct pw_tcp_rig *rig = restless->rig;

	(void)conn;
	restless->closed++;
	restless->refused += pw_tcp_connect(rig->tcp, &pw_tcp_rig_ip.dst, 0, &pw_tcp_rig_ip.src,
				     rig->peer_port, &restless->app, restless, NULL,
				     rig->now_us) < 0;
}

static void
callbacks_may_connect(void **state)
{
	struct pw_tcp_rig *rig = *state;
	struct restless restless = {.rig = rig, .app = {.closed = open_another}};

	assert_int_equal(pw_tcp_connect(rig->tcp, &pw_tcp_rig_ip.dst, 0, &pw_tcp_rig_ip.src,
				 rig->peer_port, &restless.app, &restless, NULL, rig->now_us),
		0);
	for (unsigned i = 0; i < 100; i++)
		pw_tcp_rig_run(rig, "> *\n< R. 0:0(0) ack 1\n> S 0:0(0)");
	assert_int_equal(restless.closed, 100);
	assert_int_equal(pw_tcp_rig_stats(rig).curr_conns, 1);
	/* The end is the end. */
	pw_tcp_destroy(rig->tcp);
	assert_int_equal(restless.closed, 101);
	assert_int_equal(restless.refused, 1);
	rig->tcp = pw_tcp_create(&rig->params);
	assert_non_null(rig->tcp);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_connection_is_opened),
		TEST(all_options_are_asked_for),
		TEST(refused),
		TEST(nobody_answers),
		TEST(both_open_at_once),
		TEST(ecn_is_asked_for_once),
		TEST(ports_are_used_once),
		TEST(ports_end),
		TEST(time_wait_keeps_its_port),
		TEST(callbacks_may_connect),
	};

	return cmocka_run_group_tests_name("tcp_connect", tests, pw_test_eal, NULL);
}
