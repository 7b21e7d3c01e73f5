/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_CHAIN_H
#define PW_CHAIN_H

/**
 * @file
 * Cutting chained mbufs at any byte: rte_pktmbuf_adj() and rte_pktmbuf_trim() stop at a segment's
 * end.
 */

#include <rte_mbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Remove len_bytes from the front. Segments left without data are freed.
 *
 * @param len_bytes  at most the length of the packet
 * @return the new first segment
 */
struct rte_mbuf *pw_chain_trim_front(struct rte_mbuf *m, uint32_t len_bytes);

/**
 * Cut the packet to len_bytes. Segments left without data are freed.
 *
 * @param len_bytes  1 to the packet's length
 */
void pw_chain_cut(struct rte_mbuf *m, uint32_t len_bytes);

/**
 * One's complement sum of all bytes from offset_bytes on, the first one at an even place.
 *
 * rte_raw_cksum_mbuf() of DPDK 22.11 loses carries where a segment begins at an odd one, and its
 * loop takes twice as long.
 *
 * @param offset_bytes  at most the length of the packet
 */
uint16_t pw_chain_sum(const struct rte_mbuf *m, uint32_t offset_bytes);

#ifdef __cplusplus
}
#endif

#endif
