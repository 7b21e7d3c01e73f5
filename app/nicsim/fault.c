/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "fault.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "nic.h"
#include "parts.h"

static const struct param duration = {
	"time", "TIME", "how long", PARAM_TIME, 0, 0, 60000, NULL, NULL};
static const struct param descriptors = {
	"descriptors", "N", "how many", PARAM_UINT, 0, 1, 4096, NULL, NULL};

static int
parse_duration(const char *arg, uint64_t *ns)
{
	return param_set(&duration, ns, "fault", arg == NULL ? "" : arg);
}

static int
stall_rx(struct nic *nic, const char *arg)
{
	uint64_t ns;

	if (parse_duration(arg, &ns) < 0)
		return -EINVAL;
	nic->faults.rx_stall_until_ns = nic->now_ns + ns;
	return 0;
}

static int
hang_tx(struct nic *nic, const char *arg)
{
	uint64_t ns;

	if (parse_duration(arg, &ns) < 0)
		return -EINVAL;
	nic->faults.tx_hang_until_ns = nic->now_ns + ns;
	return 0;
}

static int
link_down(struct nic *nic, const char *arg)
{
	(void)arg;
	nic_set_link(nic, false);
	return 0;
}

static int
link_up(struct nic *nic, const char *arg)
{
	(void)arg;
	nic->faults.link_up_at_ns = 0;
	nic_set_link(nic, true);
	return 0;
}

static int
flap_link(struct nic *nic, const char *arg)
{
	uint64_t ns;

	if (parse_duration(arg, &ns) < 0)
		return -EINVAL;
	nic_set_link(nic, false);
	nic->faults.link_up_at_ns = nic->now_ns + ns;
	return 0;
}

static int
late_write_back(struct nic *nic, const char *arg)
{
	return parse_duration(arg, &nic->faults.write_back_late_ns);
}

static int
scattered_write_back(struct nic *nic, const char *arg)
{
	return parse_duration(arg, &nic->faults.write_back_jitter_ns);
}

/* As after a parity error (datasheet 4.6.5, 8.2.3.5.1 ECC): the card has forgotten everything. */
static int
reset_card(struct nic *nic, const char *arg)
{
	(void)arg;
	nic->counters.resets++;
	reset_all(nic);
	return 0;
}

/* Descriptors are passed over and never written back: the driver waits at the first for ever. */
static int
jump_head(struct nic *nic, const char *arg)
{
	uint64_t n;

	if (param_set(&descriptors, &n, "fault", arg == NULL ? "" : arg) < 0)
		return -EINVAL;
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
	return 0;
}

static const struct fault_kind kinds[] = {
	{"link-down", NULL, "take the link down", link_down},
	{"link-up", NULL, "and up", link_up},
	{"link-flap", "TIME", "take it down for a time", flap_link},
	{"rx-stall", "TIME", "take no receive descriptor for a time", stall_rx},
	{"tx-hang", "TIME", "send nothing for a time", hang_tx},
	{"late", "TIME", "write receive descriptors back so much later; 0: at once",
		late_write_back},
	{"scatter", "TIME", "write them back one by one, up to so much later; 0: at once",
		scattered_write_back},
	{"head-jump", "N", "pass over N receive descriptors of each queue for good", jump_head},
	{"reset", NULL, "lose all registers, as after a parity error", reset_card},
	{NULL, NULL, NULL, NULL},
};

const struct fault_kind *
fault_kind_at(unsigned i)
{
	return kinds[i].name == NULL ? NULL : &kinds[i];
}

int
fault_inject(struct nic *nic, const char *name, const char *arg)
{
	for (unsigned i = 0; kinds[i].name != NULL; i++)
		if (strcmp(kinds[i].name, name) == 0) {
			if (kinds[i].arg == NULL && arg != NULL) {
				nicsim_error("fault %s takes no value: %s", name, arg);
				return -EINVAL;
			}
			return kinds[i].inject(nic, arg);
		}
	return -ENOENT;
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
