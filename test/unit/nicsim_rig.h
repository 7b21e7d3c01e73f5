/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_RIG_H
#define NICSIM_RIG_H

/**
 * @file
 * A port of the software NIC, with a tiny driver on the one side and a wire that a test holds in
 * its hand on the other. Time is the test's. No cmocka here: the fuzzer uses it too.
 */

#include <stdbool.h>
#include <stdint.h>

#include "desc.h"
#include "line.h"
#include "nic.h"
#include "regs.h"
#include "tx_job.h"

/** The window: pages of 2 MiB, of which the first, the last and one between are no memory. */
#define RIG_PAGES 8
#define RIG_HOLE 5
#define RIG_WINDOW_BYTES (RIG_PAGES * (UINT64_C(2) << 20))
#define RIG_MEMORY_AT (UINT64_C(2) << 20)
#define RIG_HOLE_AT (RIG_HOLE * (UINT64_C(2) << 20))

#define RIG_POLL_NS 1000     /**< from poll to poll */
#define RIG_UNTOUCHED 0xa5   /**< what buffers are filled with before the card gets them */
#define RIG_RING_MAX 512     /**< descriptors */
#define RIG_PACKET_MAX 20000 /**< bytes of a received frame, as descriptors have it */
#define RIG_FRAMES_MAX 20000 /**< frames that the wire holds */

struct rig_frame {
	uint8_t *data;
	uint32_t len_bytes, flags;
};

struct rig_frames {
	struct rig_frame frames[RIG_FRAMES_MAX];
	unsigned first, n;
};

struct rig_wire {
	struct wire wire;
	struct rig_frames give;	 /**< frames that the port will receive */
	struct rig_frames lent;	 /**< that it has since the last call */
	struct rig_frames taken; /**< frames that the port sent */
	unsigned room;		 /**< frames that it takes in a poll; UINT_MAX: any number */
};

struct rig_rxq {
	uint32_t nb_desc, buf_bytes;
	uint64_t ring, buffers; /**< physical addresses */
	uint32_t next, tail;	/**< of the driver */
};

struct rig_txq {
	uint32_t nb_desc;
	uint64_t ring, buffers;
	uint32_t tail;
};

#define RIG_QUEUES 4

struct rig {
	struct nic nic;
	struct dma dma;
	struct rig_wire wire;
	struct rig_rxq rxq[RIG_QUEUES];
	struct rig_txq txq[RIG_QUEUES];
	uint64_t allocated; /**< physical address of what is free */
	uint64_t now_ns;
	uint8_t config[256];
	uint8_t present[RIG_PAGES];
};

/**
 * Plug it together. A port that takes all addresses and any length, but no queue yet.
 *
 * @param paced  the wire sends whether or not the port has room
 */
void rig_open(struct rig *rig, bool paced);

void rig_close(struct rig *rig);

/** Poll so many times; more and more time passes. Returns the frames moved. */
unsigned rig_poll(struct rig *rig, unsigned times);

/** Poll until the port is idle; false: it is not in the time that is enough. */
bool rig_settle(struct rig *rig);

/** Poll until the port has looked at its registers. */
void rig_control(struct rig *rig);

static inline uint32_t
rig_read(const struct rig *rig, uint32_t reg)
{
	return reg_read(rig->nic.bar, reg);
}

static inline void
rig_write(struct rig *rig, uint32_t reg, uint32_t value)
{
	reg_write(rig->nic.bar, reg, value);
}

/** Memory by its physical address. */
static inline void *
rig_at(const struct rig *rig, uint64_t address)
{
	return rig->dma.base + address;
}

/** Memory for the driver, filled with RIG_UNTOUCHED. Returns its physical address. */
uint64_t rig_alloc(struct rig *rig, uint64_t bytes);

/** Frames that the port will receive; data is copied. */
void rig_give(struct rig *rig, const uint8_t *data, uint32_t len_bytes, uint32_t flags);

/** The oldest frame that the port sent, or NULL; valid until the next call. */
const struct rig_frame *rig_taken(struct rig *rig);

/** Set up a receive queue with all descriptors for the card, and switch it on. */
void rig_rx_start(struct rig *rig, unsigned q, uint32_t nb_desc, uint32_t buf_kib);

void rig_rx_stop(struct rig *rig, unsigned q);

static inline union rx_desc *
rig_rx_desc(const struct rig *rig, unsigned q, uint32_t i)
{
	return (union rx_desc *)rig_at(rig, rig->rxq[q].ring) + i;
}

/** Give all buffers that were read back to the card, but one. */
void rig_rx_refill(struct rig *rig, unsigned q);

/** A frame as the driver reads it. */
struct rig_packet {
	uint8_t data[RIG_PACKET_MAX];
	uint32_t len_bytes;
	unsigned pieces;
	union rx_desc last;
	const char *wrong; /**< what was wrong with its descriptors, or NULL */
};

/** Read the next frame, if it is all there. Buffers stay with the driver until rig_rx_refill(). */
bool rig_rx_read(struct rig *rig, unsigned q, struct rig_packet *packet);

/** Set up a transmit queue, and switch it on. */
void rig_tx_start(struct rig *rig, unsigned q, uint32_t nb_desc);

static inline union tx_desc *
rig_tx_desc(const struct rig *rig, unsigned q, uint32_t i)
{
	return (union tx_desc *)rig_at(rig, rig->txq[q].ring) + i;
}

/** Write a descriptor at the tail; the card sees it after rig_tx_kick(). */
void rig_tx_put(struct rig *rig, unsigned q, union tx_desc desc);

/** Descriptors that the driver can write, as the card's head tells. */
uint32_t rig_tx_room(const struct rig *rig, unsigned q);

void rig_tx_kick(struct rig *rig, unsigned q);

/** A context descriptor. */
union tx_desc rig_tx_context(const struct tx_context *context, unsigned slot);

/** A data descriptor. command beside length and type. */
union tx_desc rig_tx_data(uint64_t address, uint32_t len_bytes, uint32_t command, uint32_t options);

/** Copy a frame to memory and write descriptors for it, pieces of them, RS on the last. */
void rig_tx_frame(struct rig *rig, unsigned q, const uint8_t *data, uint32_t len_bytes,
	unsigned pieces, uint32_t command, uint32_t options);

#endif
