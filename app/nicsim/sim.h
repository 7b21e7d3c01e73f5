/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_SIM_H
#define NICSIM_SIM_H

/** @file The program: its ports, its options, and what its files share. */

#include <stdbool.h>
#include <stdint.h>

#include "dma.h"
#include "fault_plan.h"
#include "nic.h"
#include "pci_folder.h"
#include "watch.h"
#include "wire_spec.h"

#define SIM_PORTS_MAX WATCH_PORTS_MAX

struct sim {
	const char *dir, *huge_dir, *prefix;
	const char *json; /**< file for the report, or NULL */
	uint64_t cpu;	  /**< that it is pinned to; SIM_ANY_CPU: none */
	uint64_t wire_wait_ns;
	uint64_t seed;
	bool held; /**< wires wait for the command start */
	bool help;
	unsigned nb_ports;
	struct wire_spec specs[SIM_PORTS_MAX];
	struct fault_plan plan;

	struct pci_port ports[SIM_PORTS_MAX];
	struct wire *wires[SIM_PORTS_MAX];
	struct line *lines[SIM_PORTS_MAX];
	struct nic nics[SIM_PORTS_MAX];
	struct dma dma;
	struct watch watch;
	int control_fd, client_fd; /**< -1: not open */
	uint64_t client_until_ns;

	bool stop;
	uint64_t cycles, busy_cycles; /**< of the loop, and of its rounds that moved frames */
	uint64_t linger_until_ns;     /**< 0: nobody has told us to end */
};

#define SIM_ANY_CPU UINT64_MAX

/**
 * Read the command line into the struct.
 *
 * @return 0, or -EINVAL after an error was printed
 */
int sim_options_parse(struct sim *sim, int argc, char **argv);

void sim_options_free(struct sim *sim);

/** Print the help. */
void sim_options_usage(void);

#endif
