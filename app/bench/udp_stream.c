/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* UDP_STREAM of 2014: messages in IP fragments, through pages of each strategy. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "interrupt.h"
#include "lab.h"
#include "run.h"
#include "strategies.h"
#include "udp_stream_measure.h"

#define MESSAGES_MAX 8

static struct udp_stream_options {
	struct pw_bench_list strategies;
	struct pw_bench_numbers messages; /**< bytes */
	bool no_profile;
} options;

struct udp_stream_bench {
	struct pw_bench_run run;
	struct pw_bench_grid grid;
	struct pw_bench_column columns[PW_BENCH_COLUMNS_MAX];
	struct pw_strategy strategies[PW_BENCH_COLUMNS_MAX];
	struct pw_udp_stream_case cases[2 * MESSAGES_MAX]; /**< of the rows */
	char names[2 * MESSAGES_MAX][48];
};

#define FIELD(name) offsetof(struct udp_stream_options, name)

static const struct pw_bench_option option_table[] = {
	{"strategies", "LIST", "what is compared", "order0,order3,cached,reuse,flip,page_pool",
		pw_bench_parse_strategies, FIELD(strategies), 0, 0},
	{"messages", "LIST", "bytes of a message", "65507", pw_bench_parse_numbers, FIELD(messages),
		1, PW_UDP_STREAM_MESSAGE_MAX},
	{"no-profile", NULL, "no profile of each strategy at the end", NULL, pw_bench_parse_flag,
		FIELD(no_profile), 0, 0},
	{0},
};

static void
usage(void)
{
	printf("\nSender and receiver are on one lcore, the wire between them is memory: each "
	       "message is copied into the sender's pages,\ncut for MTU %u, copied by the wire into "
	       "the receiver's buffers, put together, and copied out.\n"
	       "fresh: memory has pages of all orders. fragmented: free ones have 4 KiB, as after "
	       "long use; what a strategy keeps it has from before.\n",
		PW_UDP_STREAM_MTU);
}

static int
make_rows(struct udp_stream_bench *bench)
{
	static const struct pw_bench_numbers preset = {1, {PW_UDP_STREAM_MESSAGE_MAX}};
	const struct pw_bench_numbers *messages = options.messages.n > 0 ? &options.messages
									 : &preset;
	struct pw_bench_grid *grid = &bench->grid;

	if (messages->n > MESSAGES_MAX) {
		pw_bench_error("--messages: expected at most %u", MESSAGES_MAX);
		return -EINVAL;
	}
	for (unsigned i = 0; i < messages->n; i++)
		for (unsigned fragmented = 0; fragmented < 2; fragmented++) {
			unsigned row = grid->nb_rows++;

			bench->cases[row] = (struct pw_udp_stream_case){
				.message_bytes = messages->items[i], .fragmented = fragmented};
			snprintf(bench->names[row], sizeof(bench->names[row]), "%u bytes, %s",
				messages->items[i], fragmented ? "fragmented" : "fresh");
			grid->rows[row] = bench->names[row];
		}
	return 0;
}

static int
open_groups(void *ctx)
{
	struct udp_stream_bench *bench = ctx;
	struct pw_bench_grid *grid = &bench->grid;

	if (make_rows(bench) < 0)
		return -EINVAL;
	grid->nb_columns = pw_bench_strategy_columns(
		&options.strategies, bench->columns, bench->strategies);
	grid->columns = bench->columns;
	snprintf(grid->title, sizeof(grid->title), "UDP_STREAM over MTU %u", PW_UDP_STREAM_MTU);
	grid->rows_are = "message, memory";
	grid->metrics = pw_udp_stream_metrics;
	grid->nb_metrics = PW_UDP_STREAM_METRICS;
	if (pw_bench_grid_open(grid) == 0)
		return 1;
	pw_bench_error("no memory");
	return -ENOMEM;
}

static void
measure_cell(void *ctx, struct pw_bench_grid *grid, unsigned row, unsigned column)
{
	struct udp_stream_bench *bench = ctx;
	char reason[PW_BENCH_REASON_MAX];
	struct pw_bench_timing timing;

	if (pw_udp_stream_measure(&bench->cases[row], &bench->strategies[column],
		    bench->run.common->quick, &timing, reason) == 0)
		pw_bench_run_record(&bench->run, grid, pw_bench_cell(grid, row, column), &timing);
	else
		pw_bench_run_fail(&bench->run, grid, row, column, reason, true);
}

/* Two profiles a cell, that nobody measured the time of meanwhile. */
static void
add_profiles(struct udp_stream_bench *bench, unsigned row, unsigned column)
{
	json_t *profiles = pw_udp_stream_profile(
		&bench->cases[row], &bench->strategies[column], bench->names[row]);

	if (bench->run.profiles == NULL)
		bench->run.profiles = json_array();
	json_array_extend(bench->run.profiles, profiles);
	json_decref(profiles);
}

static void
run_group(void *ctx, unsigned i)
{
	struct udp_stream_bench *bench = ctx;

	(void)i;
	pw_bench_run_rounds(&bench->run, &bench->grid, measure_cell, bench);
	for (unsigned row = 0; row < bench->grid.nb_rows && !options.no_profile; row++)
		for (unsigned c = 0; c < bench->grid.nb_columns && !pw_bench_interrupted(); c++)
			if (pw_bench_cell(&bench->grid, row, c)->reason[0] == '\0')
				add_profiles(bench, row, c);
}

/* One line for each side, as netperf prints them. A measurement with errors is none: 0 of them. */
static void
print_netperf(const struct udp_stream_bench *bench, unsigned row, unsigned column)
{
	const struct pw_samples *rates = bench->grid.cells[row * bench->grid.nb_columns + column]
						 .samples[PW_BENCH_UNPROBED];
	const struct pw_samples *messages = &rates[PW_UDP_STREAM_MESSAGES_METRIC];
	double okay = 0, seconds = 0, rate;
	uint32_t bytes = bench->cases[row].message_bytes;

	for (unsigned i = 0; i < messages->n; i++) {
		okay += messages->values[i];
		seconds += messages->values[i] * bytes * 8 / (rates[0].values[i] * 1e6);
	}
	if (rates[0].n == 0)
		return;
	rate = okay * bytes * 8e-6 / seconds;
	printf("\n%s, %s\nSocket  Message  Elapsed      Messages\n"
	       "Size    Size     Time         Okay Errors   Throughput\n"
	       "bytes   bytes    secs            #      #   10^6bits/sec\n\n"
	       "%6u   %5u   %-7.2f   %10.0f      0   %10.2f\n"
	       "%6u           %-7.2f   %10.0f          %10.2f\n",
		bench->grid.columns[column].name, bench->grid.rows[row],
		PW_UDP_STREAM_BATCH * bytes, bytes, seconds, okay, rate,
		PW_UDP_STREAM_BATCH * bytes, seconds, okay, rate);
}

static void
print_more(const void *ctx)
{
	const struct udp_stream_bench *bench = ctx;

	for (unsigned row = 0; row < bench->grid.nb_rows; row++)
		for (unsigned c = 0; c < bench->grid.nb_columns; c++)
			print_netperf(bench, row, c);
}

static void
close_groups(void *ctx)
{
	struct udp_stream_bench *bench = ctx;

	pw_bench_grid_close(&bench->grid);
}

const struct pw_bench_experiment pw_bench_udp_stream = {
	.name = "udp_stream",
	.help = "messages of 65507 bytes over MTU 16436, in IP fragments, fresh memory and fragmented",
	.options = option_table,
	.values = &options,
	.usage = usage,
	.on = &pw_bench_udp_stream_on,
	.one_lcore = true,
	.bench_bytes = sizeof(struct udp_stream_bench),
	.open = open_groups,
	.run_group = run_group,
	.print_more = print_more,
	.close = close_groups,
};
