/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* SACK and D-SACK blocks that we send: RFC 2018 4, RFC 2883 4. */

#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

static void
connect_sack(struct pw_tcp_rig *rig)
{
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,sackOK>\n"
		"> S. 0:0(0) ack 1 <mss 1460,sackOK>\n"
		"< . 1:1(0) ack 1 win 65535");
}

static void
blocks_come_newest_first(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_sack(rig);
	pw_tcp_rig_run(rig,
		"< . 101:201(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 101:201>\n"
		"< . 201:301(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 101:301>\n"
		"< . 401:501(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 401:501 101:301>\n"
		"< . 701:801(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 701:801 401:501 101:301>\n"
		/* What came twice comes first, and once. */
		"< . 1:601(600) ack 1 win 1000\n"
		"> . 1:1(0) ack 601 <sack 101:301 701:801>\n"
		"< . 601:801(200) ack 1 win 1000\n"
		"> . 1:1(0) ack 801 <sack 701:801>\n"
		"< . 1:101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 801 <sack 1:101>\n"
		"< . 801:811(10) ack 1 win 1000\n"
		"+40\n"
		"> . 1:1(0) ack 811 <>");
	assert_int_equal(rig->received, 810);
	assert_int_equal(pw_tcp_rig_stats(rig).sack_sent, 7);
	assert_int_equal(pw_tcp_rig_stats(rig).dsack_sent, 3);
}

static void
blocks_join(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_sack(rig);
	pw_tcp_rig_run(rig,
		"< . 1001:2001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 1001:2001>\n"
		"< . 3001:4001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 3001:4001 1001:2001>\n"
		"< . 5001:6001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 5001:6001 3001:4001 1001:2001>\n"
		"< . 2001:3001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 1001:4001 5001:6001>\n"
		/* One byte is there already. */
		"< . 4000:5001(1001) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 4000:4001 1001:6001>\n"
		/* All of it: first what came twice, then the block that it lies in. */
		"< . 5001:6001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 5001:6001 1001:6001>\n"
		"< . 1:1001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 6001 <sack 4000:4001>");
	assert_int_equal(rig->received, 6000);
}

/* Four fit, three with timestamps: the latest. */
static void
as_many_as_fit(void **state)
{
	struct pw_tcp_rig *rig = *state;

	connect_sack(rig);
	pw_tcp_rig_run(rig,
		"< . 1001:1101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 1001:1101>\n"
		"< . 2001:2101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 2001:2101 1001:1101>\n"
		"< . 3001:3101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 3001:3101 2001:2101 1001:1101>\n"
		"< . 4001:4101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 4001:4101 3001:3101 2001:2101 1001:1101>\n"
		"< . 5001:5101(100) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <sack 5001:5101 4001:4101 3001:3101 2001:2101>\n"
		"< R 1:1(0)");
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535 <mss 1460,ts 7 0,sackOK>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535 <ts 7 0>\n"
		"< . 1001:1101(100) ack 1 win 1000 <ts 7 0>\n"
		"> . 1:1(0) ack 1 <ts ecr 7,sack 1001:1101>\n"
		"< . 2001:2101(100) ack 1 win 1000 <ts 7 0>\n"
		"> . 1:1(0) ack 1 <ts ecr 7,sack 2001:2101 1001:1101>\n"
		"< . 3001:3101(100) ack 1 win 1000 <ts 7 0>\n"
		"> . 1:1(0) ack 1 <ts ecr 7,sack 3001:3101 2001:2101 1001:1101>\n"
		"< . 4001:4101(100) ack 1 win 1000 <ts 7 0>\n"
		"> . 1:1(0) ack 1 <ts ecr 7,sack 4001:4101 3001:3101 2001:2101>\n"
		"< R 1:1(0)");
	pw_tcp_rig_expect_all_home(rig);
}

/* Only to a peer that takes them, and with data only where the segment stays small enough. */
static void
where_they_go(void **state)
{
	struct pw_tcp_rig *rig = *state;

	pw_tcp_rig_connect(rig);
	pw_tcp_rig_run(rig,
		"< . 1001:2001(1000) ack 1 win 1000\n"
		"> . 1:1(0) ack 1 <>\n"
		"< R 1:1(0)");
	connect_sack(rig);
	rig->send_bytes = 1460 + 100;
	pw_tcp_rig_run(rig,
		"< . 1:2(1) ack 1 win 65535\n"
		"> . 1:1461(1460) ack 2 <>\n"
		"> P. 1461:1561(100) ack 2 <>\n"
		"< . 1002:2002(1000) ack 1561 win 65535\n"
		"> . 1561:1561(0) ack 2 <sack 1002:2002>");
	rig->send_bytes = 1460 + 100;
	pw_tcp_rig_run(rig,
		"< . 2:3(1) ack 1561 win 65535\n"
		"> . 1561:3021(1460) ack 3 <>\n"
		"> P. 3021:3121(100) ack 3 <sack 1002:2002>");
}

#define STREAM_BYTES 9000

/* What the peer knows of a stream of its own. */
struct stream {
	bool came[STREAM_BYTES];
	unsigned missing; /* the first that did not come */
};

static bool
all_came(const struct stream *stream, uint32_t start, uint32_t end)
{
	for (uint32_t i = start; i < end; i++)
		if (i >= STREAM_BYTES || !stream->came[i])
			return false;
	return true;
}

/* All blocks of an ACK hold what came; only a D-SACK block, the first, may lie below the ACK or in
 * another, and then it came before too.
 */
static void
check_blocks(struct pw_tcp_rig *rig, const struct pw_packet *packet, const struct stream *before,
	const struct stream *now)
{
	const uint8_t *p = packet->options;
	uint32_t base = rig->peer_isn + 1, last_end[4], last_start[4];
	unsigned n = packet->options_bytes / 8;

	assert_int_equal(packet->ack - base, now->missing);
	for (unsigned i = 0; i < n; i++) {
		rte_be32_t be[2];
		uint32_t start, end;
		bool is_dsack;

		memcpy(be, p + 4 + 8 * i, 8);
		start = rte_be_to_cpu_32(be[0]) - base;
		end = rte_be_to_cpu_32(be[1]) - base;
		assert_true(start < end && all_came(now, start, end));
		is_dsack = i == 0 && all_came(before, start, end);
		if (!is_dsack)
			assert_true(start > now->missing);
		for (unsigned j = is_dsack ? n : 0; j < i; j++)
			assert_true(end < last_start[j] || start > last_end[j] ||
				(j == 0 && all_came(before, last_start[0], last_end[0])));
		last_start[i] = start;
		last_end[i] = end;
	}
}

/* Pieces of a stream in any order, some again: what the ACKs say is true at each of them. */
static void
blocks_tell_the_truth(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned round = 0; round < 100; round++) {
		struct stream now = {0};

		connect_sack(rig);
		while (now.missing < STREAM_BYTES) {
			uint32_t bytes = 1 + pw_test_random(&seed, 500);
			uint32_t at = pw_chance(&seed, 4) ? now.missing
							  : pw_test_random(&seed, STREAM_BYTES);
			struct stream before = now;
			struct pw_packet packet = {.flags = RTE_TCP_ACK_FLAG,
				.seq = rig->peer_isn + 1 + at,
				.ack = rig->our_isn + 1};

			packet.payload_bytes = RTE_MIN(bytes, STREAM_BYTES - at);
			memset(&now.came[at], true, packet.payload_bytes);
			while (now.missing < STREAM_BYTES && now.came[now.missing])
				now.missing++;
			pw_tcp_rig_input(rig, &packet);
			for (unsigned i = 0; i < rig->nb_sent; i++)
				check_blocks(rig, &rig->sent[i], &before, &now);
			rig->nb_sent = 0;
		}
		assert_int_equal(rig->received, STREAM_BYTES);
		pw_tcp_rig_runf(rig, "< R %u:%u(0)", 1 + STREAM_BYTES, 1 + STREAM_BYTES);
		pw_tcp_rig_expect_all_home(rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(blocks_come_newest_first),
		RIG_TEST(blocks_join),
		RIG_TEST(as_many_as_fit),
		RIG_TEST(blocks_tell_the_truth),
		cmocka_unit_test_setup_teardown(
			where_they_go, pw_tcp_rig_set_up, pw_tcp_rig_tear_down),
	};

	return cmocka_run_group_tests_name("tcp_blocks", tests, pw_test_eal, NULL);
}
