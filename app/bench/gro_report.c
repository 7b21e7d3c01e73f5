/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdio.h>

#include "environment.h"
#include "gro.h"
#include "section.h"

double
pw_gro_bench_merge_ratio(const struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	const struct pw_gro_bench_group *group = container_of(
		grid, const struct pw_gro_bench_group, grid);
	const struct pw_gro_bench_merged *merged = &group->merged[row][column];

	return merged->out == 0 ? 0 : (double)merged->in / (double)merged->out;
}

static void
print_group(const struct pw_gro_bench_group *group)
{
	struct pw_bench_section section = {
		.rows_are = "flows",
		.figure_is = "merged",
		.figure = pw_gro_bench_merge_ratio,
	};

	for (unsigned row = 0; row < group->grid.nb_rows; row++)
		pw_bench_section_add(&section, &group->grid, row, group->grid.rows[row]);
	printf("\n%s [ns a packet%s]\n\n", group->grid.title,
		group->settings.cksum == PW_GRO_BENCH_SOFTWARE
			? "; rte's with verification in front of it"
			: "");
	pw_bench_section_print(&section);
}

static bool
has_cksum(const struct pw_gro_bench *bench, enum pw_gro_bench_cksum cksum)
{
	for (unsigned g = 0; g < bench->nb_groups; g++)
		if (bench->groups[g].settings.cksum == cksum)
			return true;
	return false;
}

void
pw_gro_bench_report(const void *ctx)
{
	const struct pw_gro_bench *bench = ctx;
	const struct pw_gro_bench_rig *rig = bench->rig;

	printf("TCP/IPv4 frames with headers of %zu bytes, in bursts of %u; %u mbufs, L2 of %zu "
	       "KiB; %u rounds wanted\n",
		sizeof(struct pw_gro_bench_header), PW_GRO_BENCH_BURST, rig->nb_mbufs,
		rig->l2_bytes >> 10, bench->run.common->rounds);
	pw_bench_environment_print(bench->run.common, bench->run.probes, bench->run.mixed);
	printf("Reading the clock, %.0f cycles a burst, is taken off, and the slowest 3 %% of the "
	       "times from flush to flush are left out, as interrupts may have hit them\n",
		rig->clock_cycles);
	if (has_cksum(bench, PW_GRO_BENCH_SOFTWARE))
		printf("With cksum software, rte's figures have rte_ipv4_cksum() and "
		       "rte_ipv4_udptcp_cksum_verify() in them: rte_gro verifies nothing\n");
	printf("ns a packet: median ± half the interquartile range; * the fastest; merged: packets "
	       "in for one out\n");
	for (unsigned g = 0; g < bench->nb_groups; g++)
		print_group(&bench->groups[g]);
	pw_bench_print_end(&bench->run, 0);
}
