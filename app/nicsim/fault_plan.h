/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_FAULT_PLAN_H
#define NICSIM_FAULT_PLAN_H

/** @file Faults of the command line: [PORT:]NAME[=ARG][@TIME[/EVERY]], counted from the first
 * frame. */

#include <stdint.h>

#include "nic.h"

#define FAULT_PLAN_MAX 32

struct planned_fault {
	unsigned port;
	const struct fault_kind *kind;
	uint64_t arg;
	uint64_t at_ns, every_ns; /**< 0: once */
	bool done;
};

struct fault_plan {
	unsigned n;
	struct planned_fault faults[FAULT_PLAN_MAX];
};

/**
 * Add one.
 *
 * @return 0, or -EINVAL after an error was printed
 */
int fault_plan_add(struct fault_plan *plan, const char *text);

/** Say which ports exist, when all are known. @return 0, or -EINVAL after an error was printed */
int fault_plan_check(const struct fault_plan *plan, unsigned nb_ports);

/** Inject what is due. */
void fault_plan_tick(struct fault_plan *plan, struct nic *nics, uint64_t now_ns);

#endif
