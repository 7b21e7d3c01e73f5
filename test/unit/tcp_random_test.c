/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_tcp.h>

#include "pw_tcp_priv.h"
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
	bool sack;
	uint32_t edge_seen;		     /* behind the last byte of ours that came */
	uint32_t last, twice_from, twice_to; /* where data came last; what came twice */
	bool paused;			     /* offers no more */
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
put_block(struct world *world, struct pw_packet *packet, uint32_t from, uint32_t to)
{
	uint8_t *p = packet->options + packet->options_bytes;

	if (packet->options_bytes == 0) {
		memcpy(p, (uint8_t[]){1, 1, 5, 2}, 4);
		packet->options_bytes = 4;
		p += 4;
	}
	pw_frame_put(p, world->rig->our_isn + 1 + from, 4);
	pw_frame_put(p + 4, world->rig->our_isn + 1 + to, 4);
	packet->options_bytes += 8;
	packet->options[3] += 8;
}

/* RFC 2883: what came twice; then the block of what came last, and those behind the first gap. */
static void
put_sacks(struct world *world, struct pw_packet *packet)
{
	struct peer *peer = &world->peer;
	uint32_t from = peer->have, to, first = UINT32_MAX;

	if (peer->twice_from != peer->twice_to)
		put_block(world, packet, peer->twice_from, peer->twice_to);
	peer->twice_from = peer->twice_to = 0;
	if (peer->last > peer->have && peer->seen[peer->last]) {
		for (from = peer->last; peer->seen[from - 1];)
			from--;
		for (to = peer->last; to <= peer->bytes && peer->seen[to];)
			to++;
		put_block(world, packet, from, to);
		first = from;
		from = peer->have;
	}
	while (packet->options_bytes < 36) {
		while (from < peer->edge_seen && !peer->seen[from])
			from++;
		for (to = from; to <= peer->bytes && peer->seen[to];)
			to++;
		if (to == from)
			break;
		if (from != first) /* once only: twice is a D-SACK */
			put_block(world, packet, from, to);
		from = to;
	}
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
	if (peer->sack)
		put_sacks(world, &packet);
	put(world, &world->to_us, &packet);
	peer->next += bytes + !!(flags & RTE_TCP_FIN_FLAG);
}

static void
peer_send_syn(struct world *world)
{
	struct pw_packet syn = {.seq = world->rig->peer_isn,
		.flags = RTE_TCP_SYN_FLAG,
		.window = PEER_WINDOW,
		.options = {2, 4, 1460 >> 8, 1460 & 255, 1, 1, 4, 2},
		.options_bytes = world->peer.sack ? 8 : 4};

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
	if (packet->payload_bytes > 0 && peer->seen[offset] && peer->seen[end - 1]) {
		peer->twice_from = offset;
		peer->twice_to = end;
	}
	peer->last = offset;
	peer->edge_seen = RTE_MAX(peer->edge_seen, end + 1);
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

/* Records cover what is out without gaps, and are counted right. */
static void
check_sent(const struct pw_tcp_conn *conn)
{
	uint32_t seq = conn->snd_una, pipe = 0, sacked = 0, nb = 0;
	const struct pw_tcp_sent_queue *sent = &conn->flight->sent;
	const struct pw_tcp_sent *rec;
	uint64_t sent_us = 0;

	TAILQ_FOREACH (rec, &sent->all, by_seq) {
		assert_int_equal(rec->seq, seq);
		assert_true(pw_seq_after(rec->end, rec->seq));
		seq = rec->end;
		nb++;
		if (rec->state == PW_TCP_IN_FLIGHT)
			pipe += rec->end - rec->seq;
		else if (rec->state == PW_TCP_SACKED)
			sacked += rec->end - rec->seq;
	}
	if (nb > 0)
		assert_int_equal(seq, conn->snd_max);
	assert_int_equal(nb, sent->nb);
	assert_int_equal(pipe, sent->pipe_bytes);
	assert_int_equal(sacked, sent->sacked_bytes);
	TAILQ_FOREACH (rec, &sent->in_flight, order) {
		assert_int_equal(rec->state, PW_TCP_IN_FLIGHT);
		assert_true(rec->sent_us >= sent_us);
		sent_us = rec->sent_us;
		pipe -= rec->end - rec->seq;
	}
	assert_int_equal(pipe, 0);
	TAILQ_FOREACH (rec, &sent->lost, order)
		assert_int_equal(rec->state, PW_TCP_LOST);
}

/* There is a flight when something is in flight, and else none but to undo what was no loss. */
static void
check_conn(const struct pw_tcp_conn *conn)
{
	bool is_open = conn->state != PW_TCP_SYN_SENT && conn->state != PW_TCP_SYN_RECEIVED;

	assert_true(conn->cwnd >= conn->mss || conn->state == PW_TCP_SYN_RECEIVED);
	if (conn->flight != NULL) {
		assert_ptr_equal(conn->flight->conn, conn);
		assert_int_equal(conn->flight->rests, conn->snd_una == conn->snd_max);
		check_sent(conn);
	} else if (is_open) {
		assert_int_equal(conn->snd_una, conn->snd_max);
	}
	if (conn->reassembly != NULL)
		assert_true(conn->reassembly->queue.first != NULL || conn->reassembly->has_dsack);
}

static void
check(struct pw_tcp_rig *rig)
{
	const struct pw_tcp_sent_pool *pool = &rig->tcp->sent_pool;
	const struct pw_tcp *tcp = rig->tcp;
	const struct pw_tcp_conn *conn;
	uint32_t nb = pool->nb_free, flights = 0, reassemblies = 0;

	for (unsigned i = 0; i < PW_TCP_LISTS; i++)
		TAILQ_FOREACH (conn, &rig->tcp->lists[i], link) {
			check_conn(conn);
			nb += conn->flight == NULL ? 0 : conn->flight->sent.nb;
			flights += conn->flight != NULL;
			reassemblies += conn->reassembly != NULL;
		}
	assert_int_equal(nb, 8192);
	assert_int_equal(tcp->flights.nb_free + flights, tcp->flights.nb);
	assert_int_equal(tcp->reassemblies.nb_free + reassemblies, tcp->reassemblies.nb);
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
	check(rig);
}

static void
talk(struct pw_tcp_rig *rig, uint64_t seed, uint32_t bytes, unsigned loss_percent, bool sack)
{
	struct world *world = calloc(1, sizeof(*world));
	struct pw_tcp_stats stats;

	print_message("seed %" PRIu64 ", %u bytes, loss %u %%\n", seed, bytes, loss_percent);
	assert_non_null(world);
	world->rig = rig;
	world->seed = seed;
	world->to_us.loss_percent = world->to_peer.loss_percent = loss_percent;
	world->peer = (struct peer){.bytes = bytes,
		.sack = sack,
		.seen = calloc(1, bytes + 2), /* the FIN, and behind it */
		.offered = PEER_WINDOW};
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
	print_message("%" PRIu64 " ms, %" PRIu64 " sent again, %" PRIu64 " time-outs, %" PRIu64
		      " recoveries, %" PRIu64 " undone\n",
		world->now_ms, stats.retrans_segs, stats.timeouts, stats.fast_retrans,
		stats.spurious_undo);
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

	for (unsigned i = 0; i < 2 * RTE_DIM(losses); i++) {
		rig->params.congestion = i % 4 == 0 ? PW_TCP_NEWRENO : PW_TCP_CUBIC;
		start(rig, i / 2 % 2 == 0 ? 65535 : 5000);
		talk(rig, seed + i / 2, 300000, losses[i / 2], i % 2 == 1);
	}
}

/* printf x | nc -N, with 10 MB. */
static void
ten_megabytes_half_closed(void **state)
{
	struct pw_tcp_rig *rig = *state;

	start(rig, 65535);
	talk(rig, 1, 10000000, 0, false);
}

/* Blocks of what we sent, or not. */
static void
put_garbage_sacks(struct pw_tcp_rig *rig, uint64_t *seed, struct pw_packet *packet)
{
	unsigned n = 1 + pw_test_random(seed, 4);

	packet->options_bytes = 4 + 8 * n;
	memcpy(packet->options, (uint8_t[]){1, 1, 5, 2 + 8 * n}, 4);
	for (unsigned i = 0; i < n; i++) {
		uint32_t end = rig->our_isn + 1 + rig->queued - pw_test_random(seed, 5000);
		uint32_t start = end - pw_test_random(seed, 1 << pw_test_random(seed, 14));

		if (pw_chance(seed, 10))
			start = end + pw_test_random(seed, 3000);
		pw_frame_put(packet->options + 4 + 8 * i, start, 4);
		pw_frame_put(packet->options + 8 + 8 * i, end, 4);
	}
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
	if (pw_chance(seed, 2))
		put_garbage_sacks(rig, seed, &packet);
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
		pw_tcp_rig_runf(rig,
			"< SEW 0:0(0) win 65535 <mss 600,ws 2%s>\n"
			"> SE. 0:0(0) ack 1\n"
			"< . 1:1(0) ack 1 win 65535\n"
			"> *",
			round % 4 < 2 ? "" : ",sackOK,ts 5 0");
		for (unsigned i = 0; i < 500; i++) {
			send_garbage(rig, &seed);
			rig->hold = pw_chance(&seed, 3);
			if (!rig->echo && pw_chance(&seed, 10))
				rig->send_bytes = pw_test_random(&seed, 3000);
			if (pw_chance(&seed, 20))
				pw_tcp_rig_tick(rig, pw_test_random(&seed, 300000));
			rig->nb_sent = rig->nb_expected = 0;
			check(rig);
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

/* Segments and ICMP errors for a connection that we try to open, with all options and ECN. */
static void
garbage_answers_a_syn(void **state)
{
	struct pw_tcp_rig *rig = *state;
	uint64_t seed = pw_test_seed();

	rig->params.ecn = true;
	rig->params.keepalive_s = 5;
	pw_tcp_rig_restart(rig);
	rig->hold = true; /* any SYN may open it, so nobody knows the stream */
	for (unsigned round = 0; round < 2000; round++) {
		rig->peer_port++;
		rig->peer_isn = pw_test_random(&seed, UINT32_MAX);
		pw_tcp_rig_open(rig);
		for (unsigned i = 0; i < 50; i++) {
			struct pw_inet_error error = {.kind = pw_test_random(&seed, 3),
				.sent = {.src = pw_tcp_rig_ip.dst, .dst = pw_tcp_rig_ip.src},
				.mtu_bytes = pw_test_random(&seed, 1500)};
			struct pw_packet syn = {.flags = pw_test_random(&seed, 256),
				.seq = rig->peer_isn,
				.ack = rig->our_isn + pw_test_random(&seed, 3),
				.tos = pw_test_random(&seed, 4),
				.window = 3000};

			pw_frame_put(error.head, rig->our_port, 2);
			pw_frame_put(error.head + 2, rig->peer_port, 2);
			pw_frame_put(error.head + 4, rig->our_isn + pw_test_random(&seed, 3), 4);
			if (pw_chance(&seed, 50))
				pw_tcp_error(rig->tcp, &error, rig->now_us);
			if (pw_chance(&seed, 5))
				pw_tcp_rig_input(rig, &syn);
			else
				send_garbage(rig, &seed);
			rig->nb_sent = rig->nb_expected = 0;
		}
		for (unsigned i = 0; i < 200 && pw_tcp_rig_stats(rig).curr_conns > 0; i++)
			pw_tcp_rig_tick(rig, 1000000);
		rig->nb_sent = rig->nb_expected = 0;
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
		RIG_TEST(garbage_answers_a_syn),
	};

	return cmocka_run_group_tests_name("tcp_random", tests, pw_test_eal, NULL);
}
