/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "eal.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "bench.h"
#include "environment.h"

#define ALL_MAX 128

static bool
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* EAL refuses a second core list. */
static bool
has_core_list(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (starts_with(argv[i], "-l") || starts_with(argv[i], "-c") ||
			starts_with(argv[i], "--lcores"))
			return true;
	return false;
}

/* Lcores 0 and 1 on the first two CPUs we may use; the second one only if there is one. */
static void
write_core_list(char *text, size_t size)
{
	unsigned found = 0;
	size_t used = snprintf(text, size, "--lcores=");
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		used += snprintf(text + used, size - used, "%s%u@%d", found ? "," : "", found, cpu);
		found++;
	}
	if (found == 0)
		snprintf(text, size, "--lcores=0");
}

static void
explain_eal_failure(void)
{
	unsigned long free_pages, pages;

	pw_bench_hugepages(&free_pages, &pages);
	if (free_pages == 0)
		pw_bench_error(
			"EAL does not start: of %lu hugepages of 2 MiB none is free; to reserve "
			"1 GiB more: hugeadm --pool-pages-min 2MB:%lu",
			pages, pages + 512);
	else
		pw_bench_error(
			"EAL does not start: %s; see its messages above", rte_strerror(rte_errno));
}

int
pw_bench_eal_start(int argc, char **argv)
{
	static char program[] = "pagewheel-bench", in_memory[] = "--in-memory",
		    no_pci[] = "--no-pci", no_telemetry[] = "--no-telemetry",
		    quiet[] = "--log-level=4", cores[64];
	char *own[] = {program, in_memory, no_pci, no_telemetry, quiet, cores};
	unsigned nb_own = RTE_DIM(own);
	/* EAL keeps pointers into it. */
	static char *all[ALL_MAX + 1];

	if (nb_own + argc > ALL_MAX) {
		pw_bench_error("%d arguments for EAL: expected at most %u", argc, ALL_MAX - nb_own);
		return -E2BIG;
	}
	write_core_list(cores, sizeof(cores));
	if (has_core_list(argc, argv))
		nb_own--;
	memcpy(all, own, nb_own * sizeof(*all));
	memcpy(all + nb_own, argv, argc * sizeof(*all));
	if (rte_eal_init(nb_own + argc, all) >= 0)
		return 0;
	explain_eal_failure();
	return -EIO;
}
