/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_SOFT_NIC_H
#define PW_SOFT_NIC_H

/**
 * @file
 * What a NIC with offloads puts on the wire: it cuts TCP segments and fills in checksums, after it
 * has checked that the mbuf tells it what rte_mbuf_core.h asks for.
 */

#include "pw_packet.h"

/** Mbufs of a packet that it takes, as an 82599's driver. */
#define SOFT_NIC_SEGS_MAX 40

/** A packet on the wire, in one piece; the callback owns it. */
typedef void (*pw_soft_nic_wire_t)(void *ctx, struct rte_mbuf *packet);

/** Send a frame; owns it. */
void pw_soft_nic_send(struct rte_mbuf *frame, pw_soft_nic_wire_t wire, void *ctx);

/** Cut a segment that begins with the TCP header, without checksums; owns it. */
void pw_soft_nic_cut(struct rte_mbuf *segment, pw_soft_nic_wire_t wire, void *ctx);

#endif
