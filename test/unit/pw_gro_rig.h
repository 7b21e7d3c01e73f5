/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_RIG_H
#define PW_GRO_RIG_H

/**
 * @file
 * A GRO instance under test. Each packet that comes out is compared with the frames that went in:
 * merged ones are cut again for that.
 */

#include "pw_gro.h"
#include "pw_packet.h"
#include "pw_test.h"

#define RIG_FLOWS 8
#define RIG_FRAME_MAX 4200
#define RIG_BURST_MAX 128 /* frames of a flow between two calls of pw_gro_rig_flush() */

/** A frame that went in, as it has to come out again. */
struct pw_gro_rig_frame {
	uint16_t len_bytes;
	uint16_t ip_bytes; /**< with the Ethernet header: padding may be gone */
	uint8_t data[RIG_FRAME_MAX];
};

/** Frames of a flow that went in and did not come out yet. */
struct pw_gro_rig_flow {
	struct pw_gro_rig_frame frames[RIG_BURST_MAX];
	unsigned first, end;
};

struct pw_gro_rig {
	struct rte_mempool *pool;
	unsigned base;
	struct pw_gro *gro;
	struct pw_gro_rig_flow flows[RIG_FLOWS]; /**< by the last byte of the source address */
	uint64_t packets;
	char sizes[256]; /**< payload sizes of what came out, in words */
};

/** Set-up and tear-down of a test, whose state is the rig. */
int pw_gro_rig_set_up(void **state);
int pw_gro_rig_tear_down(void **state);

/** Hand in a TCP frame; its payload is the pattern of pw_packet_byte(). */
void pw_gro_rig_receive(struct pw_gro_rig *rig, struct rte_mbuf *m);

/** Flush; all must be out then, no mbuf lost. */
void pw_gro_rig_flush(struct pw_gro_rig *rig);

#endif
