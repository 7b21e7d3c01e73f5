/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TCP_RIG_H
#define NICSIM_TCP_RIG_H

/**
 * @file
 * A TCP receiver and a bad network, written apart from what they test: they look at the bytes of
 * frames, and stop the test when the sender does what it must not.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

#define PEER_FLOWS 5
#define PEER_BYTES_MAX 300000
#define PEER_MS 1000000ULL
#define PEER_QUEUE 16384

/* What the peer and the network do. */
struct peer_setup {
	uint64_t bytes; /* that each flow sends */
	unsigned flows;
	uint32_t mss;	       /* of our SYN; 0: the option is left away */
	int wscale;	       /* -1: is left away */
	bool ts;	       /* timestamps */
	uint32_t buffer;       /* largest window */
	double read_rate;      /* the part of the buffer that the application reads a millisecond */
	uint64_t read_from_ns; /* when it begins to */
	unsigned ack_every;
	uint64_t delay_ns, jitter_ns;
	double loss, duplicate, reorder, corrupt, garbage;
	double hostile; /* a segment of a peer that has gone mad; what is sent is not looked at */
	uint64_t sender_window; /* more is never in flight */
	uint32_t sender_mss;
	uint64_t silent_from; /* bytes after which nothing is answered any more; 0: never */
	uint64_t reset_at;    /* bytes after which it resets; 0: never */
	bool mute, refuse, never_close; /* no answer to SYN; RST to it; no FIN */
	uint64_t drop_nth;		/* data segment of this number is lost, once; 0: none */
};

struct peer_conn {
	bool open, fin_seen, fin_sent, fin_acked;
	uint32_t irs, iss;
	uint64_t next, read; /* bytes in order, and of them taken by the application */
	uint64_t edge;	     /* the highest that a window allowed */
	uint64_t sent_max, acked_max;
	uint64_t iw_extra; /* bytes that our ACKs allow more than the first window */
	unsigned unacked;
	uint64_t ack_at_ns, fin_at_ns;
	uint32_t ts_recent;
	unsigned handshake_losses;
	uint32_t mss;
	uint8_t got[PEER_BYTES_MAX / 8 + 1];
};

struct peer_frame {
	uint64_t at_ns;
	bool to_peer;
	uint32_t len;
	uint8_t *data;
};

struct peer {
	struct peer_setup setup;
	struct wire *wire;
	uint64_t now_ns;
	unsigned short random[3];
	struct peer_conn conns[PEER_FLOWS];
	struct peer_frame queue[PEER_QUEUE];
	unsigned queued;
	uint64_t data_segments;
	uint64_t start_ns;
};

/* Open the wire that a setup asks for. */
void peer_open(struct peer *peer, const struct peer_setup *setup, uint64_t seed);

/* Run until all is over, or for some time; tell whether it is over. */
bool peer_run(struct peer *peer, uint64_t seconds);

/* All flows sent all, and closed. */
void peer_assert_complete(struct peer *peer);

void peer_close(struct peer *peer);

#endif
