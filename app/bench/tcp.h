/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_TCP_H
#define BENCH_TCP_H

/** @file The experiment "tcp": what its files share. */

#include "run.h"
#include "tcp_measure.h"

struct pw_tcp_bench_options {
	struct pw_bench_numbers idle;
	struct pw_bench_list patterns;
};

/** Rows are numbers of idle connections, columns are patterns. */
struct pw_tcp_bench {
	struct pw_bench_run run;
	struct pw_tcp_bench_rig *rig;
	struct pw_bench_numbers idle;
	char idle_names[PW_BENCH_LIST_MAX][12];
	struct pw_tcp_bench_endpoint *endpoints[PW_BENCH_LIST_MAX]; /**< of the rows */
	struct pw_tcp_bench_peers *peers[PW_BENCH_LIST_MAX];
	const struct pw_tcp_bench_pattern *patterns[PW_TCP_BENCH_PATTERNS]; /**< of the columns */
	struct pw_bench_column columns[PW_TCP_BENCH_PATTERNS];
	struct pw_bench_grid grid;
};

/** Memory that an endpoint takes for each connection it has room for. */
double pw_tcp_bench_conn_bytes(const struct pw_tcp_bench *bench, unsigned row);

/** Print all as tables. Here and below ctx is a struct pw_tcp_bench: see struct
 * pw_bench_experiment. */
void pw_tcp_bench_report(const void *ctx);

/** Print all as JSON; 0 or a negative errno. */
int pw_tcp_bench_print_json(const void *ctx);

#endif
