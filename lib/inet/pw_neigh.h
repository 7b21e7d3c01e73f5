/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_NEIGH_H
#define PW_NEIGH_H

/**
 * @file
 * The neighbours of a host: a bounded table from IPv4 to MAC addresses. Internal to lib/inet.
 */

#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#define PW_NEIGH_SETS 64
#define PW_NEIGH_WAYS 4

enum pw_neigh_state {
	PW_NEIGH_FREE,
	PW_NEIGH_ASKED, /**< requests sent, no answer yet */
	PW_NEIGH_KNOWN,
};

struct pw_neigh {
	enum pw_neigh_state state;
	rte_be32_t ip;
	struct rte_ether_addr mac;
	uint8_t requests;	/**< sent since it was last confirmed */
	uint64_t requested_us;	/**< time of the last request */
	uint64_t confirmed_us;	/**< time of the last ARP packet from it */
	struct rte_mbuf *queue; /**< an IPv4 packet that waits for the answer, or NULL */
};

struct pw_neigh_table {
	struct pw_neigh entries[PW_NEIGH_SETS][PW_NEIGH_WAYS];
};

/** Find an entry, or NULL. */
struct pw_neigh *pw_neigh_find(struct pw_neigh_table *table, rte_be32_t ip);

/**
 * Make an entry for an address that has none, in the place of the least recently confirmed of its
 * set when that is full.
 *
 * @param evicted  the packet that waited in the replaced entry, or NULL
 */
struct pw_neigh *pw_neigh_add(
	struct pw_neigh_table *table, rte_be32_t ip, struct rte_mbuf **evicted);

/** Free all entries and waiting packets. */
void pw_neigh_clear(struct pw_neigh_table *table);

#endif
