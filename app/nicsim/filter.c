/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "filter.h"

#include <string.h>

#define VLAN_ID 0xfff
#define BROADCAST UINT64_C(0xffffffffffff)

void
filter_control(struct nic *nic)
{
	struct rx_settings *rx = &nic->rx;

	rx->fctrl = reg_read(nic->bar, REG_FCTRL);
	rx->mcstctrl = reg_read(nic->bar, REG_MCSTCTRL);
	rx->vlnctrl = reg_read(nic->bar, REG_VLNCTRL);
	rx->nb_addresses = 0;
	for (unsigned i = 0; i < NB_RA; i++) {
		uint32_t high = reg_read(nic->bar, REG_RAH(i)), low;

		if (!(high & RAH_AV))
			continue;
		low = reg_read(nic->bar, REG_RAL(i));
		rx->addresses[rx->nb_addresses++] = low | (uint64_t)(high & 0xffff) << 32;
	}
}

/* 7.1.1.1.2: 12 bits of the address, which ones MO says, choose a bit of the table. */
static bool
is_in_multicast_table(const struct nic *nic, const uint8_t *address)
{
	static const unsigned shifts[] = {4, 3, 2, 0};
	unsigned high16 = address[4] | address[5] << 8;
	unsigned bits = high16 >> shifts[nic->rx.mcstctrl & MCSTCTRL_MO] & 0xfff;

	return (nic->rx.mcstctrl & MCSTCTRL_MFE) &&
		(reg_read(nic->bar, REG_MTA(bits >> 5)) >> (bits & 31) & 1);
}

/* An address as a number, the first byte lowest; put together in a register, not in memory. */
static uint64_t
ether_addr(const uint8_t *address)
{
	uint32_t low;
	uint16_t high;

	memcpy(&low, address, sizeof(low));
	memcpy(&high, address + sizeof(low), sizeof(high));
	return low | (uint64_t)high << 32;
}

static bool
is_an_address(const struct nic *nic, const uint8_t *address)
{
	for (unsigned i = 0; i < nic->rx.nb_addresses; i++)
		if (nic->rx.addresses[i] == ether_addr(address))
			return true;
	return false;
}

static enum filter_verdict
filter_address(const struct nic *nic, const uint8_t *address)
{
	bool multicast = address[0] & 1;

	/* The usual case first: promiscuity, or the one address. */
	if (is_an_address(nic, address))
		return FILTER_PASS;
	if (nic->rx.fctrl & (multicast ? FCTRL_MPE : FCTRL_UPE))
		return FILTER_PASS_INEXACT;
	if ((nic->rx.fctrl & FCTRL_BAM) && ether_addr(address) == BROADCAST)
		return FILTER_PASS;
	if (multicast && is_in_multicast_table(nic, address))
		return FILTER_PASS_INEXACT;
	return FILTER_ADDRESS;
}

/* 7.1.1.2: with VFE, a tagged frame needs the bit of its VLAN; one without a tag passes. */
static bool
passes_vlan(const struct nic *nic, const struct parsed *parsed)
{
	unsigned id = parsed->vlan & VLAN_ID;

	return !(nic->rx.vlnctrl & VLNCTRL_VFE) || !parsed->has_vlan ||
		(reg_read(nic->bar, REG_VFTA(id >> 5)) >> (id & 31) & 1);
}

enum filter_verdict
filter_frame(const struct nic *nic, const struct parsed *parsed, const uint8_t *data)
{
	enum filter_verdict verdict = filter_address(nic, data);

	if (verdict == FILTER_ADDRESS || passes_vlan(nic, parsed))
		return verdict;
	return FILTER_VLAN;
}
