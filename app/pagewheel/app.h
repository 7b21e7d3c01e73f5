/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef APP_H
#define APP_H

/** @file The program: what its files share. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "options.h"

struct pw_cli;
struct pw_copies;
struct pw_frag_pool;
struct pw_fwd;
struct pw_gso_memory;
struct pw_port;

struct pw_app {
	struct pw_options options;
	struct rte_mempool *pool;
	struct pw_frag_pool *frags; /**< memory of all fragments */
	struct pw_copies *copies;   /**< NULL without --copy-break */
	struct pw_gso_memory *gso_memory;
	struct pw_port **ports;
	uint16_t nb_ports;
	struct pw_fwd *fwd;
	struct pw_cli *cli;
	bool quit;   /**< leave the main loop */
	bool failed; /**< exit code */
};

/** Print an error as "pagewheel: ..." on stderr, after what stdout still holds. */
__rte_format_printf(1, 2) void pw_error(const char *format, ...);

#endif
