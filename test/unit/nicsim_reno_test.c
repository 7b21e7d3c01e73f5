/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The congestion window of the TCP sender, and its timeout, step by step. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tcp_reno.h"
#include "tcp_rtt.h"

#define MSS 1000
#define MAX 1000000

static void
the_first_window_is_of_rfc_6928(void **state)
{
	struct tcp_reno reno;

	(void)state;
	tcp_reno_init(&reno, MSS, MAX);
	assert_int_equal(reno.cwnd_bytes, 10 * MSS);
	tcp_reno_init(&reno, 1460, MAX);
	assert_int_equal(reno.cwnd_bytes, 14600);
	tcp_reno_init(&reno, 8960, MAX);
	assert_int_equal(reno.cwnd_bytes, 2 * 8960);
	tcp_reno_init(&reno, 8960, 16384);
	assert_int_equal(reno.cwnd_bytes, 16384);
}

static void
slow_start_doubles_and_avoidance_adds_one(void **state)
{
	struct tcp_reno reno;

	(void)state;
	tcp_reno_init(&reno, MSS, MAX);
	assert_false(tcp_reno_ack(&reno, 10001, 10 * MSS, 0));
	assert_int_equal(reno.cwnd_bytes, 20 * MSS);
	reno.ssthresh_bytes = 20 * MSS;
	for (unsigned i = 1; i < 20; i++)
		assert_false(tcp_reno_ack(&reno, 10001 + i * MSS, MSS, 0));
	assert_int_equal(reno.cwnd_bytes, 20 * MSS);
	tcp_reno_ack(&reno, 30001, MSS, 0);
	assert_int_equal(reno.cwnd_bytes, 21 * MSS);
}

static void
it_never_exceeds_its_bound(void **state)
{
	struct tcp_reno reno;

	(void)state;
	tcp_reno_init(&reno, MSS, 64 * MSS);
	for (unsigned i = 1; i < 1000; i++) {
		tcp_reno_ack(&reno, 1 + i * MSS, MSS, 0);
		assert_true(reno.cwnd_bytes <= 64 * MSS);
	}
}

/* RFC 6582 3.2. */
static void
the_third_double_ack_begins_recovery(void **state)
{
	struct tcp_reno reno;

	(void)state;
	tcp_reno_init(&reno, MSS, MAX);
	assert_false(tcp_reno_dup_ack(&reno, 1, 10001, 10 * MSS));
	assert_false(tcp_reno_dup_ack(&reno, 1, 10001, 10 * MSS));
	assert_true(tcp_reno_dup_ack(&reno, 1, 10001, 10 * MSS));
	assert_int_equal(reno.ssthresh_bytes, 5 * MSS);
	assert_int_equal(reno.cwnd_bytes, 8 * MSS);
	assert_false(tcp_reno_dup_ack(&reno, 1, 10001, 10 * MSS));
	assert_int_equal(reno.cwnd_bytes, 9 * MSS);
	/* A part: the next hole is filled, and the window made smaller by it. */
	assert_true(tcp_reno_ack(&reno, 4001, 4 * MSS, 6 * MSS));
	assert_int_equal(reno.cwnd_bytes, 6 * MSS);
	/* All. */
	assert_false(tcp_reno_ack(&reno, 10001, 6 * MSS, 3 * MSS));
	assert_false(reno.is_recovering);
	assert_int_equal(reno.cwnd_bytes, 4 * MSS);
}

static void
a_timeout_begins_with_one_segment(void **state)
{
	struct tcp_reno reno;

	(void)state;
	tcp_reno_init(&reno, MSS, MAX);
	tcp_reno_timeout(&reno, 10001, 10 * MSS, false);
	assert_int_equal(reno.cwnd_bytes, MSS);
	assert_int_equal(reno.ssthresh_bytes, 5 * MSS);
	tcp_reno_timeout(&reno, 10001, MSS, true);
	assert_int_equal(reno.ssthresh_bytes, 5 * MSS);
	/* Double ACKs for what was sent before it are its own doing. */
	for (unsigned i = 0; i < 5; i++)
		assert_false(tcp_reno_dup_ack(&reno, 5001, 10001, MSS));
	tcp_reno_ack(&reno, 10001, 5 * MSS, 0);
	tcp_reno_ack(&reno, 11001, MSS, 0);
	for (unsigned i = 0; i < 2; i++)
		assert_false(tcp_reno_dup_ack(&reno, 11001, 20001, 9 * MSS));
	assert_true(tcp_reno_dup_ack(&reno, 11001, 20001, 9 * MSS));
}

/* RFC 6298 2, with Linux's least. */
static void
the_timeout_follows_what_is_measured(void **state)
{
	struct tcp_rtt rtt = {.rto_ns = TCP_RTO_FIRST_NS};

	(void)state;
	tcp_rtt_sample(&rtt, 400000000);
	assert_int_equal(rtt.srtt_ns, 400000000);
	assert_int_equal(rtt.rto_ns, 1200000000);
	tcp_rtt_sample(&rtt, 480000000);
	assert_int_equal(rtt.srtt_ns, 410000000);
	assert_int_equal(rtt.var_ns, 170000000);
	assert_int_equal(rtt.rto_ns, 1090000000);
	for (unsigned i = 0; i < 200; i++)
		tcp_rtt_sample(&rtt, 1000);
	assert_int_equal(rtt.rto_ns, TCP_RTO_MIN_NS);
	tcp_rtt_sample(&rtt, UINT64_C(600000000000));
	assert_int_equal(rtt.rto_ns, TCP_RTO_MAX_NS);
	assert_int_equal(tcp_rtt_back_off(TCP_RTO_MAX_NS), TCP_RTO_MAX_NS);
	assert_int_equal(tcp_rtt_back_off(5), 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_window_is_of_rfc_6928),
		cmocka_unit_test(slow_start_doubles_and_avoidance_adds_one),
		cmocka_unit_test(it_never_exceeds_its_bound),
		cmocka_unit_test(the_third_double_ack_begins_recovery),
		cmocka_unit_test(a_timeout_begins_with_one_segment),
		cmocka_unit_test(the_timeout_follows_what_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
