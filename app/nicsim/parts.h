/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PARTS_H
#define NICSIM_PARTS_H

/** @file What nic.c calls of the parts of a port, each in the file named. */

#include "nic.h"

/* reset.c */

/** Put all registers to what the driver expects of a card that has come out of reset. */
void reset_all(struct nic *nic);

/** Answer CTRL, EERD, MSCA and AUTOC, where the driver waits for the card to do something. */
void reset_poll(struct nic *nic);

/* irq.c */

/** Take what was written to EIMS and EIMC. */
void irq_poll(struct nic *nic);

/** Raise causes; the driver is told unless they are masked. */
void irq_raise(struct nic *nic, uint32_t causes);

/* rx.c */

/** Read the settings that frames are received by, and start and stop queues as RXDCTL says. */
void rx_control(struct nic *nic);

/** Receive what the wire has. Returns the number of frames. */
unsigned rx_poll(struct nic *nic);

/* rx_queue.c */

/** Write back what was held for a fault, as far as it is due. */
void rx_tick(struct nic *nic);

/** Stop all queues; frames in the packet buffer are lost. */
void rx_reset(struct nic *nic);

/** Translate the ring again; the queue stops if it is gone. */
void rx_remap(struct nic *nic);

/* tx.c */

/** Start and stop queues as TXDCTL says. */
void tx_control(struct nic *nic);

/** Send what the driver queued. Returns the number of frames. */
unsigned tx_poll(struct nic *nic);

void tx_reset(struct nic *nic);
void tx_remap(struct nic *nic);

#endif
