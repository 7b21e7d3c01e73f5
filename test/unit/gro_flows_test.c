/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The table of flows: who is held, how long, and who is whose flow. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "pw_gro_case.h"
#include "pw_gro_priv.h"

/* A frame of a flow by its port, and place in it. */
static struct pw_packet
segment_of(unsigned flow, unsigned i)
{
	struct pw_packet packet = pw_gro_case_packet(flow % 2, false, &pw_gro_case_tags[0]);

	packet.src_port += flow;
	packet.payload_bytes = 100 + flow;
	packet.seq += i * packet.payload_bytes;
	packet.ip_id += i;
	return packet;
}

static void
send_segment(struct pw_gro_rig *rig, unsigned flow, unsigned i)
{
	struct pw_packet packet = segment_of(flow, i);
	struct rte_mbuf *m = pw_packet_frame(rig->pool, &packet);

	pw_gro_rig_expect(rig, flow, m, &packet);
	pw_gro_rig_receive(rig, &m, 1);
}

/* What came out since the last time. */
static void
expect_sizes(struct pw_gro_rig *rig, const char *sizes)
{
	assert_string_equal(rig->sizes, sizes);
	rig->sizes[0] = '\0';
}

static void
parameters_are_checked(void **state)
{
	static const struct {
		uint32_t types;
		uint16_t max_flows;
		bool valid;
	} cases[] = {
		{0, 0, true},
		{PW_GRO_TCP | PW_GRO_UDP, 1, true},
		{PW_GRO_UDP_IPV6, 2, true},
		{0, PW_GRO_FLOWS_MAX, true},
		{1u << 4, 0, false},
		{1u << 31, 0, false},
		{PW_GRO_TCP | 1u << 8, 0, false},
		{0, 3, false},
		{0, 100, false},
		{0, PW_GRO_FLOWS_MAX - 1, false},
		{0, PW_GRO_FLOWS_MAX + 1, false},
		{0, UINT16_MAX, false},
	};
	struct pw_gro_rig *rig = *state;
	struct pw_gro_params params = rig->params;

	for (unsigned i = 0; i < RTE_DIM(cases); i++) {
		struct pw_gro *gro;

		params.types = cases[i].types;
		params.max_flows = cases[i].max_flows;
		rte_errno = 0;
		gro = pw_gro_create(&params);
		assert_int_equal(gro != NULL, cases[i].valid);
		assert_int_equal(rte_errno, cases[i].valid ? 0 : EINVAL);
		pw_gro_destroy(gro);
	}
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct pw_test_memory before = pw_test_memory();
	struct pw_gro *gro;
	int k = -1;

	do {
		pw_test_fail_alloc(++k);
		rte_errno = 0;
		gro = pw_gro_create(&rig->params);
		if (!pw_test_alloc_failed())
			break;
		assert_null(gro);
		assert_int_equal(rte_errno, ENOMEM);
		pw_test_memory_equal(before);
	} while (true);
	pw_test_fail_alloc(-1);
	assert_non_null(gro);
	assert_true(k >= 1);
	pw_gro_destroy(gro);
	pw_test_memory_equal(before);
}

static void
flows_leave_in_the_order_they_came(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 0; i < 3; i++)
		for (unsigned flow = 0; flow < 60; flow++)
			send_segment(rig, (flow * 7 + i) % 60, i);
	assert_int_equal(pw_gro_held(rig->gro), 60);
	assert_int_equal(rig->packets, 0);
	pw_gro_rig_flush(rig);
	assert_int_equal(rig->packets, 60);
}

static void
a_new_flow_pushes_out_the_oldest(void **state)
{
	struct pw_gro_rig *rig = *state;

	pw_gro_rig_open(rig, (struct pw_gro_params){.max_flows = 4});
	for (unsigned flow = 0; flow < 4; flow++)
		send_segment(rig, flow, 0);
	send_segment(rig, 0, 1); /* does not make it younger */
	expect_sizes(rig, "");
	send_segment(rig, 4, 0);
	expect_sizes(rig, "200");
	send_segment(rig, 5, 0);
	expect_sizes(rig, "101");
	send_segment(rig, 4, 1);
	send_segment(rig, 0, 2);
	expect_sizes(rig, "102");
	assert_int_equal(pw_gro_rig_counter(rig, "flush_table_full"), 3);
	pw_gro_rig_flush(rig);
	expect_sizes(rig, "103 208 105 100");
	assert_int_equal(pw_gro_rig_counter(rig, "flush_all"), 4);
}

static void
tables_of_all_sizes_hold_so_many(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (uint16_t max = 1; max <= 32; max *= 2) {
		pw_gro_rig_open(rig, (struct pw_gro_params){.max_flows = max});
		for (unsigned round = 0; round < 3; round++)
			for (unsigned flow = 0; flow < 2u * max; flow++)
				send_segment(rig, flow, round);
		assert_int_equal(pw_gro_held(rig->gro), max);
		assert_int_equal(pw_gro_rig_counter(rig, "flush_table_full"), 5 * max);
		assert_int_equal(pw_gro_rig_counter(rig, "merged"), 0);
		pw_gro_rig_flush(rig);
	}
}

static void
the_default_table_holds_its_number(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned flow = 0; flow <= PW_GRO_FLOWS_DEFAULT; flow++)
		send_segment(rig, flow, 0);
	assert_int_equal(pw_gro_held(rig->gro), PW_GRO_FLOWS_DEFAULT);
	expect_sizes(rig, "100");
	pw_gro_rig_flush(rig);
}

/* Among few flows and among many, it leaves behind those of its hosts. */
static void
a_fragment_leaves_behind_its_hosts(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned flows = 2; flows <= 256; flows *= 2) {
		struct pw_packet fragment = segment_of(0, 1);
		struct rte_mbuf *m;

		pw_gro_rig_open(rig, (struct pw_gro_params){.max_flows = 256});
		for (unsigned flow = 0; flow < flows; flow++)
			send_segment(rig, flow, 0);
		fragment.ip_frag = 100;
		m = pw_packet_frame(rig->pool, &fragment);
		pw_gro_rig_expect(rig, 0, m, &fragment);
		pw_gro_rig_receive(rig, &m, 1);
		for (unsigned flow = 0; flow < flows; flow += 2)
			assert_true(STAILQ_EMPTY(&rig->flows[flow]));
		pw_gro_rig_flush(rig);
	}
}

static void
send_at(struct pw_gro_rig *rig, uint64_t now_us, unsigned flow, unsigned i)
{
	rig->now_us = now_us;
	send_segment(rig, flow, i);
}

static void
the_old_are_flushed(void **state)
{
	struct pw_gro_rig *rig = *state;

	send_at(rig, 10, 0, 0);
	send_at(rig, 20, 1, 0);
	send_at(rig, 20, 2, 0);
	send_at(rig, 25, 0, 1); /* held since 10 all the same */
	send_at(rig, 30, 3, 0);
	pw_gro_rig_flush_older(rig, 0);
	pw_gro_rig_flush_older(rig, 9);
	expect_sizes(rig, "");
	pw_gro_rig_flush_older(rig, 10);
	expect_sizes(rig, "200");
	send_at(rig, 30, 0, 2); /* anew */
	pw_gro_rig_flush_older(rig, 19);
	expect_sizes(rig, "");
	pw_gro_rig_flush_older(rig, 29);
	expect_sizes(rig, "101 102");
	assert_int_equal(pw_gro_rig_counter(rig, "flush_timeout"), 3);
	send_at(rig, UINT64_MAX, 4, 0);
	pw_gro_rig_flush_older(rig, UINT64_MAX - 1);
	expect_sizes(rig, "103 100");
	pw_gro_rig_flush_older(rig, UINT64_MAX);
	expect_sizes(rig, "104");
	pw_gro_rig_flush_older(rig, UINT64_MAX);
	pw_gro_rig_flush(rig);
	expect_sizes(rig, "");
}

/* One that went between does not hide those behind it. */
static void
the_old_are_flushed_around_holes(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct pw_packet ack = segment_of(1, 1);
	struct rte_mbuf *m;

	for (unsigned flow = 0; flow < 4; flow++)
		send_at(rig, 10 * flow, flow, 0);
	ack.payload_bytes = 0;
	m = pw_packet_frame(rig->pool, &ack);
	pw_gro_rig_expect(rig, 1, m, &ack);
	pw_gro_rig_receive(rig, &m, 1);
	expect_sizes(rig, "101 0");
	pw_gro_rig_flush_older(rig, 20);
	expect_sizes(rig, "100 102");
	pw_gro_rig_flush(rig);
	expect_sizes(rig, "103");
}

static void
destroy_frees_what_is_held(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct pw_gro_params params = rig->params;
	size_t heap = pw_test_heap_bytes();
	struct pw_gro *gro = pw_gro_create(&params);

	for (unsigned i = 0; i < 30; i++) {
		struct pw_packet packet = segment_of(i % 3, i / 3);
		struct rte_mbuf *m = pw_packet_frame(rig->pool, &packet);

		if (i % 4 == 1)
			pw_packet_split(rig->pool, m, m->pkt_len - 50);
		pw_gro_receive(gro, &m, 1, 0);
	}
	assert_int_equal(pw_gro_held(gro), 3);
	pw_gro_destroy(gro);
	pw_gro_destroy(NULL);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
	assert_int_equal(pw_test_heap_bytes(), heap);
}

static struct rte_mbuf *
tagged(struct pw_gro_rig *rig, const struct pw_gro_tags *tags, bool ipv6, unsigned i, unsigned flow)
{
	struct pw_packet packet = pw_gro_case_packet(ipv6, false, tags);
	struct rte_mbuf *m;

	packet.payload_bytes = 100;
	packet.seq += 100 * i;
	packet.ip_id += i;
	m = pw_packet_frame(rig->pool, &packet);
	pw_gro_case_strip(m, tags);
	pw_gro_rig_expect(rig, flow, m, &packet);
	return m;
}

/* Each two kinds of tags in turn, and one behind the other as if they were one flow. */
static void
other_tags_are_other_flows(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 0; i < 2 * CASE_TAGS * CASE_TAGS; i++) {
		const struct pw_gro_tags *a = &pw_gro_case_tags[i / 2 % CASE_TAGS];
		const struct pw_gro_tags *b = &pw_gro_case_tags[i / 2 / CASE_TAGS];
		struct rte_mbuf *m;

		if (a == b)
			continue;
		rig->sizes[0] = '\0';
		for (unsigned k = 0; k < 4; k++) {
			m = tagged(rig, k % 2 ? b : a, i % 2, k / 2, k % 2);
			pw_gro_rig_receive(rig, &m, 1);
		}
		pw_gro_rig_flush(rig);
		for (unsigned k = 0; k < 2; k++) {
			m = tagged(rig, k % 2 ? b : a, i % 2, k, k);
			pw_gro_rig_receive(rig, &m, 1);
		}
		pw_gro_rig_flush(rig);
		if (strcmp(rig->sizes, "200 200 100 100") != 0)
			fail_msg("%s and %s: %s", a->name, b->name, rig->sizes);
	}
}

/* The tag of an mbuf says nothing without its flag. */
static void
garbage_in_the_tag_is_not_read(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 0; i < 3; i++) {
		struct pw_packet packet = segment_of(0, i);
		struct rte_mbuf *m = pw_packet_frame(rig->pool, &packet);

		m->vlan_tci = 100 + i;
		m->vlan_tci_outer = 200 + i;
		pw_gro_rig_expect(rig, 0, m, &packet);
		pw_gro_rig_receive(rig, &m, 1);
	}
	pw_gro_rig_flush(rig);
	expect_sizes(rig, "300");
}

/* None, the same for all, one for each flow, that of the flow's number, and one for each packet. */
static void
the_rss_hash_changes_nothing(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned kind = 0; kind < 5; kind++) {
		for (unsigned i = 0; i < 40; i++) {
			unsigned flow = i % 8;
			struct pw_packet packet = segment_of(flow, i / 8);
			struct rte_mbuf *m = pw_packet_frame(rig->pool, &packet);

			m->hash.rss = kind == 1 ? 7
				: kind == 2	? flow * 0x9e3779b1
				: kind == 3	? flow
						: i * 0x9e3779b1;
			if (kind > 0)
				m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
			pw_gro_rig_expect(rig, flow, m, &packet);
			pw_gro_rig_receive(rig, &m, 1);
		}
		pw_gro_rig_flush(rig);
		expect_sizes(rig, "500 505 510 515 520 525 530 535");
	}
}

/* One call for many packets of many flows, and for none. */
static void
bursts_are_like_single_packets(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned k = 0; k < RIG_SIMD_KINDS; k++) {
		struct rte_mbuf *burst[600];

		pw_gro_rig_simd(k);
		pw_gro_rig_open(rig, (struct pw_gro_params){.max_flows = 64});
		for (unsigned i = 0; i < RTE_DIM(burst); i++) {
			struct pw_packet packet = segment_of(i % 60, i / 60);

			burst[i] = pw_packet_frame(rig->pool, &packet);
			pw_gro_rig_expect(rig, i % 60, burst[i], &packet);
		}
		pw_gro_rig_receive(rig, burst, RTE_DIM(burst));
		pw_gro_rig_receive(rig, burst, 0);
		assert_int_equal(pw_gro_held(rig->gro), 60);
		pw_gro_rig_flush(rig);
		assert_int_equal(rig->packets, 60);
	}
}

/*
 * In a burst flows take turns in an order that is another one in the next burst, when other flows
 * have their places in the table; some rounds all have the same ports, and other hosts.
 */
static void
flows_take_turns(void **state)
{
	enum { FLOWS = 16, TURNS = 5 };
	struct pw_gro_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned round = 0; round < 300; round++) {
		unsigned n = 1 + pw_test_random(&seed, FLOWS), len = 0;
		unsigned first = pw_test_random(&seed, FLOWS),
			 step = 1 + 2 * pw_test_random(&seed, 8);
		struct rte_mbuf *burst[FLOWS * TURNS];
		uint64_t came_out;

		pw_gro_rig_simd(round % RIG_SIMD_KINDS);
		if (round % 50 == 0)
			pw_gro_rig_open(rig, (struct pw_gro_params){.max_flows = FLOWS});
		for (unsigned i = 0; i < n * TURNS; i++) {
			unsigned flow = (first + i % n * step) % FLOWS;
			struct pw_packet packet = segment_of(flow, i / n);

			if (round % 2 == 0) {
				packet.src_port -= flow;
				packet.src_ip += flow;
			}
			burst[len] = pw_packet_frame(rig->pool, &packet);
			pw_gro_rig_expect(rig, flow, burst[len++], &packet);
		}
		came_out = rig->packets;
		pw_gro_rig_receive(rig, burst, len);
		assert_int_equal(pw_gro_held(rig->gro), n);
		pw_gro_rig_flush(rig);
		assert_int_equal(rig->packets, came_out + n);
		rig->sizes[0] = '\0';
	}
}

/* All of a large burst may pass: as many leave at once. */
static void
bursts_of_passing_packets_pass(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct rte_mbuf *burst[600];

	for (unsigned i = 0; i < RTE_DIM(burst); i++) {
		struct pw_packet packet = segment_of(i % 60, i / 60);

		if (i >= 60)
			packet.payload_bytes = 0;
		burst[i] = pw_packet_frame(rig->pool, &packet);
		pw_gro_rig_expect(rig, i % 60, burst[i], &packet);
	}
	pw_gro_rig_receive(rig, burst, RTE_DIM(burst));
	pw_gro_rig_flush(rig);
	assert_int_equal(rig->packets, 600);
	assert_int_equal(pw_gro_rig_counter(rig, "flush_pass"), 60);
}

/* The most flows in a bucket of a table of 128, which differ in two neighbouring bytes. */
static unsigned
fullest_bucket(const struct pw_gro *gro, unsigned host_words, unsigned byte, uint64_t tag_step)
{
	unsigned counts[2 * PW_GRO_FLOWS_DEFAULT] = {0}, fullest = 0;
	uint8_t tuple[36] = {0x20, 1, 0xd, 0xb8};

	for (unsigned i = 0; i < PW_GRO_FLOWS_DEFAULT; i++) {
		uint32_t key;

		tuple[byte] = i / 16;
		tuple[byte + 1] = i;
		key = pw_gro_key(
			gro->secret, tuple, host_words, tuple + 8 * host_words, tag_step * i);
		fullest = RTE_MAX(fullest, ++counts[pw_gro_bucket(gro, key) - gro->buckets]);
	}
	return fullest;
}

/* Those of a subnet, the ports of a host, the same addresses in many VLANs. */
static void
neighbours_are_in_different_buckets(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned byte = 0; byte < 11; byte++)
		assert_in_range(fullest_bucket(rig->gro, 1, byte, 0), 1, 16);
	for (unsigned byte = 0; byte < 35; byte++)
		assert_in_range(fullest_bucket(rig->gro, 4, byte, 0), 1, 16);
	assert_in_range(fullest_bucket(rig->gro, 1, 0, 1), 1, 16);
	assert_in_range(fullest_bucket(rig->gro, 1, 0, 256), 1, 16);
	assert_in_range(fullest_bucket(rig->gro, 1, 0, 65536), 1, 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(neighbours_are_in_different_buckets),
		RIG_TEST(parameters_are_checked),
		RIG_TEST(failed_allocations_leak_nothing),
		RIG_TEST(flows_leave_in_the_order_they_came),
		RIG_TEST(a_new_flow_pushes_out_the_oldest),
		RIG_TEST(tables_of_all_sizes_hold_so_many),
		RIG_TEST(the_default_table_holds_its_number),
		RIG_TEST(a_fragment_leaves_behind_its_hosts),
		RIG_TEST(the_old_are_flushed),
		RIG_TEST(the_old_are_flushed_around_holes),
		RIG_TEST(destroy_frees_what_is_held),
		RIG_TEST(other_tags_are_other_flows),
		RIG_TEST(garbage_in_the_tag_is_not_read),
		RIG_TEST(the_rss_hash_changes_nothing),
		RIG_TEST(bursts_are_like_single_packets),
		RIG_TEST(flows_take_turns),
		RIG_TEST(bursts_of_passing_packets_pass),
	};

	return cmocka_run_group_tests_name("gro_flows", tests, pw_test_eal, NULL);
}
