/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdio.h>

#include "environment.h"
#include "pw_table.h"
#include "section.h"
#include "tcp.h"

double
pw_tcp_bench_conn_bytes(const struct pw_tcp_bench *bench, unsigned row)
{
	const struct pw_tcp_bench_endpoint *endpoint = bench->endpoints[row];

	return (double)endpoint->heap_bytes / endpoint->max_conns;
}

static void
print_times(const struct pw_tcp_bench *bench)
{
	struct pw_bench_section section = {.rows_are = "idle"};

	for (unsigned row = 0; row < bench->grid.nb_rows; row++)
		pw_bench_section_add(&section, &bench->grid, row, bench->grid.rows[row]);
	printf("\n%s [ns a connection, request or segment]\n\n", bench->grid.title);
	pw_bench_section_print(&section);
}

/* Gbit/s of payload, where throughput is what matters. */
static void
add_rate(struct pw_table *table, const struct pw_tcp_bench *bench, unsigned row, unsigned c)
{
	uint32_t bytes = bench->patterns[c]->piece_bytes;
	double ns = pw_bench_shown_ns(&bench->grid, row, c);

	if (ns <= 0)
		pw_table_add(table, "-");
	else if (bytes > 0)
		pw_table_add(table, "%.1f", bytes * 8 / ns);
	else
		pw_table_add(table, "%.0f", 1e9 / ns);
}

static void
print_rates(const struct pw_tcp_bench *bench)
{
	struct pw_table *table = pw_table_create(2 + bench->grid.nb_columns);

	if (table == NULL)
		return;
	pw_table_add(table, "idle");
	for (unsigned c = 0; c < bench->grid.nb_columns; c++)
		pw_table_add(table, bench->patterns[c]->piece_bytes > 0 ? "%s: Gbit/s" : "%s: 1/s",
			bench->patterns[c]->name);
	pw_table_add(table, "bytes a connection");
	for (unsigned row = 0; row < bench->grid.nb_rows; row++) {
		pw_table_add(table, "%s", bench->grid.rows[row]);
		for (unsigned c = 0; c < bench->grid.nb_columns; c++)
			add_rate(table, bench, row, c);
		pw_table_add(table, "%.0f", pw_tcp_bench_conn_bytes(bench, row));
	}
	printf("\n");
	pw_table_print(table, stdout);
}

void
pw_tcp_bench_report(const void *ctx)
{
	const struct pw_tcp_bench *bench = ctx;

	printf("TCP/IPv4 with timestamps, segments of %u bytes, %u active connections; %u bursts a "
	       "measurement, one each %u us of virtual time; %u rounds wanted\n",
		PW_TCP_BENCH_SEGMENT_BYTES, PW_TCP_BENCH_ACTIVE, PW_TCP_BENCH_EXCHANGES,
		PW_TCP_BENCH_STEP_US, bench->run.common->rounds);
	pw_bench_environment_print(bench->run.common, bench->run.probes, bench->run.mixed);
	printf("Only the endpoint and its application are timed: not the peers, nor IP and the "
	       "port. Reading the clock, %.0f cycles a burst, is taken off\n",
		bench->rig->clock_cycles);
	printf("ns: median ± half the interquartile range. Bytes a connection: all that the "
	       "endpoint takes, over the connections it has room for, idle + %u\n",
		PW_TCP_BENCH_MORE_CONNS);
	print_times(bench);
	print_rates(bench);
	pw_bench_print_end(&bench->run, 0);
}
