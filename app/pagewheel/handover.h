/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef HANDOVER_H
#define HANDOVER_H

/**
 * @file
 * --split: one lcore receives, another one does the rest and frees. A ring is between them, with
 * one lcore at each end.
 */

#include <stdint.h>

#include <rte_mbuf.h>

struct pw_stream;

/** Make the ring of a stream whose lcores are known; 0 or a negative errno. */
int pw_handover_open(struct pw_stream *stream, uint16_t burst);

/** Free it, and what is in it. */
void pw_handover_close(struct pw_stream *stream);

/** Receive as much as the ring has room for: the rest stays with the port. The receiving lcore. */
uint16_t pw_handover_receive(struct pw_stream *stream, uint16_t burst);

/** Take what was received. The other lcore, or any when both have finished. */
uint16_t pw_handover_take(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t burst);

#endif
