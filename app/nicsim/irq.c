/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Interrupts: one vector, handed on by a FIFO as the kernel's UIO does (datasheet 7.3). */

#include <unistd.h>

#include "nic.h"
#include "parts.h"

#define PCI_COMMAND 4
#define PCI_COMMAND_INTX_DISABLE (1u << 10)

/* uio_pci_generic masks by the command register, and the kernel after each interrupt. */
static bool
intx_is_disabled(const struct nic *nic)
{
	return (nic->config[PCI_COMMAND + 1] << 8 & PCI_COMMAND_INTX_DISABLE) != 0;
}

static void
deliver(struct nic *nic)
{
	static const uint32_t count = 1;

	if ((reg_read(nic->bar, REG_EICR) & nic->irq_mask) == 0 || intx_is_disabled(nic))
		return;
	nic->config[PCI_COMMAND + 1] |= PCI_COMMAND_INTX_DISABLE >> 8;
	/* A full FIFO has interrupts enough. */
	if (write(nic->irq_fd, &count, sizeof(count)) == sizeof(count))
		nic->counters.interrupts++;
}

/*
 * 8.2.3.5.3, 8.2.3.5.4: writing ones sets and clears bits of the mask, so the registers are
 * mailboxes. When both were written since the last look, the driver ended with enabling.
 *
 * EICR clears when read, which we do not see. The driver masks, reads, acts and enables again: what
 * was raised before it masked is read by then, what came later is not.
 */
void
irq_poll(struct nic *nic)
{
	uint32_t clear = reg_read(nic->bar, REG_EIMC) ? reg_take(nic->bar, REG_EIMC) : 0;
	uint32_t set = reg_read(nic->bar, REG_EIMS) ? reg_take(nic->bar, REG_EIMS) : 0;

	nic->irq_mask = (nic->irq_mask & ~clear) | (set & EICR_MASK);
	if (clear != 0)
		nic->irq_unread = 0;
	if (set != 0)
		reg_write(nic->bar, REG_EICR, nic->irq_unread);
	deliver(nic);
}

void
irq_raise(struct nic *nic, uint32_t causes)
{
	nic->irq_unread |= causes;
	reg_write(nic->bar, REG_EICR, reg_read(nic->bar, REG_EICR) | causes);
	deliver(nic);
}
