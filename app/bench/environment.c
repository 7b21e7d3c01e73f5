/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_memory.h>
#include <rte_version.h>

#include "regime.h"
#include "worker.h"

#define CACHES 8 /* that the kernel tells of, at most */

static void
read_cpu(char *text, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(text, size, "unknown CPU");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
			snprintf(text, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
			break;
		}
	}
	fclose(file);
}

/* The number that a file in /sys begins with; 0: none. */
static unsigned long
read_number(const char *path)
{
	unsigned long number;
	FILE *file = fopen(path, "r");

	if (file == NULL)
		return 0;
	if (fscanf(file, "%lu", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static unsigned long
read_hugepages(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-2048kB/%s", name);
	return read_number(path);
}

void
pw_bench_hugepages(unsigned long *free_pages, unsigned long *pages)
{
	*free_pages = read_hugepages("free_hugepages");
	*pages = read_hugepages("nr_hugepages");
}

size_t
pw_bench_l2_bytes(void)
{
	int cpu = pw_bench_lcore_cpu(rte_get_main_lcore());

	for (unsigned i = 0; i < CACHES; i++) {
		char path[128];
		size_t used = snprintf(
			path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%u/", cpu, i);
		unsigned long kib;

		snprintf(path + used, sizeof(path) - used, "level");
		if (read_number(path) != 2)
			continue;
		snprintf(path + used, sizeof(path) - used, "size"); /* "2048K" */
		kib = read_number(path);
		if (kib > 0)
			return kib << 10;
	}
	return 2 << 20;
}

void
pw_bench_explain_memory(
	char *reason, size_t size, const char *what, unsigned long needed, const char *less)
{
	unsigned long free_pages, pages;
	size_t used;

	pw_bench_hugepages(&free_pages, &pages);
	used = snprintf(reason, size,
		"no memory for %s: it needs about %lu hugepages of 2 MiB, %lu are free; ", what,
		needed, free_pages);
	if (used >= size)
		return;
	if (free_pages < needed)
		snprintf(reason + used, size - used, "hugeadm --pool-pages-min 2MB:%lu, or %s",
			pages + needed - free_pages, less);
	else
		snprintf(reason + used, size - used,
			"EAL may not take them: see the memory options behind the --");
}

/* Of the first page in use that is EAL's own. */
static int
read_page_size(const struct rte_memseg_list *list, const struct rte_memseg *page, void *arg)
{
	*(size_t *)arg = page->hugepage_sz;
	return list->external == 0;
}

void
pw_bench_environment_read(struct pw_bench_environment *environment)
{
	struct utsname name;

	memset(environment, 0, sizeof(*environment));
	read_cpu(environment->cpu, sizeof(environment->cpu));
	if (uname(&name) == 0)
		snprintf(environment->kernel, sizeof(environment->kernel), "%s %.60s", name.sysname,
			name.release);
	environment->dpdk = rte_version();
	rte_memseg_walk(read_page_size, &environment->hugepage_bytes);
	environment->main_cpu = pw_bench_lcore_cpu(rte_get_main_lcore());
	environment->second_cpu = pw_bench_lcore_cpu(pw_bench_worker_lcore());
}

static void
print_probes(const struct pw_bench_common *common, const struct pw_samples *probes, unsigned mixed)
{
	if (!pw_bench_worker_exists()) {
		printf("One lcore: the distance between cores is not probed\n");
		return;
	}
	printf("A cache line from core to core [ns, one way; near: below %u]:", common->near_ns);
	for (unsigned r = PW_BENCH_NEAR; r <= PW_BENCH_FAR; r++) {
		printf("%s %s", r == PW_BENCH_NEAR ? "" : ",", pw_bench_regime_name(r));
		if (probes[r].n > 0)
			printf(" %.1f (%u probes)", pw_samples_summary(&probes[r]).median,
				probes[r].n);
		else
			printf(" never");
	}
	printf("; %u measurements discarded, as it changed meanwhile\n", mixed);
}

void
pw_bench_environment_print(
	const struct pw_bench_common *common, const struct pw_samples *probes, unsigned mixed)
{
	struct pw_bench_environment env;

	pw_bench_environment_read(&env);
	printf("%s, CPU %d", env.cpu, env.main_cpu);
	if (env.second_cpu >= 0)
		printf(" and %d", env.second_cpu);
	printf("; %s; %s; hugepages of %zu KiB; TSC %.0f MHz; seed %u\n", env.kernel, env.dpdk,
		env.hugepage_bytes >> 10, (double)rte_get_tsc_hz() / 1e6, common->seed);
	print_probes(common, probes, mixed);
}

static json_t *
probes_json(const struct pw_samples *probes)
{
	json_t *all = json_object();

	for (unsigned r = PW_BENCH_NEAR; r <= PW_BENCH_FAR; r++) {
		struct pw_summary summary = pw_samples_summary(&probes[r]);

		json_object_set_new(all, pw_bench_regime_name(r),
			json_pack("{s:i, s:f, s:f, s:f}", "probes", (int)probes[r].n, "median_ns",
				summary.median, "q1_ns", summary.q1, "q3_ns", summary.q3));
	}
	return all;
}

json_t *
pw_bench_environment_json(
	const struct pw_bench_common *common, const struct pw_samples *probes, unsigned mixed)
{
	struct pw_bench_environment env;

	pw_bench_environment_read(&env);
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:i, s:i, s:o, s:i}", "cpu", env.cpu,
		"kernel", env.kernel, "dpdk", env.dpdk, "hugepage_bytes",
		(json_int_t)env.hugepage_bytes, "tsc_hz", (json_int_t)rte_get_tsc_hz(), "main_cpu",
		env.main_cpu, "second_cpu", env.second_cpu, "near_below_ns", (int)common->near_ns,
		"probe_one_way", probes_json(probes), "mixed_measurements", (int)mixed);
}
