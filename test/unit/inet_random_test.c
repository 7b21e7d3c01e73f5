/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Frames of every kind with some bytes wrong: each is counted once, and every mbuf comes home. */

#include <string.h>

#include "pw_inet_rig.h"

#define FRAMES 500000
#define IN4 "ip 10.0.0.2 > 10.0.0.1"
#define IN6 "ip fd00::2 > fd00::1"

static const char *const kinds[] = {
	"eth peer > all / arp req 10.0.0.2 10.0.0.1",
	"arp rep 10.0.0.2 10.0.0.1",
	IN4 " / tcp 5 > 6 / bytes 40",
	IN4 " opt 8 / udp 5 > 6 / bytes 40",
	IN4 " / udp 5 > 9 / bytes 40",
	IN4 " / icmp 8 0 7 / bytes 40",
	IN4 " / icmp 3 4 1400 / ip 10.0.0.1 > 10.0.0.9 / tcp 5 > 6",
	IN4 " proto 17 id 7 mf / bytes 48",
	IN4 " proto 17 id 7 off 48 mf / bytes 48",
	IN4 " proto 17 id 7 off 96 / bytes 10",
	IN6 " / tcp 5 > 6 / bytes 40",
	IN6 " / hbh 010400000000 / dst 1e0411111111 / udp 5 > 6 / bytes 40",
	IN6 " / rt 0 / udp 5 > 9 / bytes 40",
	IN6 " / icmp 128 0 7 / bytes 40",
	IN6 " / icmp 2 0 1400 / ip fd00::1 > fd00::9 / frag 0 9 mf / udp 5 > 6 / bytes 8",
	IN6 " ttl 255 / ns fd00::1 lla peer",
	"eth peer > sol / ip fd00::2 > ff02::1:ff00:1 ttl 255 / ns fd00::1 hex 0e01000000000000 lla "
	"peer",
	IN6 " ttl 255 / na fd00::2 s o lla peer",
	"eth peer > nodes / ip fe80::2 > ff02::1 ttl 255 / icmp 134 0 0 / bytes 40",
	IN6 " / frag 0 7 mf / dst 010400000000 / bytes 40",
	IN6 " / hbh 010400000000 / frag 48 7 mf / bytes 48",
	IN6 " / frag 96 7 / bytes 10",
	IN6 " / frag 0 7 / udp 5 > 6 / bytes 10",
	"eth peer > us / vlan 0 / " IN6 " / tcp 5 > 6 / bytes 40",
	"eth peer > us / vlan 5 / " IN4 " / tcp 5 > 6 / bytes 40",
};

static struct pw_spec specs[RTE_DIM(kinds)], frame;

static void
mutate(uint64_t *seed)
{
	unsigned changes = pw_test_random(seed, 5);
	uint32_t l3 = frame.nb_layers > 1 ? frame.layers[1].offset : 14;

	for (unsigned i = 0; i < changes; i++) {
		/* Mostly headers, which are read; MAC addresses less. */
		uint32_t from = pw_chance(seed, 8) ? 0 : l3;
		uint32_t at = from + pw_test_random(seed, frame.len - from);

		if (pw_chance(seed, 2))
			frame.data[at] = pw_test_random(seed, 256);
		else
			frame.data[at] ^= 1 << pw_test_random(seed, 8);
	}
	if (!pw_chance(seed, 4))
		pw_spec_finish(&frame);
	if (pw_chance(seed, 6))
		frame.len = pw_test_random(seed, frame.len + 1);
}

static struct rte_mbuf *
make_mbuf(struct pw_inet_rig *rig, uint64_t *seed)
{
	static const uint64_t flags[] = {0, 0, 0, RTE_MBUF_F_RX_L4_CKSUM_GOOD,
		RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_NONE,
		RTE_MBUF_F_RX_L4_CKSUM_BAD, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED};
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig->pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, frame.len), frame.data, frame.len);
	m->ol_flags |= flags[pw_test_random(seed, RTE_DIM(flags))];
	m->vlan_tci = pw_test_random(seed, 2);
	if (m->data_len > 1 && pw_chance(seed, 4))
		pw_packet_split(rig->pool, m, 1 + pw_test_random(seed, m->data_len - 1));
	else if (pw_chance(seed, 4))
		m = pw_packet_exact(rig->pool, m);
	return m;
}

static void
frames_are_counted_once_and_freed(void **state)
{
	/* So much is not reached only by chance. */
	static const char *const reached[] = {"rx_arp", "rx_nd", "rx_icmp_echo", "rx_icmp_errors",
		"rx_tcp", "rx_udp", "rx_fragments", "rx_reassembled", "rx_reasm_fails", "rx_short",
		"rx_other_mac", "rx_vlan", "rx_unknown_type", "rx_bad_arp", "rx_bad_nd",
		"rx_bad_icmp", "rx_bad_ip", "rx_bad_length", "rx_bad_ip_cksum", "rx_other_ip",
		"rx_unknown_proto", "rx_bad_l4_cksum", "rx_no_port", "tx_icmp_errors"};
	struct pw_inet_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned i = 0; i < RTE_DIM(kinds); i++)
		pw_spec_build(&specs[i], kinds[i], false);
	rig->ignore = true;
	for (unsigned i = 0; i < FRAMES; i++) {
		const struct pw_spec *kind = &specs[pw_test_random(&seed, RTE_DIM(kinds))];

		memcpy(frame.data, kind->data, kind->len);
		memcpy((char *)&frame + offsetof(struct pw_spec, len),
			(const char *)kind + offsetof(struct pw_spec, len),
			sizeof(frame) - offsetof(struct pw_spec, len));
		mutate(&seed);
		pw_inet_input(rig->inet, make_mbuf(rig, &seed), rig->now_us);
		if (i % 100 == 0)
			pw_inet_tick(rig->inet, rig->now_us += pw_test_random(&seed, 100000));
		if (i % 1000 == 0)
			assert_int_equal(pw_inet_rig_accounted(rig), i + 1);
	}
	assert_int_equal(pw_inet_rig_counter(rig, "rx_frames"), FRAMES);
	assert_int_equal(pw_inet_rig_accounted(rig), FRAMES);
	pw_inet_rig_run(rig, "+40000\n");
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	for (unsigned i = 0; i < RTE_DIM(reached); i++) {
		print_message(
			"%s: %u\n", reached[i], (unsigned)pw_inet_rig_counter(rig, reached[i]));
		assert_true(pw_inet_rig_counter(rig, reached[i]) > FRAMES / 10000);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(frames_are_counted_once_and_freed),
	};

	return cmocka_run_group_tests_name("inet_random", tests, pw_test_eal, NULL);
}
