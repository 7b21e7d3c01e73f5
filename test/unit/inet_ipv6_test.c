/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* IPv6, ND and ICMPv6 echo as their packets; priority tags of both families. */

#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

#include "pw_inet_rig.h"

#define IN "ip fd00::2 > fd00::1"
#define LL "fe80::aff:fe00:1"
#define TCP "tcp 1 > 2 / bytes 77"
#define UP "^ " IN " / " TCP "\n"
#define MULTICAST "eth peer > sol / ip fd00::2 > ff02::1:ff00:1"

/* A frame, and the counter it goes to; those that are taken go up or are answered. */
struct row {
	const char *frame, *counter, *then;
};

static void
run_rows(struct pw_inet_rig *rig, const struct row *rows, unsigned n)
{
	/* The peer is known. */
	pw_inet_rig_run(rig,
		"< " IN " ttl 255 / ns fd00::1 lla peer\n"
		"> ip fd00::1 > fd00::2 ttl 255 / na fd00::1 s o lla us\n");
	for (unsigned i = 0; i < n; i++) {
		uint64_t before = pw_inet_rig_counter(rig, rows[i].counter);
		uint64_t accounted = pw_inet_rig_accounted(rig);

		print_message("%s\n", rows[i].frame);
		pw_inet_rig_runf(rig, "< %s\n%s", rows[i].frame, rows[i].then);
		assert_int_equal(pw_inet_rig_counter(rig, rows[i].counter), before + 1);
		assert_int_equal(pw_inet_rig_accounted(rig), accounted + 1);
		assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	}
}

static void
packets_are_checked(void **state)
{
	static const struct row rows[] = {
		{IN " / " TCP, "rx_tcp", UP},
		{IN " / " TCP " / pad 160", "rx_tcp", UP},
		{"ip fd00::2 > " LL " / " TCP, "rx_tcp", "^ ip fd00::2 > " LL " / " TCP "\n"},
		{"eth peer > gw / " IN " / " TCP, "rx_other_mac", ""},
		{"eth nodes > us / " IN " / " TCP, "rx_other_mac", ""},
		{"ip fd00::2 > fd00::3 / " TCP, "rx_other_ip", ""},
		{"eth peer > nodes / ip fd00::2 > ff02::2 / " TCP, "rx_other_ip", ""},
		{"eth peer > nodes / ip fd00::2 > ff02::1 / " TCP, "rx_other_ip", ""},
		{MULTICAST " / udp 1 > 2", "rx_other_ip", ""},
		{"ip ff02::1 > fd00::1 / " TCP, "rx_bad_ip", ""},
		{"ip fd00::1 > fd00::1 / " TCP, "rx_bad_ip", ""},
		{"ip " LL " > fd00::1 / " TCP, "rx_bad_ip", ""},
		{"ip ::1 > fd00::1 / " TCP, "rx_bad_ip", ""},
		{"ip :: > fd00::1 / " TCP, "rx_bad_ip", ""},
		{IN " len 0 / " TCP, "rx_short", ""},
		{IN " len 98 / " TCP, "rx_bad_length", ""},
		{IN " / " TCP " / cut 150", "rx_bad_length", ""},
		{IN " / " TCP " / cut 53", "rx_short", ""},
		{IN " / tcp 1 > 2 bad / bytes 8", "rx_bad_l4_cksum", ""},
		{IN " / tcp 1 > 2 zero / bytes 8", "rx_bad_l4_cksum", ""},
		{"eth peer > us / hex 1234", "rx_unknown_type", ""},
	};

	run_rows(*state, rows, RTE_DIM(rows));
}

#define PROBLEM(code, word) "> ip fd00::1 > fd00::2 / icmp 4 " #code " " #word " / "

static void
extension_headers_are_skipped_or_refused(void **state)
{
	static const struct row rows[] = {
		{IN " / hbh 010400000000 / " TCP, "rx_tcp", UP},
		{IN " / hbh 000000000000 / " TCP, "rx_tcp", UP},
		{IN " / hbh 050200000100 / dst 010c000000000000000000000000 / rt 0 / " TCP,
			"rx_tcp", UP},
		/* unknown options: skip, drop, drop and say */
		{IN " / dst 1e0411111111 / " TCP, "rx_tcp", UP},
		{IN " / dst 5e0411111111 / " TCP, "rx_bad_ip", ""},
		{IN " / dst 9e0411111111 / " TCP, "rx_bad_ip",
			PROBLEM(2, 42) IN " / dst 9e0411111111 / " TCP "\n"},
		{IN " / dst 00de03111111 / " TCP, "rx_bad_ip",
			PROBLEM(2, 43) IN " / dst 00de03111111 / " TCP "\n"},
		/* an option cut by the header's end, or without a length */
		{IN " / dst 010511111111 / " TCP, "rx_bad_ip", ""},
		{IN " / dst 000000000001 / " TCP, "rx_bad_ip", ""},
		{IN " / dst 01ff00000000 / " TCP, "rx_bad_ip", ""},
		/* hop-by-hop only as the first */
		{IN " / dst 010400000000 / hbh 010400000000 / " TCP, "rx_bad_ip",
			PROBLEM(1, 40) IN " / dst 010400000000 / hbh 010400000000 / " TCP "\n"},
		/* a route that is not at its end */
		{IN " / rt 0 / " TCP, "rx_tcp", UP},
		{IN " / rt 1 / " TCP, "rx_bad_ip", PROBLEM(0, 42) IN " / rt 1 / " TCP "\n"},
		/* nothing behind them, or what nobody knows */
		{IN " / dst 010400000000", "rx_unknown_proto", ""},
		{IN " proto 50 / bytes 20", "rx_unknown_proto",
			PROBLEM(1, 6) IN " proto 50 / bytes 20\n"},
		{IN " proto 1 / bytes 20", "rx_unknown_proto",
			PROBLEM(1, 6) IN " proto 1 / bytes 20\n"},
		/* cut: the lengths are those of what is there */
		{IN " proto 60 / hex 3b", "rx_bad_ip", ""},
		{IN " proto 0 / hex 3b010104", "rx_bad_ip", ""},
		{IN " proto 60 / hex 3bff010400000000", "rx_bad_ip", ""},
		/* errors are not about errors, whatever they hide behind */
		{IN " / dst 9e0411111111 / icmp 1 4 0 / bytes 50", "rx_bad_ip", ""},
		{MULTICAST " / dst de0411111111 / " TCP, "rx_bad_ip", ""},
	};

	run_rows(*state, rows, RTE_DIM(rows));
}

static void
chains_of_extension_headers_end(void **state)
{
	struct pw_inet_rig *rig = *state;
	char frame[1000] = "< " IN;

	for (unsigned i = 1; i <= 9; i++) {
		strcat(frame, " / dst 010400000000");
		pw_inet_rig_runf(rig, "%s / %s\n%s", frame, TCP, i <= 8 ? UP : "");
	}
	assert_int_equal(pw_inet_rig_counter(rig, "rx_bad_ip"), 1);
}

#define ANSWER "> ip fd00::1 > fd00::2 ttl 255 / na fd00::1 s o lla us\n"

static void
solicitations_are_answered(void **state)
{
	pw_inet_rig_run(*state,
		"< " IN " ttl 255 / ns fd00::1 lla peer\n" ANSWER "< " MULTICAST
		" ttl 255 / ns fd00::1 lla peer\n" ANSWER "< " IN " ttl 255 / ns fd00::1\n" ANSWER
		/* behind a priority tag, and an option we do not know */
		"< eth peer > sol / vlan 0xe000 / ip fd00::2 > ff02::1:ff00:1 ttl 255 / ns fd00::1 "
		"hex 0e01000000000000 lla peer\n" ANSWER
		"< eth peer > sol / ip fe80::2 > ff02::1:ff00:1 ttl 255 / ns " LL " lla peer\n"
		"> ip " LL " > fe80::2 ttl 255 / na " LL " s o lla us\n"
		/* who looks whether our address is free has none himself */
		"< eth peer > sol / ip :: > ff02::1:ff00:1 ttl 255 / ns fd00::1\n"
		"> eth us > nodes / ip fd00::1 > ff02::1 ttl 255 / na fd00::1 o lla us\n"
		/* not for us */
		"< " MULTICAST " ttl 255 / ns fd00::9 lla peer\n"
		"< eth peer > nodes / ip fd00::2 > ff02::1 ttl 255 / ns fd00::9 lla peer\n"
		"= rx_nd 8\n= tx_nd_adverts 6\n= rx_bad_nd 0\n");
}

static void
bad_nd_is_dropped(void **state)
{
	static const struct row rows[] = {
		{IN " ttl 254 / ns fd00::1 lla peer", "rx_bad_nd", ""},
		{IN " ttl 254 / na fd00::2 lla peer", "rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 code 1 lla peer", "rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 hex 0100000000000000", "rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 lla peer hex 0e00", "rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 hex 01", "rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 hex 0102020000000002", "rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 lla all", "rx_bad_nd", ""},
		{IN " ttl 255 / ns ff02::1 lla peer", "rx_bad_nd", ""},
		{IN " ttl 255 / na ff02::1 s lla peer", "rx_bad_nd", ""},
		{IN " ttl 255 / icmp 135 0 0 / bytes 15", "rx_bad_nd", ""},
		{IN " ttl 255 / icmp 136 0 0 / bytes 15", "rx_bad_nd", ""},
		{"ip :: > fd00::1 ttl 255 / ns fd00::1", "rx_bad_nd", ""},
		{"eth peer > sol / ip :: > ff02::1:ff00:1 ttl 255 / ns fd00::1 lla peer",
			"rx_bad_nd", ""},
		{"ip :: > fd00::1 ttl 255 / na fd00::2 lla peer", "rx_bad_nd", ""},
		{"eth peer > nodes / ip fd00::2 > ff02::1 ttl 255 / na fd00::2 s o lla peer",
			"rx_bad_nd", ""},
		{IN " ttl 255 / ns fd00::1 lla peer bad", "rx_bad_l4_cksum", ""},
		/* Routers have nothing to say to us. */
		{"eth peer > nodes / ip fe80::2 > ff02::1 ttl 255 / icmp 134 0 0 / bytes 8",
			"rx_nd", ""},
		{IN " ttl 254 / icmp 134 0 0 / bytes 8", "rx_bad_nd", ""},
		{IN " ttl 255 / icmp 137 0 0 / bytes 32", "rx_nd", ""},
	};

	run_rows(*state, rows, RTE_DIM(rows));
}

static void
echo_is_answered(void **state)
{
	static const unsigned sizes[] = {0, 1, 2, 55, 1452};
	struct pw_inet_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(sizes); i++)
		pw_inet_rig_runf(rig,
			"< " IN " tos 8 ttl 3 / icmp 128 0 0x70009 / bytes %u\n"
			"> ip fd00::1 > fd00::2 tos 8 / icmp 129 0 0x70009 / bytes %u\n"
			"< " IN " / dst 010400000000 / icmp 128 0 0x70009 / bytes %u from 7\n"
			"> ip fd00::1 > fd00::2 / icmp 129 0 0x70009 / bytes %u from 7\n",
			sizes[i], sizes[i], RTE_MIN(sizes[i], 1444U), RTE_MIN(sizes[i], 1444U));
	/* to all of the link */
	pw_inet_rig_run(rig,
		"< eth peer > nodes / ip fe80::2 > ff02::1 / icmp 128 0 5 / bytes 9\n"
		"> ip " LL " > fe80::2 / icmp 129 0 5 / bytes 9\n"
		"< " IN " / icmp 128 0 5 bad\n= rx_bad_l4_cksum 1\n"
		"< " IN " / icmp 128 1 5\n"
		"< " IN " / icmp 129 0 5\n"
		"< " IN " / icmp 200 0 5\n= rx_unknown_proto 3\n"
		"< " IN " proto 58 / hex 80000000000000\n= rx_short 1\n"
		"< ip :: > fd00::1 / icmp 128 0 5\n= rx_bad_ip 1\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
}

static void
a_priority_is_no_vlan(void **state)
{
	pw_inet_rig_run(*state,
		"< eth peer > us / vlan 0 / ip 10.0.0.2 > 10.0.0.1 / " TCP "\n"
		"^ ip 10.0.0.2 > 10.0.0.1 / " TCP "\n"
		"< eth peer > us / vlan 0xf000 / " IN " / " TCP "\n" UP
		"< eth peer > us / vlan 0xe000 / ip 10.0.0.2 > 10.0.0.1 / icmp 8 0 7 / bytes 9\n"
		"> ip 10.0.0.1 > 10.0.0.2 / icmp 0 0 7 / bytes 9\n"
		"< eth peer > all / vlan 0x2000 / arp req 10.0.0.2 10.0.0.1\n"
		"> arp rep 10.0.0.1 10.0.0.2\n= rx_vlan 0\n"
		"< eth peer > us / vlan 1 / " IN " / " TCP "\n"
		"< eth peer > us / vlan 0xe800 / ip 10.0.0.2 > 10.0.0.1 / " TCP "\n"
		"< eth peer > all / vlan 0xfff / arp req 10.0.0.2 10.0.0.1\n"
		"< eth peer > us / vlan 5 / cut 17\n= rx_vlan 4\n"
		"< eth peer > us / vlan 0 / vlan 0 / " IN " / " TCP "\n= rx_unknown_type 1\n");
}

static void
tcp_is_sent(void **state)
{
	pw_inet_rig_run(*state,
		"< " IN " ttl 255 / ns fd00::1 lla peer\n" ANSWER
		"tcp ip fd00::1 > fd00::2 tos 3 / tcp 5 > 6 / bytes 1440\n"
		"> ip fd00::1 > fd00::2 tos 3 / tcp 5 > 6 / bytes 1440\n"
		"tcp ip fd00::1 > fd00::2 / tcp 5 > 6\n"
		"> ip fd00::1 > fd00::2 / tcp 5 > 6\n");
}

/* What rte_net_intel_cksum_prepare() would want in it. */
static struct rte_mbuf *offloaded;

static void
keep(void *ctx, struct rte_mbuf *frame)
{
	(void)ctx;
	rte_pktmbuf_free(offloaded);
	offloaded = frame;
}

static void
send_segment(struct pw_inet_rig *rig, bool cut)
{
	struct pw_packet packet = {.payload_bytes = 1900};
	struct rte_mbuf *m = pw_packet_segment(rig->pool, &packet);
	struct pw_ip_info ip = {
		.src = {.bytes = {0xfd, [15] = 1}}, .dst = {.bytes = {0xfd, [15] = 2}}};

	m->l4_len = 20;
	if (cut) {
		m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
		m->tso_segsz = 500;
	}
	pw_inet_output_tcp(rig->inet, m, &ip, rig->now_us);
}

static void
the_port_fills_in_checksums(void **state)
{
	const uint64_t offloads = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
	struct pw_inet_rig *rig = *state;

	rig->params.tx_offloads = offloads | RTE_MBUF_F_TX_TCP_SEG;
	rig->params.mtu_bytes = 2000;
	pw_inet_rig_reopen(rig);
	pw_inet_rig_run(rig, "< " IN " ttl 255 / ns fd00::1 lla peer\n" ANSWER);
	rig->params.ops.output = keep;
	pw_inet_rig_reopen(rig);
	pw_inet_rig_run(rig, "< " IN " ttl 255 / ns fd00::1 lla peer\n");
	for (unsigned cut = 0; cut < 2; cut++) {
		const struct rte_ipv6_hdr *ip;
		const struct rte_tcp_hdr *tcp;

		send_segment(rig, cut);
		ip = rte_pktmbuf_mtod_offset(offloaded, const struct rte_ipv6_hdr *, 14);
		tcp = (const void *)(ip + 1);
		assert_int_equal(offloaded->ol_flags,
			RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM |
				(cut ? RTE_MBUF_F_TX_TCP_SEG : 0));
		assert_int_equal(rte_validate_tx_offload(offloaded), 0);
		assert_int_equal(offloaded->l2_len, 14);
		assert_int_equal(offloaded->l3_len, 40);
		assert_int_equal(offloaded->l4_len, 20);
		assert_int_equal(tcp->cksum, rte_ipv6_phdr_cksum(ip, offloaded->ol_flags));
	}
	rte_pktmbuf_free(offloaded);
	offloaded = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(packets_are_checked),
		RIG_TEST(extension_headers_are_skipped_or_refused),
		RIG_TEST(chains_of_extension_headers_end),
		RIG_TEST(solicitations_are_answered),
		RIG_TEST(bad_nd_is_dropped),
		RIG_TEST(echo_is_answered),
		RIG_TEST(a_priority_is_no_vlan),
		RIG_TEST(tcp_is_sent),
		RIG_TEST(the_port_fills_in_checksums),
	};

	return cmocka_run_group_tests_name("inet_ipv6", tests, pw_test_eal, NULL);
}
