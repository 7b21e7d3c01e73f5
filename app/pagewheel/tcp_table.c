/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "app.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "pw_compat.h"
#include "tcp_stack.h"

#define ROWS_MAX 100
#define END_STRLEN (PW_ADDR_STRLEN + 8)

/* Where a walk over all connections stands. */
struct walk {
	const struct pw_app *app;
	unsigned stream;
	uint32_t slot;
};

/* The next connection; false: that was the last one. */
static bool
next(struct walk *walk, struct pw_tcp_conn_info *info)
{
	for (; walk->stream < pw_fwd_nb_streams(walk->app->fwd); walk->stream++, walk->slot = 0) {
		const struct pw_tcp_stack *stack = pw_fwd_stream(walk->app->fwd, walk->stream)
							   ->engine_data;

		while (walk->slot < stack->max_conns)
			if (pw_tcp_peek(stack->tcp, walk->slot++, info) == 0)
				return true;
	}
	return false;
}

static const char *
format_end(const struct pw_addr *addr, uint16_t port, char buf[END_STRLEN])
{
	bool brackets = !pw_addr_is_ipv4(addr);
	char text[PW_ADDR_STRLEN];

	snprintf(buf, END_STRLEN, "%s%s%s:%u", brackets ? "[" : "", pw_addr_format(addr, text),
		brackets ? "]" : "", port);
	return buf;
}

static void
print_row(const struct pw_tcp_conn_info *info)
{
	char local[END_STRLEN], peer[END_STRLEN];

	printf("%-21s %-21s %-12s %-8s %9.3f %14" PRIu64 " %14" PRIu64
	       " %8.3f %9u %9u %7u %9u %9u\n",
		format_end(&info->local, info->local_port, local),
		format_end(&info->peer, info->peer_port, peer), info->state,
		info->app == NULL ? "-" : info->app, info->age_us / 1e6, info->in_bytes,
		info->out_bytes, info->srtt_us / 1e3, info->cwnd_bytes, info->snd_wnd_bytes,
		info->retrans_segs, info->rcv_queue_bytes, info->snd_queue_bytes);
}

int
pw_tcp_table_print(const struct pw_app *app)
{
	struct walk walk = {.app = app};
	struct pw_tcp_conn_info info;
	unsigned rows = 0;

	if (!pw_engine_tcp_runs(app))
		return -ENOENT;
	printf("%-21s %-21s %-12s %-8s %9s %14s %14s %8s %9s %9s %7s %9s %9s\n", "local", "peer",
		"state", "app", "age/s", "in/bytes", "out/bytes", "rtt/ms", "cwnd/B", "window/B",
		"retrans", "inqueue/B", "outqueue/B");
	while (next(&walk, &info))
		if (rows++ < ROWS_MAX)
			print_row(&info);
	if (rows > ROWS_MAX)
		printf("and %u more\n", rows - ROWS_MAX);
	else
		printf("%u connection%s\n", rows, rows == 1 ? "" : "s");
	return 0;
}

/* A number for each slot of each stack. */
static uint32_t
id_of(const struct walk *walk)
{
	const struct pw_tcp_stack *stack = pw_fwd_stream(walk->app->fwd, 0)->engine_data;

	return walk->stream * stack->max_conns + walk->slot - 1;
}

static bool
go_to(struct walk *walk, uint32_t id)
{
	const struct pw_tcp_stack *stack = pw_fwd_stream(walk->app->fwd, 0)->engine_data;

	walk->stream = id / stack->max_conns;
	walk->slot = id % stack->max_conns;
	return walk->stream < pw_fwd_nb_streams(walk->app->fwd);
}

int
pw_tcp_table_list(const struct pw_app *app, uint32_t first, struct rte_tel_data *data)
{
	struct walk walk = {.app = app};
	struct pw_tcp_conn_info info;
	unsigned told = 0;

	if (!pw_engine_tcp_runs(app))
		return -ENOENT;
	rte_tel_data_start_array(data, RTE_TEL_INT_VAL);
	if (go_to(&walk, first))
		while (told++ < RTE_TEL_MAX_ARRAY_ENTRIES && next(&walk, &info))
			rte_tel_data_add_array_int(data, id_of(&walk));
	return 0;
}

int
pw_tcp_table_tell(const struct pw_app *app, uint32_t id, struct rte_tel_data *data)
{
	struct walk walk = {.app = app};
	struct pw_tcp_conn_info info;
	char text[END_STRLEN];

	if (!pw_engine_tcp_runs(app) || !go_to(&walk, id) || !next(&walk, &info) ||
		id_of(&walk) != id)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "local", format_end(&info.local, info.local_port, text));
	rte_tel_data_add_dict_string(data, "peer", format_end(&info.peer, info.peer_port, text));
	rte_tel_data_add_dict_string(data, "state", info.state);
	rte_tel_data_add_dict_string(data, "app", info.app == NULL ? "-" : info.app);
	rte_tel_data_add_dict_uint(data, "age_us", info.age_us);
	rte_tel_data_add_dict_uint(data, "in_bytes", info.in_bytes);
	rte_tel_data_add_dict_uint(data, "out_bytes", info.out_bytes);
	rte_tel_data_add_dict_uint(data, "srtt_us", info.srtt_us);
	rte_tel_data_add_dict_uint(data, "rto_us", info.rto_us);
	rte_tel_data_add_dict_uint(data, "cwnd_bytes", info.cwnd_bytes);
	rte_tel_data_add_dict_uint(data, "ssthresh_bytes", info.ssthresh_bytes);
	rte_tel_data_add_dict_uint(data, "snd_wnd_bytes", info.snd_wnd_bytes);
	rte_tel_data_add_dict_uint(data, "rcv_wnd_bytes", info.rcv_wnd_bytes);
	rte_tel_data_add_dict_uint(data, "mss_bytes", info.mss_bytes);
	rte_tel_data_add_dict_uint(data, "retrans_segs", info.retrans_segs);
	rte_tel_data_add_dict_uint(data, "rcv_queue_bytes", info.rcv_queue_bytes);
	rte_tel_data_add_dict_uint(data, "snd_queue_bytes", info.snd_queue_bytes);
	return 0;
}
