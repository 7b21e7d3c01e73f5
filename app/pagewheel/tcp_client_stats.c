/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* What the clients of all stacks have done. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "stats.h"
#include "tcp_client_priv.h"
#include "tcp_stack.h"

const struct pw_stat pw_tcp_client_stat_table[] = {
	PW_STAT(pw_tcp_client_stats, running_us, "us"),
	PW_STAT(pw_tcp_client_stats, connections, "connections"),
	PW_STAT(pw_tcp_client_stats, opened, "connections"),
	PW_STAT(pw_tcp_client_stats, failed, "connections"),
	PW_STAT(pw_tcp_client_stats, broken, "connections"),
	PW_STAT(pw_tcp_client_stats, cut_off, "connections"),
	PW_STAT(pw_tcp_client_stats, timeouts, "requests"),
	PW_STAT(pw_tcp_client_stats, transactions, "transactions"),
	PW_STAT(pw_tcp_client_stats, in_bytes, "bytes"),
	PW_STAT(pw_tcp_client_stats, out_bytes, "bytes"),
	PW_STAT(pw_tcp_client_stats, latency_min_ns, "ns"),
	PW_STAT(pw_tcp_client_stats, latency_p50_ns, "ns"),
	PW_STAT(pw_tcp_client_stats, latency_p99_ns, "ns"),
	PW_STAT(pw_tcp_client_stats, latency_p999_ns, "ns"),
	PW_STAT(pw_tcp_client_stats, latency_max_ns, "ns"),
	PW_STAT_END,
};

static const struct pw_tcp_client *
client_of(const struct pw_app *app, unsigned i)
{
	return ((const struct pw_tcp_stack *)pw_fwd_stream(app->fwd, i)->engine_data)->client;
}

static bool
is_there(const struct pw_app *app)
{
	return pw_engine_tcp_runs(app) && !pw_addr_is_none(&app->options.connect_addr);
}

static void
add(struct pw_tcp_client_stats *sum, const struct pw_tcp_client *client)
{
	uint64_t running_us = client->first_us == 0 ? 0 : client->now_us - client->first_us;

	sum->running_us = RTE_MAX(sum->running_us, running_us);
	sum->connections += client->stats.connections;
	sum->opened += client->stats.opened;
	sum->failed += client->stats.failed;
	sum->broken += client->stats.broken;
	sum->cut_off += client->stats.cut_off;
	sum->timeouts += client->stats.timeouts;
	sum->transactions += client->stats.transactions;
	sum->in_bytes += client->stats.in_bytes;
	sum->out_bytes += client->stats.out_bytes;
}

int
pw_tcp_client_read(const struct pw_app *app, void *stats)
{
	struct pw_tcp_client_stats *sum = stats;
	struct pw_histogram *latency_ns;

	if (!is_there(app))
		return -ENOENT;
	latency_ns = calloc(1, sizeof(*latency_ns));
	if (latency_ns == NULL)
		return -ENOMEM;
	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < pw_fwd_nb_streams(app->fwd); i++) {
		add(sum, client_of(app, i));
		pw_histogram_merge(latency_ns, &client_of(app, i)->latency_ns);
	}
	sum->latency_min_ns = latency_ns->min;
	sum->latency_p50_ns = pw_histogram_quantile(latency_ns, 500);
	sum->latency_p99_ns = pw_histogram_quantile(latency_ns, 990);
	sum->latency_p999_ns = pw_histogram_quantile(latency_ns, 999);
	sum->latency_max_ns = latency_ns->max;
	free(latency_ns);
	return 0;
}

static int
last_error(const struct pw_app *app)
{
	int error = 0;

	for (unsigned i = 0; i < pw_fwd_nb_streams(app->fwd) && error == 0; i++)
		error = client_of(app, i)->last_error;
	return error;
}

void
pw_tcp_client_print(const struct pw_app *app, const void *stats)
{
	const struct pw_tcp_client_stats *s = stats;
	double seconds = s->running_us / 1e6;

	if (s->failed + s->broken > 0)
		printf("  the last failure: %s\n", strerror(last_error(app)));
	if (s->running_us == 0)
		return;
	printf("  out: %.3f Gbit/s, in: %.3f Gbit/s\n", s->out_bytes * 8 / 1e9 / seconds,
		s->in_bytes * 8 / 1e9 / seconds);
	if (app->options.connect_kind == PW_CLIENT_STREAM)
		return;
	if (app->options.connect_kind == PW_CLIENT_UDP_STREAM) {
		printf("  %.0f messages/s\n", s->transactions / seconds);
		return;
	}
	printf("  %.0f transactions/s, %.0f connections/s\n", s->transactions / seconds,
		s->opened / seconds);
	printf("  latency: min %.1f us, p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us\n",
		s->latency_min_ns / 1e3, s->latency_p50_ns / 1e3, s->latency_p99_ns / 1e3,
		s->latency_p999_ns / 1e3, s->latency_max_ns / 1e3);
}

static bool
all_over(const struct pw_app *app)
{
	for (unsigned i = 0; i < pw_fwd_nb_streams(app->fwd); i++)
		if (!__atomic_load_n(&client_of(app, i)->over, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

/* Streams end after the run. */
static bool
all_ended(const struct pw_app *app)
{
	for (unsigned i = 0; i < pw_fwd_nb_streams(app->fwd); i++)
		if (__atomic_load_n(&client_of(app, i)->established, __ATOMIC_RELAXED) > 0)
			return false;
	return true;
}

void
pw_tcp_client_report(struct pw_app *app)
{
	struct pw_tcp_client *first;

	if (!is_there(app) || !all_over(app))
		return;
	first = ((struct pw_tcp_stack *)pw_fwd_stream(app->fwd, 0)->engine_data)->client;
	if (!first->told) {
		first->told = true;
		pw_stats_show(app, pw_stats_find("tcp/client"));
		fflush(stdout);
	}
	if (!app->options.interactive && all_ended(app))
		app->quit = true;
}
