/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "nicsim_tcp_rig.h"

#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "nicsim_open.h"
#include "pattern.h"

#define PEER_HEADERS (14 + 20)
#define PEER_FIN_NS (300 * PEER_MS)

static double
peer_draw(struct peer *peer)
{
	return erand48(peer->random);
}

static uint32_t
peer_below(struct peer *peer, uint32_t n)
{
	return (uint32_t)nrand48(peer->random) % n;
}

static uint32_t
peer_be(const uint8_t *p, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

static void
peer_put(uint8_t *p, unsigned bytes, uint32_t value)
{
	while (bytes-- > 0) {
		p[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

/* Put a frame on the way; it may be lost, damaged, late or double. */
static void
peer_queue(struct peer *peer, bool to_peer, const uint8_t *data, uint32_t len, bool spare)
{
	const struct peer_setup *setup = &peer->setup;
	unsigned copies = 1;

	if (!spare && peer_draw(peer) < setup->loss)
		copies = 0;
	else if (peer_draw(peer) < setup->duplicate)
		copies = 2;
	while (copies-- > 0) {
		struct peer_frame *frame = &peer->queue[peer->queued];

		assert_true(peer->queued < PEER_QUEUE);
		peer->queued++;
		*frame = (struct peer_frame){.to_peer = to_peer, .len = len};
		frame->at_ns = peer->now_ns + setup->delay_ns;
		if (peer_draw(peer) < setup->reorder)
			frame->at_ns += peer_below(peer, (uint32_t)setup->jitter_ns + 1);
		frame->data = memcpy(malloc(len), data, len);
		if (!spare && peer_draw(peer) < setup->corrupt)
			frame->data[peer_below(peer, len)] ^= (uint8_t)(1 << peer_below(peer, 8));
	}
}

/* Write the options that this peer has; return their end. */
static uint8_t *
peer_options(struct peer *peer, const struct peer_conn *conn, bool syn, uint8_t *option)
{
	const struct peer_setup *setup = &peer->setup;

	if (syn && setup->mss > 0) {
		peer_put(option, 4, 0x02040000 | setup->mss);
		option += 4;
	}
	if (syn && setup->wscale >= 0) {
		peer_put(option, 4, 0x03030001 | (uint32_t)setup->wscale << 8);
		option += 4;
	}
	if (setup->ts) {
		peer_put(option, 4, 0x0101080a);
		/* It wraps soon. */
		peer_put(option + 4, 4, (uint32_t)(peer->now_ns / PEER_MS) + 0xfffffff0);
		peer_put(option + 8, 4, conn->ts_recent);
		option += 12;
	}
	return option;
}

/* Put Ethernet and IP in front of a segment. */
static void
peer_headers(uint8_t *data, uint32_t l4_len)
{
	static const uint8_t macs[] = {2, 0x70, 0x77, 0, 1, 0, 2, 0x70, 0x77, 0, 0, 0};
	uint8_t *ip = data + 14;

	memcpy(data, macs, sizeof(macs));
	peer_put(data + 12, 2, 0x0800);
	ip[0] = 0x45;
	peer_put(ip + 2, 2, 20 + l4_len);
	ip[8] = 64;
	ip[9] = IPPROTO_TCP;
	peer_put(ip + 12, 4, 0xc6120002);
	peer_put(ip + 16, 4, 0xc6120001);
	peer_put(ip + 10, 2, ~slow_sum(0, ip, 20) & 0xffff);
}

/* RFC 9293 3.1: of the segment with the addresses in front of it. */
static uint32_t
peer_tcp_sum(const uint8_t *tcp, uint32_t l4_len)
{
	return slow_sum(slow_sum(IPPROTO_TCP + l4_len, tcp - 8, 8), tcp, l4_len);
}

/* Send a segment to the flow. */
static void
peer_segment(struct peer *peer, unsigned i, uint8_t flags, uint32_t seq)
{
	struct peer_conn *conn = &peer->conns[i];
	uint8_t data[128] = {0}, *tcp = data + PEER_HEADERS;
	uint64_t window = conn->edge - conn->next;
	uint32_t l4_len = (uint32_t)(peer_options(peer, conn, flags & TH_SYN, tcp + 20) - tcp);

	if (!(flags & TH_SYN) && peer->setup.wscale > 0)
		window >>= peer->setup.wscale;
	peer_put(tcp, 2, 9);
	peer_put(tcp + 2, 2, 40000 + i);
	peer_put(tcp + 4, 4, seq);
	peer_put(tcp + 8, 4, conn->irs + 1 + (uint32_t)conn->next + conn->fin_seen);
	tcp[12] = (uint8_t)(l4_len / 4 << 4);
	tcp[13] = flags;
	peer_put(tcp + 14, 2, (uint32_t)(window < 65535 ? window : 65535));
	if (peer_draw(peer) < peer->setup.hostile)
		tcp[4 + peer_below(peer, l4_len - 4)] = (uint8_t)nrand48(peer->random);
	peer_headers(data, l4_len);
	peer_put(tcp + 16, 2, 0);
	peer_put(tcp + 16, 2, ~peer_tcp_sum(tcp, l4_len) & 0xffff);
	peer_queue(peer, false, data, PEER_HEADERS + l4_len < 60 ? 60 : PEER_HEADERS + l4_len,
		!conn->open && conn->handshake_losses++ >= 3);
}

/* What the window may allow now; its right edge never goes back. */
static uint64_t
peer_edge(const struct peer *peer, const struct peer_conn *conn)
{
	uint64_t unit = peer->setup.wscale > 0 ? 1ULL << peer->setup.wscale : 1;
	uint64_t window = conn->read + peer->setup.buffer - conn->next;
	uint64_t edge = conn->next + window / unit * unit;

	return edge > conn->edge ? edge : conn->edge;
}

static void
peer_ack(struct peer *peer, unsigned i)
{
	struct peer_conn *conn = &peer->conns[i];

	conn->unacked = 0;
	conn->ack_at_ns = UINT64_MAX;
	conn->edge = peer_edge(peer, conn);
	peer_segment(peer, i, TH_ACK, conn->iss + 1 + conn->fin_sent);
}

static void
peer_fin(struct peer *peer, unsigned i)
{
	struct peer_conn *conn = &peer->conns[i];

	conn->fin_sent = true;
	conn->fin_at_ns = peer->now_ns + PEER_FIN_NS;
	peer_segment(peer, i, TH_ACK | TH_FIN, conn->iss + 1);
}

static void
peer_syn(struct peer *peer, unsigned i, const uint8_t *tcp, uint32_t header)
{
	struct peer_conn *conn = &peer->conns[i];

	assert_int_equal(header, 40);
	assert_int_equal(peer_be(tcp + 20, 4), 0x02040000 | peer->setup.sender_mss);
	assert_int_equal(peer_be(tcp + 24, 4), 0x0101080a);
	assert_int_equal(peer_be(tcp + 36, 3), 0x010303);
	conn->irs = peer_be(tcp + 4, 4);
	conn->ts_recent = peer_be(tcp + 28, 4);
	if (peer->setup.mute)
		return;
	if (peer->setup.refuse) {
		peer_segment(peer, i, TH_RST | TH_ACK, 0);
		return;
	}
	conn->mss = peer->setup.mss == 0 ? 536 : peer->setup.mss < 48 ? 48 : peer->setup.mss;
	if (conn->mss > peer->setup.sender_mss)
		conn->mss = peer->setup.sender_mss;
	conn->mss -= peer->setup.ts ? 12 : 0;
	conn->edge = peer_edge(peer, conn);
	if (conn->edge > 65535)
		conn->edge = 65535;
	peer_segment(peer, i, TH_SYN | TH_ACK, conn->iss);
}

/* Each byte, whether it came before or not, is what it has to be. */
static void
peer_take(struct peer *peer, struct peer_conn *conn, uint64_t at, const uint8_t *data, uint32_t len)
{
	if (at + len > peer->setup.bytes && peer->setup.hostile > 0)
		return;
	assert_true(at + len <= peer->setup.bytes);
	for (uint32_t i = 0; i < len; i++) {
		assert_int_equal(data[i], *pattern_at((uint32_t)((at + i) % PATTERN_PERIOD)));
		if (at + i < conn->edge)
			conn->got[(at + i) / 8] |= (uint8_t)(1 << (at + i) % 8);
	}
	while (conn->next < peer->setup.bytes && conn->got[conn->next / 8] >> conn->next % 8 & 1)
		conn->next++;
}

static void
peer_data(struct peer *peer, unsigned i, const uint8_t *data, uint32_t len, uint8_t flags,
	uint64_t at)
{
	struct peer_conn *conn = &peer->conns[i];
	uint64_t before = conn->next;
	bool in_order = at <= conn->next;

	if (len == 0 && !(flags & TH_FIN))
		return;
	peer_take(peer, conn, at, data, len);
	if (flags & TH_FIN) {
		if (peer->setup.hostile == 0)
			assert_int_equal(at + len, peer->setup.bytes);
		if (conn->next == peer->setup.bytes)
			conn->fin_seen = true;
	}
	if (++conn->unacked >= peer->setup.ack_every || !in_order || before == conn->next ||
		conn->fin_seen)
		peer_ack(peer, i);
	else if (conn->ack_at_ns == UINT64_MAX)
		conn->ack_at_ns = peer->now_ns + 40 * PEER_MS;
	if (conn->fin_seen && !conn->fin_sent && !peer->setup.never_close)
		peer_fin(peer, i);
}

/* What the sender says of itself in a segment that is no SYN. */
static void
peer_note_header(struct peer *peer, struct peer_conn *conn, const uint8_t *tcp)
{
	assert_true(tcp[13] & TH_ACK);
	conn->open = true;
	if (peer_be(tcp + 8, 4) == conn->iss + 2)
		conn->fin_acked = true;
	if (peer->setup.hostile > 0)
		return;
	assert_int_equal(tcp[12] >> 4, peer->setup.ts ? 8 : 5);
	if (peer->setup.ts)
		conn->ts_recent = peer_be(tcp + 24, 4);
}

static void
peer_input_segment(struct peer *peer, unsigned i, const uint8_t *tcp, uint32_t l4_len)
{
	struct peer_conn *conn = &peer->conns[i];
	uint32_t header = (uint32_t)(tcp[12] >> 4) * 4;
	int32_t ahead;

	if (tcp[13] & TH_SYN) {
		if (!conn->open)
			peer_syn(peer, i, tcp, header);
		return;
	}
	peer_note_header(peer, conn, tcp);
	if (peer->setup.reset_at > 0 && conn->next >= peer->setup.reset_at) {
		peer_segment(peer, i, TH_RST, conn->iss + 1);
		return;
	}
	if (peer->setup.silent_from > 0 && conn->next >= peer->setup.silent_from)
		return;
	ahead = (int32_t)(peer_be(tcp + 4, 4) - (conn->irs + 1 + (uint32_t)conn->next));
	peer_data(peer, i, tcp + header, l4_len - header, tcp[13], conn->next + (int64_t)ahead);
}

/* A frame that reached the peer. What is damaged is dropped. */
static void
peer_input(struct peer *peer, const uint8_t *data, uint32_t len)
{
	const uint8_t *ip = data + 14, *tcp = ip + 20;
	uint32_t l4_len;

	if (peer_be(data + 12, 2) != 0x0800 || ip[0] != 0x45 || slow_sum(0, ip, 20) != 0xffff)
		return;
	l4_len = peer_be(ip + 2, 2) - 20;
	if (PEER_HEADERS + l4_len > len || peer_tcp_sum(tcp, l4_len) != 0xffff)
		return;
	peer_input_segment(peer, peer_be(tcp, 2) - 40000, tcp, l4_len);
}

/*
 * Data up to here was sent: was it allowed? By the window, or a byte more when it is closed; by the
 * sender's own bound; by the first window and what ACKs and double ACKs added to it.
 */
static void
peer_watch_data(const struct peer *peer, struct peer_conn *conn, uint64_t end, uint32_t len)
{
	uint64_t first = 10 * conn->mss < 14600 ? 10 * conn->mss : 14600 + conn->mss;

	assert_true(len <= conn->mss);
	assert_true(end <= conn->edge + (len == 1));
	assert_true(end <= conn->acked_max + peer->setup.sender_window);
	assert_true(end <= conn->acked_max + conn->iw_extra + first);
	if (end > conn->sent_max)
		conn->sent_max = end;
}

/* A frame as it left the sender: is it right? */
static void
peer_watch(struct peer *peer, const struct frame *frame)
{
	const uint8_t *ip = frame->data + 14, *tcp = ip + 20;
	uint32_t l4_len = peer_be(ip + 2, 2) - 20, len = l4_len - (uint32_t)(tcp[12] >> 4) * 4;
	struct peer_conn *conn = &peer->conns[peer_be(tcp, 2) - 40000];
	bool spare = false;

	assert_true(frame->len_bytes >= 60);
	assert_true(frame->len_bytes == 60 || frame->len_bytes == PEER_HEADERS + l4_len);
	assert_int_equal(peer_be(frame->data + 12, 2), ETHERTYPE_IP);
	assert_int_equal(slow_sum(0, ip, 20), 0xffff);
	assert_int_equal(peer_tcp_sum(tcp, l4_len), 0xffff);
	assert_true(peer_be(tcp, 2) - 40000 < peer->setup.flows);
	if (tcp[13] & TH_SYN) {
		assert_int_equal(len, 0);
		spare = conn->handshake_losses++ >= 3;
	} else if (len > 0 && peer->setup.hostile == 0) {
		peer_watch_data(
			peer, conn, (uint32_t)(peer_be(tcp + 4, 4) - conn->irs - 1 + len), len);
		if (++peer->data_segments == peer->setup.drop_nth)
			return;
	}
	peer_queue(peer, true, frame->data, frame->len_bytes, spare);
}

/* An ACK reaches the sender: what it may open. */
static void
peer_note_ack(struct peer *peer, const uint8_t *data)
{
	const uint8_t *tcp = data + PEER_HEADERS;
	uint32_t i = peer_be(tcp + 2, 2) - 40000;
	struct peer_conn *conn;
	uint64_t ack;

	if (i >= peer->setup.flows || (tcp[13] & TH_SYN))
		return;
	conn = &peer->conns[i];
	ack = (uint32_t)(peer_be(tcp + 8, 4) - conn->irs - 1);
	if (ack > conn->next + 1)
		return;
	conn->iw_extra += conn->mss;
	if (ack > conn->acked_max) {
		conn->iw_extra += ack - conn->acked_max;
		conn->acked_max = ack;
	}
}

static void
peer_garbage(struct peer *peer)
{
	uint32_t len = 14 + peer_below(peer, 100);
	uint8_t *data = malloc(len);
	struct frame frame = {.data = data, .len_bytes = len};

	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)nrand48(peer->random);
	if (peer_below(peer, 2)) {
		memcpy(data, (const uint8_t[]){2, 0x70, 0x77, 0, 1, 0}, 6);
		peer_put(data + 12, 2, peer_below(peer, 4) ? 0x0800 : 0x0806);
		if (len > 14)
			data[14] = 0x45;
	}
	peer->wire->kind->send(peer->wire, peer->now_ns, &frame, 1);
	free(data);
}

static void
peer_deliver(struct peer *peer)
{
	for (unsigned i = 0; i < peer->queued;) {
		struct peer_frame frame = peer->queue[i];

		if (frame.at_ns > peer->now_ns) {
			i++;
			continue;
		}
		/* Order is kept among those of one time. */
		memmove(&peer->queue[i], &peer->queue[i + 1], (--peer->queued - i) * sizeof(frame));
		if (frame.to_peer) {
			peer_input(peer, frame.data, frame.len);
		} else {
			const struct frame sent = {.data = frame.data, .len_bytes = frame.len};

			peer_note_ack(peer, frame.data);
			peer->wire->kind->send(peer->wire, peer->now_ns, &sent, 1);
		}
		free(frame.data);
	}
	if (peer_draw(peer) < peer->setup.garbage)
		peer_garbage(peer);
}

static void
peer_read(struct peer *peer, struct peer_conn *conn, uint64_t passed_ns)
{
	uint64_t there = conn->next - conn->read;
	double can = peer->setup.buffer * peer->setup.read_rate * (double)passed_ns / PEER_MS +
		peer_draw(peer);

	if (peer->now_ns >= peer->start_ns + peer->setup.read_from_ns)
		conn->read += can < (double)there ? (uint64_t)can : there;
}

/* The application reads, late ACKs and FINs go out. */
static void
peer_timers(struct peer *peer, uint64_t passed_ns)
{
	for (unsigned i = 0; i < peer->setup.flows; i++) {
		struct peer_conn *conn = &peer->conns[i];
		uint64_t half = conn->next + peer->setup.buffer / 2;

		peer_read(peer, conn, passed_ns);
		if (!conn->open || peer->setup.silent_from > 0 || peer->setup.reset_at > 0)
			continue;
		/* RFC 9293 3.8.6.2.2: tell of a window when it grew by a good piece. */
		if ((peer_edge(peer, conn) >= half && conn->edge < half) ||
			conn->ack_at_ns <= peer->now_ns)
			peer_ack(peer, i);
		if (conn->fin_sent && !conn->fin_acked && conn->fin_at_ns <= peer->now_ns)
			peer_fin(peer, i);
	}
}

/* Open the wire that a setup asks for. */
void
peer_open(struct peer *peer, const struct peer_setup *setup, uint64_t seed)
{
	char settings[128];
	uint64_t most;

	*peer = (struct peer){.setup = *setup,
		.random = {(unsigned short)seed, (unsigned short)(seed >> 16),
			(unsigned short)(seed >> 32)}};
	peer->now_ns = peer->start_ns = peer_below(peer, 1000000000);
	most = setup->wscale > 0 ? 65535ULL << setup->wscale : 65535;
	if (peer->setup.buffer > most)
		peer->setup.buffer = (uint32_t)most;
	snprintf(settings, sizeof(settings), "flows=%u bytes=%llu mss=%u window=%llu burst=%u",
		setup->flows, (unsigned long long)setup->bytes, setup->sender_mss,
		(unsigned long long)setup->sender_window, 1 + peer_below(peer, 20));
	peer->wire = open_wire(&wire_tcp, 0, seed, settings);
	assert_non_null(peer->wire);
	for (unsigned i = 0; i < setup->flows; i++) {
		peer->conns[i].iss = (uint32_t)jrand48(peer->random);
		peer->conns[i].ack_at_ns = UINT64_MAX;
	}
}

void
peer_close(struct peer *peer)
{
	while (peer->queued > 0)
		free(peer->queue[--peer->queued].data);
	peer->wire->kind->close(peer->wire);
}

static bool
peer_is_over(const struct peer *peer)
{
	if (!peer->wire->kind->is_done(peer->wire))
		return false;
	for (unsigned i = 0; i < peer->setup.flows; i++)
		if (peer->conns[i].fin_sent && !peer->conns[i].fin_acked)
			return false;
	return true;
}

/* Run until all is over, or for some time; tell whether it is over. */
bool
peer_run(struct peer *peer, uint64_t seconds)
{
	uint64_t end_ns = peer->now_ns + seconds * 1000 * PEER_MS;
	struct frame frames[FRAME_BURST];

	while (peer->now_ns < end_ns && !peer_is_over(peer)) {
		uint64_t next_ns = peer->now_ns + 5 * PEER_MS, passed_ns;
		unsigned n;

		do {
			unsigned ask = 1 + peer_below(peer, FRAME_BURST);

			n = peer->wire->kind->receive(peer->wire, peer->now_ns, frames, ask);
			assert_true(n <= ask);
			for (unsigned i = 0; i < n; i++)
				if (peer_be(frames[i].data + 12, 2) != ETHERTYPE_ARP)
					peer_watch(peer, &frames[i]);
		} while (n > 0);
		for (unsigned i = 0; i < peer->queued; i++)
			if (peer->queue[i].at_ns < next_ns)
				next_ns = peer->queue[i].at_ns;
		passed_ns = next_ns - peer->now_ns;
		peer->now_ns = next_ns;
		peer_deliver(peer);
		peer_timers(peer, passed_ns);
	}
	return peer_is_over(peer);
}

void
peer_assert_complete(struct peer *peer)
{
	struct wire *wire = peer->wire;
	const struct peer_setup *setup = &peer->setup;

	assert_null(wire->kind->verdict(wire));
	for (unsigned i = 0; i < setup->flows; i++) {
		assert_int_equal(peer->conns[i].next, setup->bytes);
		assert_true(peer->conns[i].fin_seen && peer->conns[i].fin_acked);
	}
	assert_int_equal(counter(wire, "connections_opened"), setup->flows);
	assert_int_equal(counter(wire, "connections_closed"), setup->flows);
	assert_int_equal(counter(wire, "connections_failed"), 0);
	assert_int_equal(counter(wire, "bytes_sent"), setup->flows * setup->bytes);
	assert_int_equal(counter(wire, "bytes_acked"), setup->flows * setup->bytes);
}
