/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* UDP in and out as its packets. */

#include <stdio.h>
#include <string.h>

#include "pw_inet_rig.h"

#define IN4 "ip 10.0.0.2 > 10.0.0.1"
#define IN6 "ip fd00::2 > fd00::1"
#define OUT4 "ip 10.0.0.1 > 10.0.0.2"
#define OUT6 "ip fd00::1 > fd00::2"
#define MEET                                                         \
	"< arp req 10.0.0.2 10.0.0.1\n> arp rep 10.0.0.1 10.0.0.2\n" \
	"< " IN6 " ttl 255 / ns fd00::1 lla peer\n> " OUT6 " ttl 255 / na fd00::1 s o lla us\n"

static void
datagrams_come_in(void **state)
{
	static const unsigned sizes[] = {0, 1, 2, 17, 1452, 1472};

	for (unsigned i = 0; i < RTE_DIM(sizes); i++)
		pw_inet_rig_runf(*state,
			"< " IN4 " tos 3 / udp 5 > 6 / bytes %u\n^ " IN4
			" tos 3 / udp 5 > 6 / bytes %u\n"
			"< " IN6 " tos 7 / udp 5 > 6 / bytes %u\n^ " IN6
			" tos 7 / udp 5 > 6 / bytes %u\n"
			"< " IN4 " opt 8 / udp 5 > 6 / bytes %u\n^ " IN4
			" / udp 5 > 6 / bytes %u\n",
			sizes[i], sizes[i], sizes[i], sizes[i], sizes[i], sizes[i]);
	pw_inet_rig_runf(*state, "= rx_udp %u\n", 3 * (unsigned)RTE_DIM(sizes));
}

static void
checksums_are_checked(void **state)
{
	pw_inet_rig_run(*state,
		"< " IN4 " / udp 5 > 6 bad / bytes 9\n= rx_bad_l4_cksum 1\n"
		"< " IN6 " / udp 5 > 6 bad / bytes 9\n= rx_bad_l4_cksum 2\n"
		/* IPv4 goes without, IPv6 does not. */
		"< " IN4 " / udp 5 > 6 zero / bytes 9\n^ " IN4 " / udp 5 > 6 zero / bytes 9\n"
		"< " IN6 " / udp 5 > 6 zero / bytes 9\n= rx_bad_l4_cksum 3\n= rx_udp 1\n");
}

/* The 82599 and others say "bad" of a datagram without checksum, and "good" of what they skip. */
static void
a_port_knows_nothing_of_no_checksum(void **state)
{
	static const uint64_t flags[] = {RTE_MBUF_F_RX_L4_CKSUM_BAD, RTE_MBUF_F_RX_L4_CKSUM_GOOD};
	struct pw_inet_rig *rig = *state;
	static struct pw_spec spec;

	for (unsigned i = 0; i < 4; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig->pool);

		pw_spec_build(
			&spec, i < 2 ? IN4 " / udp 5 > 6 zero" : IN6 " / udp 5 > 6 zero", false);
		memcpy(rte_pktmbuf_append(m, spec.len), spec.data, spec.len);
		m->ol_flags |= flags[i % 2];
		pw_inet_input(rig->inet, m, rig->now_us);
		assert_int_equal(pw_inet_rig_counter(rig, "rx_udp"), RTE_MIN(i + 1, 2U));
	}
	assert_int_equal(pw_inet_rig_counter(rig, "rx_bad_l4_cksum"), 2);
}

static void
lengths_are_checked(void **state)
{
	pw_inet_rig_run(*state,
		"< " IN4 " / udp 5 > 6 len 7 / bytes 9\n"
		"< " IN4 " / udp 5 > 6 len 0 / bytes 9\n"
		"< " IN4 " / udp 5 > 6 len 18 / bytes 9\n"
		"< " IN6 " / udp 5 > 6 len 7 / bytes 9\n"
		"< " IN6 " / udp 5 > 6 len 0 / bytes 9\n"
		"< " IN6 " / udp 5 > 6 len 18 / bytes 9\n= rx_bad_length 6\n"
		"< " IN4 " proto 17 / bytes 7\n< " IN6 " proto 17 / bytes 7\n= rx_short 2\n"
		/* Bytes behind the datagram are none of it: the sum leaves them out. */
		"< " IN4 " / udp 5 > 6 len 10 zero / bytes 9\n"
		"^ " IN4 " / udp 5 > 6 zero / bytes 2\n= rx_udp 1\n");
}

/* Data in several mbufs, cut anywhere behind the header: checksum and bytes are right. */
static void
chains_come_in(void **state)
{
	struct pw_inet_rig *rig = *state;
	uint64_t seed = pw_test_seed();
	static struct pw_spec spec;

	for (unsigned i = 0; i < 1000; i++) {
		const char *text = i % 2 ? IN4 " / udp 5 > 6 / bytes 999"
					 : IN6 " / udp 5 > 6 / bytes 999";
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig->pool);
		uint32_t headers;

		pw_spec_build(&spec, text, false);
		headers = spec.len - 999;
		memcpy(rte_pktmbuf_append(m, spec.len), spec.data, spec.len);
		pw_packet_split(rig->pool, m, headers + pw_test_random(&seed, 999));
		pw_packet_split(
			rig->pool, m, headers + pw_test_random(&seed, m->data_len - headers + 1));
		pw_inet_input(rig->inet, m, rig->now_us);
		pw_inet_rig_runf(rig, "^ %s\n", text);
		pw_inet_rig_forget(rig);
	}
	assert_int_equal(pw_inet_rig_counter(rig, "rx_udp"), 1000);
}

static void
datagrams_go_out(void **state)
{
	static const unsigned sizes[] = {0, 1, 2, 17, 1452};

	pw_inet_rig_run(*state, MEET);
	for (unsigned i = 0; i < RTE_DIM(sizes); i++)
		pw_inet_rig_runf(*state,
			"udp " OUT4 " tos 8 / udp 5 > 6 / bytes %u\n> " OUT4
			" tos 8 / udp 5 > 6 / bytes %u\n"
			"udp " OUT6 " tos 9 / udp 5 > 6 / bytes %u\n> " OUT6
			" tos 9 / udp 5 > 6 / bytes %u\n",
			sizes[i], sizes[i], sizes[i], sizes[i]);
}

/* A sum of 0 goes out as 0xffff (RFC 768): one of 65536 payloads has it. */
static void
a_checksum_is_never_zero(void **state)
{
	pw_inet_rig_run(*state, MEET);
	for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
		const char *out = ipv6 ? OUT6 : OUT4;
		static struct pw_spec spec;
		char text[100];
		uint16_t cksum;

		/* The word that makes it so is the checksum of the rest. */
		snprintf(text, sizeof(text), "%s / udp 5 > 6 / hex 0000", out);
		pw_spec_build(&spec, text, true);
		cksum = pw_frame_get16(spec.data + spec.len - 4);
		snprintf(text, sizeof(text), "%s / udp 5 > 6 / hex %04x", out, cksum);
		pw_spec_build(&spec, text, true);
		assert_int_equal(pw_frame_get16(spec.data + spec.len - 4), 0xffff);
		pw_inet_rig_runf(*state, "udp %s\n> %s\n", text, text);
	}
}

static void
what_cannot_be_sent_is_freed(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_inet_rig_run(rig,
		MEET "udp " OUT4 " / udp 5 > 6 / bytes 65508\n"
		     "udp " OUT6 " / udp 5 > 6 / bytes 65528\n= tx_too_long 2\n"
		     "udp ip 10.0.0.1 > 10.0.0.1 / udp 5 > 6\n= tx_no_route 1\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(datagrams_come_in),
		RIG_TEST(checksums_are_checked),
		RIG_TEST(a_port_knows_nothing_of_no_checksum),
		RIG_TEST(lengths_are_checked),
		RIG_TEST(chains_come_in),
		RIG_TEST(datagrams_go_out),
		RIG_TEST(a_checksum_is_never_zero),
		RIG_TEST(what_cannot_be_sent_is_freed),
	};

	return cmocka_run_group_tests_name("inet_udp", tests, pw_test_eal, NULL);
}
