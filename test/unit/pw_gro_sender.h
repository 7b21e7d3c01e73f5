/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_SENDER_H
#define PW_GRO_SENDER_H

/** @file Senders of flows that do all that a peer, a network, a NIC and a driver may do. */

#include "pw_gro_case.h"

#define PW_GRO_SENDERS 64

/** What the senders of a run have in common. */
struct pw_gro_weather {
	unsigned calm;	/**< 1 or more: how seldom something happens */
	unsigned rss;	/**< hash: none, the same for all, one for each flow, one for each packet */
	unsigned other; /**< what the flows differ in */
	uint32_t seq, ack;
	uint16_t ip_id;
	bool all_exact; /**< each frame ends where its buffer does */
};

struct pw_gro_sender {
	const struct pw_gro_weather *weather;
	const struct pw_gro_tags *tags;
	unsigned flow; /**< the rig's number */
	uint16_t port; /**< of the NIC */
	unsigned verdicts;
	bool ids_stay;
	struct pw_packet next;	   /**< what the next segment looks like */
	struct pw_packet sent[16]; /**< to be sent again */
	unsigned nb_sent;
};

/** A frame in one piece, and what is to be done to it when it is handed in. */
struct pw_gro_item {
	struct rte_mbuf *m;
	struct pw_packet packet;
	unsigned flow;
	bool loose;	 /**< belongs to no flow */
	bool alone;	 /**< must not be merged */
	bool not_filled; /**< its checksum was left to hardware */
};

struct pw_gro_weather pw_gro_weather_random(uint64_t *seed);

/** Senders of different numbers, below PW_GRO_SENDERS, are different flows. */
void pw_gro_sender_start(struct pw_gro_sender *sender, const struct pw_gro_weather *weather,
	unsigned flow, uint64_t *seed);

/** The next frame, of such a size if nothing happens. */
struct pw_gro_item pw_gro_sender_next(
	struct pw_gro_sender *sender, struct pw_gro_rig *rig, uint32_t size, uint64_t *seed);

/** Note it, then spread it over mbufs, share it and the like. @return what is to be handed in */
struct rte_mbuf *pw_gro_item_note(
	const struct pw_gro_item *item, struct pw_gro_rig *rig, bool exact, uint64_t *seed);

#endif
