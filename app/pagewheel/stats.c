/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "stats.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_telemetry.h>

#include "app.h"
#include "copies.h"
#include "engine_gro.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "gro_stage.h"
#include "gso.h"
#include "pw_copybreak.h"
#include "pw_frag_pool.h"
#include "pw_gro.h"
#include "pw_inet.h"
#include "pw_mempool.h"
#include "pw_tcp.h"
#include "stages.h"
#include "tcp_client.h"
#include "tcp_table.h"

static const struct pw_stat fwd_stats[] = {
	PW_STAT(pw_lcore_stats, cycles, "cycles"),
	PW_STAT(pw_lcore_stats, busy_cycles, "cycles"),
	PW_STAT(pw_lcore_stats, polls, "polls"),
	PW_STAT(pw_lcore_stats, busy_polls, "polls"),
	PW_STAT(pw_lcore_stats, rx_packets, "packets"),
	PW_STAT(pw_lcore_stats, receiving_cycles, "cycles"),
	PW_STAT(pw_lcore_stats, receiving_busy_cycles, "cycles"),
	PW_STAT_END,
};

static int
read_pool(const struct pw_app *app, void *stats)
{
	return pw_mempool_get_stats(app->pool, stats);
}

static int
read_frags(const struct pw_app *app, void *stats)
{
	pw_frag_pool_get_stats(app->frags, stats);
	return 0;
}

static int
read_fwd(const struct pw_app *app, void *stats)
{
	pw_fwd_get_lcore_stats(app->fwd, stats);
	return 0;
}

static double
percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0.0 : 100.0 * part / whole;
}

static void
print_pool(const struct pw_app *app, const void *stats)
{
	const struct pw_store_stats *s = stats;

	printf("  strategy: %s\n", app->options.strategy.name);
	printf("  buffers in use: %" PRIu64 "\n", s->objects - s->free);
	printf("  handed out again in place: %.1f %%\n", percent(s->reuses, s->gets));
	printf("  memory in use: %" PRIu64 " KiB now, %" PRIu64 " KiB at most, %" PRIu64
	       " KiB touched, of %" PRIu64 " KiB\n",
		s->pages.bytes_held >> 10, s->pages.bytes_held_max >> 10,
		s->pages.pages_touched * s->pages.page_bytes >> 10, s->pages.bytes >> 10);
	printf("  bookkeeping: %.2f %%, unused ends of pages: %.2f %%\n",
		percent(s->pages.meta_bytes + s->meta_bytes + s->cache.meta_bytes, s->pages.bytes),
		percent(s->waste_bytes, s->pages.bytes));
}

static void
print_gro(const struct pw_app *app, const void *stats)
{
	const struct pw_gro_stats *s = stats;

	(void)app;
	printf("  merged away: %.1f %% of the packets\n", percent(s->merged, s->rx_packets));
}

static void
print_cure(const struct pw_app *app, const void *stats)
{
	(void)stats;
	pw_engine_tcp_print_cure(app);
}

static void
print_fwd(const struct pw_app *app, const void *stats)
{
	const struct pw_lcore_stats *s = stats;

	(void)app;
	printf("  busy: %.1f %% of %.3g s polled\n", percent(s->busy_cycles, s->cycles),
		(double)s->cycles / rte_get_tsc_hz());
	if (s->receiving_cycles > 0)
		printf("  of lcores that only receive: %.1f %%, of the others: %.1f %%\n",
			percent(s->receiving_busy_cycles, s->receiving_cycles),
			percent(s->busy_cycles - s->receiving_busy_cycles,
				s->cycles - s->receiving_cycles));
}

#define NEEDS_TCP "the mode is not tcp, which has such a stage: stop, then set fwd tcp"
#define NEEDS_GRO \
	"the mode is neither gro nor tcp, which have such a stage: stop, then set fwd tcp, or gro"
#define NEEDS_CUT "the mode is not gro, which cuts packets: stop, then set fwd gro"

#define GROUP(group_name, group_help, table, read_fn, more_fn, absent_text)              \
	{                                                                                \
		.name = group_name, .help = group_help, .stats = table, .read = read_fn, \
		.print_more = more_fn, .absent = absent_text                             \
	}

static const struct pw_stats_group groups[] = {
	GROUP("pool", "RX buffers and their recycling", pw_store_stat_table, read_pool, print_pool,
		NULL),
	GROUP("frags", "fragments: data to send, copies", pw_frag_pool_stat_table, read_frags, NULL,
		NULL),
	GROUP("copies", "small packets copied into fragments", pw_copybreak_stat_table,
		pw_copies_read, NULL, "nothing is copied: start with --copy-break=BYTES"),
	GROUP("gro", "merging of received packets", pw_gro_stat_table, pw_gro_stage_read, print_gro,
		NEEDS_GRO),
	GROUP("gso", "cutting of merged packets", pw_gso_stat_table, pw_engine_gro_read_gso, NULL,
		NEEDS_CUT),
	GROUP("inet", "ARP, ND, ICMP and IP", pw_inet_stat_table, pw_engine_tcp_read_inet,
		print_cure, NEEDS_TCP),
	GROUP("tcp", "TCP connections and segments", pw_tcp_stat_table, pw_engine_tcp_read_tcp,
		print_cure, NEEDS_TCP),
	GROUP("stages", "cycles of each stage", pw_stage_stat_table, pw_stages_read,
		pw_stages_print, "they are not counted: start with --stage-cycles"),
	GROUP("lcores", "the polling lcores", fwd_stats, read_fwd, print_fwd, NULL),
	GROUP("tcp/client", "connections opened by --connect", pw_tcp_client_stat_table,
		pw_tcp_client_read, pw_tcp_client_print,
		"no connections are opened: start with --forward-mode=tcp --connect=ADDRESS:PORT"),
};

static_assert(sizeof(struct pw_store_stats) <= PW_STATS_MAX_BYTES, "group too large");
static_assert(sizeof(struct pw_frag_pool_stats) <= PW_STATS_MAX_BYTES, "group too large");
static_assert(sizeof(struct pw_tcp_stats) <= PW_STATS_MAX_BYTES, "group too large");

void
pw_stats_add(void *sums, const void *one, size_t bytes)
{
	uint64_t *to = sums;
	const uint64_t *from = one;

	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] += from[i];
}

void
pw_stats_sum_streams(const struct pw_app *app, void *sums, size_t bytes,
	void (*read)(const struct pw_app *app, const struct pw_stream *stream, void *stats))
{
	uint64_t one[PW_STATS_MAX_BYTES / sizeof(uint64_t)];

	memset(sums, 0, bytes);
	for (unsigned i = 0; i < pw_fwd_nb_streams(app->fwd); i++) {
		read(app, pw_fwd_stream(app->fwd, i), one);
		pw_stats_add(sums, one, bytes);
	}
}

const struct pw_stats_group *
pw_stats_find(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return &groups[i];
	return NULL;
}

int
pw_stats_show(const struct pw_app *app, const struct pw_stats_group *group)
{
	uint64_t stats[PW_STATS_MAX_BYTES / sizeof(uint64_t)];
	int rc = group->read(app, stats);

	if (rc < 0)
		return rc;
	printf("%s: %s\n", group->name, group->help);
	pw_stat_print(stdout, group->stats, stats);
	if (group->print_more != NULL)
		group->print_more(app, stats);
	return 0;
}

/* Telemetry calls from a thread of its own. */
static pthread_mutex_t telemetry_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct pw_app *telemetry_app;

static int
answer(const char *cmd, const char *params, struct rte_tel_data *data)
{
	const struct pw_stats_group *group = pw_stats_find(cmd + strlen("/pagewheel/"));
	uint64_t stats[PW_STATS_MAX_BYTES / sizeof(uint64_t)];
	int rc = -ENOENT;

	(void)params;
	pthread_mutex_lock(&telemetry_lock);
	if (telemetry_app != NULL && group != NULL)
		rc = group->read(telemetry_app, stats);
	pthread_mutex_unlock(&telemetry_lock);
	if (rc < 0)
		return rc;

	rte_tel_data_start_dict(data);
	pw_stat_add_to_dict(data, group->stats, stats);
	return 0;
}

static int
answer_connections(const char *cmd, const char *params, struct rte_tel_data *data)
{
	uint32_t id = params == NULL ? 0 : strtoul(params, NULL, 10);
	bool one = strcmp(cmd, "/pagewheel/tcp/connection") == 0;
	int rc = -ENOENT;

	pthread_mutex_lock(&telemetry_lock);
	if (telemetry_app != NULL)
		rc = one ? pw_tcp_table_tell(telemetry_app, id, data)
			 : pw_tcp_table_list(telemetry_app, id, data);
	pthread_mutex_unlock(&telemetry_lock);
	return rc;
}

void
pw_stats_telemetry_resume(const struct pw_app *app)
{
	pthread_mutex_lock(&telemetry_lock);
	telemetry_app = app;
	pthread_mutex_unlock(&telemetry_lock);
}

void
pw_stats_telemetry_pause(void)
{
	pw_stats_telemetry_resume(NULL);
}

void
pw_stats_telemetry_start(const struct pw_app *app)
{
	char path[64], help[128];

	pw_stats_telemetry_resume(app);
	for (unsigned i = 0; i < RTE_DIM(groups); i++) {
		snprintf(path, sizeof(path), "/pagewheel/%s", groups[i].name);
		snprintf(help, sizeof(help), "Counters of %s. Takes no parameters", groups[i].help);
		/* The handler answers for pools itself, in any program. */
		rte_telemetry_register_cmd(path, answer, help);
	}
	rte_telemetry_register_cmd("/pagewheel/tcp/connections", answer_connections,
		"Numbers of TCP connections, at most 512. Takes the lowest number, or nothing");
	rte_telemetry_register_cmd("/pagewheel/tcp/connection", answer_connections,
		"What is known of a TCP connection. Takes its number");
}
