/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_RX_QUEUE_H
#define NICSIM_RX_QUEUE_H

/** @file Receive queues: their rings, and descriptors written back. */

#include "nic.h"

/** Start and stop queues as RXDCTL says. */
void rx_queue_control(struct nic *nic);

/** How many descriptors are there; looked up only when those known are less than wanted. */
uint32_t rx_queue_available(const struct nic *nic, struct rx_queue *queue, uint32_t wanted);

/** The descriptor n places behind the head; n below the ring's size. */
const union rx_desc *rx_queue_desc(const struct rx_queue *queue, uint32_t n);

/** Write back the descriptor at the head: at the next flush or, for a fault, later. */
void rx_queue_write_back(struct nic *nic, struct rx_queue *queue, const union rx_desc *desc);

/**
 * Let the driver see what was written back. Descriptors share cache lines, four to a line, so the
 * card writes them in bursts (7.1.5), and so do we: one at a time, each would wait for the driver's
 * poll.
 */
void rx_queue_flush(struct rx_queue *queue);

#endif
