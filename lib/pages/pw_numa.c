/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_numa.h"

#include <numa.h>

#include <rte_config.h>

bool
pw_numa_is_off_node(void *addr, int socket_id)
{
	int node = -1;

	if (socket_id < 0 || socket_id >= RTE_MAX_NUMA_NODES || numa_available() < 0)
		return false;
	/* Without a list of nodes to move to, the call tells where pages are: move_pages(2). */
	if (numa_move_pages(0, 1, &addr, NULL, &node, 0) != 0 || node < 0)
		return false;
	return node != socket_id;
}
