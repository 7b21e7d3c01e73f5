/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The congestion window, seen over a path of 100 ms that loses what the test says. */

#include <stdlib.h>
#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_priv.h"
#include "pw_tcp_rig.h"

#define MSS 1000
#define RTT_MS 100
#define FLYING_MAX 8192

struct path {
	struct pw_tcp_rig *rig;
	struct pw_tcp *tcp;
	uint32_t isn;
	uint32_t have, top; /* bytes received in order, and behind the last */
	uint32_t lose;	    /* the segment with this byte, once; 0: none */
	bool ece;	    /* ACKs say so */
	uint32_t out_bytes; /* behind the last one sent */
	unsigned first, n;
	struct {
		uint64_t at_us;
		uint32_t start, end;
	} flying[FLYING_MAX];
	/* the application */
	uint32_t send_bytes; /* now; UINT32_MAX: always more */
	struct pw_tcp_conn *conn;
};

static void
on_output(void *ctx, struct rte_mbuf *m, const struct pw_ip_info *ip, uint64_t now_us)
{
	const struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod(m, const struct rte_tcp_hdr *);
	struct path *path = ctx;
	uint32_t bytes = m->pkt_len - (tcp->data_off >> 4) * 4;
	uint32_t start = rte_be_to_cpu_32(tcp->sent_seq) - path->isn - 1;

	(void)ip;
	if (tcp->tcp_flags & RTE_TCP_SYN_FLAG)
		path->isn = rte_be_to_cpu_32(tcp->sent_seq);
	rte_pktmbuf_free(m);
	if (bytes == 0)
		return;
	path->out_bytes = RTE_MAX(path->out_bytes, start + bytes);
	if (path->lose >= start + 1 && path->lose < start + bytes + 1) {
		path->lose = 0;
		return;
	}
	assert_true(path->n < FLYING_MAX);
	path->flying[(path->first + path->n++) % FLYING_MAX] = (typeof(path->flying[0])){
		now_us + RTT_MS * 1000, start, start + bytes};
}

static void
send_some(struct pw_tcp_conn *conn, void *app_ctx)
{
	static const uint8_t zeros[UINT16_MAX];
	struct path *path = app_ctx;
	uint32_t n;

	path->conn = conn;
	do {
		n = pw_tcp_send(conn, zeros, RTE_MIN(path->send_bytes, sizeof(zeros)));
		if (path->send_bytes != UINT32_MAX)
			path->send_bytes -= n;
	} while (n > 0 && path->send_bytes > 0);
}

static void
input(struct path *path, struct pw_packet *packet)
{
	packet->src_port = 1;
	packet->dst_port = RIG_PORT;
	packet->window = 65535;
	pw_tcp_input(path->tcp, pw_packet_segment(path->rig->pool, packet), &pw_tcp_rig_ip,
		path->rig->now_us);
}

static void
send_ack(struct path *path)
{
	struct pw_packet ack = {.seq = 1,
		.ack = path->isn + 1 + path->have,
		.flags = RTE_TCP_ACK_FLAG | (path->ece ? RTE_TCP_ECE_FLAG : 0)};

	if (path->top > path->have) { /* one is missing, all behind it are there */
		memcpy(ack.options, (uint8_t[]){1, 1, 5, 10}, 4);
		pw_frame_put(ack.options + 4, ack.ack + MSS, 4);
		pw_frame_put(ack.options + 8, path->isn + 1 + path->top, 4);
		ack.options_bytes = 12;
	}
	input(path, &ack);
}

/* Let time go by; the peer acknowledges each segment. */
static void
run_ms(struct path *path, unsigned ms)
{
	while (ms-- > 0) {
		path->rig->now_us += 1000;
		pw_tcp_tick(path->tcp, path->rig->now_us);
		while (path->n > 0 && path->flying[path->first].at_us <= path->rig->now_us) {
			uint32_t start = path->flying[path->first].start;
			uint32_t end = path->flying[path->first].end;

			path->first = (path->first + 1) % FLYING_MAX;
			path->n--;
			if (start > path->have)
				path->top = RTE_MAX(path->top, end);
			else
				path->have = RTE_MAX(RTE_MAX(path->have, path->top), end);
			send_ack(path);
		}
	}
}

static struct pw_tcp_conn_info
info(struct path *path)
{
	struct pw_tcp_conn_info info;

	pw_tcp_conn_get_info(path->conn, &info);
	return info;
}

/* In segments. */
static double
cwnd(struct path *path)
{
	return (double)info(path).cwnd_bytes / MSS;
}

/* Connect, and send so many bytes. */
static struct path *
path_open(struct pw_tcp_rig *rig, enum pw_tcp_congestion congestion, uint32_t send_bytes)
{
	static const struct pw_tcp_app app = {.opened = send_some, .writable = send_some};
	struct path *path = calloc(1, sizeof(*path));
	struct pw_tcp_params params = rig->params;
	struct pw_packet syn = {.flags = RTE_TCP_SYN_FLAG,
		.options = {2, 4, MSS >> 8, MSS & 255, 1, 1, 4, 2, 1, 3, 3, 7},
		.options_bytes = 12};
	struct pw_packet ack = {.seq = 1, .flags = RTE_TCP_ACK_FLAG};

	assert_non_null(path);
	path->rig = rig;
	path->send_bytes = send_bytes;
	params.output = on_output;
	params.ctx = path;
	params.sndbuf_bytes = 1 << 20;
	params.tso_max_bytes = 0;
	params.tso_max_mbufs = 0;
	params.congestion = congestion;
	path->tcp = pw_tcp_create(&params);
	assert_non_null(path->tcp);
	assert_int_equal(pw_tcp_listen(path->tcp, RIG_PORT, &app, path), 0);
	input(path, &syn);
	rig->now_us += RTT_MS * 1000;
	ack.ack = path->isn + 1;
	input(path, &ack);
	return path;
}

static void
path_close(struct path *path)
{
	pw_tcp_destroy(path->tcp);
	free(path);
}

/* Grow to a window at least, then lose one segment; the new ssthresh, when it is repaired. */
static double
grow_and_lose(struct path *path, double segments)
{
	uint32_t ssthresh;

	while (cwnd(path) < segments)
		run_ms(path, 1);
	ssthresh = info(path).ssthresh_bytes;
	path->lose = path->out_bytes + 1;
	for (unsigned i = 0; info(path).ssthresh_bytes == ssthresh; i++) {
		run_ms(path, 1);
		assert_true(i < 10 * RTT_MS);
	}
	while (path->top > path->have)
		run_ms(path, 1);
	return (double)info(path).ssthresh_bytes / MSS;
}

static void
slow_start_doubles(void **state)
{
	struct path *path = path_open(*state, PW_TCP_CUBIC, UINT32_MAX);

	for (unsigned segments = 10; segments <= 160; segments *= 2) {
		assert_float_equal(cwnd(path), segments, 0.01);
		run_ms(path, RTT_MS);
	}
	path_close(path);
}

/* RFC 9438 4.2: W(t) = 0.4 (t - K)^3 + Wmax, K = cbrt(0.3 Wmax / 0.4). */
static void
cubic_follows_the_formula(void **state)
{
	static const double times_s[] = {0.5, 1, 2, 3, 4, 5, 6};
	struct path *path = path_open(*state, PW_TCP_CUBIC, UINT32_MAX);
	double start = grow_and_lose(path, 60), w_max = start / 0.7, k = 0;
	unsigned ms = 0;

	while (k * k * k < 0.3 * w_max / 0.4)
		k += 0.0001;
	assert_float_equal(cwnd(path), start, 3);
	for (unsigned i = 0; i < RTE_DIM(times_s); i++) {
		double d = times_s[i] - k, want = 0.4 * d * d * d + w_max;

		run_ms(path, times_s[i] * 1000 - ms);
		ms = times_s[i] * 1000;
		print_message("%.1f s: %.1f segments, want %.1f\n", times_s[i], cwnd(path), want);
		assert_float_equal(cwnd(path), want, want * 0.03);
	}
	path_close(path);
}

/* 4.3: a small window grows as Reno's would, 0.53 segments a round trip after a loss. */
static void
cubic_is_no_slower_than_reno(void **state)
{
	struct path *path = path_open(*state, PW_TCP_CUBIC, UINT32_MAX);
	double start = grow_and_lose(path, 20);

	run_ms(path, 10 * RTT_MS);
	assert_true(cwnd(path) >= start + 0.45 * 10);
	path_close(path);
}

/* 4.7: a second loss before the old window is reached leaves more to others. */
static void
cubic_converges_fast(void **state)
{
	struct path *path = path_open(*state, PW_TCP_CUBIC, UINT32_MAX);
	double first = grow_and_lose(path, 60) / 0.7, second, flat;

	second = grow_and_lose(path, 0) / 0.7;
	assert_true(second < first);
	/* The curve is flat around 0.85 of the second window, not around it. */
	run_ms(path, 3500);
	flat = cwnd(path);
	assert_float_equal(flat, second * 0.85, second * 0.05);
	path_close(path);
}

static void
newreno_halves_and_adds_one(void **state)
{
	struct path *path = path_open(*state, PW_TCP_NEWRENO, UINT32_MAX);
	double start = grow_and_lose(path, 60);

	assert_in_range(start, 50, 110);
	start = cwnd(path);
	run_ms(path, 10 * RTT_MS);
	assert_float_equal(cwnd(path), start + 10, 1.5);
	path_close(path);
}

/* RFC 7661: what the application did not use is not known to be there. */
static void
an_idle_application_earns_no_window(void **state)
{
	struct path *path = path_open(*state, PW_TCP_CUBIC, 2000);

	for (unsigned i = 0; i < 100; i++) {
		run_ms(path, RTT_MS);
		path->send_bytes = 2000;
		send_some(path->conn, path);
		send_ack(path);
	}
	assert_in_range(cwnd(path), 10, 12);
	path_close(path);
}

/* RFC 5681 4.1. */
static void
a_window_ages(void **state)
{
	struct path *path = path_open(*state, PW_TCP_CUBIC, 300000);

	run_ms(path, 2000);
	assert_int_equal(path->have, 300000);
	assert_true(cwnd(path) > 100);
	path->send_bytes = 50000;
	send_some(path->conn, path);
	send_ack(path);
	assert_int_equal(path->n, 10);
	path_close(path);
}

/* RFC 3168 6.1.2: less once a round trip, as for a loss, and CWR is to tell the peer. */
static void
ece_reduces_once_a_round_trip(void **state)
{
	struct path *path = path_open(*state, PW_TCP_CUBIC, UINT32_MAX);
	struct pw_tcp_stats stats;
	double before;

	while (cwnd(path) < 60)
		run_ms(path, 1);
	path->conn->ecn_ok = true;
	path->ece = true;
	before = cwnd(path);
	do {
		run_ms(path, 1);
		pw_tcp_get_stats(path->tcp, &stats);
	} while (stats.ecn_reductions == 0);
	assert_float_equal(cwnd(path), before * 0.7, 0.1);
	run_ms(path, RTT_MS - 2);
	assert_float_equal(cwnd(path), before * 0.7, 0.1);
	path->ece = false;
	run_ms(path, 3 * RTT_MS);
	pw_tcp_get_stats(path->tcp, &stats);
	assert_int_equal(stats.ecn_reductions, 1);
	assert_int_equal(stats.retrans_segs, 0);
	assert_true(cwnd(path) > before * 0.7);

	path->ece = true;
	run_ms(path, 3 * RTT_MS);
	pw_tcp_get_stats(path->tcp, &stats);
	assert_in_range(stats.ecn_reductions, 3, 4);
	path_close(path);
}

#define CC_TEST(f) cmocka_unit_test_setup_teardown(f, pw_tcp_rig_set_up, pw_tcp_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CC_TEST(slow_start_doubles),
		CC_TEST(cubic_follows_the_formula),
		CC_TEST(cubic_is_no_slower_than_reno),
		CC_TEST(cubic_converges_fast),
		CC_TEST(newreno_halves_and_adds_one),
		CC_TEST(an_idle_application_earns_no_window),
		CC_TEST(a_window_ages),
		CC_TEST(ece_reduces_once_a_round_trip),
	};

	return cmocka_run_group_tests_name("tcp_cc", tests, pw_test_eal, NULL);
}
