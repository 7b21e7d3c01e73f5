/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* ICMP and ICMPv6 errors, in and out, as their packets. */

#include <string.h>

#include "pw_inet_rig.h"

#define IN4 "ip 10.0.0.2 > 10.0.0.1"
#define IN6 "ip fd00::2 > fd00::1"
#define OUT4 "ip 10.0.0.1 > 10.0.0.2"
#define OUT6 "ip fd00::1 > fd00::2"
#define MEET                                                         \
	"< arp req 10.0.0.2 10.0.0.1\n> arp rep 10.0.0.1 10.0.0.2\n" \
	"< " IN6 " ttl 255 / ns fd00::1 lla peer\n> " OUT6 " ttl 255 / na fd00::1 s o lla us\n"
/* From a router on the way, about a packet of ours. */
#define FROM4 "< ip 192.0.2.1 > 10.0.0.1 / icmp "
#define FROM6 "< ip 2001:db8::1 > fd00::1 / icmp "
#define SENT4 "ip 10.0.0.1 > 198.51.100.7 / tcp 5 > 6"
#define SENT6 "ip fd00::1 > 2001:db8::7 / tcp 5 > 6"

static void
errors_are_handed_up(void **state)
{
	static const struct {
		unsigned type, code, word;
		const char *kind;
		unsigned mtu;
	} ipv4[] =
		{
			{3, 0, 0, "unreachable", 0},
			{3, 1, 0, "unreachable", 0},
			{3, 2, 0, "refused", 0},
			{3, 3, 0, "refused", 0},
			{3, 4, 1400, "too_big", 1400},
			{3, 4, 0xffff0000, "too_big", 0}, /* a router of before RFC 1191 */
			{3, 5, 0, "unreachable", 0},
			{3, 13, 0, "unreachable", 0},
			{11, 0, 0, "unreachable", 0},
			{12, 0, 0, "unreachable", 0},
		},
	  ipv6[] = {
		  {1, 0, 0, "unreachable", 0},
		  {1, 1, 0, "unreachable", 0},
		  {1, 3, 0, "unreachable", 0},
		  {1, 4, 0, "refused", 0},
		  {2, 0, 1280, "too_big", 1280},
		  {2, 0, 70000, "too_big", 70000},
		  {3, 0, 0, "unreachable", 0},
		  {4, 0, 40, "unreachable", 0},
		  {4, 1, 40, "refused", 0},
	  };

	for (unsigned i = 0; i < RTE_DIM(ipv4); i++)
		pw_inet_rig_runf(*state, FROM4 "%u %u %u / " SENT4 "\n! %s %u " SENT4 "\n",
			ipv4[i].type, ipv4[i].code, ipv4[i].word, ipv4[i].kind, ipv4[i].mtu);
	for (unsigned i = 0; i < RTE_DIM(ipv6); i++)
		pw_inet_rig_runf(*state, FROM6 "%u %u %u / " SENT6 "\n! %s %u " SENT6 "\n",
			ipv6[i].type, ipv6[i].code, ipv6[i].word, ipv6[i].kind, ipv6[i].mtu);
	pw_inet_rig_runf(
		*state, "= rx_icmp_errors %u\n", (unsigned)(RTE_DIM(ipv4) + RTE_DIM(ipv6)));
}

/* Of the packet at least 8 bytes behind its header must be there: RFC 792. */
static void
quotes_may_be_short(void **state)
{
	static const char *const udp4 = "ip 10.0.0.1 > 10.0.0.9 tos 4 / udp 5 > 9";

	pw_inet_rig_runf(*state, FROM4 "3 3 0 / %s\n! refused 0 %s\n", udp4, udp4);
	pw_inet_rig_run(*state,
		FROM4
		"3 3 0 / ip 10.0.0.1 > 10.0.0.9 opt 8 proto 17 / "
		"hex 0001000200080000\n! refused 0 ip 10.0.0.1 > 10.0.0.9 / udp 1 > 2 zero\n" FROM6
		"1 4 0 / ip fd00::1 > fd00::9 / frag 0 7 mf / udp 1 > 2 zero\n"
		"! refused 0 ip fd00::1 > fd00::9 / udp 1 > 2 zero\n");
}

static void
malformed_errors_are_dropped(void **state)
{
	static const char *const rows[] = {
		FROM4 "3 3 0",
		FROM4 "3 3 0 / hex 45",
		FROM4 "3 3 0 / ip 10.0.0.1 > 10.0.0.9 proto 17 / bytes 7",
		FROM4 "3 3 0 / ip 10.0.0.1 > 10.0.0.9 opt 8 proto 17 / bytes 7",
		FROM4 "3 3 0 / ip 10.0.0.3 > 10.0.0.9 proto 17 / bytes 8", /* not ours */
		FROM4 "3 3 0 / ip 10.0.0.9 > 10.0.0.1 proto 17 / bytes 8",
		FROM4 "3 3 0 / ip 10.0.0.1 > 10.0.0.9 proto 17 off 8 / bytes 8",
		FROM4 "3 3 0 / " SENT6,
		FROM4 "3 3 0 / hex 4400001c00000000401100000a0000010a0000090001000200080000",
		FROM6 "1 4 0",
		FROM6 "1 4 0 / ip fd00::1 > fd00::9 proto 17 / bytes 7",
		FROM6 "1 4 0 / ip fd00::3 > fd00::9 proto 17 / bytes 8",
		FROM6 "1 4 0 / ip fd00::1 > fd00::9 / frag 8 7 mf / udp 1 > 2",
		FROM6 "1 4 0 / ip fd00::1 > fd00::9 / frag 0 7 mf / hex 01020304",
		FROM6 "1 4 0 / ip ::ffff:10.0.0.1 > fd00::9 / udp 1 > 2",
		FROM6 "1 4 0 / " SENT4,
	};
	struct pw_inet_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		print_message("%s\n", rows[i]);
		pw_inet_rig_runf(rig, "%s\n= rx_bad_icmp %u\n", rows[i], i + 1);
	}
	pw_inet_rig_run(rig,
		FROM4 "3 3 0 bad / " SENT4 "\n" FROM6 "1 4 0 bad / " SENT6 "\n= rx_bad_l4_cksum 2\n"
		/* RFC 6633: source quench says nothing */
		FROM4 "4 0 0 / " SENT4 "\n= rx_unknown_proto 1\n= rx_icmp_errors 0\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
}

/* A host that wants to know nothing of errors. */
static void
nobody_has_to_listen(void **state)
{
	struct pw_inet_rig *rig = *state;

	rig->params.ops.error_input = NULL;
	rig->params.ops.udp_input = NULL;
	pw_inet_rig_reopen(rig);
	pw_inet_rig_run(rig,
		FROM4 "3 3 0 / " SENT4 "\n= rx_icmp_errors 1\n" MEET "< " IN4
		      " / udp 5 > 6 / bytes 4\n"
		      "> " OUT4 " / icmp 3 3 0 / " IN4 " / udp 5 > 6 / bytes 4\n= rx_no_port 1\n");
}

static void
a_closed_port_is_unreachable(void **state)
{
	pw_inet_rig_run(*state,
		MEET "< " IN4 " id 7 tos 4 / udp 5 > 9 / bytes 100\n"
		     "> " OUT4 " / icmp 3 3 0 / " IN4 " id 7 tos 4 / udp 5 > 9 / bytes 100\n"
		     "< " IN4 " id 7 opt 8 / udp 5 > 9 / bytes 10\n"
		     "> " OUT4 " / icmp 3 3 0 / " IN4 " id 7 opt 8 / udp 5 > 9 / bytes 10\n"
		     "< " IN6 " tos 4 ttl 9 / udp 5 > 9 / bytes 100\n"
		     "> " OUT6 " / icmp 1 4 0 / " IN6 " tos 4 ttl 9 / udp 5 > 9 / bytes 100\n"
		     "= rx_no_port 3\n= tx_icmp_errors 3\n"
		     "< " IN4 " proto 47 / bytes 20\n"
		     "> " OUT4 " / icmp 3 2 0 / " IN4
		     " proto 47 / bytes 20\n= rx_unknown_proto 1\n");
}

/* As much is quoted as makes 576 bytes (RFC 1812 4.3.2.3), and 1280 (RFC 4443 3.1). */
static void
errors_are_no_larger_than_any_link_takes(void **state)
{
	struct pw_inet_rig *rig = *state;
	static struct pw_spec spec;

	pw_inet_rig_run(rig, MEET);
	pw_spec_build(&spec, IN4 " / udp 5 > 9 / bytes 1472", false);
	pw_inet_rig_input(rig, spec.data, spec.len);
	assert_int_equal(rig->frames.n, 1);
	assert_int_equal(rig->frames.items[0].len, 14 + 576);
	assert_memory_equal(rig->frames.items[0].data + 42, spec.data + 14, 576 - 28);
	pw_spec_build(&spec, IN6 " / udp 5 > 9 / bytes 1452", false);
	pw_inet_rig_input(rig, spec.data, spec.len);
	assert_int_equal(rig->frames.n, 2);
	assert_int_equal(rig->frames.items[1].len, 14 + 1280);
	assert_memory_equal(rig->frames.items[1].data + 62, spec.data + 14, 1280 - 48);
}

/* 20 at once, and 100 a second. */
static void
errors_are_limited(void **state)
{
	struct pw_inet_rig *rig = *state;
	static struct pw_spec spec;
	unsigned sent;

	pw_inet_rig_run(rig, MEET);
	pw_spec_build(&spec, IN4 " / udp 5 > 9", false);
	rig->ignore = true;
	for (unsigned i = 0; i < 10000; i++)
		pw_inet_rig_input(rig, spec.data, spec.len);
	sent = pw_inet_rig_counter(rig, "tx_icmp_errors");
	assert_int_equal(sent, 20);
	for (unsigned i = 0; i < 100000; i++) {
		rig->now_us += 100; /* ten seconds in all */
		pw_inet_rig_input(rig, spec.data, spec.len);
	}
	assert_in_range(pw_inet_rig_counter(rig, "tx_icmp_errors") - sent, 990, 1001);
	assert_int_equal(pw_inet_rig_counter(rig, "tx_icmp_errors") +
			pw_inet_rig_counter(rig, "tx_errors_limited"),
		110000);
	rig->ignore = false;
	rig->now_us += 10000000;
	pw_inet_rig_run(
		rig, "< " IN4 " / udp 5 > 9\n> " OUT4 " / icmp 3 3 0 / " IN4 " / udp 5 > 9\n");
}

static void
no_error_is_about(void **state)
{
	pw_inet_rig_run(*state,
		MEET
		/* an error, in IPv4 and in IPv6; a broadcast, a group, nobody, a host beyond reach
		 */
		"< " IN4 " / icmp 3 3 0\n< " IN6 " / icmp 1 4 0\n= rx_bad_icmp 2\n"
		"< eth peer > all / ip 10.0.0.2 > 10.0.0.255 / udp 5 > 9\n"
		"< ip 10.0.0.2 > 224.0.0.1 / udp 5 > 9\n"
		"< eth peer > nodes / ip fd00::2 > ff02::1 / udp 5 > 9\n"
		"< eth peer > nodes / ip fd00::2 > ff02::1 proto 50 / bytes 20\n"
		"< ip 0.0.0.0 > 10.0.0.1 / udp 5 > 9\n"
		"< ip 10.0.0.255 > 10.0.0.1 / udp 5 > 9\n"
		/* a fragment other than the first */
		"< " IN4 " proto 47 off 8 / bytes 8\n"
		"< " IN6 " / frag 8 7 / udp 5 > 9\n= tx_icmp_errors 0\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(errors_are_handed_up),
		RIG_TEST(quotes_may_be_short),
		RIG_TEST(malformed_errors_are_dropped),
		RIG_TEST(nobody_has_to_listen),
		RIG_TEST(a_closed_port_is_unreachable),
		RIG_TEST(errors_are_no_larger_than_any_link_takes),
		RIG_TEST(errors_are_limited),
		RIG_TEST(no_error_is_about),
	};

	return cmocka_run_group_tests_name("inet_error", tests, pw_test_eal, NULL);
}
