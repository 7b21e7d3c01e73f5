/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdio.h>

#include "environment.h"
#include "pool.h"
#include "pool_rig.h"
#include "section.h"

/* The rows from first to last. */
static void
print_rows(const struct pw_pool_group *group, unsigned first, unsigned last)
{
	struct pw_bench_section section = {.rows_are = "pattern"};

	for (unsigned p = first; p < last; p++)
		pw_bench_section_add(&section, &group->grid, p, group->grid.rows[p]);
	printf(" [ns a buffer: median ± half the interquartile range; * the fastest handler]\n\n");
	pw_bench_section_print(&section);
}

static void
print_group(const struct pw_pool_bench *bench, const struct pw_pool_group *group)
{
	unsigned lcore = bench->nb_lcore_patterns, all = group->grid.nb_rows;

	if (lcore > 0) {
		printf("\n%s", group->grid.title);
		print_rows(group, 0, lcore);
	}
	if (all > lcore) {
		printf("\n%u buffers, a thread that is no lcore (no cache)", group->size);
		print_rows(group, lcore, all);
	}
}

void
pw_pool_report(const void *ctx)
{
	const struct pw_pool_bench *bench = ctx;
	printf("Pools of buffers of %zu bytes, in bursts of %u; %u rounds wanted\n",
		PW_POOL_BUFFER_BYTES, PW_POOL_BURST, bench->run.common->rounds);
	pw_bench_environment_print(bench->run.common, bench->run.probes, bench->run.mixed);
	for (unsigned g = 0; g < bench->nb_groups; g++)
		print_group(bench, &bench->groups[g]);
	pw_bench_print_end(&bench->run, bench->two_lcores_left_out);
}
