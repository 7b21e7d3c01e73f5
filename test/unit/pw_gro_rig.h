/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_RIG_H
#define PW_GRO_RIG_H

/**
 * @file
 * A GRO instance under test. Each packet that comes out is compared with the frames that went in:
 * merged ones are cut again for that. The flow is what the test says it is: its number is kept in
 * the mbuf, where GRO does not see it.
 */

#include <sys/queue.h>

#include "pw_gro.h"
#include "pw_packet.h"
#include "pw_test.h"

#define RIG_FLOWS 256
#define RIG_LOOSE RIG_FLOWS /* the flow of a frame that belongs to none, and goes at once */
#define RIG_FRAME_MAX 4300
#define RIG_MBUFS 4095

/** A frame that went in, as it has to come out again. */
struct pw_gro_rig_frame {
	STAILQ_ENTRY(pw_gro_rig_frame) next;
	uint64_t number; /**< in the order they came in */
	uint64_t now_us;
	struct rte_mbuf mbuf;	    /**< what it said, not what it owned */
	struct rte_mbuf *shared;    /**< this one of its mbufs has another owner too */
	uint32_t len_bytes, ip_end; /**< padding behind ip_end may be gone */
	uint32_t payload_bytes;
	uint16_t cksum_at; /**< 0, or where the checksum was left to hardware */
	bool prompt;	   /**< must not be held */
	bool alone;	   /**< must not be merged */
	uint8_t data[];
};

STAILQ_HEAD(pw_gro_rig_frames, pw_gro_rig_frame);

struct pw_gro_rig {
	struct rte_mempool *pool;
	unsigned base;
	struct pw_gro *gro;
	struct pw_gro_params params;
	struct pw_gro_rig_frames flows[RIG_FLOWS + 1]; /**< went in and did not come out yet */
	uint64_t now_us;
	uint64_t frames, packets; /**< in and out */
	unsigned prompt;	  /**< such frames that did not come out yet */
	bool flushing;		  /**< the oldest comes first */
	uint64_t before_us, last_number;
	char sizes[512]; /**< payload sizes of what came out, in words */
};

/** Set-up and tear-down of a test, whose state is the rig, with default parameters. */
int pw_gro_rig_set_up(void **state);
int pw_gro_rig_tear_down(void **state);

/** Let instances opened from now on use vectors of up to 64, 256 or 512 bits, where there are such.
 */
#define RIG_SIMD_KINDS 3
void pw_gro_rig_simd(unsigned kind);

/** Another instance; output, ctx and socket_id are the rig's. */
void pw_gro_rig_open(struct pw_gro_rig *rig, struct pw_gro_params params);

/**
 * Note a frame in one piece before it is handed in, in the same order.
 *
 * @param packet  what it was made of, or NULL
 */
struct pw_gro_rig_frame *pw_gro_rig_expect(
	struct pw_gro_rig *rig, unsigned flow, struct rte_mbuf *m, const struct pw_packet *packet);

/**
 * The frame's checksum has been left to hardware: it is what another guest of this host sent. See
 * RTE_MBUF_F_RX_L4_CKSUM_NONE.
 */
void pw_gro_rig_leave_cksum(
	struct pw_gro_rig_frame *frame, struct rte_mbuf *m, const struct pw_packet *packet);

/** The frame must not be merged. */
void pw_gro_rig_alone(struct pw_gro_rig *rig, struct pw_gro_rig_frame *frame);

/** One of the frame's mbufs gets another owner too. */
void pw_gro_rig_share(struct pw_gro_rig *rig, struct pw_gro_rig_frame *frame, struct rte_mbuf *m);

/** Hand in a burst of noted frames. */
void pw_gro_rig_receive(struct pw_gro_rig *rig, struct rte_mbuf **pkts, uint16_t n);

/** Flush; all must be out then, no mbuf lost. */
void pw_gro_rig_flush(struct pw_gro_rig *rig);

/** Flush by time; exactly those that are so old must be out then. */
void pw_gro_rig_flush_older(struct pw_gro_rig *rig, uint64_t before_us);

/** A counter by its name. */
uint64_t pw_gro_rig_counter(const struct pw_gro_rig *rig, const char *name);

/** The sum of the counters of which the names begin like this. */
uint64_t pw_gro_rig_sum(const struct pw_gro_rig *rig, const char *prefix);

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, pw_gro_rig_set_up, pw_gro_rig_tear_down)

#endif
