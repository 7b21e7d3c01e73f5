/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_CUT_H
#define PW_GRO_CUT_H

/** @file Merged packets cut into frames again, as TSO would do it by their lengths. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/** What is not the same for all who cut. */
struct pw_gro_cut {
	bool ids_stay; /**< IPv4 IDs; else they count up */
	bool cwr_once; /**< CWR in the first frame only */
};

/**
 * What is wrong with a merged packet's lengths, header fields or checksums.
 *
 * @param data  all of its bytes, in one piece
 * @return NULL when it is right
 */
const char *pw_gro_cut_fault(const struct rte_mbuf *m, const uint8_t *data);

/** Bytes in front of the payload. */
static inline uint32_t
pw_gro_cut_header_bytes(const struct rte_mbuf *m)
{
	return m->l2_len + m->l3_len + m->l4_len;
}

/** Frame number i of a merged packet. @return its length */
uint32_t pw_gro_cut_frame(const struct rte_mbuf *m, const uint8_t *data, struct pw_gro_cut how,
	unsigned i, uint8_t *frame);

#endif
