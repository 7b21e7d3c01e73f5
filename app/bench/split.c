/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Buffers that cross cores: one lcore receives, another runs GRO and TCP, and frees. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "bench.h"
#include "environment.h"
#include "mempool.h"
#include "pool_handler.h"
#include "pw_mempool.h"
#include "run.h"
#include "split_rig.h"
#include "worker.h"

#define FRAMES (1U << 18) /* a measurement; twice as many as the largest pool first */
#define QUICK_FRAMES (1U << 14)
/* No handler: what is freed goes round by a ring from one lcore to the other, and no more than
 * this. */
#define FLOOR_OPS "ring_sp_sc"
#define FLOOR_BUFFERS 4096

static struct split_options {
	struct pw_bench_list handlers;
	struct pw_bench_numbers buffers;
	uint32_t posted, cache;
} options = {.posted = 1024, .cache = 256};

struct split_bench {
	struct pw_bench_run run;
	struct pw_bench_grid grid;
	struct pw_bench_column columns[PW_BENCH_COLUMNS_MAX];
	struct pw_pool_handler handlers[PW_BENCH_COLUMNS_MAX];
	struct pw_bench_numbers buffers;
	char names[PW_BENCH_LIST_MAX][16];
	struct pw_split_rig *rig;
};

/* clang-format off */
static const struct pw_report_metric metrics[] = {
	{"rate", "rate", "Mpps", 3, PW_REPORT_MORE},
	{"goodput", "goodput", "Gbit/s", 2, PW_REPORT_MORE},
	{"card_busy", "receiving lcore busy", "%", 1, PW_REPORT_NEITHER},
	{"stack_busy", "stack's lcore busy", "%", 1, PW_REPORT_NEITHER},
	{"merged", "merged", "%", 1, PW_REPORT_NEITHER},
	{"failed_gets", "gets without a buffer", "", 0, PW_REPORT_LESS},
	{"in_place", "in place", "%", 1, PW_REPORT_NEITHER},
	{"pages_touched", "pages touched", "", 0, PW_REPORT_NEITHER},
};
/* clang-format on */

#define FIELD(name) offsetof(struct split_options, name)

static const struct pw_bench_option option_table[] = {
	{"buffers", "LIST", "in the pool", "8192,65536, with --quick 8192", pw_bench_parse_numbers,
		FIELD(buffers), 4096, 1048576},
	{"handlers", "LIST", "of DPDK, and pagewheel:STRATEGY",
		"ring_mp_mc,stack,lf_stack,bucket,pagewheel of each strategy", pw_bench_parse_list,
		FIELD(handlers), 0, 0},
	{"ring", "N", "buffers posted in the RX ring", "1024", pw_bench_parse_number, FIELD(posted),
		PW_SPLIT_BURST, PW_SPLIT_POSTED_MAX / 2},
	{"cache", "N", "buffers of rte_mempool's cache of an lcore", "256", pw_bench_parse_number,
		FIELD(cache), 0, RTE_MEMPOOL_CACHE_MAX_SIZE},
	{0},
};

static void
usage(void)
{
	printf("\nThe receiving lcore writes frames of %u bytes of payload, of %u flows in trains "
	       "of %u, from memory into posted buffers, and hands\nthem over by a ring in bursts "
	       "of %u; no third lcore is needed for a card. floor: %u buffers that go round by a "
	       "ring, without a handler.\n",
		PW_SPLIT_PAYLOAD_BYTES, PW_SPLIT_FLOWS, PW_SPLIT_TRAIN, PW_SPLIT_BURST,
		FLOOR_BUFFERS);
}

static int
add_handler(struct split_bench *bench, const char *name, bool is_ours)
{
	struct pw_pool_handler *handler = &bench->handlers[bench->grid.nb_columns];

	if (bench->grid.nb_columns == PW_BENCH_COLUMNS_MAX ||
		(strcmp(name, "floor") == 0 && !is_ours) ||
		pw_pool_handler_init(handler, name) < 0 || !pw_pool_handler_is_loaded(handler)) {
		pw_bench_error("--handlers=%s: expected a handler that DPDK has loaded, such as "
			       "ring_mp_mc, or pagewheel:STRATEGY, such as pagewheel:reuse; the "
			       "floor is there always",
			name);
		return -EINVAL;
	}
	bench->columns[bench->grid.nb_columns++] = pw_pool_handler_column(handler);
	return 0;
}

static int
add_handlers(struct split_bench *bench)
{
	static const char *const dpdk[] = {"ring_mp_mc", "stack", "lf_stack", "bucket"};
	const char *strategy;
	char name[48];
	int rc = 0;

	for (unsigned i = 0; i < options.handlers.n && rc == 0; i++)
		rc = add_handler(bench, options.handlers.items[i], false);
	for (unsigned i = 0; i < RTE_DIM(dpdk) && options.handlers.n == 0; i++)
		rc |= add_handler(bench, dpdk[i], true);
	for (unsigned i = 0; options.handlers.n == 0 && pw_strategy_help(i, &strategy) != NULL;
		i++) {
		snprintf(name, sizeof(name), PW_MEMPOOL_OPS_NAME ":%s", strategy);
		rc |= add_handler(bench, name, true);
	}
	return rc < 0 ? rc : add_handler(bench, "floor", true);
}

static void
set_rows(struct split_bench *bench)
{
	static const struct pw_bench_numbers quick = {1, {8192}}, all = {2, {8192, 65536}};

	bench->buffers = options.buffers.n > 0 ? options.buffers
		: bench->run.common->quick     ? quick
					       : all;
	bench->grid.nb_rows = bench->buffers.n;
	for (unsigned i = 0; i < bench->buffers.n; i++) {
		snprintf(bench->names[i], sizeof(bench->names[i]), "%u", bench->buffers.items[i]);
		bench->grid.rows[i] = bench->names[i];
	}
}

static int
open_groups(void *ctx)
{
	struct split_bench *bench = ctx;
	struct pw_bench_grid *grid = &bench->grid;

	if (!pw_bench_worker_exists()) {
		pw_bench_error("split needs two lcores, on a CPU each, as in -- -l 0,1");
		return -EINVAL;
	}
	set_rows(bench);
	options.posted -= options.posted % PW_SPLIT_BURST;
	snprintf(grid->title, sizeof(grid->title), "received by one lcore, GRO and TCP on another");
	grid->rows_are = "buffers";
	grid->columns = bench->columns;
	grid->metrics = metrics;
	grid->nb_metrics = RTE_DIM(metrics);
	if (add_handlers(bench) < 0)
		return -EINVAL;
	bench->rig = pw_split_rig_create();
	if (bench->rig == NULL)
		return -ENOMEM;
	if (pw_bench_grid_open(grid) == 0)
		return 1;
	pw_bench_error("no memory");
	return -ENOMEM;
}

static double
busy_percent(uint64_t cycles, uint64_t waited)
{
	return 100.0 * (cycles - RTE_MIN(waited, cycles)) / cycles;
}

static void
fill_in(struct pw_bench_timing *timing, const struct pw_split_rig *rig,
	const struct rte_mempool *mp, uint64_t frames)
{
	const struct pw_split_card *card = &rig->card;
	double seconds = (double)rig->cycles / rte_get_tsc_hz();
	struct pw_store_stats store;
	struct pw_gro_stats gro;
	double more[RTE_DIM(metrics) - 1] = {
		rig->taken_bytes * 8e-9 / seconds,
		busy_percent(card->cycles, card->waited_cycles),
		busy_percent(rig->cycles, rig->waited_cycles),
		0,
		card->failed_gets,
		NAN,
		NAN,
	};

	pw_gro_get_stats(rig->stack.gro, &gro);
	more[3] = 100.0 * gro.merged / gro.rx_packets;
	if (pw_mempool_get_stats(mp, &store) == 0) {
		more[5] = 100.0 * store.reuses / store.gets;
		more[6] = store.pages.pages_touched;
	}
	timing->value = frames / seconds / 1e6;
	memcpy(timing->more, more, sizeof(more));
}

static int
check(const struct pw_split_rig *rig, uint64_t frames, char *reason)
{
	if (rig->taken_bytes == frames * PW_SPLIT_PAYLOAD_BYTES)
		return 0;
	snprintf(reason, PW_BENCH_REASON_MAX, "of %" PRIu64 " bytes %" PRIu64 " were taken",
		frames * PW_SPLIT_PAYLOAD_BYTES, rig->taken_bytes);
	return -EIO;
}

static int
run_rig(struct split_bench *bench, struct rte_mempool *mp, struct pw_bench_timing *timing,
	char *reason)
{
	uint64_t frames = bench->run.common->quick ? QUICK_FRAMES : FRAMES;
	/* Until every buffer has been round: only then a pool is as it is in use. */
	uint64_t before = RTE_ALIGN_FLOOR(2ULL * mp->size, PW_SPLIT_BURST);
	int rc = pw_split_rig_open(bench->rig, mp, options.posted);

	if (rc == 0)
		rc = pw_split_rig_run(bench->rig, before);
	if (rc == 0) {
		timing->before_ns = pw_bench_probe_ns();
		rc = pw_split_rig_run(bench->rig, frames);
		timing->after_ns = pw_bench_probe_ns();
	}
	snprintf(reason, PW_BENCH_REASON_MAX, "%s", strerror(-rc));
	if (rc == 0)
		rc = check(bench->rig, frames, reason);
	if (rc == 0)
		fill_in(timing, bench->rig, mp, frames);
	pw_split_rig_close(bench->rig);
	return rc;
}

static struct rte_mempool *
make_pool(const struct pw_pool_handler *handler, uint32_t size, char *reason)
{
	bool is_floor = handler->kind == PW_BENCH_FLOOR;
	struct rte_mempool *mp = pw_bench_pktmbuf_create(is_floor ? FLOOR_OPS : handler->ops,
		handler->kind == PW_BENCH_OURS ? handler->strategy : NULL,
		is_floor ? FLOOR_BUFFERS : size, is_floor ? 0 : options.cache);

	if (mp == NULL)
		/* Twice as much: pages have waste. */
		pw_bench_explain_memory(reason, PW_BENCH_REASON_MAX, "the pool",
			((size * PW_POOL_BUFFER_BYTES) >> 20) + 1, "smaller --buffers");
	return mp;
}

static int
measure(struct split_bench *bench, unsigned row, unsigned column, struct pw_bench_timing *timing,
	char *reason)
{
	struct rte_mempool *mp = make_pool(
		&bench->handlers[column], bench->buffers.items[row], reason);
	unsigned back;
	int rc;

	if (mp == NULL)
		return -rte_errno;
	rc = run_rig(bench, mp, timing, reason);
	back = pw_bench_mempool_settle(mp);
	if (rc == 0 && back < mp->size) {
		snprintf(reason, PW_BENCH_REASON_MAX, "%u of %u buffers are back", back, mp->size);
		rc = -EIO;
	}
	rte_mempool_free(mp);
	return rc;
}

static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	struct split_bench *bench = ctx;
	struct pw_bench_timing timing = {0};
	char reason[PW_BENCH_REASON_MAX];

	if (measure(bench, row, column, &timing, reason) == 0)
		pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, row, column), &timing);
	else
		pw_bench_run_fail(&bench->run, grid, row, column, reason,
			bench->handlers[column].kind != PW_BENCH_DPDK);
}

static void
run_group(void *ctx, unsigned i)
{
	struct split_bench *bench = ctx;

	(void)i;
	pw_bench_run_rounds(&bench->run, &bench->grid, measure_cell, bench);
}

static void
close_groups(void *ctx)
{
	struct split_bench *bench = ctx;

	pw_bench_grid_close(&bench->grid);
	pw_split_rig_destroy(bench->rig);
}

const struct pw_bench_experiment pw_bench_split = {
	.name = "split",
	.help = "one lcore receives, another runs GRO and TCP: strategies and DPDK's handlers",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.bench_bytes = sizeof(struct split_bench),
	.open = open_groups,
	.run_group = run_group,
	.close = close_groups,
};
