/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Neighbours: ARP and ND as their packets. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pw_inet_rig.h"

#define PEER "10.0.0.2"
#define US "10.0.0.1"
#define PEER6 "fd00::2"
#define US6 "fd00::1"
#define OUR_LL "fe80::aff:fe00:1"

/* What is sent, asked and answered, by both families. */
#define SEND "udp ip " US " > " PEER " / udp 5 > 6 / bytes "
#define SENT "> ip " US " > " PEER " / udp 5 > 6 / bytes "
#define ASKED "> eth us > all / arp req " US " " PEER "\n"
#define ANSWER "< arp rep " PEER " " US "\n"
#define SEND6 "udp ip " US6 " > " PEER6 " / udp 5 > 6 / bytes "
#define SENT6 "> ip " US6 " > " PEER6 " / udp 5 > 6 / bytes "
#define ASKED6 \
	"> eth us > 33:33:ff:00:00:02 / ip " US6 " > ff02::1:ff00:2 ttl 255 / ns " PEER6 " lla us\n"
#define ANSWER6 "< ip " PEER6 " > " US6 " ttl 255 / na " PEER6 " s o lla peer\n"

static void
packets_wait_in_order(void **state)
{
	pw_inet_rig_run(*state,
		SEND "1\n" ASKED SEND "2\n" SEND "3\n" SEND "4\n"
		/* A fifth one pushes the first out. */
		SEND "5\n= tx_no_neighbour 1\n" ANSWER SENT "2\n" SENT "3\n" SENT "4\n" SENT
		     "5\n" SEND "6\n" SENT "6\n");
	pw_inet_rig_run(*state,
		SEND6 "1\n" ASKED6 SEND6 "2\n" SEND6 "3\n" SEND6 "4\n" SEND6
		      "5\n= tx_no_neighbour 2\n" ANSWER6 SENT6 "2\n" SENT6 "3\n" SENT6 "4\n" SENT6
		      "5\n" SEND6 "6\n" SENT6 "6\n");
}

static void
a_silent_neighbour_is_given_up(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_inet_rig_run(rig,
		SEND "1\n" ASKED "+990\n+10\n" ASKED "+1000\n" ASKED
		     "+990\n= tx_no_neighbour 0\n+10\n= tx_no_neighbour 1\n+5000\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	pw_inet_rig_run(rig,
		SEND6 "1\n" ASKED6 "+990\n+10\n" ASKED6 "+1000\n" ASKED6
		      "+990\n= tx_no_neighbour 1\n+10\n= tx_no_neighbour 2\n+5000\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	/* They may come back. */
	pw_inet_rig_run(
		rig, SEND "1\n" ASKED ANSWER SENT "1\n" SEND6 "1\n" ASKED6 ANSWER6 SENT6 "1\n");
}

/* After a minute it is asked itself, and when it is silent all are. */
static void
a_known_one_is_asked_again(void **state)
{
	pw_inet_rig_run(*state,
		SEND "1\n" ASKED ANSWER SENT "1\n+60000\n" SEND "2\n" SENT "2\n+10\n" SEND
		     "3\n> arp req " US " " PEER "\n" SENT "3\n" SEND "4\n" SENT "4\n" ANSWER SEND
		     "5\n" SENT "5\n+50000\n" SEND "6\n" SENT "6\n");
	pw_inet_rig_run(*state,
		"+10010\n" SEND "7\n> arp req " US " " PEER "\n" SENT "7\n+1000\n> arp req " US
		" " PEER "\n+1000\n> arp req " US " " PEER "\n+1000\n" ASKED SEND "8\n+1000\n" ASKED
		"+1000\n" ASKED "+1000\n= tx_no_neighbour 1\n+5000\n");
}

static void
a_known_one_is_asked_again_by_nd(void **state)
{
#define PROBE6 "> ip " US6 " > " PEER6 " ttl 255 / ns " PEER6 " lla us\n"
	pw_inet_rig_run(*state,
		SEND6 "1\n" ASKED6 ANSWER6 SENT6 "1\n+60010\n" SEND6 "2\n" PROBE6 SENT6
		      /* The answer to a unicast question need not have the option. */
		      "2\n< ip " PEER6 " > " US6 " ttl 255 / na " PEER6 " s\n+50000\n" SEND6
		      "3\n" SENT6 "3\n+10010\n" SEND6 "4\n" PROBE6 SENT6 "4\n+1000\n" PROBE6
		      "+1000\n" PROBE6 "+1000\n" ASKED6 "+1000\n" ASKED6 "+1000\n" ASKED6
		      "+6000\n");
}

static void
gateways_lead_beyond_the_link(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_inet_rig_run(rig,
		"udp ip " US " > 192.0.2.7 / udp 5 > 6 / bytes 1\n"
		"> eth us > all / arp req " US " 10.0.0.254\n"
		"< eth gw > us / arp rep 10.0.0.254 " US "\n"
		"> eth us > gw / ip " US " > 192.0.2.7 / udp 5 > 6 / bytes 1\n"
		"udp ip " US6 " > 2001:db8::7 / udp 5 > 6 / bytes 1\n"
		"> eth us > 33:33:ff:00:00:fe / ip " OUR_LL
		" > ff02::1:ff00:fe ttl 255 / ns fe80::fe lla us\n"
		"< eth gw > us / ip fe80::fe > " OUR_LL " ttl 255 / na fe80::fe r s o lla gw\n"
		"> eth us > gw / ip " US6 " > 2001:db8::7 / udp 5 > 6 / bytes 1\n"
		/* Neither goes to a gateway: other hosts' link-local addresses, all of a network.
		 */
		"udp ip " OUR_LL " > fe80::77 / udp 5 > 6 / bytes 1\n"
		"> eth us > 33:33:ff:00:00:77 / ip " OUR_LL
		" > ff02::1:ff00:77 ttl 255 / ns fe80::77 lla us\n"
		"udp ip " US " > 10.0.0.255 / udp 5 > 6 / bytes 1\n"
		"udp ip " US " > 224.0.0.1 / udp 5 > 6 / bytes 1\n"
		"udp ip " US6 " > ff02::1 / udp 5 > 6 / bytes 1\n"
		"= tx_no_route 3\n");
	rig->params.gateway4 = rig->params.gateway6 = (struct pw_addr){0};
	pw_inet_rig_reopen(rig);
	pw_inet_rig_run(rig,
		"udp ip " US " > 192.0.2.7 / udp 5 > 6 / bytes 1\n"
		"tcp ip " US6 " > 2001:db8::7 / tcp 5 > 6 / bytes 1\n= tx_no_route 2\n");
}

static void
sources_fit_destinations(void **state)
{
	static const struct {
		const char *dst, *source; /* NULL: no way there */
	} rows[] = {
		{"10.0.0.9", "10.0.0.1"},
		{"10.1.0.9", "10.1.0.1"},
		{"10.1.2.9", "10.1.2.1"},
		{"192.0.2.1", "10.0.0.1"}, /* by the gateway */
		{"fd00::9", "fd00::1"},
		{"fd01::9", "fd01::1"},
		{"2001:db8::1", "fd00::1"},
		{"fe80::9", OUR_LL},
		{"10.0.0.1", NULL},
		{"10.1.255.255", NULL},
		{"127.0.0.1", NULL},
		{"ff02::1", NULL},
		{"::1", NULL},
	};
	static const char *const more[] = {"10.1.0.1", "10.1.2.1", "fd01::1"};
	static const uint8_t lens[] = {16, 24, 48};
	struct pw_inet_rig *rig = *state;
	char text[PW_ADDR_STRLEN];

	for (unsigned i = 0; i < RTE_DIM(more); i++) {
		struct pw_inet_address *address = &rig->params
							   .addresses[rig->params.nb_addresses++];

		assert_int_equal(pw_addr_parse(more[i], &address->addr), 0);
		address->prefix_len = lens[i];
	}
	pw_inet_rig_reopen(rig);
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct pw_addr dst, source;

		print_message("%s\n", rows[i].dst);
		assert_int_equal(pw_addr_parse(rows[i].dst, &dst), 0);
		if (rows[i].source == NULL) {
			assert_int_equal(pw_inet_source(rig->inet, &dst, &source), -ENETUNREACH);
			continue;
		}
		assert_int_equal(pw_inet_source(rig->inet, &dst, &source), 0);
		assert_string_equal(pw_addr_format(&source, text), rows[i].source);
	}
}

/* Each address of ours is answered for, and asks for what is on its network. */
static void
each_address_is_served(void **state)
{
	struct pw_inet_rig *rig = *state;

	assert_int_equal(pw_addr_parse("192.0.2.1", &rig->params.addresses[2].addr), 0);
	rig->params.addresses[2].prefix_len = 28;
	assert_int_equal(pw_addr_parse("2001:db8::1:2", &rig->params.addresses[3].addr), 0);
	rig->params.addresses[3].prefix_len = 64;
	rig->params.nb_addresses = 4;
	pw_inet_rig_reopen(rig);
	pw_inet_rig_run(rig,
		"< eth peer > all / arp req 192.0.2.2 192.0.2.1\n"
		"> arp rep 192.0.2.1 192.0.2.2\n"
		"udp ip 192.0.2.1 > 192.0.2.3 / udp 5 > 6\n"
		"> eth us > all / arp req 192.0.2.1 192.0.2.3\n"
		"< eth peer > 33:33:ff:01:00:02 / ip 2001:db8::2 > ff02::1:ff01:2 ttl 255 / "
		"ns 2001:db8::1:2 lla peer\n"
		"> ip 2001:db8::1:2 > 2001:db8::2 ttl 255 / na 2001:db8::1:2 s o lla us\n"
		"< ip 192.0.2.2 > 192.0.2.1 / udp 5 > 6 / bytes 9\n"
		"^ ip 192.0.2.2 > 192.0.2.1 / udp 5 > 6 / bytes 9\n"
		/* An ID that IPv4 addresses of ours have inside of us is none of IPv6. */
		"< ip fd00::2 > ::ffff:192.0.2.1 / udp 5 > 6\n= rx_bad_ip 1\n");
}

/* Frames of many made-up neighbours: who is talked to stays known, and nothing grows. */
static void
a_flood_pushes_nobody_out(void **state)
{
	struct pw_inet_rig *rig = *state;
	uint64_t seed = pw_test_seed();
	struct pw_spec *spec = malloc(sizeof(*spec));

	rig->params.addresses[0].prefix_len = 8;
	pw_inet_rig_reopen(rig);
	for (unsigned i = 2; i < 66; i++)
		pw_inet_rig_runf(rig,
			"< arp req 10.0.0.%u " US "\n> arp rep " US " 10.0.0.%u\n"
			"udp ip " US " > 10.0.0.%u / udp 5 > 6\n> ip " US
			" > 10.0.0.%u / udp 5 > 6\n",
			i, i, i, i);
	assert_non_null(spec);
	pw_spec_build(spec, "eth peer > all / arp req 10.9.9.9 " US, false);
	rig->ignore = true;
	for (unsigned i = 0; i < 200000; i++) {
		pw_frame_put(spec->data + 29, 1000 + pw_test_random(&seed, 1 << 23), 3);
		pw_inet_rig_input(rig, spec->data, spec->len);
	}
	/* Nor do answers to made-up hosts on the link. */
	for (unsigned i = 0; i < 20000; i++) {
		struct pw_ip_info ip = {.src = pw_addr_from_ipv4(RTE_BE32(PW_PACKET_US)),
			.dst = pw_addr_from_ipv4(
				rte_cpu_to_be_32(0x0a010000 + pw_test_random(&seed, 1 << 23)))};
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig->pool);

		memset(rte_pktmbuf_append(m, 8), 0, 8);
		pw_inet_output_udp(rig->inet, m, &ip, rig->now_us);
		assert_in_range(pw_inet_rig_mbufs(rig), 0, 256);
	}
	rig->ignore = false;
	free(spec);
	for (unsigned i = 2; i < 66; i++)
		pw_inet_rig_runf(rig,
			"udp ip " US " > 10.0.0.%u / udp 5 > 6\n> ip " US
			" > 10.0.0.%u / udp 5 > 6\n",
			i, i);
}

static void
arp_updates_what_is_known(void **state)
{
	pw_inet_rig_run(*state,
		SEND
		"1\n" ASKED ANSWER SENT "1\n"
		/* gratuitous */
		"< eth peer > all / arp req " PEER " " PEER " mac 02:00:00:00:00:99\n" SEND
		"2\n> eth us > 02:00:00:00:00:99 / ip " US " > " PEER " / udp 5 > 6 / bytes 2\n"
		/* of nobody known, and of nobody on the link: no entry */
		"< eth peer > all / arp req 10.0.0.3 10.0.0.3\n"
		"< arp req 172.16.0.1 " US "\n> arp rep " US " 172.16.0.1\n"
		"udp ip " US " > 10.0.0.3 / udp 5 > 6\n> eth us > all / arp req " US " 10.0.0.3\n");
}

static void
nd_updates_as_its_flags_say(void **state)
{
	pw_inet_rig_run(*state,
		SEND6 "1\n" ASKED6
		      /* without the option it says nothing we can use */
		      "< ip " PEER6 " > " US6 " ttl 255 / na " PEER6 " s o\n" ANSWER6 SENT6 "1\n"
		      /* overrides nothing: the old one is asked itself */
		      "< ip " PEER6 " > " US6 " ttl 255 / na " PEER6 " s lla gw\n" SEND6
		      "2\n> ip " US6 " > " PEER6 " ttl 255 / ns " PEER6 " lla us\n" SENT6 "2\n"
		      "< ip " PEER6 " > ff02::1 ttl 255 / na " PEER6 " o lla gw\n" SEND6
		      "3\n> eth us > gw / ip " US6 " > " PEER6 " / udp 5 > 6 / bytes 3\n"
		      /* nobody asked for: no entry */
		      "< ip fd00::3 > ff02::1 ttl 255 / na fd00::3 o lla peer\n"
		      "udp ip " US6 " > fd00::3 / udp 5 > 6\n"
		      "> eth us > 33:33:ff:00:00:03 / ip " US6
		      " > ff02::1:ff00:3 ttl 255 / ns fd00::3 lla us\n");
}

/* A host with an instance for each RX queue: we asked, and the answer comes at the other's. */
static void
tell_other(void *ctx, const struct pw_inet_heard *heard)
{
	struct pw_inet_rig *rig = ctx;

	pw_inet_hear(rig->inet, heard, rig->now_us);
}

static void
instances_share_what_they_hear(void **state)
{
	static struct pw_spec answer;
	struct pw_inet_rig *rig = *state;
	struct pw_inet_params params = rig->params;
	struct pw_inet *other;
	struct rte_mbuf *m;

	params.ops.heard = tell_other;
	other = pw_inet_create(&params);
	assert_non_null(other);
	pw_inet_rig_run(rig, SEND6 "1\n" ASKED6);
	pw_spec_build(&answer, "ip " PEER6 " > " US6 " ttl 255 / na " PEER6 " s o lla peer", false);
	m = rte_pktmbuf_alloc(rig->pool);
	memcpy(rte_pktmbuf_append(m, answer.len), answer.data, answer.len);
	pw_inet_input(other, m, rig->now_us);
	pw_inet_rig_run(rig, SENT6 "1\n" SEND6 "2\n" SENT6 "2\n");
	pw_inet_destroy(other);
}

static bool
reaches(struct pw_inet_rig *rig, const char *text)
{
	struct pw_addr addr;

	assert_int_equal(pw_addr_parse(text, &addr), 0);
	return pw_inet_reaches(rig->inet, &addr, rig->now_us);
}

/* Who wants to send a lot asks first. */
static void
the_way_is_found_out(void **state)
{
	struct pw_inet_rig *rig = *state;

	assert_false(reaches(rig, PEER));
	assert_false(reaches(rig, PEER)); /* asked once */
	pw_inet_rig_run(rig, ASKED ANSWER);
	assert_true(reaches(rig, PEER));
	assert_false(reaches(rig, PEER6));
	pw_inet_rig_run(rig, ASKED6 ANSWER6);
	assert_true(reaches(rig, PEER6));
	pw_inet_rig_run(rig, "");
	assert_false(reaches(rig, "192.0.2.7"));
	pw_inet_rig_run(rig,
		"> eth us > all / arp req " US " 10.0.0.254\n"
		"< eth gw > us / arp rep 10.0.0.254 " US "\n");
	assert_true(reaches(rig, "192.0.2.7"));
	assert_false(reaches(rig, "224.0.0.1")); /* no host */
	pw_inet_rig_run(rig, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(packets_wait_in_order),
		RIG_TEST(a_silent_neighbour_is_given_up),
		RIG_TEST(a_known_one_is_asked_again),
		RIG_TEST(a_known_one_is_asked_again_by_nd),
		RIG_TEST(gateways_lead_beyond_the_link),
		RIG_TEST(sources_fit_destinations),
		RIG_TEST(each_address_is_served),
		RIG_TEST(a_flood_pushes_nobody_out),
		RIG_TEST(arp_updates_what_is_known),
		RIG_TEST(nd_updates_as_its_flags_say),
		RIG_TEST(instances_share_what_they_hear),
		RIG_TEST(the_way_is_found_out),
	};

	return cmocka_run_group_tests_name("inet_neigh", tests, pw_test_eal, NULL);
}
