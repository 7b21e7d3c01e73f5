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
	const char *arg; /**< as in the help; NULL: takes none */
	const char *help;
	/** @return 0, or -EINVAL: the argument is not what arg says */
	int (*inject)(struct nic *nic, const char *arg);
};

/** The kinds one after the other; NULL behind the last. */
const struct fault_kind *fault_kind_at(unsigned i);

/**
 * Inject a fault.
 *
 * @param arg  NULL: none given
 * @return 0, or -EINVAL after an error was printed; -ENOENT: no such fault
 */
int fault_inject(struct nic *nic, const char *name, const char *arg);

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
