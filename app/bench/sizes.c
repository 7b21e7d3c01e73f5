/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* TCP_STREAM for message sizes, of 2009: there six object allocators were the columns. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench.h"
#include "environment.h"
#include "lab.h"
#include "run.h"
#include "sizes_pair.h"
#include "strategies.h"

#define MESSAGE_BYTES_MAX 65536
#define BYTES (64U << 20) /* a measurement */
#define QUICK_BYTES (4U << 20)
#define WARM_UP_BYTES (2U << 20)
#define HUGEPAGES 64 /* that the memory of a strategy takes */

static struct sizes_options {
	struct pw_bench_list strategies;
	struct pw_bench_numbers sizes;
} options;

struct sizes_bench {
	struct pw_bench_run run;
	struct pw_bench_grid grid;
	struct pw_bench_column columns[PW_BENCH_COLUMNS_MAX];
	struct pw_strategy strategies[PW_BENCH_COLUMNS_MAX];
	struct pw_bench_numbers sizes;
	char names[PW_BENCH_LIST_MAX][16];
};

/* clang-format off */
static const struct pw_report_metric metrics[] = {
	{"goodput", "goodput", "10^6bits/s", 0, PW_REPORT_MORE},
	{"cost", "cost", "cycles/byte", 3, PW_REPORT_LESS},
	{"in_place", "buffers in place", "%", 1, PW_REPORT_NEITHER},
	{"cache_hits", "fragments' pages from caches", "/1000 messages", 1, PW_REPORT_NEITHER},
	{"buddy_hits", "fragments' pages from the buddy", "/1000 messages", 1, PW_REPORT_NEITHER},
};
/* clang-format on */

#define FIELD(name) offsetof(struct sizes_options, name)

static const struct pw_bench_option option_table[] = {
	{"sizes", "LIST", "bytes of a message",
		"those of 2009: 64 to 16384, with --quick 64,2048,16384", pw_bench_parse_numbers,
		FIELD(sizes), 1, MESSAGE_BYTES_MAX},
	{"strategies", "LIST", "what is compared", "order0,order3,cached,reuse,flip,page_pool",
		pw_bench_parse_strategies, FIELD(strategies), 0, 0},
	{0},
};

static void
usage(void)
{
	printf("\nTwo hosts on one lcore, the wire between them is memory: one writes messages of a "
	       "size into a TCP connection, a call each;\nframes of MTU 1500 are copied into the "
	       "other's buffers, merged by GRO, and read. All memory of both is of the strategy.\n");
}

static void
set_sizes(struct sizes_bench *bench)
{
	static const struct pw_bench_numbers quick = {3, {64, 2048, 16384}},
					     all = {13,
						     {64, 128, 256, 1024, 2048, 3312, 4096, 6144,
							     8192, 10240, 12288, 14336, 16384}};

	bench->sizes = options.sizes.n > 0 ? options.sizes : bench->run.common->quick ? quick : all;
	bench->grid.nb_rows = bench->sizes.n;
	for (unsigned i = 0; i < bench->sizes.n; i++) {
		snprintf(bench->names[i], sizeof(bench->names[i]), "%u", bench->sizes.items[i]);
		bench->grid.rows[i] = bench->names[i];
	}
}

static int
open_groups(void *ctx)
{
	struct sizes_bench *bench = ctx;
	struct pw_bench_grid *grid = &bench->grid;

	set_sizes(bench);
	grid->nb_columns = pw_bench_strategy_columns(
		&options.strategies, bench->columns, bench->strategies);
	grid->columns = bench->columns;
	snprintf(grid->title, sizeof(grid->title), "TCP_STREAM, one connection");
	grid->rows_are = "message bytes";
	grid->metrics = metrics;
	grid->nb_metrics = RTE_DIM(metrics);
	if (pw_bench_grid_open(grid) == 0)
		return 1;
	pw_bench_error("no memory");
	return -ENOMEM;
}

static void
fill_in(struct pw_bench_timing *timing, const struct pw_sizes_pair *pair, uint64_t cycles,
	const struct pw_sizes_counters *before, const struct pw_sizes_counters *after)
{
	double bytes = (double)pair->received_bytes, thousands = pair->messages / 1000.0;
	double gets = after->buffers.gets - before->buffers.gets;
	const double more[RTE_DIM(metrics) - 1] = {
		cycles / bytes,
		100 * (after->buffers.reuses - before->buffers.reuses) / gets,
		(after->pages.cache_hits + after->pages.ring_hits - before->pages.cache_hits -
			before->pages.ring_hits) /
			thousands,
		(after->pages.buddy_hits - before->pages.buddy_hits) / thousands,
	};

	*timing = (struct pw_bench_timing){.value = bytes * 8e-6 * rte_get_tsc_hz() / cycles};
	memcpy(timing->more, more, sizeof(more));
}

/* Nothing is lost on this wire. */
static int
check(const struct pw_sizes_pair *pair, uint64_t bytes, char *reason)
{
	uint64_t dropped = pair->sender.wire.dropped + pair->receiver.wire.dropped;

	if (pair->sent_bytes == bytes && pair->received_bytes == bytes && pair->wrong == 0 &&
		dropped == 0)
		return 0;
	snprintf(reason, PW_BENCH_REASON_MAX,
		"of %" PRIu64 " bytes %" PRIu64 " were sent, %" PRIu64 " received, %" PRIu64
		" reads were wrong, %" PRIu64 " frames dropped",
		bytes, pair->sent_bytes, pair->received_bytes, pair->wrong, dropped);
	return -EIO;
}

static int
measure_pair(struct pw_sizes_pair *pair, uint32_t message_bytes, uint64_t bytes,
	struct pw_bench_timing *timing, char *reason)
{
	struct pw_sizes_counters before, after;
	uint64_t begin, cycles;
	int rc = pw_sizes_pair_run(pair, message_bytes, WARM_UP_BYTES);

	if (rc < 0) {
		check(pair, WARM_UP_BYTES, reason);
		return rc;
	}
	pw_sizes_pair_read(pair, &before);
	begin = rte_rdtsc_precise();
	pw_sizes_pair_run(pair, message_bytes, bytes);
	cycles = rte_rdtsc_precise() - begin;
	pw_sizes_pair_read(pair, &after);
	rc = check(pair, bytes, reason);
	if (rc == 0)
		fill_in(timing, pair, cycles, &before, &after);
	return rc;
}

static int
measure(const struct sizes_bench *bench, unsigned row, unsigned column,
	struct pw_bench_timing *timing, char *reason)
{
	/* Whole messages. */
	uint32_t size = bench->sizes.items[row];
	uint64_t bytes = (bench->run.common->quick ? QUICK_BYTES : BYTES) / size * size;
	static struct pw_sizes_pair pair;
	int rc = pw_sizes_pair_open(&pair, &bench->strategies[column]), back;

	if (rc < 0) {
		pw_bench_explain_memory(reason, PW_BENCH_REASON_MAX, "buffers and fragments",
			HUGEPAGES, "a program less");
		return rc;
	}
	rc = measure_pair(&pair, size, bytes, timing, reason);
	back = pw_sizes_pair_close(&pair);
	if (rc == 0 && back < 0)
		snprintf(reason, PW_BENCH_REASON_MAX, "buffers or fragments are not back");
	return rc < 0 ? rc : back;
}

static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	struct sizes_bench *bench = ctx;
	char reason[PW_BENCH_REASON_MAX];
	struct pw_bench_timing timing;

	if (measure(bench, row, column, &timing, reason) == 0)
		pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, row, column), &timing);
	else
		pw_bench_run_fail(&bench->run, grid, row, column, reason, true);
}

static void
run_group(void *ctx, unsigned i)
{
	struct sizes_bench *bench = ctx;

	(void)i;
	pw_bench_run_rounds(&bench->run, &bench->grid, measure_cell, bench);
}

static void
close_groups(void *ctx)
{
	struct sizes_bench *bench = ctx;

	pw_bench_grid_close(&bench->grid);
}

const struct pw_bench_experiment pw_bench_sizes = {
	.name = "sizes",
	.help = "TCP_STREAM for message sizes from 64 to 16384 bytes",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.on = &pw_bench_sizes_on,
	.one_lcore = true,
	.bench_bytes = sizeof(struct sizes_bench),
	.open = open_groups,
	.run_group = run_group,
	.close = close_groups,
};
