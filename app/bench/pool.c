/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "bench.h"
#include "pw_mempool.h"
#include "worker.h"

/* Of DPDK; each strategy of ours comes behind. */
static const char *const dpdk_handlers[] = {"ring_mp_mc", "stack", "lf_stack", "bucket"};

static struct pw_pool_options options;

static int
parse_handlers(void *values, const struct pw_bench_option *option, char *value)
{
	struct pw_pool_options *o = values;
	struct pw_pool_handler handler;
	char list[256], expected[384];
	int rc = pw_bench_parse_list(values, option, value);

	for (unsigned i = 0; rc == 0 && i < o->handlers.n; i++) {
		if (strcmp(o->handlers.items[i], "floor") == 0)
			return pw_bench_wrong_value(
				option, "floor", "handlers: the floor is there always");
		if (pw_pool_handler_init(&handler, o->handlers.items[i]) == 0)
			continue;
		snprintf(expected, sizeof(expected),

			"a handler that DPDK has loaded, or " PW_MEMPOOL_OPS_NAME
			":STRATEGY with %s",
			pw_strategy_list(list, sizeof(list)));
		return pw_bench_wrong_value(option, o->handlers.items[i], expected);
	}
	return rc;
}

static const char *
pattern_name(unsigned i)
{
	unsigned n;
	const struct pw_pool_pattern *patterns = pw_pool_patterns(&n);

	return i < n ? patterns[i].name : NULL;
}

static int
parse_patterns(void *values, const struct pw_bench_option *option, char *value)
{
	return pw_bench_parse_beginnings(values, option, value, pattern_name);
}

#define FIELD(name) offsetof(struct pw_pool_options, name)

static const struct pw_bench_option option_table[] = {
	{"handlers", "LIST", "what is compared", "all those below", parse_handlers, FIELD(handlers),
		0, 0},
	{"patterns", "LIST", "how buffers are used: names, or their beginnings",
		"all of those below", parse_patterns, FIELD(patterns), 0, 0},
	/* At the least what split has in use, with the largest cache on both sides. */
	{"sizes", "LIST", "buffers in a pool", "8192,65536, with --quick 8192",
		pw_bench_parse_numbers, FIELD(sizes), 4096, 1048576},
	{"cache", "LIST", "buffers that rte_mempool keeps an lcore", "0,256",
		pw_bench_parse_numbers, FIELD(caches), 0, RTE_MEMPOOL_CACHE_MAX_SIZE},
	{0},
};

static void
usage(void)
{
	const struct pw_pool_pattern *patterns;
	const char *name, *help;
	unsigned n;

	printf("\nHandlers: any that DPDK has loaded, and ours with a strategy:\n");
	for (unsigned i = 0; i < RTE_DIM(dpdk_handlers); i++)
		printf("  %s\n", dpdk_handlers[i]);
	for (unsigned i = 0; (help = pw_strategy_help(i, &name)) != NULL; i++)
		printf("  " PW_MEMPOOL_OPS_NAME ":%-10s %s\n", name, help);
	printf("\nPatterns:\n");
	patterns = pw_pool_patterns(&n);
	for (unsigned i = 0; i < n; i++)
		printf("  %-20s %s\n", patterns[i].name, patterns[i].help);
	printf("\nBeside the handlers stands the floor: the same pattern without a handler.\n");
}

static void
set_defaults(struct pw_pool_options *o, bool quick)
{
	static char names[PW_BENCH_LIST_MAX][48];
	const char *name;

	if (o->sizes.n == 0)
		o->sizes = (struct pw_bench_numbers){quick ? 1 : 2, {8192, 65536}};
	if (o->caches.n == 0)
		o->caches = (struct pw_bench_numbers){2, {0, 256}};
	if (o->handlers.n > 0)
		return;
	for (unsigned i = 0; i < RTE_DIM(dpdk_handlers); i++)
		o->handlers.items[o->handlers.n++] = dpdk_handlers[i];
	for (unsigned i = 0; pw_strategy_help(i, &name) != NULL; i++) {
		if (o->handlers.n == PW_BENCH_LIST_MAX)
			break;
		snprintf(names[i], sizeof(names[i]), PW_MEMPOOL_OPS_NAME ":%s", name);
		o->handlers.items[o->handlers.n++] = names[i];
	}
}

static void
refuse_unloaded(const char *name)
{
	char names[512] = "";
	size_t used = 0;

	for (unsigned i = 0; i < rte_mempool_ops_table.num_ops && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, " %s",
			rte_mempool_ops_table.ops[i].name);
	pw_bench_error(
		"--handlers=%s: expected one that DPDK has loaded:%s; others come with their "
		"plugin, -- -d FILE",
		name, names);
}

static int
choose_handlers(struct pw_pool_bench *bench, const struct pw_bench_list *names)
{
	for (unsigned i = 0; i <= names->n; i++) {
		const char *name = i < names->n ? names->items[i] : "floor";
		struct pw_pool_handler *handler = &bench->handlers[i];

		if (pw_pool_handler_init(handler, name) < 0 ||
			!pw_pool_handler_is_loaded(handler)) {
			refuse_unloaded(name);
			return -EINVAL;
		}
		bench->columns[i] = pw_pool_handler_column(handler);
	}
	bench->nb_handlers = names->n + 1;
	return 0;
}

static int
choose_patterns(struct pw_pool_bench *bench, const struct pw_bench_list *words)
{
	unsigned n;
	const struct pw_pool_pattern *patterns = pw_pool_patterns(&n);

	for (unsigned i = 0; i < n; i++) {
		if (!pw_bench_is_chosen(words, patterns[i].name))
			continue;
		if (patterns[i].consume.with_mempool != NULL && !pw_bench_worker_exists())
			bench->two_lcores_left_out++;
		else
			bench->patterns[bench->nb_patterns++] = &patterns[i];
		if (!patterns[i].plain)
			bench->nb_lcore_patterns = bench->nb_patterns;
	}
	if (bench->nb_patterns > 0)
		return 0;
	pw_bench_error("split needs two lcores, there is one: give it two CPUs, as in -- -l 0,1");
	return -EINVAL;
}

/* Plain threads have no cache: they are measured with one of a size's groups. */
static int
open_group(struct pw_pool_bench *bench, uint32_t size, uint32_t cache, bool plain)
{
	struct pw_pool_group *group = &bench->groups[bench->nb_groups];
	struct pw_bench_grid *grid = &group->grid;

	group->size = size;
	group->cache = cache;
	snprintf(grid->title, sizeof(grid->title), "%u buffers, cache %u", group->size,
		group->cache);
	grid->nb_rows = plain ? bench->nb_patterns : bench->nb_lcore_patterns;
	if (grid->nb_rows == 0)
		return 0;
	bench->nb_groups++;
	for (unsigned p = 0; p < grid->nb_rows; p++)
		grid->rows[p] = bench->patterns[p]->name;
	grid->columns = bench->columns;
	grid->nb_columns = bench->nb_handlers;
	group->failed_gets = calloc(grid->nb_rows * grid->nb_columns, sizeof(uint64_t));
	return group->failed_gets == NULL ? -ENOMEM : pw_bench_grid_open(grid);
}

static int
make_groups(struct pw_pool_bench *bench, const struct pw_pool_options *o)
{
	bench->groups = calloc(o->sizes.n * o->caches.n, sizeof(*bench->groups));
	if (bench->groups == NULL)
		return -ENOMEM;
	for (unsigned s = 0; s < o->sizes.n; s++)
		for (unsigned c = 0; c < o->caches.n; c++)
			if (open_group(bench, o->sizes.items[s], o->caches.items[c], c == 0) < 0)
				return -ENOMEM;
	return 0;
}

static void
run_group(void *ctx, unsigned i)
{
	struct pw_pool_bench *bench = ctx;

	pw_pool_run_group(bench, &bench->groups[i]);
}

static void
close_groups(void *ctx)
{
	struct pw_pool_bench *bench = ctx;

	for (unsigned i = 0; i < bench->nb_groups; i++) {
		pw_bench_grid_close(&bench->groups[i].grid);
		free(bench->groups[i].failed_gets);
	}
	free(bench->groups);
}

static int
open_groups(void *ctx)
{
	struct pw_pool_bench *bench = ctx;
	int rc;

	set_defaults(&options, bench->run.common->quick);
	rc = choose_handlers(bench, &options.handlers);
	if (rc == 0)
		rc = choose_patterns(bench, &options.patterns);
	if (rc < 0)
		return rc;
	if (make_groups(bench, &options) < 0) {
		pw_bench_error("no memory");
		return -ENOMEM;
	}
	return bench->nb_groups;
}

const struct pw_bench_experiment pw_bench_pool = {
	.name = "pool",
	.help = "mempool handlers: what it costs to get and free a buffer, in ns",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.bench_bytes = sizeof(struct pw_pool_bench),
	.open = open_groups,
	.run_group = run_group,
	.report = pw_pool_report,
	.print_json = pw_pool_print_json,
	.close = close_groups,
};
