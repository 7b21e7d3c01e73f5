/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_NIC_H
#define NICSIM_NIC_H

/**
 * @file
 * One port of the model: what its parts share. Each part is a file: reset.c, irq.c, filter.c,
 * rss.c, rx.c, tx.c, stats.c; nic.c polls them. One thread runs all.
 */

#include <stdbool.h>
#include <stdint.h>

#include "desc.h"
#include "dma.h"
#include "fault.h"
#include "line.h"
#include "packet_buffer.h"
#include "regs.h"
#include "ring.h"
#include "stats.h"

#define ETHER_ADDR_BYTES 6

/** What the host side did with frames; what the registers count stands in struct stats. */
struct nic_counters {
	uint64_t rx_frames, rx_bytes; /**< into the driver's buffers */
	uint64_t rx_missed;	      /**< no descriptor, and the packet buffer was full */
	uint64_t rx_no_descriptor;    /**< dropped as the queue asks for it (DROP_EN) */
	uint64_t rx_filtered;	      /**< by destination address */
	uint64_t rx_vlan_filtered;    /**< by VLAN */
	uint64_t rx_crc_errors;
	uint64_t rx_undersize, rx_oversize;
	uint64_t rx_disabled;	      /**< came while receiving was off */
	uint64_t rx_lost_in_reset;    /**< were in the packet buffer at a reset */
	uint64_t rx_dma_errors;	      /**< a descriptor's address was no memory */
	uint64_t rx_buffered;	      /**< in the packet buffer now */
	uint64_t tx_frames, tx_bytes; /**< onto the line */
	uint64_t tx_tso_packets;      /**< cut in frames by us */
	uint64_t tx_bad;	      /**< descriptors that make no frame */
	uint64_t tx_dma_errors;	      /**< a descriptor's address was no memory */
	uint64_t tx_link_down;	      /**< sent while the link was down */
	uint64_t resets, interrupts;
	uint64_t hasty_readings; /**< of statistics, too soon after one for it to have cleared them
				  */
};

#define RX_DONE_MAX 64

struct rx_queue {
	struct ring ring;
	uint32_t buf_bytes;
	uint32_t written; /**< descriptors before it are written back */
	uint32_t nb_done; /**< from there, those in done[] are to be, at the burst's end */
	union rx_desc done[RX_DONE_MAX];
	bool drop; /**< DROP_EN */
	bool strip_vlan;
	uint8_t stat; /**< its place among the queue counters (RQSMR) */
	unsigned number;
	uint64_t frames;
	union rx_desc *late; /**< write-backs that wait, and when they are due; or NULL */
	uint64_t *late_until_ns;
};

/** What a context descriptor said (7.2.3.2.3). */
struct tx_context {
	uint16_t mac_len, ip_len, l4_len, mss, vlan;
	bool ipv4;
	uint8_t l4_type;
};

struct tx_queue {
	struct ring ring;
	uint8_t stat;
	unsigned number;
	uint64_t frames;
	struct tx_context contexts[2];
};

/** What is read from registers now and then, ready for use. */
struct rx_settings {
	bool enabled, crc_strip;
	uint32_t fctrl, mcstctrl, vlnctrl, mrqc;
	uint32_t max_bytes; /**< of a frame with CRC */
	unsigned nb_addresses;
	uint64_t addresses[NB_RA]; /**< the first byte lowest */
	uint8_t reta[RETA_BYTES];
	uint8_t key[RSSRK_BYTES];
};

struct tx_job;
struct rss;

struct nic {
	uint8_t mac[ETHER_ADDR_BYTES];
	uint8_t *bar;
	uint8_t *config; /**< PCI configuration space */
	int irq_fd;	 /**< the FIFO that stands for /dev/uioN */
	struct dma *dma;
	struct line *line;
	uint64_t now_ns; /**< of this poll */

	bool link_up;
	uint32_t irq_mask;   /**< EIMS as it acts */
	uint32_t irq_unread; /**< causes raised since the driver masked last */
	bool was_enabled;    /**< receiving has been on: the wire may begin */
	uint64_t wire_from_ns;
	bool wire_held; /**< it may not */

	struct rx_settings rx;
	struct rss *rss;
	struct packet_buffer packets;
	struct rx_queue rxq[NB_QUEUES];
	struct tx_queue txq[NB_QUEUES];
	uint8_t rx_running[NB_QUEUES], tx_running[NB_QUEUES]; /**< numbers of queues */
	unsigned nb_rx_running, nb_tx_running;
	unsigned next_tx;	    /**< queue that is served first */
	struct tx_job *job;	    /**< the packet that is being worked on */
	struct tx_queue *job_queue; /**< and where it came from */

	struct stats stats;
	struct nic_counters counters;
	struct faults faults;

	uint64_t wire_wait_ns;	       /**< from enabled to the first frame */
	uint64_t rx_cycles, tx_cycles; /**< spent on frames, with the wire's work */
	uint64_t next_control_ns;
};

/** Names of struct nic_counters. */
extern const struct pw_stat nic_counters_table[];

/**
 * Set up a port that is reset and has its link up.
 *
 * @param bar, config  mapped files, zero
 * @return 0, or -ENOMEM
 */
int nic_init(struct nic *nic);

void nic_fini(struct nic *nic);

/** Do what is to be done now. Returns the number of frames moved. */
unsigned nic_poll(struct nic *nic, uint64_t now_ns);

/** Plug the cable in or out; the driver is told by an interrupt. */
void nic_set_link(struct nic *nic, bool up);

/** The driver's memory has moved or gone: translate the rings again, stop those that are lost. */
void nic_remap(struct nic *nic);

/** Nothing is owed: no frame in the packet buffer or on the line, all descriptors written back. */
bool nic_is_idle(const struct nic *nic);

/**
 * Whether counters agree at rest: what the wire sent was received, missed or dropped.
 *
 * @param left  frames that are nowhere, or NULL
 */
bool nic_adds_up(const struct nic *nic, int64_t *left);

#endif
