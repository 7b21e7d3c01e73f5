/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TX_JOB_H
#define NICSIM_TX_JOB_H

/**
 * @file
 * A packet that the card has to work on before it is sent: gathered from several buffers, with a
 * VLAN tag or checksums to put in, or to be cut into frames (datasheet 7.2.4, 7.2.5).
 */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "nic.h"

#define TX_JOB_BYTES (256 << 10) /* 18 bits of PAYLEN (7.2.3.2.4), headers included here */

struct tx_job {
	uint8_t *packet; /**< all of it, one piece */
	uint32_t len_bytes;
	struct tx_context context;
	uint32_t options; /**< of the first data descriptor */
	uint32_t command; /**< of the first data descriptor */
	uint32_t done;	  /**< payload bytes cut off so far */
	bool pad;	  /**< short frames are filled up */
	bool active;
};

/** @return NULL: no memory */
struct tx_job *tx_job_create(void);

void tx_job_destroy(struct tx_job *job);

/** Add bytes to the packet. False: it becomes too large. */
bool tx_job_append(struct tx_job *job, const void *data, uint32_t len_bytes);

/**
 * Begin to make frames of the packet.
 *
 * @return false: it makes no frame, as lengths do not fit
 */
bool tx_job_begin(struct tx_job *job);

/**
 * Make the next frame. job->active is false after the last one.
 *
 * @param to  room for FRAME_MAX_BYTES
 * @return its length
 */
uint32_t tx_job_next(struct tx_job *job, uint8_t *to);

#endif
