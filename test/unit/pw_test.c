/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

int
pw_test_eal(void **state)
{
	static char *argv[] = {"unit-test", "--no-huge", "--no-shconf", "--no-telemetry",
		"--no-pci", "-m", "512", "--lcores", "0@0,1@(0-1)", "--log-level=4", NULL};
	static int rc = 1;

	(void)state;
	if (rc == 1)
		rc = rte_eal_init(RTE_DIM(argv) - 1, argv);
	return rc < 0 ? -1 : 0;
}

size_t
pw_test_heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;

	return rte_malloc_get_socket_stats(0, &stats) < 0 ? 0 : stats.heap_allocsz_bytes;
}

static void
count_memzone(const struct rte_memzone *mz, void *count)
{
	(void)mz;
	(*(unsigned *)count)++;
}

unsigned
pw_test_memzones(void)
{
	unsigned count = 0;

	rte_memzone_walk(count_memzone, &count);
	return count;
}
