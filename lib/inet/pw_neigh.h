/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_NEIGH_H
#define PW_NEIGH_H

/**
 * @file
 * The neighbours of a host: a bounded table from IP to MAC addresses. Internal to lib/inet.
 */

#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "pw_addr.h"

#define PW_NEIGH_SETS 256
#define PW_NEIGH_WAYS 8
#define PW_NEIGH_QUEUE_MAX 4	 /* packets that wait for a neighbour */
#define PW_NEIGH_WAITING_MAX 256 /* for all of them */

enum pw_neigh_state {
	PW_NEIGH_FREE,
	PW_NEIGH_ASKED, /**< requests sent, no answer yet */
	PW_NEIGH_KNOWN,
};

struct pw_neigh {
	enum pw_neigh_state state;
	struct pw_addr addr;
	struct rte_ether_addr mac;
	uint8_t requests; /**< sent and not answered */
	uint8_t nb_queued;
	uint64_t requested_us; /**< time of the last request */
	uint64_t confirmed_us; /**< time of the last packet that showed it to be there */
	uint64_t used_us;      /**< time of the last packet sent to it, 0: none */
	struct rte_mbuf *queue[PW_NEIGH_QUEUE_MAX]; /**< IP packets that wait, the oldest first */
};

struct pw_neigh_table {
	uint64_t secret;
	uint32_t waiting; /**< packets in all queues */
	uint64_t due_us;  /**< before this time nobody has to be asked again */
	struct pw_neigh entries[PW_NEIGH_SETS][PW_NEIGH_WAYS];
};

/** Free all entries and waiting packets. */
void pw_neigh_clear(struct pw_neigh_table *table);

#endif
