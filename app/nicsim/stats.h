/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_STATS_H
#define NICSIM_STATS_H

/**
 * @file
 * Statistics registers (datasheet 8.2.3.23). They clear when read, which memory does not: the model
 * adds up totals, publishes in the registers what came since the driver read them last, and is told
 * of a reading by watch.h.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "regs.h"

#define NB_SIZES 6 /* of frames: 64, to 127, 255, 511, 1023, above */

enum stat_index {
	STAT_CRCERRS,
	STAT_MPC,
	STAT_RLEC,
	STAT_GPRC,
	STAT_BPRC,
	STAT_MPRC,
	STAT_GPTC,
	STAT_GORC,
	STAT_GOTC,
	STAT_RUC,
	STAT_ROC,
	STAT_TOR,
	STAT_TPR,
	STAT_TPT,
	STAT_MPTC,
	STAT_BPTC,
	STAT_XEC,
	STAT_PRC,
	STAT_PTC = STAT_PRC + NB_SIZES,
	STAT_QPRC = STAT_PTC + NB_SIZES,
	STAT_QBRC = STAT_QPRC + NB_QUEUE_STATS,
	STAT_QPRDC = STAT_QBRC + NB_QUEUE_STATS,
	STAT_QPTC = STAT_QPRDC + NB_QUEUE_STATS,
	STAT_QBTC = STAT_QPTC + NB_QUEUE_STATS,
	NB_STATS = STAT_QBTC + NB_QUEUE_STATS,
};

struct stats {
	uint64_t total[NB_STATS];
	uint64_t read[NB_STATS];      /**< of it, what the driver has read */
	uint64_t published[NB_STATS]; /**< what the registers show */
	bool frozen;		      /**< a reading has begun */
	uint64_t frozen_until_ns;     /**< at most */
	uint64_t next_publish_ns;
};

struct nic;

/** Show what came since the last reading; not too often, and not while the driver reads. */
void stats_publish(struct nic *nic);

/** The driver has begun to read. */
void stats_reading_began(struct nic *nic);

/** The driver has read all registers, so many times. */
void stats_was_read(struct nic *nic, unsigned times);

/** A reset clears the registers, and what was not read is lost, as on the card. */
void stats_reset(struct nic *nic);

/** The counter for a frame to a group address: that of broadcasts, or that of multicasts. */
static inline enum stat_index
stats_group(const uint8_t *data, enum stat_index broadcast, enum stat_index multicast)
{
	static const uint8_t all[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	return memcmp(data, all, sizeof(all)) == 0 ? broadcast : multicast;
}

/** The counter for a frame of this length with CRC. */
static inline unsigned
stats_size(uint32_t len_bytes)
{
	if (len_bytes < 128)
		return len_bytes > 64;
	/* 128 to 255: 2; 256 to 511: 3; 512 to 1023: 4 */
	return len_bytes >= 1024 ? 5 : 26 - __builtin_clz(len_bytes);
}

#endif
