/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_NUMA_H
#define PW_NUMA_H

/** @file Where memory really lies: asked from the kernel, by libnuma. Internal to lib/pages. */

#include <stdbool.h>

/**
 * Whether the page behind an address lies on another NUMA node than it should.
 *
 * @param socket_id  EAL's socket, on Linux the number of the node
 * @return false also where it cannot be told: no NUMA, no page behind the address yet,
 *	SOCKET_ID_ANY, a heap of external memory
 */
bool pw_numa_is_off_node(void *addr, int socket_id);

#endif
