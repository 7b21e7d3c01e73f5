/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_COPYBREAK_H
#define PW_COPYBREAK_H

/**
 * @file
 * Copy-break: a small packet is copied into a fragment of its own size, so that the big buffer it
 * was received into goes straight back to the NIC, hot, however long somebody holds the packet.
 *
 * The copy is an mbuf of a pool of headers only, with the fragment attached as an external buffer.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "pw_frag.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_copybreak_stats {
	uint64_t copied;
	uint64_t copied_bytes;
	uint64_t passed_large; /**< packets of more than max_bytes */
	uint64_t no_memory;    /**< small packets passed on as they came, as memory lacked */
};

struct pw_copybreak_params {
	struct pw_frag_cache *cache; /**< of the thread that will call */
	struct rte_mempool *headers; /**< of mbufs; a data room of 0 will do */
	uint16_t max_bytes;	     /**< packets up to here are copied */
	uint16_t headroom_bytes;     /**< left before the data */
};

/** Belongs to one thread, that of its cache. Read stats at any time; the rest is private. */
struct pw_copybreak {
	struct pw_copybreak_params params;
	struct pw_copybreak_stats stats;
};

/**
 * Set up.
 *
 * @return 0, or -EINVAL (no cache, no pool of mbufs, or one of pinned external
 *	buffers), -EMSGSIZE (headroom and packet are more than
 *	pw_frag_buf_max())
 */
int pw_copybreak_init(struct pw_copybreak *cb, const struct pw_copybreak_params *params);

/**
 * Copy a packet if it is small.
 *
 * Of the packet, all segments become one; its metadata go along as with rte_pktmbuf_copy(): port,
 * type, VLAN tags, hash, offloads and their flags, dynamic fields; not the private area.
 *
 * @param m  a packet of the caller's
 * @return m, or its copy: m is freed then
 */
struct rte_mbuf *pw_copybreak(struct pw_copybreak *cb, struct rte_mbuf *m);

/** Names and units of struct pw_copybreak_stats. */
extern const struct pw_stat pw_copybreak_stat_table[];

#ifdef __cplusplus
}
#endif

#endif
