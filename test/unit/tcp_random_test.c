/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_rig.h"

#define WIRE_MAX 4096
#define PEER_RTO_MS 300
#define PEER_WINDOW 20000

/* A peer sends a stream to an echo application over a wire that loses, repeats and reorders. */
struct wire {
	struct {
		uint64_t at_ms;
		struct pw_packet packet;
	} flying[WIRE_MAX];
	unsigned n;
	unsigned loss_percent;
};

/* A small TCP of another kind: offsets instead of numbers, and it goes back to the first loss. */
struct peer {
	uint32_t bytes; /* each way */
	bool open;
	uint32_t acked, next, edge; /* of its own stream; the FIN is the byte behind the last */
	uint32_t have, offered;	    /* of ours, the same */
	uint8_t *seen;		    /* bytes of ours, in order or not */
	bool paused;		    /* offers no more */
	uint64_t progress_ms;
};

struct world {
	struct pw_tcp_rig *rig;
	struct wire to_us, to_peer;
	struct peer peer;
	uint64_t seed, now_ms;
};

static void
put(struct world *world, struct wire *wire, const struct pw_packet *packet)
{
	unsigned copies = 1 + pw_chance(&world->seed, 50);

	while (copies-- > 0) {
		if (pw_test_random(&world->seed, 100) < wire->loss_percent)
			continue;
		assert_true(wire->n < WIRE_MAX);
		wire->flying[wire->n].packet = *packet;
		wire->flying[wire->n++].at_ms = world->now_ms + 1 +
			(pw_chance(&world->seed, 10) ? pw_test_random(&world->seed, 20) : 5);
	}
}

/* Take a packet that has arrived; false: none. */
static bool
take(struct world *world, struct wire *wire, struct pw_packet *packet)
{
	for (unsigned i = 0; i < wire->n; i++) {
		if (wire->flying[i].at_ms > world->now_ms)
			continue;
		*packet = wire->flying[i].packet;
		memmove(&wire->flying[i], &wire->flying[i + 1],
			(--wire->n - i) * sizeof(wire->flying[0]));
		return true;
	}
	return false;
}

static void
peer_send(struct world *world, uint32_t bytes, uint8_t flags)
{
	struct peer *peer = &world->peer;
	struct pw_tcp_rig *rig = world->rig;
	struct pw_packet packet = {
		.seq = rig->peer_isn + 1 + peer->next,
		.ack = rig->our_isn + 1 + peer->have,
		.flags = flags | RTE_TCP_ACK_FLAG,
		.payload_bytes = bytes,
	};

	if (!peer->paused && peer->have + PEER_WINDOW > peer->offered)
		peer->offered = peer->have + PEER_WINDOW;
	packet.window = peer->offered < peer->have ? 0 : peer->offered - peer->have;
	put(world, &world->to_us, &packet);
	peer->next += bytes + !!(flags & RTE_TCP_FIN_FLAG);
}

static void
peer_send_syn(struct world *world)
{
	struct pw_packet syn = {.seq = world->rig->peer_isn,
		.flags = RTE_TCP_SYN_FLAG,
		.window = PEER_WINDOW,
		.options = {2, 4, 1460 >> 8, 1460 & 255},
		.options_bytes = 4};

	put(world, &world->to_us, &syn);
}

static void
peer_send_what_fits(struct world *world)
{
	struct peer *peer = &world->peer;

	while (peer->next <= peer->bytes) {
		uint32_t left = peer->bytes - peer->next, n = 1460;

		if (pw_chance(&world->seed, 5))
			n = 1 + pw_test_random(&world->seed, 1460);
		n = RTE_MIN(n, left);
		if (peer->next + n > peer->edge)
			break;
		peer_send(world, n, n == left ? RTE_TCP_FIN_FLAG : 0);
	}
}

static void
peer_take_data(struct peer *peer, uint32_t offset, const struct pw_packet *packet)
{
	uint32_t end = offset + packet->payload_bytes;

	if (packet->payload_bytes == 0 && (packet->flags & RTE_TCP_FIN_FLAG) == 0)
		return;
	assert_true(offset <= end);
	assert_true(end <= peer->bytes);
	assert_true(end <= peer->offered);
	memset(peer->seen + offset, 1, packet->payload_bytes);
	if (packet->flags & RTE_TCP_FIN_FLAG) {
		assert_int_equal(end, peer->bytes);
		peer->seen[end] = 1;
	}
	while (peer->have <= peer->bytes && peer->seen[peer->have])
		peer->have++;
}

static void
peer_receive(struct world *world, const struct pw_packet *packet)
{
	struct peer *peer = &world->peer;
	struct pw_tcp_rig *rig = world->rig;
	uint32_t ack = packet->ack - rig->peer_isn - 1;
	bool takes_space = packet->payload_bytes > 0 ||
		(packet->flags & (RTE_TCP_FIN_FLAG | RTE_TCP_SYN_FLAG));

	assert_int_equal(packet->flags & RTE_TCP_RST_FLAG, 0);
	assert_true(ack <= peer->bytes + 1);
	peer->open = true;
	if (ack > peer->acked) {
		peer->acked = ack;
		peer->next = RTE_MAX(peer->next, ack);
		peer->progress_ms = world->now_ms;
	}
	peer->edge = RTE_MAX(peer->edge, ack + packet->window);
	if ((packet->flags & RTE_TCP_SYN_FLAG) == 0)
		peer_take_data(peer, packet->seq - rig->our_isn - 1, packet);
	/* Data, and a probe, want an answer. */
	if (takes_space || packet->seq - rig->our_isn - 1 != peer->have)
		peer_send(world, 0, 0);
}

static void
peer_tick(struct world *world)
{
	struct peer *peer = &world->peer;

	if (peer->paused ? pw_chance(&world->seed, 400) : pw_chance(&world->seed, 2000)) {
		peer->paused = !peer->paused;
		if (peer->open)
			peer_send(world, 0, 0);
	}
	if (world->now_ms - peer->progress_ms >= PEER_RTO_MS) {
		peer->progress_ms = world->now_ms;
		if (!peer->open)
			peer_send_syn(world);
		else
			peer->next = peer->acked;
		/* Ask a closed window. */
		if (peer->open && peer->next == peer->edge && peer->next < peer->bytes)
			peer->edge++;
	}
	if (peer->open)
		peer_send_what_fits(world);
}

static void
step(struct world *world)
{
	struct pw_tcp_rig *rig = world->rig;
	struct pw_packet packet;

	world->now_ms++;
	pw_tcp_rig_tick(rig, 1000);
	peer_tick(world);
	while (take(world, &world->to_us, &packet))
		pw_tcp_rig_input(rig, &packet);
	for (unsigned i = 0; i < rig->nb_sent; i++)
		put(world, &world->to_peer, &rig->sent[i]);
	rig->nb_sent = rig->nb_expected = 0;
	while (take(world, &world->to_peer, &packet))
		peer_receive(world, &packet);
}

static void
talk(struct pw_tcp_rig *rig, uint64_t seed, uint32_t bytes, unsigned loss_percent)
{
	struct world *world = calloc(1, sizeof(*world));
	struct pw_tcp_stats stats;

	print_message("seed %" PRIu64 ", %u bytes, loss %u %%\n", seed, bytes, loss_percent);
	assert_non_null(world);
	world->rig = rig;
	world->seed = seed;
	world->to_us.loss_percent = world->to_peer.loss_percent = loss_percent;
	world->peer = (struct peer){
		.bytes = bytes, .seen = calloc(1, bytes + 1), .offered = PEER_WINDOW};
	peer_send_syn(world);
	do {
		step(world);
		stats = pw_tcp_rig_stats(rig);
	} while (world->now_ms < 4000000 && (rig->opened == 0 || stats.curr_conns > 0));

	assert_int_equal(rig->opened, 1);
	assert_int_equal(rig->received, bytes);
	assert_int_equal(world->peer.have, bytes + 1);
	assert_int_equal(world->peer.acked, bytes + 1);
	assert_int_equal(stats.estab_resets, 0);
	if (loss_percent > 0)
		assert_true(stats.retrans_segs > 0);
	pw_tcp_rig_expect_all_home(rig);
	free(world->peer.seen);
	free(world);
}

static void
start(struct pw_tcp_rig *rig, uint32_t rcvbuf_bytes)
{
	rig->params.rcvbuf_bytes = rcvbuf_bytes;
	pw_tcp_rig_restart(rig);
	/* Both numbers wrap on the way. */
	pw_tcp_rig_set_isn(rig, UINT32_MAX - 100000);
	rig->peer_isn = UINT32_MAX - 50000;
	rig->echo = rig->close_at_end = true;
}

static void
all_bytes_come_back(void **state)
{
	static const unsigned losses[] = {0, 1, 5, 5, 5, 10, 20};
	struct pw_tcp_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned i = 0; i < RTE_DIM(losses); i++) {
		start(rig, i % 2 == 0 ? 65535 : 5000);
		talk(rig, seed + i, 300000, losses[i]);
	}
}

/* printf x | nc -N, with 10 MB. */
static void
ten_megabytes_half_closed(void **state)
{
	struct pw_tcp_rig *rig = *state;

	start(rig, 65535);
	talk(rig, 1, 10000000, 0);
}

/* Anything, near the numbers that matter. */
static void
send_garbage(struct pw_tcp_rig *rig, uint64_t *seed)
{
	static const uint8_t flags[] = {RTE_TCP_ACK_FLAG, RTE_TCP_ACK_FLAG, RTE_TCP_ACK_FLAG,
		RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG,
		RTE_TCP_SYN_FLAG, RTE_TCP_RST_FLAG, 0};
	struct pw_packet packet = {
		.seq = rig->peer_isn + 1 + rig->received + pw_test_random(seed, 3000) - 1500,
		.ack = rig->our_isn + 1 + rig->queued - pw_test_random(seed, 2000),
		.flags = flags[pw_test_random(seed, RTE_DIM(flags))],
		.window = pw_test_random(seed, 1 << pw_test_random(seed, 17)),
		.payload_bytes = pw_test_random(seed, 3) * pw_test_random(seed, 730),
		.options_bytes = pw_test_random(seed, 11) * 4,
	};

	if (pw_chance(seed, 10))
		packet.seq = pw_test_random(seed, UINT32_MAX);
	if (pw_chance(seed, 10))
		packet.ack = pw_test_random(seed, UINT32_MAX);
	if (pw_chance(seed, 20))
		packet.flags = pw_test_random(seed, 256);
	for (unsigned i = 0; i < packet.options_bytes; i++)
		packet.options[i] = pw_test_random(seed, 12);
	if ((packet.flags & RTE_TCP_RST_FLAG) && !pw_chance(seed, 100))
		packet.flags = RTE_TCP_ACK_FLAG;
	/* A FIN says where the stream ends: one place only. */
	if ((packet.flags & RTE_TCP_FIN_FLAG) && !pw_chance(seed, 50))
		packet.flags &= ~RTE_TCP_FIN_FLAG;
	pw_tcp_rig_input(rig, &packet);
}

static void
garbage_does_no_harm(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned round = 0; round < 400; round++) {
		rig->peer_isn = pw_test_random(&seed, UINT32_MAX);
		rig->peer_port++;
		rig->echo = round % 2 == 0;
		rig->close_at_end = round % 3 == 0;
		rig->send_bytes = 0;
		pw_tcp_rig_run(rig,
			"< S 0:0(0) win 65535 <mss 600,ws 2>\n"
			"> S. 0:0(0) ack 1\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> *");
		for (unsigned i = 0; i < 500; i++) {
			send_garbage(rig, &seed);
			rig->hold = pw_chance(&seed, 3);
			if (!rig->echo && pw_chance(&seed, 10))
				rig->send_bytes = pw_test_random(&seed, 3000);
			if (pw_chance(&seed, 20))
				pw_tcp_rig_tick(rig, pw_test_random(&seed, 300000));
			rig->nb_sent = rig->nb_expected = 0;
		}
		/* All that is left times out. */
		for (unsigned i = 0; i < 700 && pw_tcp_rig_stats(rig).curr_conns > 0; i++) {
			pw_tcp_rig_tick(rig, 1000000);
			rig->nb_sent = rig->nb_expected = 0;
		}
		if (round % 50 == 49)
			pw_tcp_rig_restart(rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(all_bytes_come_back),
		RIG_TEST(ten_megabytes_half_closed),
		RIG_TEST(garbage_does_no_harm),
	};

	return cmocka_run_group_tests_name("tcp_random", tests, pw_test_eal, NULL);
}
