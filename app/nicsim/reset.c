/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Reset, EEPROM and PHY: what the driver waits for while it starts the port. */

#include <string.h>

#include "nic.h"
#include "parts.h"

#define EEPROM_WORDS 1024
#define EEPROM_CHECKSUM_WORD 0x3f
#define EEPROM_CHECKSUM 0xbaba /* what words 0 to 0x3f add up to (datasheet 6.2.1, 6.3.1.9) */

static void
write_address(struct nic *nic)
{
	const uint8_t *mac = nic->mac;

	reg_write(
		nic->bar, REG_RAL(0), mac[0] | mac[1] << 8 | mac[2] << 16 | (uint32_t)mac[3] << 24);
	reg_write(nic->bar, REG_RAH(0), mac[4] | mac[5] << 8 | RAH_AV);
}

void
reset_all(struct nic *nic)
{
	rx_reset(nic);
	tx_reset(nic);
	memset(nic->bar, 0, BAR_BYTES);
	memset(nic->stats.published, 0, sizeof(nic->stats.published));
	stats_reset(nic);
	nic->irq_mask = nic->irq_unread = 0;

	/* 1024 words by EERD: else the driver would clock the EEPROM bit by bit (8.2.3.2.1). */
	reg_write(nic->bar, REG_EEC, EEC_PRES | EEC_AUTO_RD | EEC_SIZE(4));
	/* KX4 without autonegotiation: the link is up at once and needs no set-up (8.2.3.22.19). */
	reg_write(nic->bar, REG_AUTOC, AUTOC_LMS_10G);
	/* The driver's reset of the pipeline waits until this is not 0 (8.2.3.22.25). */
	reg_write(nic->bar, REG_ANLP1, 1 << 16);
	reg_write(nic->bar, REG_LINKS, nic->link_up ? LINKS_UP_10G : 0);
	reg_write(nic->bar, REG_RDRXCTL, RDRXCTL_DMAIDONE);
	/* Security blocks are ready (8.2.3.13). */
	reg_write(nic->bar, REG_SECRXSTAT, 1);
	reg_write(nic->bar, REG_SECTXSTAT, 1);
	write_address(nic);
}

static uint32_t
eeprom_word(unsigned address)
{
	return address == EEPROM_CHECKSUM_WORD ? EEPROM_CHECKSUM : 0;
}

/* 8.2.3.2.2: START with an address; the answer is DONE and the word in the upper half. */
static void
poll_eeprom(struct nic *nic)
{
	uint32_t eerd = reg_read(nic->bar, REG_EERD);

	if ((eerd & (EERD_START | EERD_DONE)) == EERD_START)
		reg_write(nic->bar, REG_EERD,
			eeprom_word(EERD_ADDR(eerd) % EEPROM_WORDS) << 16 | EERD_ADDR(eerd) << 2 |
				EERD_DONE);
}

/* 8.2.3.22.11: no PHY answers on MDIO. */
static void
poll_mdio(struct nic *nic)
{
	uint32_t msca = reg_read(nic->bar, REG_MSCA);

	if (!(msca & MSCA_COMMAND))
		return;
	reg_write(nic->bar, REG_MSRWD, 0xffff0000);
	reg_write(nic->bar, REG_MSCA, msca & ~MSCA_COMMAND);
}

/* The restart of autonegotiation clears itself; the driver may write the register meanwhile. */
static void
poll_autoc(struct nic *nic)
{
	uint32_t *autoc = (uint32_t *)(void *)(nic->bar + REG_AUTOC);
	uint32_t value = reg_read(nic->bar, REG_AUTOC);

	if (value & AUTOC_AN_RESTART)
		__atomic_compare_exchange_n(autoc, &value, value & ~AUTOC_AN_RESTART, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void
reset_poll(struct nic *nic)
{
	/* 4.2.1.6, 4.2.1.7: software and link reset; the bit clears when it is done. */
	if (reg_read(nic->bar, REG_CTRL) & (CTRL_RST | CTRL_LRST)) {
		nic->counters.resets++;
		reset_all(nic);
		return;
	}
	poll_eeprom(nic);
	poll_mdio(nic);
	poll_autoc(nic);
}
