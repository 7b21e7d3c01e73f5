/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "pw_chain.h"
#include "pw_inet.h"
#include "pw_packet.h"
#include "pw_soft_nic.h"

#define SECOND_US 1000000u
#define US_INIT                                                             \
	{                                                                   \
		.words = { 0, 0, RTE_BE32(0xffff), RTE_BE32(PW_PACKET_US) } \
	}
#define OUR_NETWORK .addresses = {{US_INIT, 24}}, .nb_addresses = 1, .mtu_bytes = 1500
#define COUNTER(name) offsetof(struct pw_inet_stats, name)

struct host {
	struct rte_mempool *pool;
	unsigned base;
	struct pw_inet *inet;
	struct rte_mbuf *frame;	  /* the last one sent */
	struct rte_mbuf *segment; /* the last one handed to TCP */
	unsigned frames, segments;
	uint64_t now_us;
};

static void
keep(struct rte_mbuf **slot, struct rte_mbuf *m)
{
	rte_pktmbuf_free(*slot);
	*slot = m;
}

static void
on_output(void *ctx, struct rte_mbuf *frame)
{
	struct host *host = ctx;

	host->frames++;
	keep(&host->frame, frame);
}

static void
on_tcp(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct host *host = ctx;

	assert_true(pw_addr_is_ipv4(&ip->src));
	assert_int_equal(pw_addr_to_ipv4(&ip->dst), rte_cpu_to_be_32(PW_PACKET_US));
	assert_int_not_equal(pw_addr_to_ipv4(&ip->src), 0);
	assert_int_equal(now_us, host->now_us);
	host->segments++;
	keep(&host->segment, segment);
}

static int
set_up(void **state)
{
	struct host *host = calloc(1, sizeof(*host));
	struct pw_inet_params params = {
		.mac = pw_packet_mac(PW_PACKET_US),
		OUR_NETWORK,
		.ops = {.output = on_output, .tcp_input = on_tcp},
		.ctx = host,
	};

	if (host == NULL)
		return -1;
	host->pool = pw_packet_pool(2047, 2048);
	host->base = rte_mempool_avail_count(host->pool);
	params.pool = host->pool;
	host->inet = pw_inet_create(&params);
	host->now_us = SECOND_US;
	*state = host;
	return host->inet == NULL ? -1 : 0;
}

static void
drop_outputs(struct host *host)
{
	keep(&host->frame, NULL);
	keep(&host->segment, NULL);
	host->frames = host->segments = 0;
}

static int
tear_down(void **state)
{
	struct host *host = *state;
	int rc;

	drop_outputs(host);
	pw_inet_destroy(host->inet);
	rc = rte_mempool_avail_count(host->pool) == host->base && pw_packet_exact_count() == 0 ? 0
											       : -1;
	rte_mempool_free(host->pool);
	free(host);
	return rc;
}

static uint64_t
counter(struct host *host, size_t offset)
{
	struct pw_inet_stats stats;

	pw_inet_get_stats(host->inet, &stats);
	return *(uint64_t *)((char *)&stats + offset);
}

/* Each frame is counted under one reason. */
static uint64_t
sum_of_reasons(struct host *host)
{
	struct pw_inet_stats s;

	pw_inet_get_stats(host->inet, &s);
	return s.rx_arp + s.rx_icmp_echo + s.rx_tcp + s.rx_short + s.rx_other_mac +
		s.rx_unknown_type + s.rx_bad_arp + s.rx_bad_ip + s.rx_bad_length +
		s.rx_bad_ip_cksum + s.rx_fragments + s.rx_other_ip + s.rx_unknown_proto +
		s.rx_bad_l4_cksum + s.rx_vlan + s.rx_udp + s.rx_no_port + s.rx_icmp_errors +
		s.rx_bad_icmp - s.rx_reassembled;
}

static void
input(struct host *host, struct rte_mbuf *m)
{
	pw_inet_input(host->inet, m, host->now_us);
}

static const struct pw_packet plain = {
	.src_ip = PW_PACKET_PEER,
	.dst_ip = PW_PACKET_US,
	.ttl = 64,
	.ip_frag = RTE_IPV4_HDR_DF_FLAG,
	.src_port = 1000,
	.dst_port = 2000,
	.flags = RTE_TCP_ACK_FLAG,
	.payload_bytes = 100,
};

static struct rte_mbuf *
tcp_frame(struct host *host)
{
	return pw_packet_frame(host->pool, &plain);
}

static void
wrong_parameters_are_refused(void **state)
{
	static const struct pw_inet_params wrong[] = {
		{.addresses = {{US_INIT, 33}}, .nb_addresses = 1, .mtu_bytes = 1500},
		{.addresses = {{US_INIT, 24}}, .mtu_bytes = 1500},
		{.addresses = {{US_INIT, 24}}, .nb_addresses = 9, .mtu_bytes = 1500},
		{.addresses = {{US_INIT, 24}}, .nb_addresses = 1, .mtu_bytes = 575},
		{.addresses = {{{.bytes = {0xfd, [15] = 1}}, 64}},
			.nb_addresses = 1,
			.mtu_bytes = 1279},
		{.addresses = {{{.bytes = {0xfd, [15] = 1}}, 129}},
			.nb_addresses = 1,
			.mtu_bytes = 1500},
		{.addresses = {{{.bytes = {0xff, [15] = 1}}, 64}},
			.nb_addresses = 1,
			.mtu_bytes = 1500},
		{OUR_NETWORK, .gateway4 = {.bytes = {0xfd, [15] = 1}}},
		{OUR_NETWORK, .gateway6 = US_INIT},
		{OUR_NETWORK, .tx_offloads = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM},
		{OUR_NETWORK, .tx_offloads = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IP_CKSUM},
		{OUR_NETWORK, .tx_offloads = RTE_MBUF_F_TX_UDP_CKSUM},
		{OUR_NETWORK, .tx_offloads = RTE_MBUF_F_TX_IPV6},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		assert_null(pw_inet_create(&wrong[i]));
		assert_int_equal(rte_errno, EINVAL);
	}
	pw_inet_destroy(NULL);
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct pw_inet_params params = {OUR_NETWORK};
	struct pw_test_memory before = pw_test_memory();
	struct pw_inet *inet;
	int k = -1;

	(void)state;
	do {
		pw_test_fail_alloc(++k);
		rte_errno = 0;
		inet = pw_inet_create(&params);
		if (!pw_test_alloc_failed())
			break;
		assert_null(inet);
		assert_int_equal(rte_errno, ENOMEM);
		pw_test_memory_equal(before);
	} while (true);
	pw_test_fail_alloc(-1);
	assert_non_null(inet);
	assert_true(k >= 1);
	pw_inet_destroy(inet);
	pw_test_memory_equal(before);
}

/* A byte of a good TCP frame is changed; checksums are made right again unless told otherwise. */
static const struct {
	const char *name;
	uint8_t offset, value;
	uint8_t len_bytes; /* 0: all 154 */
	bool keep_cksums;
	size_t counter;
} faults[] = {
	{"nothing", 0, 2, 0, false, COUNTER(rx_tcp)},
	{"no Ethernet header", 0, 2, 13, true, COUNTER(rx_short)},
	{"Ethernet header only", 0, 2, 14, true, COUNTER(rx_short)},
	{"IP header cut", 0, 2, 33, true, COUNTER(rx_short)},
	{"other MAC", 5, 9, 0, false, COUNTER(rx_other_mac)},
	{"IPv6", 12, 0x86, 0, false, COUNTER(rx_unknown_type)},
	{"tag in the frame", 12, 0x81, 0, false, COUNTER(rx_vlan)},
	{"from a group", 6, 3, 0, false, COUNTER(rx_other_mac)},
	{"version 6", 14, 0x65, 0, true, COUNTER(rx_bad_ip)},
	{"header length 0", 14, 0x40, 0, true, COUNTER(rx_bad_ip)},
	{"header length 1", 14, 0x41, 0, true, COUNTER(rx_bad_ip)},
	{"header length 2", 14, 0x42, 0, true, COUNTER(rx_bad_ip)},
	{"header length 3", 14, 0x43, 0, true, COUNTER(rx_bad_ip)},
	{"header length 4", 14, 0x44, 0, true, COUNTER(rx_bad_ip)},
	{"header length 15, cut", 14, 0x4f, 73, true, COUNTER(rx_bad_ip)},
	{"total length 0", 17, 0, 0, false, COUNTER(rx_bad_length)},
	{"total length 19", 17, 19, 0, false, COUNTER(rx_bad_length)},
	{"total length of the header", 17, 20, 0, false, COUNTER(rx_short)},
	{"total length one short of TCP's sum", 17, 139, 0, true, COUNTER(rx_bad_ip_cksum)},
	{"total length beyond the frame", 17, 141, 0, false, COUNTER(rx_bad_length)},
	{"total length, padding 6", 17, 134, 0, false, COUNTER(rx_tcp)},
	{"IP checksum", 24, 0xee, 0, true, COUNTER(rx_bad_ip_cksum)},
	{"source 0.0.0.2", 26, 0, 0, false, COUNTER(rx_bad_ip)},
	{"source 127.0.0.2", 26, 127, 0, false, COUNTER(rx_bad_ip)},
	{"source 224.0.0.2", 26, 224, 0, false, COUNTER(rx_bad_ip)},
	{"source is us", 29, 1, 0, false, COUNTER(rx_bad_ip)},
	{"for somebody else", 33, 7, 0, false, COUNTER(rx_other_ip)},
	{"source is all of the network", 29, 255, 0, false, COUNTER(rx_bad_ip)},
	{"UDP without length", 23, IPPROTO_UDP, 0, false, COUNTER(rx_bad_length)},
	{"TCP checksum", 50, 0xee, 0, true, COUNTER(rx_bad_l4_cksum)},
	{"payload", 153, 0xee, 0, true, COUNTER(rx_bad_l4_cksum)},
	{"ICMP", 23, IPPROTO_ICMP, 0, true, COUNTER(rx_bad_ip_cksum)},
};

static void
faults_are_counted(void **state)
{
	struct host *host = *state;

	for (unsigned i = 0; i < RTE_DIM(faults); i++) {
		struct rte_mbuf *m = tcp_frame(host);
		bool good = faults[i].counter == COUNTER(rx_tcp);
		uint64_t before = counter(host, faults[i].counter);

		print_message("%s\n", faults[i].name);
		*rte_pktmbuf_mtod_offset(m, uint8_t *, faults[i].offset) = faults[i].value;
		if (faults[i].len_bytes != 0)
			rte_pktmbuf_trim(m, m->pkt_len - faults[i].len_bytes);
		if (!faults[i].keep_cksums)
			pw_packet_fix_cksums(m);
		input(host, pw_packet_exact(host->pool, m));
		assert_int_equal(counter(host, faults[i].counter), before + 1);
		assert_int_equal(sum_of_reasons(host), i + 1);
		assert_int_equal(host->segments, good);
		drop_outputs(host);
		assert_int_equal(rte_mempool_avail_count(host->pool), host->base);
	}
	assert_int_equal(host->frames, 0);
}

static void
a_packet_has_all_of_its_header(void **state)
{
	struct host *host = *state;

	for (uint8_t options = 4; options <= 40; options += 4) {
		struct pw_packet packet = plain;
		struct rte_mbuf *m;

		packet.ip_options_bytes = options;
		m = pw_packet_frame(host->pool, &packet);
		*rte_pktmbuf_mtod_offset(m, rte_be16_t *, 16) = rte_cpu_to_be_16(20 + options - 1);
		pw_packet_fix_cksums(m);
		input(host, pw_packet_exact(host->pool, m));
		assert_int_equal(counter(host, COUNTER(rx_bad_length)), options / 4);
	}
	assert_int_equal(sum_of_reasons(host), 10);
	assert_int_equal(host->segments, 0);
}

static void
padding_is_cut(void **state)
{
	struct host *host = *state;
	struct pw_packet packet = plain, read = {0};

	packet.payload_bytes = 1;
	packet.pad_bytes = 5;
	input(host, pw_packet_frame(host->pool, &packet));
	assert_int_equal(host->segment->pkt_len, 21);
	pw_packet_read_segment(host->segment, &read);
	assert_int_equal(read.payload_bytes, 1);

	/* Padding in an mbuf of its own goes too. */
	for (uint16_t at = 34; at < 60; at++) {
		struct rte_mbuf *m = pw_packet_frame(host->pool, &packet);

		pw_packet_split(host->pool, m, at);
		input(host, m);
		assert_int_equal(host->segment->pkt_len, 21);
		assert_int_equal(host->segments, at - 34 + 2);
	}
}

/* A chain with odd pieces in it has the checksum of its bytes in a row. */
static void
chains_have_right_sums(void **state)
{
	struct host *host = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned i = 0; i < 10000; i++) {
		uint16_t first = 1 + pw_test_random(&seed, 99),
			 second = pw_test_random(&seed, first);
		uint16_t offset = pw_test_random(&seed, 140);
		struct rte_mbuf *m = tcp_frame(host);
		uint16_t sum;

		memset(rte_pktmbuf_mtod(m, char *), pw_test_random(&seed, 256), 40);
		sum = rte_raw_cksum(rte_pktmbuf_mtod_offset(m, char *, offset), 154 - offset);
		pw_packet_split(host->pool, m, first);
		pw_packet_split(host->pool, m, RTE_MIN(second, m->data_len));
		assert_int_equal(pw_chain_sum(m, offset), sum);
		rte_pktmbuf_free(m);
	}
}

static void
what_the_nic_says_is_believed(void **state)
{
	static const struct {
		uint64_t flags;
		size_t counter;
	} rows[] = {
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD, COUNTER(rx_tcp)},
		{RTE_MBUF_F_RX_L4_CKSUM_NONE, COUNTER(rx_tcp)}, /* right, but not filled in */
		{RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN, COUNTER(rx_bad_l4_cksum)},
		{RTE_MBUF_F_RX_L4_CKSUM_BAD, COUNTER(rx_bad_l4_cksum)},
		{RTE_MBUF_F_RX_IP_CKSUM_BAD, COUNTER(rx_bad_ip_cksum)},
	};
	struct host *host = *state;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct rte_mbuf *m = tcp_frame(host);
		uint64_t before = counter(host, rows[i].counter);

		*rte_pktmbuf_mtod_offset(m, uint8_t *, 50) ^= 1;
		m->ol_flags = rows[i].flags;
		input(host, m);
		assert_int_equal(counter(host, rows[i].counter), before + 1);
	}
}

static void
bad_checksums_cost_nothing(void **state)
{
	struct host *host = *state;

	for (unsigned i = 0; i < 100000; i++) {
		struct rte_mbuf *m = tcp_frame(host);

		*rte_pktmbuf_mtod_offset(m, uint8_t *, i % 2 == 0 ? 24 : 50) ^= 1 << i % 8;
		input(host, m);
	}
	assert_int_equal(counter(host, COUNTER(rx_bad_ip_cksum)), 50000);
	assert_int_equal(counter(host, COUNTER(rx_bad_l4_cksum)), 50000);
	assert_int_equal(host->segments, 0);
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base);
}

/* Nonsense that begins like a frame, so that it gets into each parser. */
static struct rte_mbuf *
garbage(struct host *host, uint64_t *seed)
{
	static const uint8_t types[] = {0, 0, 0, 6, 0xdd};
	struct rte_mbuf *m = tcp_frame(host);
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned changes = pw_test_random(seed, 6);

	data[13] = types[pw_test_random(seed, RTE_DIM(types))];
	if (pw_chance(seed, 3))
		data[23] = IPPROTO_ICMP;
	if (data[13] == 6 && !pw_chance(seed, 4))
		memcpy(data + 14, (uint8_t[]){0, 1, 8, 0, 6, 4, 0, 1}, 8);
	for (unsigned i = 0; i < changes; i++)
		data[12 + pw_test_random(seed, 50)] = pw_test_random(seed, 256);
	if (pw_chance(seed, 2))
		pw_packet_fix_cksums(m);
	if (pw_chance(seed, 2))
		rte_pktmbuf_trim(m, pw_test_random(seed, m->pkt_len));
	if (m->data_len > 1 && pw_chance(seed, 4))
		pw_packet_split(host->pool, m, 1 + pw_test_random(seed, m->data_len - 1));
	else if (pw_chance(seed, 8))
		m = pw_packet_exact(host->pool, m);
	return m;
}

static void
garbage_is_counted_and_freed(void **state)
{
	struct host *host = *state;
	uint64_t seed = pw_test_seed();
	struct pw_inet_stats stats;

	for (unsigned i = 0; i < 1000000; i++) {
		input(host, garbage(host, &seed));
		if (i % 1000 == 0)
			pw_inet_tick(host->inet, host->now_us += SECOND_US);
	}
	/* Fragments and packets for neighbours wait no longer. */
	for (unsigned i = 0; i < 40; i++)
		pw_inet_tick(host->inet, host->now_us += SECOND_US);
	drop_outputs(host);
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base);
	assert_int_equal(sum_of_reasons(host), 1000000);
	pw_inet_get_stats(host->inet, &stats);
	assert_int_equal(stats.rx_frames, 1000000);
	assert_true(stats.rx_tcp > 0 && stats.rx_arp > 0 && stats.rx_bad_arp > 0);
	assert_true(stats.rx_bad_ip > 0 && stats.rx_bad_length > 0 && stats.rx_bad_ip_cksum > 0);
	assert_true(stats.rx_fragments > 0 && stats.rx_short > 0 && stats.rx_bad_l4_cksum > 0);
}

/* An ARP frame as a peer sends it. */
static struct rte_mbuf *
arp_frame(struct host *host, uint16_t opcode, uint32_t sender, uint32_t target)
{
	struct rte_mbuf *m = tcp_frame(host);
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_arp_hdr *arp = (void *)(eth + 1);

	rte_pktmbuf_trim(m, m->pkt_len - 60);
	memset(eth, 0, 60);
	memset(&eth->dst_addr, 0xff, 6);
	eth->src_addr = pw_packet_mac(PW_PACKET_PEER);
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP);
	*arp = (struct rte_arp_hdr){
		.arp_hardware = RTE_BE16(1),
		.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = 6,
		.arp_plen = 4,
		.arp_opcode = rte_cpu_to_be_16(opcode),
		.arp_data.arp_sha = pw_packet_mac(PW_PACKET_PEER),
		.arp_data.arp_sip = rte_cpu_to_be_32(sender),
		.arp_data.arp_tip = rte_cpu_to_be_32(target),
	};
	return m;
}

static void
expect_arp(struct host *host, uint16_t opcode, uint32_t target, struct rte_ether_addr dst)
{
	struct rte_ether_addr us = pw_packet_mac(PW_PACKET_US);
	const struct rte_ether_hdr *eth;
	const struct rte_arp_hdr *arp;

	assert_int_equal(host->frames, 1);
	assert_int_equal(host->frame->pkt_len, 42);
	eth = rte_pktmbuf_mtod(host->frame, const struct rte_ether_hdr *);
	arp = (const void *)(eth + 1);
	assert_memory_equal(&eth->dst_addr, &dst, 6);
	assert_memory_equal(&eth->src_addr, &us, 6);
	assert_memory_equal(&arp->arp_data.arp_sha, &us, 6);
	assert_int_equal(arp->arp_opcode, rte_cpu_to_be_16(opcode));
	assert_int_equal(arp->arp_data.arp_sip, rte_cpu_to_be_32(PW_PACKET_US));
	assert_int_equal(arp->arp_data.arp_tip, rte_cpu_to_be_32(target));
	drop_outputs(host);
}

static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

static void
arp_is_answered(void **state)
{
	struct host *host = *state;

	input(host, arp_frame(host, 1, PW_PACKET_PEER, PW_PACKET_US));
	expect_arp(host, 2, PW_PACKET_PEER, pw_packet_mac(PW_PACKET_PEER));
	input(host, arp_frame(host, 1, PW_PACKET_PEER, PW_PACKET_US + 9));
	assert_int_equal(host->frames, 0);
	/* Somebody makes sure that nobody has our address. */
	input(host, arp_frame(host, 1, 0, PW_PACKET_US));
	expect_arp(host, 2, 0, pw_packet_mac(PW_PACKET_PEER));
	input(host, arp_frame(host, 1, PW_PACKET_US, PW_PACKET_US));
	assert_int_equal(host->frames, 0);
}

static const struct {
	const char *name;
	uint8_t offset, value, len_bytes;
} bad_arps[] = {
	{"hardware type", 15, 6, 60},
	{"protocol type", 16, 9, 60},
	{"hlen", 18, 8, 60},
	{"plen", 19, 16, 60},
	{"op 0", 21, 0, 60},
	{"op 3", 21, 3, 60},
	{"27 bytes", 21, 1, 41},
	{"no bytes", 0, 0xff, 14},
	{"sender is a group", 22, 1, 60},
};

static void
bad_arp_is_dropped(void **state)
{
	struct host *host = *state;

	for (unsigned i = 0; i < RTE_DIM(bad_arps); i++) {
		struct rte_mbuf *m = arp_frame(host, 1, PW_PACKET_PEER, PW_PACKET_US);

		print_message("%s\n", bad_arps[i].name);
		*rte_pktmbuf_mtod_offset(m, uint8_t *, bad_arps[i].offset) = bad_arps[i].value;
		rte_pktmbuf_trim(m, m->pkt_len - bad_arps[i].len_bytes);
		input(host, pw_packet_exact(host->pool, m));
		assert_int_equal(counter(host, COUNTER(rx_bad_arp)), i + 1);
		assert_int_equal(host->frames, 0);
	}
}

static void
output_tcp(struct pw_inet *inet, struct rte_mbuf *m, uint32_t dst, uint64_t now_us)
{
	struct pw_ip_info ip = {.src = US_INIT, .dst = pw_addr_from_ipv4(rte_cpu_to_be_32(dst))};

	pw_inet_output_tcp(inet, m, &ip, now_us);
}

/* TCP sends: a segment in pieces of odd lengths. */
static void
send_tcp(struct host *host, uint32_t dst)
{
	struct rte_mbuf *m;

	m = pw_packet_segment(host->pool, &plain);
	pw_packet_split(host->pool, m, 81);
	pw_packet_split(host->pool, m, 25);
	output_tcp(host->inet, m, dst, host->now_us);
}

static void
expect_tcp(struct host *host, struct rte_ether_addr dst)
{
	const struct rte_ether_hdr *eth;
	const struct rte_ipv4_hdr *ip;
	uint8_t data[256];

	assert_int_equal(host->frames, 1);
	assert_int_equal(host->frame->pkt_len, 154);
	eth = rte_pktmbuf_read(host->frame, 0, 154, data);
	ip = (const void *)(eth + 1);
	assert_memory_equal(&eth->dst_addr, &dst, 6);
	assert_int_equal(eth->ether_type, RTE_BE16(RTE_ETHER_TYPE_IPV4));
	assert_int_equal(ip->total_length, RTE_BE16(140));
	assert_int_equal(rte_raw_cksum(ip, 20), 0xffff);
	assert_int_equal(rte_ipv4_udptcp_cksum_verify(ip, ip + 1), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(((const uint8_t *)eth)[54 + i], pw_packet_byte(i));
	drop_outputs(host);
}

static void
a_packet_waits_for_its_neighbour(void **state)
{
	struct host *host = *state;
	struct rte_ether_addr peer = pw_packet_mac(PW_PACKET_PEER);

	send_tcp(host, PW_PACKET_PEER);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	input(host, arp_frame(host, 2, PW_PACKET_PEER, PW_PACKET_US));
	expect_tcp(host, peer);
	send_tcp(host, PW_PACKET_PEER);
	expect_tcp(host, peer);
}

static void
a_silent_neighbour_is_given_up(void **state)
{
	struct host *host = *state;

	send_tcp(host, PW_PACKET_PEER);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	pw_inet_tick(host->inet, host->now_us += SECOND_US - 1);
	assert_int_equal(host->frames, 0);
	pw_inet_tick(host->inet, host->now_us += 1);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	pw_inet_tick(host->inet, host->now_us += SECOND_US);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base - 3);
	for (unsigned i = 0; i < 10; i++)
		pw_inet_tick(host->inet, host->now_us += SECOND_US);
	assert_int_equal(host->frames, 0);
	assert_int_equal(counter(host, COUNTER(tx_no_neighbour)), 1);
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base);
	/* It may come back. */
	send_tcp(host, PW_PACKET_PEER);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	input(host, arp_frame(host, 2, PW_PACKET_PEER, PW_PACKET_US));
	expect_tcp(host, pw_packet_mac(PW_PACKET_PEER));
}

static void
whoever_asks_is_known(void **state)
{
	struct host *host = *state;

	input(host, arp_frame(host, 1, PW_PACKET_PEER, PW_PACKET_US));
	drop_outputs(host);
	send_tcp(host, PW_PACKET_PEER);
	expect_tcp(host, pw_packet_mac(PW_PACKET_PEER));
}

static void
gratuitous_arp_updates(void **state)
{
	struct host *host = *state;
	struct rte_ether_addr new = pw_packet_mac(PW_PACKET_PEER + 70);
	struct rte_mbuf *m;

	/* Not known: no entry is made. */
	input(host, arp_frame(host, 1, PW_PACKET_PEER, PW_PACKET_PEER));
	send_tcp(host, PW_PACKET_PEER);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	input(host, arp_frame(host, 2, PW_PACKET_PEER, PW_PACKET_US));
	expect_tcp(host, pw_packet_mac(PW_PACKET_PEER));

	m = arp_frame(host, 1, PW_PACKET_PEER, PW_PACKET_PEER);
	memcpy(rte_pktmbuf_mtod_offset(m, char *, 22), &new, 6);
	input(host, m);
	assert_int_equal(host->frames, 0);
	send_tcp(host, PW_PACKET_PEER);
	expect_tcp(host, new);
}

/* Two instances, one for each RX queue of the same host. */
static void
tell_other(void *ctx, const struct pw_inet_heard *heard)
{
	struct host *host = ctx;

	pw_inet_hear(host->inet, heard, host->now_us);
}

static void
instances_share_what_they_hear(void **state)
{
	struct host *host = *state;
	struct pw_inet_params params = {
		.mac = pw_packet_mac(PW_PACKET_US),
		OUR_NETWORK,
		.pool = host->pool,
		.ops = {.output = on_output, .heard = tell_other},
		.ctx = host,
	};
	struct pw_inet *queue0 = pw_inet_create(&params);
	uint64_t heard = counter(host, COUNTER(rx_arp));

	assert_non_null(queue0);
	/* We ask, and the answer comes at the other's queue. */
	send_tcp(host, PW_PACKET_PEER);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	pw_inet_input(queue0, arp_frame(host, 2, PW_PACKET_PEER, PW_PACKET_US), host->now_us);
	expect_tcp(host, pw_packet_mac(PW_PACKET_PEER));
	/* A neighbour asks, and one of the two answers. */
	pw_inet_input(queue0, arp_frame(host, 1, PW_PACKET_PEER + 1, PW_PACKET_US), host->now_us);
	expect_arp(host, 2, PW_PACKET_PEER + 1, pw_packet_mac(PW_PACKET_PEER));
	send_tcp(host, PW_PACKET_PEER + 1);
	expect_tcp(host, pw_packet_mac(PW_PACKET_PEER));
	/* What neither asked for makes no entry. */
	pw_inet_input(
		queue0, arp_frame(host, 2, PW_PACKET_PEER + 2, PW_PACKET_US + 9), host->now_us);
	send_tcp(host, PW_PACKET_PEER + 2);
	expect_arp(host, 1, PW_PACKET_PEER + 2, broadcast);
	assert_int_equal(counter(host, COUNTER(rx_arp)), heard);
	pw_inet_destroy(queue0);
}

/* More neighbours than the table holds: bounded, and every one can still be reached. */
static void
many_neighbours(void **state)
{
	struct host *host = *state;

	for (uint32_t i = 2; i < 255; i++)
		send_tcp(host, PW_PACKET_US - 1 + i);
	drop_outputs(host);
	for (uint32_t i = 2; i < 255; i++) {
		send_tcp(host, PW_PACKET_US - 1 + i);
		drop_outputs(host);
		input(host, arp_frame(host, 2, PW_PACKET_US - 1 + i, PW_PACKET_US));
		/* With the first one, if that waits still. */
		assert_in_range(host->frames, 1, 2);
		host->frames = 1;
		expect_tcp(host, pw_packet_mac(PW_PACKET_PEER));
	}
	assert_true(rte_mempool_avail_count(host->pool) <= host->base);
}

static void
what_cannot_be_sent_is_freed(void **state)
{
	struct host *host = *state;
	static struct rte_mbuf *all[2048];
	struct rte_mbuf *m;
	unsigned n = 0;

	send_tcp(host, PW_PACKET_PEER + 256);
	assert_int_equal(counter(host, COUNTER(tx_no_route)), 1);
	m = pw_packet_segment(host->pool, &plain);
	rte_pktmbuf_prepend(m, rte_pktmbuf_headroom(m) - 10);
	output_tcp(host->inet, m, PW_PACKET_PEER, host->now_us);
	assert_int_equal(counter(host, COUNTER(tx_no_mbuf)), 1);
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base);

	/* No mbuf to ask with: the packet waits, and the question comes later. */
	m = pw_packet_segment(host->pool, &plain);
	while ((all[n] = rte_pktmbuf_alloc(host->pool)) != NULL)
		n++;
	output_tcp(host->inet, m, PW_PACKET_PEER, host->now_us);
	assert_int_equal(host->frames, 0);
	assert_int_equal(counter(host, COUNTER(tx_no_mbuf)), 2);
	rte_pktmbuf_free_bulk(all, n);
	pw_inet_tick(host->inet, host->now_us += SECOND_US);
	expect_arp(host, 1, PW_PACKET_PEER, broadcast);
	input(host, arp_frame(host, 2, PW_PACKET_PEER, PW_PACKET_US));
	assert_int_equal(host->frames, 1);
}

/* The same segments, sent by a host whose port has offloads and one whose port has none. */
struct wire {
	uint8_t data[80][1514];
	uint32_t len_bytes[80];
	unsigned n;
};

static void
on_wire(void *ctx, struct rte_mbuf *packet)
{
	struct wire *wire = ctx;

	assert_true(wire->n < RTE_DIM(wire->data));
	assert_in_range(packet->pkt_len, 1, sizeof(wire->data[0]));
	assert_int_equal(packet->nb_segs, 1);
	memcpy(wire->data[wire->n], rte_pktmbuf_mtod(packet, void *), packet->pkt_len);
	wire->len_bytes[wire->n++] = packet->pkt_len;
	rte_pktmbuf_free(packet);
}

static void
on_output_to_nic(void *ctx, struct rte_mbuf *frame)
{
	pw_soft_nic_send(frame, on_wire, ctx);
}

static struct pw_inet *
open_sender(struct host *host, uint64_t tx_offloads, struct wire *wire)
{
	struct pw_inet_params params = {
		.mac = pw_packet_mac(PW_PACKET_US),
		OUR_NETWORK,
		.pool = host->pool,
		.tx_offloads = tx_offloads,
		.ops = {.output = on_output_to_nic},
		.ctx = wire,
	};
	struct pw_inet *inet = pw_inet_create(&params);

	assert_non_null(inet);
	pw_inet_input(inet, arp_frame(host, 2, PW_PACKET_PEER, PW_PACKET_US), host->now_us);
	wire->n = 0;
	return inet;
}

/* Segments of 1 to 1460 bytes, cut by us or by the port; in pieces of odd lengths. */
static void
send_stream(struct host *host, struct pw_inet *inet, uint32_t bytes, uint16_t mss, bool whole)
{
	struct pw_packet packet = plain;

	packet.options_bytes = 12;
	memset(packet.options, 1, 12);
	for (uint32_t done = 0; done < bytes; done += packet.payload_bytes) {
		uint32_t left = bytes - done;
		struct rte_mbuf *m;

		packet.seq = done;
		packet.payload_bytes = whole ? left : RTE_MIN(left, (uint32_t)mss);
		packet.flags = RTE_TCP_ACK_FLAG;
		if (packet.payload_bytes == left)
			packet.flags |= RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG;
		m = pw_packet_segment(host->pool, &packet);
		m->l4_len = 32;
		if (packet.payload_bytes > mss) {
			m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
			m->tso_segsz = mss;
		}
		if (packet.payload_bytes > 100)
			pw_packet_split(host->pool, m, 81);
		output_tcp(inet, m, PW_PACKET_PEER, host->now_us);
	}
}

static void
the_port_fills_in_the_same(void **state)
{
	static const uint64_t ip = RTE_MBUF_F_TX_IP_CKSUM, tcp = RTE_MBUF_F_TX_TCP_CKSUM;
	static const struct {
		uint64_t offloads;
		uint32_t bytes;
		uint16_t mss;
	} rows[] = {
		{ip, 3000, 1000},
		{tcp, 2999, 1000},
		{ip | tcp, 1, 1000},
		{ip | tcp, 1500, 501},
		{ip | tcp | RTE_MBUF_F_TX_TCP_SEG, 1001, 1000},
		{ip | tcp | RTE_MBUF_F_TX_TCP_SEG, 1900, 53},
		{ip | tcp | RTE_MBUF_F_TX_TCP_SEG, 1900, 950},
	};
	struct host *host = *state;
	static struct wire with, without;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct pw_inet *a = open_sender(host, rows[i].offloads, &with);
		struct pw_inet *b = open_sender(host, 0, &without);

		/* Twice: the IP IDs go on behind those of the first. */
		for (unsigned n = 0; n < 2; n++) {
			send_stream(host, a, rows[i].bytes, rows[i].mss,
				rows[i].offloads & RTE_MBUF_F_TX_TCP_SEG);
			send_stream(host, b, rows[i].bytes, rows[i].mss, false);
		}
		assert_int_equal(with.n, without.n);
		for (unsigned j = 0; j < with.n; j++) {
			assert_int_equal(with.len_bytes[j], without.len_bytes[j]);
			assert_memory_equal(with.data[j], without.data[j], with.len_bytes[j]);
		}
		pw_inet_destroy(a);
		pw_inet_destroy(b);
	}
}

/* An 82599 says "good" of all that it found nothing wrong with, or did not look at. */
static void
a_fragment_is_no_segment_whatever_the_nic_says(void **state)
{
	static const uint16_t frags[] = {RTE_IPV4_HDR_MF_FLAG, 1, RTE_IPV4_HDR_MF_FLAG | 100};
	struct host *host = *state;

	for (unsigned i = 0; i < RTE_DIM(frags); i++) {
		struct pw_packet packet = plain;
		struct rte_mbuf *m;

		packet.ip_frag = frags[i];
		m = pw_packet_frame(host->pool, &packet);
		m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
		input(host, m);
		assert_int_equal(counter(host, COUNTER(rx_fragments)), i + 1);
	}
	assert_int_equal(host->segments, 0);
	pw_inet_tick(host->inet, host->now_us += 31 * SECOND_US);
	assert_int_equal(counter(host, COUNTER(rx_reasm_fails)), RTE_DIM(frags));
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base);
}

/* An echo request; returns bytes in front of ICMP. */
static uint16_t
make_echo(struct host *host, struct rte_mbuf **out, uint16_t payload_bytes, uint8_t options_bytes)
{
	struct pw_packet packet = plain;
	struct rte_mbuf *m;
	struct rte_icmp_hdr *icmp;
	uint16_t offset = 34 + options_bytes;

	packet.ip_options_bytes = options_bytes;
	packet.payload_bytes = payload_bytes;
	m = pw_packet_frame(host->pool, &packet);
	/* TCP's 20 bytes become ICMP's 8, and the payload moves up. */
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 23) = IPPROTO_ICMP;
	*rte_pktmbuf_mtod_offset(m, rte_be16_t *, 16) = rte_cpu_to_be_16(
		28 + options_bytes + payload_bytes);
	icmp = rte_pktmbuf_mtod_offset(m, struct rte_icmp_hdr *, offset);
	memmove(icmp + 1, (char *)icmp + 20, payload_bytes);
	rte_pktmbuf_trim(m, 12);
	*icmp = (struct rte_icmp_hdr){.icmp_type = 8, .icmp_ident = 7, .icmp_seq_nb = 9};
	icmp->icmp_cksum = ~rte_raw_cksum(icmp, 8 + payload_bytes);
	*rte_pktmbuf_mtod_offset(m, uint16_t *, 24) = 0;
	*rte_pktmbuf_mtod_offset(m, uint16_t *, 24) = rte_ipv4_cksum(
		rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14));
	*out = m;
	return offset;
}

static void
expect_echo(struct host *host, uint16_t offset, uint16_t payload_bytes)
{
	uint8_t data[2048];
	const uint8_t *p;
	const struct rte_icmp_hdr *icmp;

	assert_int_equal(host->frames, 1);
	assert_int_equal(host->frame->pkt_len, offset + 8 + payload_bytes);
	p = rte_pktmbuf_read(host->frame, 0, host->frame->pkt_len, data);
	icmp = (const void *)(p + offset);
	assert_int_equal(icmp->icmp_type, 0);
	assert_int_equal(icmp->icmp_ident, 7);
	assert_int_equal(icmp->icmp_seq_nb, 9);
	assert_int_equal(rte_raw_cksum(icmp, 8 + payload_bytes), 0xffff);
	assert_int_equal(rte_raw_cksum(p + 14, offset - 14), 0xffff);
	assert_int_equal(p[29], 1);
	assert_int_equal(p[33], 2);
	for (unsigned i = 0; i < payload_bytes; i++)
		assert_int_equal(p[offset + 8 + i], pw_packet_byte(i));
	drop_outputs(host);
	assert_int_equal(rte_mempool_avail_count(host->pool), host->base);
}

static void
echo_is_answered(void **state)
{
	static const uint16_t sizes[] = {0, 1, 2, 55, 1472};
	struct host *host = *state;
	struct rte_mbuf *m;
	uint16_t offset;

	for (unsigned i = 0; i < RTE_DIM(sizes) * 3; i++) {
		uint8_t options = i % 3 == 1 ? 8 : 0;
		uint16_t size = RTE_MIN(sizes[i / 3], 1472 - options);

		offset = make_echo(host, &m, size, options);
		/* In two pieces, or in a buffer that is not the mbuf's own. */
		if (i % 3 == 2 && size > 1)
			pw_packet_split(host->pool, m, offset + 8 + 1);
		else
			m = pw_packet_exact(host->pool, m);
		input(host, m);
		expect_echo(host, offset, size);
	}
	assert_int_equal(counter(host, COUNTER(rx_icmp_echo)), RTE_DIM(sizes) * 3);
}

static void
other_icmp_is_dropped(void **state)
{
	struct host *host = *state;
	struct rte_mbuf *m;
	uint16_t offset = make_echo(host, &m, 10, 0);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, offset + 9) ^= 1; /* checksum */
	input(host, m);
	assert_int_equal(counter(host, COUNTER(rx_bad_l4_cksum)), 1);
	make_echo(host, &m, 10, 0);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, offset) = 13; /* timestamp request */
	*rte_pktmbuf_mtod_offset(m, uint8_t *, offset + 2) -= 5;
	input(host, m);
	assert_int_equal(counter(host, COUNTER(rx_unknown_proto)), 1);
	make_echo(host, &m, 0, 0);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 17) -= 1; /* seven bytes */
	pw_packet_fix_cksums(m);
	input(host, pw_packet_exact(host->pool, m));
	assert_int_equal(counter(host, COUNTER(rx_short)), 1);
	assert_int_equal(host->frames, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_parameters_are_refused),
		cmocka_unit_test(failed_allocations_leak_nothing),
		TEST(faults_are_counted),
		TEST(a_packet_has_all_of_its_header),
		TEST(padding_is_cut),
		TEST(chains_have_right_sums),
		TEST(what_the_nic_says_is_believed),
		TEST(bad_checksums_cost_nothing),
		TEST(garbage_is_counted_and_freed),
		TEST(arp_is_answered),
		TEST(bad_arp_is_dropped),
		TEST(a_packet_waits_for_its_neighbour),
		TEST(a_silent_neighbour_is_given_up),
		TEST(whoever_asks_is_known),
		TEST(gratuitous_arp_updates),
		TEST(instances_share_what_they_hear),
		TEST(many_neighbours),
		TEST(what_cannot_be_sent_is_freed),
		TEST(the_port_fills_in_the_same),
		TEST(a_fragment_is_no_segment_whatever_the_nic_says),
		TEST(echo_is_answered),
		TEST(other_icmp_is_dropped),
	};

	return cmocka_run_group_tests_name("inet", tests, pw_test_eal, NULL);
}
