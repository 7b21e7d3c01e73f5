/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Frames that are not what they say, in buffers that end where the frame does. */

#include <netinet/in.h>
#include <string.h>

#include "pw_gro_case.h"

#define ANY NULL /* of the pass_ counters */

enum base { TCP4, TCP6, UDP4, UDP6, EXT6, TAG4, TAGS6, BASES };

/* A frame damaged in one byte, or cut, or both. */
static const struct {
	const char *name;
	enum base base;
	uint8_t offset, value;
	uint8_t len_bytes; /* 0: whole */
	const char *counter;
} malformed[] = {
	{"no Ethernet header", TCP4, 0, 2, 10, ANY},
	{"no IP header", TCP4, 0, 2, 33, "pass_malformed"},
	{"no TCP header", TCP4, 0, 2, 53, "pass_malformed"},
	{"options cut", TCP4, 46, 0x60, 54, "pass_malformed"},
	{"ARP", TCP4, 13, 6, 0, "pass_not_ip"},
	{"IPv6 type, IPv4 behind", TCP4, 12, 0x86, 0, "pass_not_ip"}, /* 0x8600 */
	{"802.3 length", TCP4, 12, 0, 0, "pass_not_ip"},
	{"tag in the frame", TCP4, 12, 0x81, 0, "pass_not_ip"},
	{"IP version 6", TCP4, 14, 0x65, 0, "pass_malformed"},
	{"IP version 0", TCP4, 14, 0x05, 0, "pass_malformed"},
	{"IP header 0", TCP4, 14, 0x40, 0, "pass_malformed"},
	{"IP header 16", TCP4, 14, 0x44, 0, "pass_malformed"},
	{"IP header 60", TCP4, 14, 0x4f, 0, ANY}, {"IP header 60, cut", TCP4, 14, 0x4f, 70, ANY},
	{"ICMP", TCP4, 23, 1, 0, "pass_protocol"}, {"SCTP", TCP4, 23, 132, 0, "pass_protocol"},
	{"IPv6 in IPv4", TCP4, 23, 41, 0, "pass_protocol"},
	{"total length 0", TCP4, 17, 0, 0, "pass_malformed"},
	{"total length 19", TCP4, 17, 19, 0, "pass_malformed"},
	{"total length 20", TCP4, 17, 20, 0, "pass_malformed"},
	{"total length 39", TCP4, 17, 39, 0, "pass_malformed"},
	{"total length beyond", TCP4, 17, 141, 0, "pass_malformed"},
	{"total length far beyond", TCP4, 16, 0xff, 0, "pass_malformed"},
	{"TCP header 0", TCP4, 46, 0, 0, "pass_malformed"},
	{"TCP header 16", TCP4, 46, 0x40, 0, "pass_malformed"},
	{"TCP header beyond", TCP4, 46, 0xf0, 70, "pass_malformed"},
	{"UDP length 0", UDP4, 39, 0, 0, "pass_malformed"},
	{"UDP length 7", UDP4, 39, 7, 0, "pass_malformed"},
	{"UDP length of less than IP's", UDP4, 39, 107, 0, "pass_malformed"},
	{"UDP length of more than IP's", UDP4, 39, 109, 0, "pass_malformed"},
	{"no UDP header", UDP4, 17, 27, 0, "pass_malformed"},
	{"no IPv6 header", TCP6, 0, 2, 53, "pass_malformed"},
	{"no TCP header, IPv6", TCP6, 0, 2, 73, "pass_malformed"},
	{"IP version 4 behind IPv6's type", TCP6, 14, 0x40, 0, "pass_malformed"},
	{"payload length 0", TCP6, 19, 0, 0, "pass_malformed"},
	{"payload length 19", TCP6, 19, 19, 0, "pass_malformed"},
	{"payload length beyond", TCP6, 19, 121, 0, "pass_malformed"},
	{"payload length far beyond", TCP6, 18, 0xff, 0, "pass_malformed"},
	{"TCP header 16, IPv6", TCP6, 66, 0x40, 0, "pass_malformed"},
	{"ICMPv6", TCP6, 20, 58, 0, "pass_protocol"},
	{"no next header", TCP6, 20, 59, 0, "pass_protocol"},
	{"ESP", TCP6, 20, 50, 0, "pass_protocol"},
	{"IPv4 in IPv6", TCP6, 20, 4, 0, "pass_protocol"},
	{"UDP length 7, IPv6", UDP6, 59, 7, 0, "pass_malformed"},
	{"UDP length of more than IP's, IPv6", UDP6, 59, 109, 0, "pass_malformed"},
	{"extension header beyond the packet", EXT6, 55, 255, 0, "pass_ip_options"},
	{"extension header to the end", EXT6, 55, 15, 0, ANY},
	{"extension header cut", EXT6, 0, 2, 58, ANY},
	{"authentication header", EXT6, 54, 51, 0, "pass_protocol"},
	{"tag cut", TAG4, 0, 2, 16, ANY}, {"ARP behind a tag", TAG4, 17, 6, 0, "pass_not_ip"},
	{"two tags cut", TAGS6, 0, 2, 20, ANY},
	{"another tag behind two", TAGS6, 20, 0x81, 0, "pass_not_ip"}, /* 0x81dd */
};

static struct pw_packet
base_packet(enum base base)
{
	bool ipv6 = base == TCP6 || base == UDP6 || base == EXT6 || base == TAGS6;
	unsigned tags = base == TAG4 ? 1 : base == TAGS6 ? 2 : 0;
	struct pw_packet packet = pw_gro_case_packet(
		ipv6, base == UDP4 || base == UDP6, &pw_gro_case_tags[tags]);

	packet.payload_bytes = 100;
	if (base == EXT6) {
		pw_packet_add_ext(&packet, IPPROTO_HOPOPTS, 1);
		pw_packet_add_ext(&packet, IPPROTO_DSTOPTS, 1);
	}
	return packet;
}

/* The NIC says good: that is no reason to trust it. */
static struct rte_mbuf *
vouched(struct pw_gro_rig *rig, const struct pw_packet *packet)
{
	struct rte_mbuf *m = pw_packet_frame(rig->pool, packet);

	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	return m;
}

/* Hand in a frame that must come out at once. */
static void
pass_untouched(struct pw_gro_rig *rig, struct rte_mbuf *m, bool exact)
{
	pw_gro_rig_expect(rig, RIG_LOOSE, m, NULL);
	if (exact)
		m = pw_packet_exact(rig->pool, m);
	pw_gro_rig_receive(rig, &m, 1);
}

static void
open_all(struct pw_gro_rig *rig)
{
	pw_gro_rig_open(rig, (struct pw_gro_params){.types = PW_GRO_TCP | PW_GRO_UDP});
}

static void
malformed_frames_pass_untouched(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(malformed); i++) {
		struct pw_packet packet = base_packet(malformed[i].base);

		print_message("%s\n", malformed[i].name);
		open_all(rig);
		for (unsigned n = 1; n <= 2; n++, packet.seq += 100, packet.ip_id++) {
			struct rte_mbuf *m = vouched(rig, &packet);

			*rte_pktmbuf_mtod_offset(
				m, uint8_t *, malformed[i].offset) = malformed[i].value;
			if (malformed[i].len_bytes != 0)
				rte_pktmbuf_trim(m, m->pkt_len - malformed[i].len_bytes);
			pass_untouched(rig, m, true);
			assert_int_equal(pw_gro_rig_sum(rig, "pass_"), n);
			if (malformed[i].counter != ANY)
				assert_int_equal(pw_gro_rig_counter(rig, malformed[i].counter), n);
		}
		pw_gro_rig_flush(rig);
	}
}

/* With the rest of the frame still behind it, or in a buffer that ends where it does. */
static void
cut_frames_pass_untouched(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned k = 0; k < RIG_SIMD_KINDS; k++) {
		pw_gro_rig_simd(k);
		open_all(rig);
		for (enum base base = 0; base < BASES; base++) {
			struct pw_packet packet = base_packet(base), second = packet;
			unsigned whole = pw_packet_header_bytes(&packet) + 100;

			second.seq += 100;
			second.ip_id++;
			for (unsigned i = 0; i < 2 * whole; i++) {
				struct rte_mbuf *first = vouched(rig, &packet);
				struct rte_mbuf *m = vouched(rig, &second);

				pw_gro_rig_expect(rig, 0, first, &packet);
				pw_gro_rig_receive(rig, &first, 1);
				rte_pktmbuf_trim(m, whole - i / 2);
				pass_untouched(rig, m, i % 2 == 0);
				pw_gro_rig_flush(rig);
			}
		}
	}
}

/* The data offset says 60 bytes, the IP packet ends before: not read, and never held. */
static void
options_beyond_the_packet_are_not_read(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 0; i < 80; i++) {
		struct pw_packet packet = base_packet(i % 2 ? TCP4 : TCP6);
		struct rte_mbuf *m;

		packet.options_bytes = 40;
		memset(packet.options, 1, 40);
		m = pw_packet_frame(rig->pool, &packet);
		pw_gro_rig_expect(rig, 0, m, &packet);
		pw_gro_rig_receive(rig, &m, 1);
		packet.seq += 100;
		packet.ip_id++;
		packet.payload_bytes = i / 2;
		packet.options_bytes = 0;
		m = vouched(rig, &packet);
		*rte_pktmbuf_mtod_offset(m, uint8_t *, pw_packet_l4_offset(&packet) + 12) = 0xf0;
		pw_packet_fix_cksums(m);
		pass_untouched(rig, m, true);
		assert_int_equal(pw_gro_rig_counter(rig, "pass_malformed"), i + 1);
		pw_gro_rig_flush(rig);
	}
}

/* Tags as many as fit: two are looked at. */
static void
many_tags_pass(void **state)
{
	static const unsigned counts[] = {1, 2, 3, 4, 10, 300};
	static struct pw_packet_tag tags[300];
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 0; i < RTE_DIM(tags); i++)
		tags[i] = (struct pw_packet_tag){i % 2 ? 0x88a8 : 0x8100, i};
	for (unsigned i = 0; i < RTE_DIM(counts) * 2; i++) {
		struct pw_packet packet = base_packet(i % 2 ? TCP4 : TCP6);
		unsigned n = counts[i / 2];

		pw_gro_rig_open(rig, rig->params);
		packet.tags = tags;
		packet.nb_tags = n;
		for (unsigned k = 0; k < 2; k++, packet.seq += 100, packet.ip_id++) {
			struct rte_mbuf *m = pw_packet_frame(rig->pool, &packet);
			struct pw_gro_rig_frame *frame = pw_gro_rig_expect(rig, 0, m, &packet);

			if (n > 2)
				pw_gro_rig_alone(rig, frame);
			m = pw_packet_exact(rig->pool, m);
			pw_gro_rig_receive(rig, &m, 1);
		}
		pw_gro_rig_flush(rig);
		assert_string_equal(rig->sizes, n > 2 ? "100 100" : "200");
		assert_int_equal(pw_gro_rig_counter(rig, "pass_not_ip"), n > 2 ? 2 : 0);
	}
}

/* Chains of extension headers, of headers of any length: none is read beyond its end. */
static void
many_extension_headers_pass_or_merge(void **state)
{
	static const uint8_t types[] = {
		IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS, IPPROTO_FRAGMENT};
	struct pw_gro_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned i = 0; i < 20000; i++) {
		struct pw_packet packet = base_packet(TCP6);
		struct pw_gro_rig_frame *frame;
		struct rte_mbuf *m;

		while (packet.nb_exts < PW_PACKET_EXTS && !pw_chance(&seed, 5))
			pw_packet_add_ext(&packet, types[pw_test_random(&seed, 4)], 1);
		m = vouched(rig, &packet);
		for (unsigned k = 0; k < packet.nb_exts; k++)
			if (pw_chance(&seed, 3))
				*rte_pktmbuf_mtod_offset(
					m, uint8_t *, 54 + 8 * k + 1) = pw_test_random(&seed,
					pw_chance(&seed, 2) ? 4 : 256);
		if (pw_chance(&seed, 2))
			rte_pktmbuf_trim(m, pw_test_random(&seed, 100));
		frame = pw_gro_rig_expect(rig, 0, m, &packet);
		frame->ip_end = m->pkt_len;
		rig->prompt -= frame->prompt; /* what was damaged may be held, or not */
		frame->prompt = false;
		m = pw_packet_exact(rig->pool, m);
		pw_gro_rig_receive(rig, &m, 1);
		pw_gro_rig_flush(rig);
	}
}

static void
mixed_burst_loses_nothing(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct pw_packet packet = base_packet(TCP4), udp = base_packet(UDP4);
	struct rte_mbuf *burst[5];

	for (unsigned i = 0; i < RTE_DIM(burst); i++)
		burst[i] = pw_packet_frame(rig->pool, &packet);
	rte_pktmbuf_free(burst[3]);
	rte_pktmbuf_free(burst[4]);
	packet.seq += 100;
	packet.ip_id++;
	burst[3] = pw_packet_frame(rig->pool, &packet);
	burst[4] = pw_packet_frame(rig->pool, &udp);
	*rte_pktmbuf_mtod_offset(burst[0], uint8_t *, 13) = 6; /* ARP */
	*rte_pktmbuf_mtod_offset(burst[2], uint8_t *, 23) = IPPROTO_ICMP;
	for (unsigned i = 0; i < RTE_DIM(burst); i++)
		pw_gro_rig_expect(rig, i == 1 || i == 3 ? 0 : RIG_LOOSE, burst[i],
			i == 1 || i == 3 ? &packet : NULL);
	pw_gro_rig_receive(rig, burst, RTE_DIM(burst));
	assert_string_equal(rig->sizes, "0 0 0");
	pw_gro_rig_flush(rig);
	assert_string_equal(rig->sizes, "0 0 0 200");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(malformed_frames_pass_untouched),
		RIG_TEST(cut_frames_pass_untouched),
		RIG_TEST(options_beyond_the_packet_are_not_read),
		RIG_TEST(many_tags_pass),
		RIG_TEST(many_extension_headers_pass_or_merge),
		RIG_TEST(mixed_burst_loses_nothing),
	};

	return cmocka_run_group_tests_name("gro_malformed", tests, pw_test_eal, NULL);
}
