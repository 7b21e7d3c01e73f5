/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Neighbours of both families, after RFC 4861 7.3, which serves for ARP too (RFC 1122 2.3.2): ask,
 * keep a few packets meanwhile, and make sure from time to time that a neighbour is still there.
 */

#include "pw_neigh.h"

#include <string.h>

#include "pw_inet_priv.h"

#define REQUEST_INTERVAL_US 1000000 /* RFC 1122 2.3.2.1: at most one a second */
#define REQUESTS_MAX 3
#define CONFIRM_INTERVAL_US 60000000 /* RFC 1122 2.3.2.1: entries are checked again */
#define DELAY_US 5000000	     /* RFC 4861 10: before one that nothing confirmed is */
#define IN_USE_US 10000000

static struct pw_neigh *
find_set(struct pw_neigh_table *table, const struct pw_addr *addr)
{
	uint32_t a = table->secret, b = table->secret >> 32;

	rte_jhash_32b_2hashes(addr->words, RTE_DIM(addr->words), &a, &b);
	return table->entries[a % PW_NEIGH_SETS];
}

static struct pw_neigh *
find(struct pw_neigh_table *table, const struct pw_addr *addr)
{
	struct pw_neigh *set = find_set(table, addr);

	for (unsigned i = 0; i < PW_NEIGH_WAYS; i++)
		if (set[i].state != PW_NEIGH_FREE && pw_addr_equal(&set[i].addr, addr))
			return &set[i];
	return NULL;
}

/*
 * Who gives place: neighbours that nothing is sent to; where we have to send ourselves, then those
 * that have not answered. So neither frames with made-up senders nor answers to them push a
 * neighbour out that is in use.
 */
static unsigned
rank(const struct pw_neigh *neigh, bool to_send, uint64_t now_us)
{
	if (neigh->state == PW_NEIGH_FREE)
		return 3;
	if (neigh->state == PW_NEIGH_ASKED)
		return to_send ? 1 : 0;
	return neigh->used_us != 0 && now_us - neigh->used_us < IN_USE_US ? 0 : 2;
}

static uint64_t
last_seen(const struct pw_neigh *neigh)
{
	if (neigh->state == PW_NEIGH_ASKED)
		return neigh->requested_us;
	return RTE_MAX(neigh->used_us, neigh->confirmed_us);
}

static struct pw_neigh *
find_victim(struct pw_neigh *set, bool to_send, uint64_t now_us)
{
	struct pw_neigh *victim = NULL;
	unsigned best = 0;

	for (unsigned i = 0; i < PW_NEIGH_WAYS; i++) {
		unsigned r = rank(&set[i], to_send, now_us);

		if (r > best ||
			(r == best && victim != NULL && last_seen(&set[i]) < last_seen(victim))) {
			victim = &set[i];
			best = r;
		}
	}
	return victim;
}

static void
free_entry(struct pw_inet *inet, struct pw_neigh *neigh)
{
	for (unsigned i = 0; i < neigh->nb_queued; i++)
		pw_inet_drop(neigh->queue[i], &inet->stats.tx_no_neighbour);
	inet->neighbours.waiting -= neigh->nb_queued;
	memset(neigh, 0, sizeof(*neigh));
}

/* Make an entry for an address that has none; NULL: all of its places are in use. */
static struct pw_neigh *
add(struct pw_inet *inet, const struct pw_addr *addr, bool to_send, uint64_t now_us)
{
	struct pw_neigh *set = find_set(&inet->neighbours, addr);
	struct pw_neigh *neigh = find_victim(set, to_send, now_us);

	if (neigh == NULL)
		return NULL;
	free_entry(inet, neigh);
	neigh->state = PW_NEIGH_ASKED;
	neigh->addr = *addr;
	return neigh;
}

/* One that is known is asked itself, as its address is not new to it alone. */
static void
ask(struct pw_inet *inet, struct pw_neigh *neigh, uint64_t now_us)
{
	const struct rte_ether_addr *mac = neigh->state == PW_NEIGH_KNOWN ? &neigh->mac : NULL;

	neigh->requests++;
	neigh->requested_us = now_us;
	inet->neighbours.due_us = RTE_MIN(inet->neighbours.due_us, now_us + REQUEST_INTERVAL_US);
	if (pw_addr_is_ipv4(&neigh->addr))
		pw_arp_request(inet, pw_addr_to_ipv4(&neigh->addr), mac);
	else
		pw_nd_solicit(inet, &neigh->addr, mac);
}

/* RFC 1122 2.3.2.2: the latest packets are kept. */
static void
enqueue(struct pw_inet *inet, struct pw_neigh *neigh, struct rte_mbuf *packet)
{
	struct pw_neigh_table *table = &inet->neighbours;
	bool full = neigh->nb_queued == PW_NEIGH_QUEUE_MAX ||
		(table->waiting >= PW_NEIGH_WAITING_MAX && neigh->nb_queued > 0);

	if (!full && table->waiting >= PW_NEIGH_WAITING_MAX) {
		pw_inet_drop(packet, &inet->stats.tx_no_neighbour);
		return;
	}
	if (full) {
		pw_inet_drop(neigh->queue[0], &inet->stats.tx_no_neighbour);
		neigh->nb_queued--;
		table->waiting--;
		memmove(&neigh->queue[0], &neigh->queue[1],
			neigh->nb_queued * sizeof(neigh->queue[0]));
	}
	neigh->queue[neigh->nb_queued++] = packet;
	table->waiting++;
}

/* Find a neighbour to send to; one that is not known, or was not heard of for long, is asked. NULL:
 * all of its places are in use. */
static struct pw_neigh *
find_to_send(struct pw_inet *inet, const struct pw_addr *next_hop, uint64_t now_us)
{
	struct pw_neigh *neigh = find(&inet->neighbours, next_hop);

	if (neigh == NULL) {
		neigh = add(inet, next_hop, true, now_us);
		if (neigh != NULL)
			ask(inet, neigh, now_us);
	} else if (neigh->state == PW_NEIGH_KNOWN && neigh->requests == 0 &&
		now_us - neigh->confirmed_us > CONFIRM_INTERVAL_US) {
		ask(inet, neigh, now_us);
	}
	return neigh;
}

bool
pw_inet_reaches(struct pw_inet *inet, const struct pw_addr *dst, uint64_t now_us)
{
	const struct pw_addr *next_hop = pw_inet_next_hop(inet, dst);
	const struct pw_neigh *neigh = next_hop == NULL ? NULL
							: find_to_send(inet, next_hop, now_us);

	return neigh != NULL && neigh->state == PW_NEIGH_KNOWN;
}

void
pw_neigh_send(struct pw_inet *inet, struct rte_mbuf *packet, const struct pw_addr *next_hop,
	uint64_t now_us)
{
	struct pw_neigh *neigh = find_to_send(inet, next_hop, now_us);

	if (neigh == NULL) {
		pw_inet_drop(packet, &inet->stats.tx_no_neighbour);
	} else if (neigh->state == PW_NEIGH_KNOWN) {
		neigh->used_us = now_us;
		pw_inet_transmit(inet, packet, &neigh->mac);
	} else {
		enqueue(inet, neigh, packet);
	}
}

static void
send_queue(struct pw_inet *inet, struct pw_neigh *neigh, uint64_t now_us)
{
	unsigned n = neigh->nb_queued;

	neigh->nb_queued = 0;
	inet->neighbours.waiting -= n;
	for (unsigned i = 0; i < n; i++) {
		neigh->used_us = now_us;
		pw_inet_transmit(inet, neigh->queue[i], &neigh->mac);
	}
}

/* RFC 4861 7.2.5: what overrides nothing only makes us ask the neighbour we know. */
static void
update(struct pw_neigh *neigh, const struct pw_inet_heard *heard, uint64_t now_us)
{
	bool has_mac = !rte_is_zero_ether_addr(&heard->mac);
	bool changed = neigh->state == PW_NEIGH_ASKED ||
		(has_mac && !rte_is_same_ether_addr(&neigh->mac, &heard->mac));

	if (neigh->state == PW_NEIGH_ASKED && !has_mac)
		return;
	if (neigh->state == PW_NEIGH_KNOWN && changed && !(heard->flags & PW_HEARD_OVERRIDES)) {
		neigh->confirmed_us = now_us - CONFIRM_INTERVAL_US - 1;
		return;
	}
	if (has_mac)
		neigh->mac = heard->mac;
	if (changed || (heard->flags & PW_HEARD_CONFIRMS))
		neigh->requests = 0;
	if (heard->flags & PW_HEARD_CONFIRMS)
		neigh->confirmed_us = now_us;
	else if (changed)
		neigh->confirmed_us = now_us - CONFIRM_INTERVAL_US + DELAY_US;
	neigh->state = PW_NEIGH_KNOWN;
}

void
pw_inet_hear(struct pw_inet *inet, const struct pw_inet_heard *heard, uint64_t now_us)
{
	struct pw_neigh *neigh = find(&inet->neighbours, &heard->sender);

	if (neigh == NULL && (heard->flags & PW_HEARD_CREATES) &&
		!rte_is_zero_ether_addr(&heard->mac) && pw_inet_is_on_link(inet, &heard->sender))
		neigh = add(inet, &heard->sender, false, now_us);
	if (neigh == NULL)
		return;
	update(neigh, heard, now_us);
	if (neigh->state == PW_NEIGH_KNOWN)
		send_queue(inet, neigh, now_us);
}

void
pw_neigh_learn(struct pw_inet *inet, const struct pw_inet_heard *heard, uint64_t now_us)
{
	pw_inet_hear(inet, heard, now_us);
	if (inet->params.ops.heard != NULL)
		inet->params.ops.heard(inet->params.ctx, heard);
}

static void
ask_again(struct pw_inet *inet, struct pw_neigh *neigh, uint64_t now_us)
{
	if (now_us - neigh->requested_us < REQUEST_INTERVAL_US)
		return;
	if (neigh->requests < REQUESTS_MAX) {
		ask(inet, neigh, now_us);
	} else if (neigh->state == PW_NEIGH_KNOWN) {
		/* It is gone, or has another MAC address now: all are asked. */
		neigh->state = PW_NEIGH_ASKED;
		neigh->requests = 0;
		ask(inet, neigh, now_us);
	} else {
		free_entry(inet, neigh);
	}
}

void
pw_neigh_tick(struct pw_inet *inet, uint64_t now_us)
{
	struct pw_neigh_table *table = &inet->neighbours;

	if (now_us < table->due_us)
		return;
	table->due_us = UINT64_MAX;
	for (unsigned i = 0; i < PW_NEIGH_SETS; i++) {
		for (unsigned j = 0; j < PW_NEIGH_WAYS; j++) {
			struct pw_neigh *neigh = &table->entries[i][j];

			if (neigh->requests == 0)
				continue;
			ask_again(inet, neigh, now_us);
			if (neigh->requests > 0)
				table->due_us = RTE_MIN(
					table->due_us, neigh->requested_us + REQUEST_INTERVAL_US);
		}
	}
}

void
pw_neigh_clear(struct pw_neigh_table *table)
{
	for (unsigned i = 0; i < PW_NEIGH_SETS; i++)
		for (unsigned j = 0; j < PW_NEIGH_WAYS; j++)
			rte_pktmbuf_free_bulk(
				table->entries[i][j].queue, table->entries[i][j].nb_queued);
	memset(table, 0, sizeof(*table));
}
