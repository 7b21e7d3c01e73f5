/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "bench.h"
#include "progress.h"
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

static bool
begins_with(const char *name, const char *word)
{
	return strncmp(name, word, strlen(word)) == 0;
}

static int
parse_patterns(void *values, const struct pw_bench_option *option, char *value)
{
	struct pw_pool_options *o = values;
	const struct pw_pool_pattern *patterns;
	char expected[512];
	unsigned n, found;
	size_t used;
	int rc = pw_bench_parse_list(values, option, value);

	patterns = pw_pool_patterns(&n);
	for (unsigned i = 0; rc == 0 && i < o->patterns.n; i++) {
		found = 0;
		for (unsigned p = 0; p < n; p++)
			found += begins_with(patterns[p].name, o->patterns.items[i]);
		if (found > 0)
			continue;
		used = snprintf(expected, sizeof(expected), "the beginning of one of:");
		for (unsigned p = 0; p < n && used < sizeof(expected); p++)
			used += snprintf(
				expected + used, sizeof(expected) - used, " %s", patterns[p].name);
		return pw_bench_wrong_value(option, o->patterns.items[i], expected);
	}
	return rc;
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
	for (unsigned i = 0; i < names->n; i++) {
		struct pw_pool_handler *handler = &bench->handlers[bench->nb_handlers++];

		if (pw_pool_handler_init(handler, names->items[i]) == 0 &&
			pw_pool_handler_is_loaded(handler))
			continue;
		refuse_unloaded(names->items[i]);
		return -EINVAL;
	}
	return pw_pool_handler_init(&bench->handlers[bench->nb_handlers++], "floor");
}

static bool
is_chosen(const struct pw_bench_list *words, const char *name)
{
	for (unsigned i = 0; i < words->n; i++)
		if (begins_with(name, words->items[i]))
			return true;
	return words->n == 0;
}

static int
choose_patterns(struct pw_pool_bench *bench, const struct pw_bench_list *words)
{
	unsigned n;
	const struct pw_pool_pattern *patterns = pw_pool_patterns(&n);

	for (unsigned i = 0; i < n; i++) {
		if (!is_chosen(words, patterns[i].name))
			continue;
		if (patterns[i].consume.with_mempool != NULL && !pw_bench_worker_exists())
			bench->two_lcores_left_out++;
		else
			bench->patterns[bench->nb_patterns++] = &patterns[i];
	}
	if (bench->nb_patterns > 0)
		return 0;
	pw_bench_error("split needs two lcores, there is one: give it two CPUs, as in -- -l 0,1");
	return -EINVAL;
}

/* Plain threads have no cache: they are measured with one of a size's groups. */
static int
make_groups(struct pw_pool_bench *bench, const struct pw_pool_options *o)
{
	bench->groups = calloc(o->sizes.n * o->caches.n, sizeof(*bench->groups));
	if (bench->groups == NULL)
		return -ENOMEM;
	for (unsigned s = 0; s < o->sizes.n; s++)
		for (unsigned c = 0; c < o->caches.n; c++) {
			struct pw_pool_group *group = &bench->groups[bench->nb_groups++];

			group->size = o->sizes.items[s];
			group->cache = o->caches.items[c];
			group->plain = c == 0;
			group->cells = calloc(
				bench->nb_patterns * bench->nb_handlers, sizeof(*group->cells));
			if (group->cells == NULL)
				return -ENOMEM;
		}
	return 0;
}

/* Each group may take its share of the time that is left. */
static void
run_groups(struct pw_pool_bench *bench)
{
	bench->deadline = rte_rdtsc() + bench->common->max_seconds * rte_get_tsc_hz();
	for (unsigned i = 0; i < bench->nb_groups; i++) {
		uint64_t now = rte_rdtsc();
		uint64_t left = bench->deadline > now ? bench->deadline - now : 0;

		if (left == 0) {
			bench->short_of_rounds = true;
			break;
		}
		pw_pool_run_group(bench, &bench->groups[i], now + left / (bench->nb_groups - i));
	}
	pw_bench_progress_end();
}

static void
free_bench(struct pw_pool_bench *bench)
{
	unsigned cells = bench->nb_patterns * bench->nb_handlers;

	for (unsigned i = 0; i < bench->nb_groups; i++) {
		struct pw_pool_cell *all = bench->groups[i].cells;

		for (unsigned c = 0; all != NULL && c < cells; c++)
			for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
				pw_bench_samples_free(&all[c].ns[r]);
		free(all);
	}
	free(bench->groups);
	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++)
		pw_bench_samples_free(&bench->probes[r]);
	free(bench);
}

static int
run_bench(struct pw_pool_bench *bench)
{
	int rc;

	set_defaults(&options, bench->common->quick);
	rc = choose_handlers(bench, &options.handlers);
	if (rc == 0)
		rc = choose_patterns(bench, &options.patterns);
	if (rc < 0)
		return rc;
	if (make_groups(bench, &options) < 0) {
		pw_bench_error("no memory");
		return -ENOMEM;
	}
	run_groups(bench);
	if (!bench->common->json)
		pw_pool_report(bench);
	else if (pw_pool_print_json(bench) < 0)
		return -EIO;
	return bench->failed ? -EIO : 0;
}

static int
run(const struct pw_bench_common *common)
{
	struct pw_pool_bench *bench = calloc(1, sizeof(*bench));
	int rc;

	if (bench == NULL)
		return -ENOMEM;
	bench->common = common;
	rc = run_bench(bench);
	free_bench(bench);
	return rc;
}

const struct pw_bench_experiment pw_bench_pool = {
	.name = "pool",
	.help = "mempool handlers: what it costs to get and free a buffer, in ns",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.run = run,
};

/* Cells of a pattern that are measured: all of them, and those with samples of a regime. */
static unsigned
count_cells(const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned pattern,
	enum pw_bench_regime regime, unsigned *all)
{
	unsigned found = 0;

	*all = 0;
	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		const struct pw_pool_cell *cell = pw_pool_cell(bench, group, pattern, h);

		if (cell->reason[0] != '\0')
			continue;
		*all += 1;
		found += cell->ns[regime].n > 0;
	}
	return found;
}

enum pw_bench_regime
pw_pool_shown_regime(
	const struct pw_pool_bench *bench, const struct pw_pool_group *group, unsigned pattern)
{
	enum pw_bench_regime some = PW_BENCH_MIXED;
	unsigned found, all;

	for (unsigned r = 0; r < PW_BENCH_REGIMES; r++) {
		found = count_cells(bench, group, pattern, r, &all);
		if (found > 0 && found == all)
			return r;
		if (found > 0 && some == PW_BENCH_MIXED)
			some = r;
	}
	return some;
}

unsigned
pw_pool_our_handler(const struct pw_pool_bench *bench)
{
	unsigned first = bench->nb_handlers;

	for (unsigned h = 0; h < bench->nb_handlers; h++) {
		if (bench->handlers[h].kind != PW_POOL_PAGEWHEEL)
			continue;
		if (strcmp(bench->handlers[h].strategy, PW_STRATEGY_DEFAULT) == 0)
			return h;
		first = RTE_MIN(first, h);
	}
	return first;
}
