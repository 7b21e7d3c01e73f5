/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_FAULT_H
#define NICSIM_FAULT_H

/**
 * @file
 * Faults of the card on demand. Those of frames (bad checksums, truncation and the like) are the
 * line's: line.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "param.h"

struct nic;

/** What is wrong with a port now. Times are of the model's clock; 0: not. */
struct faults {
	uint64_t rx_stall_until_ns;    /**< no descriptor is taken */
	uint64_t tx_hang_until_ns;     /**< TDH stands still */
	uint64_t link_up_at_ns;	       /**< the end of a flap */
	uint64_t write_back_late_ns;   /**< each descriptor is written back so much later */
	uint64_t write_back_jitter_ns; /**< and up to so much more: in groups, not in bursts */
	unsigned short random[3];
};

/** A fault by its name, for parser and help. */
struct fault_kind {
	const char *name;
	const struct param *arg; /**< what it takes, a uint64_t; NULL: nothing */
	const char *help;
	void (*inject)(struct nic *nic, uint64_t arg);
};

/** The kinds one after the other; NULL behind the last. */
const struct fault_kind *fault_kind_at(unsigned i);

/**
 * Read a fault and what it takes.
 *
 * @param arg  NULL: none given
 * @return NULL after an error was printed
 */
const struct fault_kind *fault_parse(const char *name, const char *arg, uint64_t *value);

/** End what has lasted long enough. */
void fault_tick(struct nic *nic);

/** When a write-back that could be made now is to be made. */
uint64_t fault_write_back_at(struct nic *nic);

static inline bool
fault_delays_write_back(const struct faults *faults)
{
	return (faults->write_back_late_ns | faults->write_back_jitter_ns) != 0;
}

#endif
