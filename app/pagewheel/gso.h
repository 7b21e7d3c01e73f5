/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef GSO_H
#define GSO_H

/**
 * @file
 * Packets that GRO merged are cut again: by the port's TSO, else by librte_gso, which knows TCP
 * over IPv4.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_gso.h>
#include <rte_mbuf.h>

#include "pw_stat.h"

struct pw_app;
struct pw_port;

/** Pieces of a packet that is cut here; the mbufs that it may have. */
#define PW_GSO_PIECES_MAX 64

struct pw_gso_stats {
	uint64_t tso_packets; /**< left to the port */
	uint64_t gso_packets; /**< cut here */
	uint64_t gso_pieces;  /**< what became of these */
	uint64_t dropped;     /**< cannot be cut, or no buffer was free */
};

/** Describes struct pw_gso_stats. */
extern const struct pw_stat pw_gso_stat_table[];

/**
 * Where pieces come from: headers, and references to the data. Ports may hold some until they are
 * closed.
 */
struct pw_gso_memory {
	struct rte_mempool *headers;
	struct rte_mempool *references;
};

/** Make it, unless it was made. Returns 0 or a negative errno. */
int pw_gso_memory_open(struct pw_gso_memory *memory, const struct pw_app *app);

/** Free it, when all ports are closed. Returns how many of its buffers are missing. */
unsigned pw_gso_memory_close(struct pw_gso_memory *memory);

/** Of one sender. */
struct pw_gso {
	struct rte_mempool *copies; /**< the port takes no chains: pieces are copied; else NULL */
	uint64_t cksum_flags;	    /**< what the port fills in of a piece: RTE_MBUF_F_TX_* */
	bool tso;		    /**< the port cuts */
	bool inserts_vlan;	    /**< the port puts tags in */
	uint32_t types;		    /**< what can be cut: PW_GRO_* */
	uint16_t mbufs_max;	    /**< of a packet to cut; 0: as many as there are */
	struct rte_gso_ctx ctx;
	struct pw_gso_stats stats;
};

/** Find out what a port does. Returns 0 or a negative errno. */
int pw_gso_open(struct pw_gso *gso, const struct pw_app *app, struct pw_port *port);

/**
 * Make what the port can send of a packet that came out of GRO, merged or not; owns it. What
 * cannot be sent is dropped.
 *
 * @param out  room for PW_GSO_PIECES_MAX
 * @return number of packets in out; 0: dropped
 */
uint16_t pw_gso_cut(struct pw_gso *gso, struct rte_mbuf *m, struct rte_mbuf **out);

#endif
