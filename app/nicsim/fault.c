/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "fault.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "nic.h"
#include "parts.h"

static const struct param duration = {
	"time", "TIME", "how long", PARAM_TIME, 0, 0, 60000, NULL, NULL};
static const struct param descriptors = {
	"descriptors", "N", "how many", PARAM_UINT, 0, 1, 4096, NULL, NULL};

static void
stall_rx(struct nic *nic, uint64_t ns)
{
	nic->faults.rx_stall_until_ns = nic->now_ns + ns;
}

static void
hang_tx(struct nic *nic, uint64_t ns)
{
	nic->faults.tx_hang_until_ns = nic->now_ns + ns;
}

static void
link_down(struct nic *nic, uint64_t none)
{
	(void)none;
	nic_set_link(nic, false);
}

static void
link_up(struct nic *nic, uint64_t none)
{
	(void)none;
	nic->faults.link_up_at_ns = 0;
	nic_set_link(nic, true);
}

static void
flap_link(struct nic *nic, uint64_t ns)
{
	nic_set_link(nic, false);
	nic->faults.link_up_at_ns = nic->now_ns + ns;
}

static void
late_write_back(struct nic *nic, uint64_t ns)
{
	nic->faults.write_back_late_ns = ns;
}

static void
scattered_write_back(struct nic *nic, uint64_t ns)
{
	nic->faults.write_back_jitter_ns = ns;
}

/* As after a parity error (datasheet 4.6.5, 8.2.3.5.1 ECC): the card has forgotten everything. */
static void
reset_card(struct nic *nic, uint64_t none)
{
	(void)none;
	nic->counters.resets++;
	reset_all(nic);
}

/* Descriptors are passed over and never written back: the driver waits at the first for ever. */
static void
jump_head(struct nic *nic, uint64_t n)
{
	for (unsigned i = 0; i < nic->nb_rx_running; i++) {
		struct rx_queue *queue = &nic->rxq[nic->rx_running[i]];
		struct ring *ring = &queue->ring;
		uint32_t owned;

		/* Beyond the tail, the head would make the driver's descriptors the card's. */
		ring_read_tail(nic, ring);
		owned = ring_used(ring);
		ring->head = (ring->head + (n < owned ? (uint32_t)n : owned)) % ring->nb_desc;
		queue->written = ring->head;
	}
}

static const struct fault_kind kinds[] = {
	{"link-down", NULL, "take the link down", link_down},
	{"link-up", NULL, "and up", link_up},
	{"link-flap", &duration, "take it down for a time", flap_link},
	{"rx-stall", &duration, "take no receive descriptor for a time", stall_rx},
	{"tx-hang", &duration, "send nothing for a time", hang_tx},
	{"late", &duration, "write receive descriptors back so much later; 0: at once",
		late_write_back},
	{"scatter", &duration, "write them back one by one, up to so much later; 0: at once",
		scattered_write_back},
	{"head-jump", &descriptors, "pass over N receive descriptors of each queue for good",
		jump_head},
	{"reset", NULL, "lose all registers, as after a parity error; the port must be reset",
		reset_card},
	{NULL, NULL, NULL, NULL},
};

const struct fault_kind *
fault_kind_at(unsigned i)
{
	return kinds[i].name == NULL ? NULL : &kinds[i];
}

const struct fault_kind *
fault_parse(const char *name, const char *arg, uint64_t *value)
{
	const struct fault_kind *kind = kinds;
	char context[64];

	while (kind->name != NULL && strcmp(kind->name, name) != 0)
		kind++;
	if (kind->name == NULL) {
		nicsim_error("fault %s: no such fault; nicsim --help lists them", name);
		return NULL;
	}
	snprintf(context, sizeof(context), "fault %s", name);
	*value = 0;
	if (kind->arg == NULL && arg != NULL) {
		nicsim_error("%s: takes no value: %s", context, arg);
		return NULL;
	}
	if (kind->arg != NULL && param_set(kind->arg, value, context, arg == NULL ? "" : arg) < 0)
		return NULL;
	return kind;
}

void
fault_tick(struct nic *nic)
{
	if (nic->faults.link_up_at_ns == 0 || nic->now_ns < nic->faults.link_up_at_ns)
		return;
	nic->faults.link_up_at_ns = 0;
	nic_set_link(nic, true);
}

uint64_t
fault_write_back_at(struct nic *nic)
{
	return nic->now_ns + nic->faults.write_back_late_ns +
		(uint64_t)(erand48(nic->faults.random) * (double)nic->faults.write_back_jitter_ns);
}
