/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

#include "pw_gro_rig.h"

#define PACKETS 200000

/* A sender: what the next segment looks like, and a state of its own kind of mischief. */
struct sender {
	struct pw_packet next;
	struct pw_packet sent[16]; /* to be sent again */
	unsigned nb_sent;
	bool ids_stay;
};

static void
start(struct sender *sender, uint64_t *seed, uint8_t flow)
{
	*sender = (struct sender){
		.next =
			{
				.src_ip = 0x0a000000 | flow,
				.dst_ip = PW_PACKET_US,
				.ttl = 64,
				.ip_id = pw_test_random(seed, UINT32_MAX),
				.ip_frag = pw_chance(seed, 2) ? RTE_IPV4_HDR_DF_FLAG : 0,
				.src_port = 1000 + flow,
				.dst_port = 2000,
				.seq = pw_test_random(seed, UINT32_MAX),
				.ack = pw_test_random(seed, UINT32_MAX),
				.flags = RTE_TCP_ACK_FLAG,
				.window = 4096,
			},
		.ids_stay = pw_chance(seed, 3),
	};
}

/* Lasting changes, as they come up in real streams. */
static void
change(struct sender *sender, uint64_t *seed)
{
	struct pw_packet *next = &sender->next;

	switch (pw_test_random(seed, 12)) {
	case 0:
		next->ack += pw_test_random(seed, 5000);
		break;
	case 1:
		next->window = pw_test_random(seed, UINT32_MAX);
		break;
	case 2:
		next->options_bytes = pw_test_random(seed, 4) * 4;
		memset(next->options, 1, next->options_bytes);
		break;
	case 3:
		next->options[11] ^= 1;
		break;
	case 4:
		next->tos = pw_test_random(seed, 4);
		break;
	case 5:
		next->flags ^= RTE_TCP_ECE_FLAG;
		break;
	case 6:
		next->ip_frag ^= RTE_IPV4_HDR_DF_FLAG;
		break;
	case 7:
		next->seq += pw_test_random(seed, 3000); /* a loss */
		break;
	case 8:
		next->ip_id += pw_test_random(seed, 3);
		break;
	case 9:
		sender->ids_stay = !sender->ids_stay;
		break;
	case 10:
		next->ttl ^= 1;
		break;
	default:
		next->ip_id = UINT16_MAX - 3;
		break;
	}
}

/* What is special about a single packet. */
static void
decorate(struct pw_packet *packet, uint64_t *seed)
{
	static const uint8_t flags[] = {RTE_TCP_FIN_FLAG, RTE_TCP_PSH_FLAG, RTE_TCP_PSH_FLAG,
		RTE_TCP_SYN_FLAG, RTE_TCP_RST_FLAG, RTE_TCP_URG_FLAG, RTE_TCP_CWR_FLAG};

	if (pw_chance(seed, 12))
		packet->flags |= flags[pw_test_random(seed, RTE_DIM(flags))];
	if (pw_chance(seed, 60))
		packet->ip_frag |= pw_chance(seed, 2) ? RTE_IPV4_HDR_MF_FLAG : 100;
	if (pw_chance(seed, 60))
		packet->ip_options_bytes = 4 << pw_test_random(seed, 3);
	if (pw_chance(seed, 20))
		packet->payload_bytes = 0;
	if (packet->payload_bytes < 60)
		packet->pad_bytes = pw_test_random(seed, 7);
}

static uint32_t
choose_size(uint64_t *seed)
{
	static const uint16_t usual[] = {1448, 1448, 1448, 999, 101, 1};

	return pw_chance(seed, 8) ? pw_test_random(seed, 1461) : usual[pw_test_random(seed, 6)];
}

static struct pw_packet
next_packet(struct sender *sender, uint64_t *seed, uint32_t size)
{
	struct pw_packet packet;

	if (sender->nb_sent > 0 && pw_chance(seed, 15))
		return sender->sent[pw_test_random(seed, RTE_MIN(sender->nb_sent, 16U))];
	if (pw_chance(seed, 15))
		change(sender, seed);
	packet = sender->next;
	packet.payload_bytes = pw_chance(seed, 10) ? choose_size(seed) : size;
	decorate(&packet, seed);
	sender->next.seq += packet.payload_bytes;
	sender->next.ip_id += !sender->ids_stay;
	sender->sent[sender->nb_sent++ % 16] = packet;
	return packet;
}

static struct rte_mbuf *
build(struct pw_gro_rig *rig, const struct pw_packet *packet, uint64_t *seed)
{
	struct rte_mbuf *m = pw_packet_frame(rig->pool, packet);

	if (pw_chance(seed, 40)) /* any byte of the TCP header or behind it */
		rte_pktmbuf_mtod(m, uint8_t *)[38 + pw_test_random(seed, m->pkt_len - 38)] ^= 0x10;
	if (pw_chance(seed, 50))
		pw_packet_split(rig->pool, m, 34 + pw_test_random(seed, m->pkt_len - 34));
	return m;
}

/* A burst of packets, some of them swapped with their neighbours. */
static unsigned
send_burst(struct pw_gro_rig *rig, struct sender *senders, uint64_t *seed)
{
	unsigned n = 1 + pw_test_random(seed, 64);
	struct rte_mbuf *burst[64];
	uint8_t flow = 0;
	uint32_t size = 0;

	for (unsigned i = 0; i < n; i++) {
		struct pw_packet packet;

		if (i == 0 || pw_chance(seed, 4)) { /* flows come in trains */
			flow = pw_test_random(seed, RIG_FLOWS);
			size = choose_size(seed);
		}
		packet = next_packet(&senders[flow], seed, size);
		burst[i] = build(rig, &packet, seed);
	}
	for (unsigned i = 1; i < n; i++)
		if (pw_chance(seed, 20))
			RTE_SWAP(burst[i], burst[i - 1]);
	for (unsigned i = 0; i < n; i++)
		pw_gro_rig_receive(rig, burst[i]);
	pw_gro_rig_flush(rig);
	return n;
}

static void
random_streams_are_unchanged(void **state)
{
	uint64_t seed = pw_test_seed();
	struct pw_gro_rig *rig = *state;
	struct sender senders[RIG_FLOWS];
	struct pw_gro_stats stats;

	for (unsigned i = 0; i < RIG_FLOWS; i++)
		start(&senders[i], &seed, i);
	for (unsigned n = 0; n < PACKETS;)
		n += send_burst(rig, senders, &seed);

	pw_gro_get_stats(rig->gro, &stats);
	/* All ways out were taken. */
	assert_true(stats.merged > PACKETS / 10);
	assert_true(stats.pass_fragment > 0 && stats.pass_no_payload > 0);
	assert_true(stats.pass_flags > 0 && stats.pass_bad_cksum > 0);
	assert_true(stats.flush_complete > 0 && stats.flush_seq > 0 && stats.flush_header > 0);
	assert_true(stats.flush_ip_id > 0 && stats.flush_size > 0 && stats.flush_pass > 0);
	assert_true(stats.flush_all > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			random_streams_are_unchanged, pw_gro_rig_set_up, pw_gro_rig_tear_down),
	};

	return cmocka_run_group_tests_name("gro_random", tests, pw_test_eal, NULL);
}
