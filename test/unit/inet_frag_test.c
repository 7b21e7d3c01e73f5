/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Fragments: put together in any order, dropped when they make no packet, and sent. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pw_inet_rig.h"

#define IN4 "ip 10.0.0.2 > 10.0.0.1"
#define IN6 "ip fd00::2 > fd00::1"
#define OUT4 "ip 10.0.0.1 > 10.0.0.2"
#define OUT6 "ip fd00::1 > fd00::2"
#define MEET                                                         \
	"< arp req 10.0.0.2 10.0.0.1\n> arp rep 10.0.0.1 10.0.0.2\n" \
	"< " IN6 " ttl 255 / ns fd00::1 lla peer\n> " OUT6 " ttl 255 / na fd00::1 s o lla us\n"

/* A packet of which pieces arrive. */
static struct pw_spec whole;

/* Hop-by-hop options in front of the fragment header. */
static bool with_options;

/* Bytes begin to end of what is behind the IP header arrive as a fragment. */
static void
piece(struct pw_inet_rig *rig, uint32_t begin, uint32_t end, uint32_t id, bool more)
{
	static uint8_t frame[PW_SPEC_MAX];
	bool ipv4 = whole.layers[1].kind == '4';
	uint32_t headers = ipv4 ? 34 : 54, len = headers;
	uint8_t *ip = frame + 14;

	memcpy(frame, whole.data, headers);
	if (ipv4) {
		pw_frame_put(ip + 2, 20 + end - begin, 2);
		pw_frame_put(ip + 4, id, 2);
		pw_frame_put(ip + 6, begin / 8 | (more ? 0x2000 : 0), 2);
	} else {
		ip[6] = with_options ? 0 : 44;
		pw_frame_put(ip + 4, 8 + 8 * with_options + end - begin, 2);
		if (with_options) {
			memcpy(frame + len, (uint8_t[]){44, 0, 1, 4, 0, 0, 0, 0}, 8);
			len += 8;
		}
		memset(frame + len, 0, 8);
		frame[len] = whole.data[14 + 6];
		pw_frame_put(frame + len + 2, begin | more, 2);
		pw_frame_put(frame + len + 4, id, 4);
		len += 8;
	}
	memcpy(frame + len, whole.data + headers + begin, end - begin);
	len += end - begin;
	if (ipv4)
		pw_frame_fix_cksums(frame, 34);
	pw_inet_rig_input(rig, frame, len);
}

static uint32_t
payload_bytes(void)
{
	return whole.len - (whole.layers[1].kind == '4' ? 34 : 54);
}

/* All orders of up to four pieces, and eight at random: the same packet as in one. */
static void
any_order_makes_the_packet(void **state)
{
	static const char *const texts[] = {IN4 " tos 3 / udp 5 > 6 / bytes %u",
		IN6 " tos 3 / udp 5 > 6 / bytes %u", IN4 " / tcp 5 > 6 / bytes %u",
		IN6 " / tcp 5 > 6 / bytes %u"};
	struct pw_inet_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned i = 0; i < 2000; i++) {
		unsigned n = 2 + pw_test_random(&seed, 7), order[8];
		uint32_t cuts[9] = {0}, bytes = 8 * n + pw_test_random(&seed, 1400 * n);
		char text[100];

		snprintf(text, sizeof(text), texts[i % 4], bytes);
		pw_spec_build(&whole, text, false);
		for (unsigned j = 0; j < n; j++) {
			unsigned k = pw_test_random(&seed, j + 1);

			order[j] = order[k];
			order[k] = j;
			cuts[j] = payload_bytes() * j / n / 8 * 8;
		}
		cuts[n] = payload_bytes();
		for (unsigned j = 0; j < n; j++) {
			assert_int_equal(rig->packets.n, 0);
			piece(rig, cuts[order[j]], cuts[order[j] + 1], i, order[j] < n - 1);
		}
		pw_inet_rig_runf(rig, "^ %s\n= rx_reassembled %u\n", text, i + 1);
		pw_inet_rig_forget(rig);
		assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	}
	assert_int_equal(pw_inet_rig_counter(rig, "rx_reasm_fails"), 0);
}

/* Two packets of the same ID and other addresses, and of another ID, at the same time. */
static void
packets_are_told_apart(void **state)
{
	static const char *const texts[] = {IN4 " / udp 5 > 6 / bytes 100 from 0",
		"ip 10.0.0.3 > 10.0.0.1 / udp 5 > 6 / bytes 100 from 100",
		IN6 " / udp 5 > 6 / bytes 100 from 200",
		"ip fd00::3 > fd00::1 / udp 5 > 6 / bytes 100 from 300",
		IN4 " / udp 5 > 6 / bytes 100 from 400", IN6 " / udp 5 > 6 / bytes 100 from 500"};
	struct pw_inet_rig *rig = *state;

	for (unsigned half = 0; half < 2; half++) {
		for (unsigned i = 0; i < RTE_DIM(texts); i++) {
			pw_spec_build(&whole, texts[i], false);
			piece(rig, half ? 56 : 0, half ? 108 : 56, i / 4, half == 0);
		}
	}
	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		const struct pw_inet_rig_taken *packet = &rig->packets.items[i];

		pw_spec_build(&whole, texts[i], false);
		assert_int_equal(packet->len, 108);
		assert_memory_equal(packet->data, whole.data + whole.len - 108, 108);
	}
	assert_int_equal(rig->packets.n, RTE_DIM(texts));
}

/* What an incomplete packet holds goes home after 30 seconds, also when nothing else comes. */
static void
incomplete_packets_time_out(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_spec_build(&whole, IN4 " / udp 5 > 6 / bytes 100", false);
	piece(rig, 0, 56, 1, true);
	pw_spec_build(&whole, IN6 " / udp 5 > 6 / bytes 100", false);
	piece(rig, 56, 108, 1, false);
	pw_inet_rig_run(rig, "+30000\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 2);
	pw_inet_rig_run(rig, "+10\n= rx_reasm_fails 2\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	/* The rest comes too late. */
	piece(rig, 0, 56, 1, true);
	pw_inet_rig_run(rig, "= rx_reassembled 0\n");
}

/* Pieces that overlap make no packet (RFC 5722), whatever is in them. */
static void
overlaps_make_no_packet(void **state)
{
	static const struct {
		uint32_t begin, end;
		bool more;
	} sets[][4] = {
		{{0, 64, true}, {56, 108, false}},
		{{0, 64, true}, {48, 96, true}, {96, 108, false}},
		{{0, 64, true}, {0, 64, true}, {64, 108, false}},
		{{0, 56, true}, {56, 108, false}, {56, 108, false}},
		{{0, 56, true}, {56, 64, true}, {8, 48, true}, {72, 108, false}},
		{{0, 16, true}, {8, 24, true}, {40, 108, false}, {24, 32, true}},
		{{0, 56, true}, {104, 108, false}, {56, 108, false}},
	};
	struct pw_inet_rig *rig = *state;

	for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
		pw_spec_build(&whole,
			ipv6 ? IN6 " / udp 5 > 6 / bytes 100" : IN4 " / udp 5 > 6 / bytes 100",
			false);
		for (unsigned i = 0; i < RTE_DIM(sets); i++) {
			/* That whose beginning is a whole packet may be one. */
			bool complete = i == 3;

			for (unsigned j = 0; j < 4 && sets[i][j].end > 0; j++)
				piece(rig, sets[i][j].begin, sets[i][j].end, i + 1,
					sets[i][j].more);
			assert_int_equal(rig->packets.n, complete);
			pw_inet_rig_forget(rig);
		}
		pw_inet_rig_run(rig, "+31000\n");
		assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	}
}

/* Beyond 65535 bytes, of odd lengths, without data. */
static void
impossible_fragments_are_dropped(void **state)
{
	pw_inet_rig_run(*state,
		"< " IN4 " proto 17 off 65520 / bytes 100\n"
		"< " IN4 " proto 17 off 65528 mf / bytes 8\n"
		"< " IN4 " proto 17 off 8 mf / bytes 9\n"
		"< " IN4 " proto 17 off 8\n"
		"< " IN4 " proto 17 mf\n= rx_bad_length 5\n" MEET "< " IN6
		" / frag 65528 7 / bytes 100\n= rx_bad_length 6\n"
		"< " IN6 " / frag 8 7\n= rx_bad_length 7\n"
		"< " IN6 " / frag 8 7 mf / bytes 9\n"
		"> " OUT6 " / icmp 4 0 4 / " IN6 " / frag 8 7 mf / bytes 9\n= rx_bad_length 8\n"
		"< " IN6 " proto 44 / hex 11000000\n= rx_short 1\n= rx_fragments 0\n");
}

static void
the_ping_of_death_kills_nobody(void **state)
{
	struct pw_inet_rig *rig = *state;

	/* The header of the first fragment is longer than that of the others was. */
	for (unsigned options = 0; options <= 40; options += 40) {
		pw_inet_rig_runf(rig,
			"< " IN4 " id 5 proto 17 off 57288 / bytes 8224\n"
			"< " IN4 " id 5 opt %u mf / udp 5 > 6 / bytes 8176\n",
			options);
		for (unsigned i = 1; i < 6; i++)
			pw_inet_rig_runf(
				rig, "< " IN4 " id 5 proto 17 mf off %u / bytes 8184\n", i * 8184);
		/* Without options it is a datagram, with something behind it. */
		pw_inet_rig_runf(rig,
			"< " IN4 " id 5 proto 17 mf off 49104 / bytes 8184\n"
			"%s= rx_reassembled 1\n= rx_reasm_fails %u\n",
			options == 0 ? "^ " IN4 " / udp 5 > 6 / bytes 8176\n" : "", options / 40);
		assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	}
}

/* The library takes no more than eight: counted, and nothing is kept. */
static void
too_many_pieces_are_dropped(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_spec_build(&whole, IN4 " / udp 5 > 6 / bytes 64", false);
	for (unsigned i = 0; i < 9; i++)
		piece(rig, i * 8, i * 8 + 8, 1, i < 8);
	pw_inet_rig_run(rig, "+31000\n= rx_reassembled 0\n= rx_fragments 9\n= rx_reasm_fails 9\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
}

static void
a_flood_is_bounded(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_spec_build(&whole, IN4 " / udp 5 > 6 / bytes 3000", false);
	for (unsigned i = 0; i < 60000; i++)
		for (unsigned j = 0; j < 7; j++)
			piece(rig, j * 8, j * 8 + 8, i, true);
	assert_in_range(pw_inet_rig_mbufs(rig), 1, 128 * 8 * 2);
	pw_inet_rig_run(rig, "+31000\n= rx_fragments 420000\n= rx_reasm_fails 420000\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	piece(rig, 0, 1480, 1, true);
	piece(rig, 1480, 3008, 1, false);
	pw_inet_rig_run(rig, "^ " IN4 " / udp 5 > 6 / bytes 3000\n");
}

/* RFC 6946: a fragment that is all of its packet meets no other of its ID. */
static void
atomic_fragments_are_packets(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_spec_build(&whole, IN6 " / udp 5 > 6 / bytes 100", false);
	piece(rig, 0, 56, 7, true);
	pw_inet_rig_run(rig,
		"< " IN6 " / frag 0 7 / udp 5 > 6 / bytes 9\n^ " IN6 " / udp 5 > 6 / bytes 9\n"
		"< " IN6 " / hbh 010400000000 / frag 0 7 / dst 010400000000 / udp 5 > 6\n"
		"^ " IN6 " / udp 5 > 6\n= rx_fragments 1\n"
		/* one in another is nonsense */
		"< " IN6 " / frag 0 7 / frag 0 8 / udp 5 > 6\n= rx_udp 2\n"
		"= rx_unknown_proto 1\n");
	piece(rig, 56, 108, 7, false);
	pw_inet_rig_run(rig, "^ " IN6 " / udp 5 > 6 / bytes 100\n");
}

/* Extension headers in front of the fragment header, and behind it. */
static void
extension_headers_go_with_fragments(void **state)
{
	struct pw_inet_rig *rig = *state;

	for (unsigned i = 0; i < 4; i++) {
		pw_spec_build(&whole, IN6 " / dst 010400000000 / udp 5 > 6 / bytes 100", false);
		with_options = i & 1;
		piece(rig, 0, 56, i, true);
		with_options = i & 2;
		piece(rig, 56, 116, i, false);
		pw_inet_rig_run(rig, "^ " IN6 " / udp 5 > 6 / bytes 100\n");
	}
	with_options = false;
}

static void
echo_of_fragments_goes_back_in_fragments(void **state)
{
	struct pw_inet_rig *rig = *state;

	for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
		pw_spec_build(&whole,
			ipv6 ? IN6 " / icmp 128 0 7 / bytes 3000"
			     : IN4 " / icmp 8 0 7 / bytes 3000",
			false);
		piece(rig, 1480, 2960, 1, true);
		piece(rig, 2960, 3008, 1, false);
		piece(rig, 0, 1480, 1, true);
		assert_int_equal(rig->frames.n, 3);
		assert_int_equal(pw_inet_rig_counter(rig, "rx_icmp_echo"), ipv6 + 1);
		for (unsigned i = 0; i < 3; i++)
			assert_in_range(rig->frames.items[i].len, 54, 1514);
		pw_inet_rig_forget(rig);
	}
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
}

/* What we send in fragments: back to ourselves as if from the peer, as far as eight of them go. */
static void
put_back(struct pw_inet_rig *rig, const char *text, bool ipv4)
{
	static struct pw_spec sent;
	uint32_t headers = ipv4 ? 34 : 62, done = 0;
	uint32_t id = pw_frame_get32(rig->frames.items[0].data + (ipv4 ? 18 : 58));

	pw_spec_build(&sent, text, true);
	for (unsigned i = 0; i < rig->frames.n; i++) {
		const struct pw_inet_rig_taken *frame = &rig->frames.items[i];
		uint32_t len = frame->len - headers;
		uint16_t field = pw_frame_get16(frame->data + (ipv4 ? 20 : 56));

		assert_in_range(frame->len, headers + 1, 14 + rig->params.mtu_bytes);
		assert_int_equal(ipv4 ? (field & 0x1fff) * 8 : field & 0xfff8, done);
		assert_int_equal((field & (ipv4 ? 0x2000 : 1)) != 0, i < rig->frames.n - 1);
		assert_int_equal(len % 8 == 0 || i == rig->frames.n - 1, true);
		if (ipv4) {
			assert_int_equal(pw_frame_get16(frame->data + 18), id >> 16);
			assert_int_equal(pw_frame_get16(frame->data + 16), len + 20);
			assert_int_equal(rte_raw_cksum(frame->data + 14, 20), 0xffff);
		} else {
			assert_int_equal(pw_frame_get32(frame->data + 58), id);
			assert_int_equal(pw_frame_get16(frame->data + 18), len + 8);
			assert_int_equal(frame->data[20], 44);
			assert_int_equal(frame->data[54], 17);
		}
		assert_memory_equal(
			frame->data + headers, sent.data + (ipv4 ? 34 : 54) + done, len);
		done += len;
	}
	assert_int_equal(done, sent.len - (ipv4 ? 34 : 54));
}

static void
large_datagrams_go_out_in_fragments(void **state)
{
	static const unsigned sizes[] = {1473, 1480, 1481, 2952, 3000, 16384, 65507};
	struct pw_inet_rig *rig = *state;
	uint32_t ids[2][RTE_DIM(sizes)];

	pw_inet_rig_run(rig, MEET);
	for (unsigned i = 0; i < RTE_DIM(sizes) * 2; i++) {
		bool ipv4 = i % 2 == 0;
		char text[100], line[110];
		uint64_t before = pw_inet_rig_counter(rig, "tx_fragments");

		snprintf(text, sizeof(text), "%s / udp 5 > 6 / bytes %u", ipv4 ? OUT4 : OUT6,
			sizes[i / 2]);
		snprintf(line, sizeof(line), "udp %s", text);
		pw_inet_rig_forget(rig);
		pw_inet_rig_send(rig, line);
		put_back(rig, text, ipv4);
		assert_int_equal(pw_inet_rig_counter(rig, "tx_fragments") - before, rig->frames.n);
		ids[i % 2][i / 2] = pw_frame_get32(rig->frames.items[0].data + (ipv4 ? 18 : 58));
		for (unsigned j = 0; j < i / 2; j++)
			assert_int_not_equal(ids[i % 2][j], ids[i % 2][i / 2]);
		pw_inet_rig_forget(rig);
		assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	}
}

/* They wait for the neighbour as one packet: a queue of four holds 65507 bytes too. */
static void
a_large_datagram_waits_in_one(void **state)
{
	struct pw_inet_rig *rig = *state;

	pw_inet_rig_run(rig,
		"udp " OUT4 " / udp 5 > 6 / bytes 65507\n"
		"> eth us > all / arp req 10.0.0.1 10.0.0.2\n");
	rig->ignore = true;
	pw_inet_rig_run(
		rig, "< arp rep 10.0.0.2 10.0.0.1\n= tx_fragments 45\n= tx_no_neighbour 0\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
}

/* With no mbuf left, at any place of the way, nothing is lost. */
static void
an_empty_pool_leaks_nothing(void **state)
{
	struct pw_inet_rig *rig = *state;
	static struct rte_mbuf *all[8192];

	pw_inet_rig_run(rig, MEET);
	rig->ignore = true;
	for (unsigned left = 0; left < 12; left++) {
		unsigned n = 0;

		while (rte_mempool_avail_count(rig->pool) > 3 + left) {
			all[n] = rte_pktmbuf_alloc(rig->pool);
			assert_non_null(all[n++]);
		}
		pw_inet_rig_send(rig, "udp " OUT4 " / udp 5 > 6 / bytes 5000");
		pw_inet_rig_send(rig, "udp " OUT6 " / udp 5 > 6 / bytes 5000");
		rte_pktmbuf_free_bulk(all, n);
		assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	}
	assert_true(pw_inet_rig_counter(rig, "tx_no_mbuf") > 0);
	assert_true(pw_inet_rig_counter(rig, "tx_fragments") > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(any_order_makes_the_packet),
		RIG_TEST(packets_are_told_apart),
		RIG_TEST(incomplete_packets_time_out),
		RIG_TEST(overlaps_make_no_packet),
		RIG_TEST(impossible_fragments_are_dropped),
		RIG_TEST(the_ping_of_death_kills_nobody),
		RIG_TEST(too_many_pieces_are_dropped),
		RIG_TEST(a_flood_is_bounded),
		RIG_TEST(atomic_fragments_are_packets),
		RIG_TEST(extension_headers_go_with_fragments),
		RIG_TEST(echo_of_fragments_goes_back_in_fragments),
		RIG_TEST(large_datagrams_go_out_in_fragments),
		RIG_TEST(a_large_datagram_waits_in_one),
		RIG_TEST(an_empty_pool_leaks_nothing),
	};

	return cmocka_run_group_tests_name("inet_frag", tests, pw_test_eal, NULL);
}
