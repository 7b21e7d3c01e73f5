/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "frag_rig.h"
#include "worker.h"

static struct pw_bfrag_options options;

static int
parse_allocators(void *values, const struct pw_bench_option *option, char *value)
{
	struct pw_bfrag_options *o = values;
	struct pw_bfrag_allocator allocator;
	char list[256], expected[384];
	int rc = pw_bench_parse_list(values, option, value);

	for (unsigned i = 0; rc == 0 && i < o->allocators.n; i++) {
		if (strcmp(o->allocators.items[i], "floor") == 0)
			return pw_bench_wrong_value(
				option, "floor", "allocators: the floor is there always");
		if (pw_bfrag_allocator_init(&allocator, o->allocators.items[i]) == 0)
			continue;
		snprintf(expected, sizeof(expected),
			"rte_malloc, mempool, mempool:pagewheel, or frag:STRATEGY with %s",
			pw_strategy_list(list, sizeof(list)));
		return pw_bench_wrong_value(option, o->allocators.items[i], expected);
	}
	return rc;
}

static const char *
pattern_name(unsigned i)
{
	unsigned n;
	const struct pw_bfrag_pattern *patterns = pw_bfrag_patterns(&n);

	return i < n ? patterns[i].name : NULL;
}

static int
parse_patterns(void *values, const struct pw_bench_option *option, char *value)
{
	return pw_bench_parse_beginnings(values, option, value, pattern_name);
}

#define FIELD(name) offsetof(struct pw_bfrag_options, name)

static const struct pw_bench_option option_table[] = {
	{"allocators", "LIST", "what is compared", "all those below", parse_allocators,
		FIELD(allocators), 0, 0},
	{"patterns", "LIST", "how fragments are used: names, or their beginnings",
		"all of those below", parse_patterns, FIELD(patterns), 0, 0},
	{"sizes", "LIST", "bytes of a fragment",
		"64,128,256,512,1024,1500,2048,4096,8192,16384, with --quick 256,2048",
		pw_bench_parse_numbers, FIELD(sizes), PW_BFRAG_SIZE_MIN, PW_BFRAG_SIZE_MAX},
	{"why", NULL, "tables of counters for all sizes, not 256 and 2048 only", NULL,
		pw_bench_parse_flag, FIELD(why), 0, 0},
	{0},
};

static void
usage(void)
{
	const struct pw_bfrag_pattern *patterns;
	const char *name, *help;
	unsigned n;

	printf("\nAllocators:\n");
	for (unsigned i = 0; (help = pw_strategy_help(i, &name)) != NULL; i++)
		printf("  frag:%-15s %s\n", name, help);
	for (unsigned i = 0; (help = pw_bfrag_allocator_help(i, &name)) != NULL; i++)
		printf("  %-20s %s\n", name, help);
	printf("\nPatterns:\n");
	patterns = pw_bfrag_patterns(&n);
	for (unsigned i = 0; i < n; i++)
		printf("  %-20s %s\n", patterns[i].name, patterns[i].help);
	printf("\nBeside the allocators stands the floor: the same pattern with a few pointers that "
	       "come again and again.\n");
}

static void
set_defaults(struct pw_bfrag_options *o, bool quick)
{
	static const struct pw_bench_numbers few = {2, {256, 2048}},
					     all = {10,
						     {64, 128, 256, 512, 1024, 1500, 2048, 4096,
							     8192, 16384}};
	static char names[PW_BENCH_LIST_MAX][32];
	const char *name;

	if (o->sizes.n == 0)
		o->sizes = quick ? few : all;
	if (o->allocators.n > 0)
		return;
	for (unsigned i = 0; pw_strategy_help(i, &name) != NULL; i++) {
		snprintf(names[i], sizeof(names[i]), "frag:%s", name);
		o->allocators.items[o->allocators.n++] = names[i];
	}
	for (unsigned i = 0; pw_bfrag_allocator_help(i, &name) != NULL; i++)
		o->allocators.items[o->allocators.n++] = name;
}

static void
choose_allocators(struct pw_bfrag_bench *bench, const struct pw_bench_list *names)
{
	for (unsigned i = 0; i <= names->n; i++) {
		struct pw_bfrag_allocator *allocator = &bench->allocators[i];

		pw_bfrag_allocator_init(allocator, i < names->n ? names->items[i] : "floor");
		bench->columns[i] = allocator->column;
	}
	bench->nb_allocators = names->n + 1;
}

static int
choose_patterns(struct pw_bfrag_bench *bench, const struct pw_bench_list *words)
{
	unsigned n;
	const struct pw_bfrag_pattern *patterns = pw_bfrag_patterns(&n);

	for (unsigned i = 0; i < n; i++) {
		if (!pw_bench_is_chosen(words, patterns[i].name))
			continue;
		if (pw_bfrag_needs_two_lcores(&patterns[i]) && !pw_bench_worker_exists())
			bench->two_lcores_left_out++;
		else
			bench->patterns[bench->nb_patterns++] = &patterns[i];
	}
	if (bench->nb_patterns > 0)
		return 0;
	pw_bench_error("remote needs two lcores, there is one: give it two CPUs, as in -- -l 0,1");
	return -EINVAL;
}

/* Those patterns that are for its sizes. */
static int
open_group(struct pw_bfrag_bench *bench, uint32_t size_bytes, bool mixed)
{
	struct pw_bfrag_group *group = &bench->groups[bench->nb_groups];
	struct pw_bench_grid *grid = &group->grid;

	group->size_bytes = size_bytes;
	group->mixed = mixed;
	snprintf(group->label, sizeof(group->label), mixed ? "64..%u" : "%u", size_bytes);
	snprintf(grid->title, sizeof(grid->title), mixed ? "64..%u bytes" : "%u bytes", size_bytes);
	grid->columns = bench->columns;
	grid->nb_columns = bench->nb_allocators;
	for (unsigned p = 0; p < bench->nb_patterns; p++) {
		const struct pw_bfrag_pattern *pattern = bench->patterns[p];

		if (pattern->mixed != mixed || size_bytes > pattern->size_max)
			continue;
		group->patterns[grid->nb_rows] = pattern;
		grid->rows[grid->nb_rows++] = pattern->name;
	}
	if (grid->nb_rows == 0)
		return 0;
	bench->nb_groups++;
	group->cells = calloc((size_t)grid->nb_rows * grid->nb_columns, sizeof(*group->cells));
	return group->cells == NULL ? -ENOMEM : pw_bench_grid_open(grid);
}

static int
make_groups(struct pw_bfrag_bench *bench, const struct pw_bfrag_options *o)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < o->sizes.n; i++)
		rc = open_group(bench, o->sizes.items[i], false);
	if (rc == 0)
		rc = open_group(bench, PW_BFRAG_SIZE_MAX, true);
	if (rc < 0)
		pw_bench_error("no memory");
	else if (bench->nb_groups == 0) {
		pw_bench_error("no pattern chosen is for the sizes chosen: window/fragmented has "
			       "fragments of up to 4096 bytes");
		return -EINVAL;
	}
	return rc;
}

static void
run_group(void *ctx, unsigned i)
{
	struct pw_bfrag_bench *bench = ctx;

	pw_bfrag_run_group(bench, &bench->groups[i]);
}

static void
close_groups(void *ctx)
{
	struct pw_bfrag_bench *bench = ctx;

	for (unsigned i = 0; i < bench->nb_groups; i++) {
		pw_bench_grid_close(&bench->groups[i].grid);
		free(bench->groups[i].cells);
	}
}

static int
open_groups(void *ctx)
{
	struct pw_bfrag_bench *bench = ctx;
	int rc;

	set_defaults(&options, bench->run.common->quick);
	bench->all_why = options.why;
	choose_allocators(bench, &options.allocators);
	rc = choose_patterns(bench, &options.patterns);
	if (rc == 0)
		rc = make_groups(bench, &options);
	if (rc < 0)
		return rc;
	return bench->nb_groups;
}

const struct pw_bench_experiment pw_bench_frag = {
	.name = "frag",
	.help = "fragments of any size: what it costs to allocate and free one, in ns",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.bench_bytes = sizeof(struct pw_bfrag_bench),
	.open = open_groups,
	.run_group = run_group,
	.report = pw_bfrag_report,
	.print_json = pw_bfrag_print_json,
	.close = close_groups,
};
