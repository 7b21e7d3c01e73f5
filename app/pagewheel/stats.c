/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "stats.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_telemetry.h>

#include "app.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "pw_compat.h"
#include "pw_gro.h"
#include "pw_inet.h"
#include "pw_mempool.h"
#include "pw_tcp.h"

#define STAT(type, field, unit)                            \
	{                                                  \
#field, unit, offsetof(struct type, field) \
	}

static const struct pw_stat pool_stats[] = {
#define POOL(field, unit) STAT(pw_store_stats, field, unit)
	POOL(objects, "buffers"),
	POOL(free, "buffers"),
	POOL(gets, "buffers"),
	POOL(puts, "buffers"),
	POOL(page_objects, "buffers"),
	POOL(reuses, "buffers"),
	POOL(flushes, "buffers"),
	POOL(gathers, "times"),
	POOL(failures, "times"),
	POOL(foreign_puts, "buffers"),
	POOL(double_puts, "buffers"),
	POOL(waste_bytes, "bytes"),
	{"page_bytes", "bytes", offsetof(struct pw_store_stats, pages.page_bytes)},
	{"pages", "pages", offsetof(struct pw_store_stats, pages.pages)},
	{"pages_held", "pages", offsetof(struct pw_store_stats, pages.pages_held)},
	{"pages_held_max", "pages", offsetof(struct pw_store_stats, pages.pages_held_max)},
	{"pages_touched", "pages", offsetof(struct pw_store_stats, pages.pages_touched)},
	{"page_allocs", "pages", offsetof(struct pw_store_stats, pages.page_allocs)},
	{"page_frees", "pages", offsetof(struct pw_store_stats, pages.page_frees)},
	{"meta_bytes", "bytes", offsetof(struct pw_store_stats, pages.meta_bytes)},
};

static const struct pw_stat gro_stats[] = {
#define GRO(field) STAT(pw_gro_stats, field, "packets")
	GRO(rx_packets),
	GRO(tx_packets),
	GRO(merged),
	GRO(held),
	GRO(pass_not_tcp),
	GRO(pass_fragment),
	GRO(pass_no_payload),
	GRO(pass_flags),
	GRO(pass_bad_cksum),
	GRO(flush_complete),
	GRO(flush_seq),
	GRO(flush_header),
	GRO(flush_ip_id),
	GRO(flush_size),
	GRO(flush_pass),
	GRO(flush_table_full),
	GRO(flush_burst),
};

static const struct pw_stat inet_stats[] = {
#define INET(field) STAT(pw_inet_stats, field, "frames")
	INET(rx_frames),
	INET(rx_arp),
	INET(rx_icmp_echo),
	INET(rx_tcp),
	INET(rx_short),
	INET(rx_other_mac),
	INET(rx_unknown_type),
	INET(rx_bad_arp),
	INET(rx_bad_ip),
	INET(rx_bad_length),
	INET(rx_bad_ip_cksum),
	INET(rx_fragment),
	INET(rx_other_ip),
	INET(rx_unknown_proto),
	INET(rx_bad_l4_cksum),
	INET(tx_frames),
	INET(tx_arp_requests),
	INET(tx_arp_replies),
	INET(tx_no_route),
	INET(tx_no_neighbour),
	INET(tx_no_mbuf),
};

static const struct pw_stat tcp_stats[] = {
#define TCP(field, unit) STAT(pw_tcp_stats, field, unit)
	TCP(in_segs, "segments"),
	TCP(in_bytes, "bytes"),
	TCP(in_errs, "segments"),
	TCP(out_segs, "segments"),
	TCP(out_bytes, "bytes"),
	TCP(out_rsts, "segments"),
	TCP(retrans_segs, "segments"),
	TCP(passive_opens, "connections"),
	TCP(estab_resets, "connections"),
	TCP(curr_conns, "connections"),
	TCP(curr_estab, "connections"),
	TCP(listen_drops, "segments"),
	TCP(conns_recycled, "connections"),
	TCP(delayed_acks, "segments"),
	TCP(ofo_queue, "segments"),
	TCP(ofo_drop, "segments"),
	TCP(rcv_mem_drop, "segments"),
	TCP(rcv_old, "segments"),
	TCP(rcv_beyond_window, "segments"),
	TCP(paws_drop, "segments"),
	TCP(challenge_acks, "segments"),
	TCP(window_updates, "segments"),
	TCP(zero_windows, "segments"),
	TCP(timeouts, "times"),
	TCP(fast_retrans, "times"),
	TCP(window_probes, "segments"),
	TCP(no_mbuf, "segments"),
	TCP(held_mbufs, "buffers"),
};

static const struct pw_stat fwd_stats[] = {
#define FWD(field, unit) STAT(pw_lcore_stats, field, unit)
	FWD(cycles, "cycles"),
	FWD(busy_cycles, "cycles"),
	FWD(polls, "polls"),
	FWD(busy_polls, "polls"),
	FWD(rx_packets, "packets"),
};

static int
read_pool(const struct pw_app *app, void *stats)
{
	return pw_mempool_get_stats(app->pool, stats);
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
		s->pages.pages_held * s->pages.page_bytes >> 10,
		s->pages.pages_held_max * s->pages.page_bytes >> 10,
		s->pages.pages_touched * s->pages.page_bytes >> 10,
		s->pages.pages * s->pages.page_bytes >> 10);
	printf("  bookkeeping: %.2f %%, unused ends of pages: %.2f %%\n",
		percent(s->pages.meta_bytes, s->pages.pages * s->pages.page_bytes),
		percent(s->waste_bytes, s->pages.pages * s->pages.page_bytes));
}

static void
print_gro(const struct pw_app *app, const void *stats)
{
	const struct pw_gro_stats *s = stats;

	(void)app;
	printf("  merged away: %.1f %% of the packets\n", percent(s->merged, s->rx_packets));
}

static void
print_inet(const struct pw_app *app, const void *stats)
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
}

#define GROUP(group_name, group_help, stats_array, read_fn, more_fn)                     \
	{                                                                                \
		.name = group_name, .help = group_help, .stats = stats_array,            \
		.nb_stats = RTE_DIM(stats_array), .read = read_fn, .print_more = more_fn \
	}

static const struct pw_stats_group groups[] = {
	GROUP("pool", "RX buffers and their recycling", pool_stats, read_pool, print_pool),
	GROUP("gro", "merging of TCP segments", gro_stats, pw_engine_tcp_read_gro, print_gro),
	GROUP("inet", "ARP, ICMP and IPv4", inet_stats, pw_engine_tcp_read_inet, print_inet),
	GROUP("tcp", "TCP", tcp_stats, pw_engine_tcp_read_tcp, NULL),
	GROUP("lcores", "the polling lcores", fwd_stats, read_fwd, print_fwd),
};

static_assert(sizeof(struct pw_store_stats) <= PW_STATS_MAX_BYTES, "group too large");
static_assert(sizeof(struct pw_tcp_stats) <= PW_STATS_MAX_BYTES, "group too large");

const struct pw_stats_group *
pw_stats_group(unsigned i)
{
	return i < RTE_DIM(groups) ? &groups[i] : NULL;
}

const struct pw_stats_group *
pw_stats_find(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return &groups[i];
	return NULL;
}

static uint64_t
value_of(const void *stats, const struct pw_stat *stat)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + stat->offset, sizeof(value));
	return value;
}

int
pw_stats_show(const struct pw_app *app, const struct pw_stats_group *group)
{
	uint64_t stats[PW_STATS_MAX_BYTES / sizeof(uint64_t)];
	int rc = group->read(app, stats);

	if (rc < 0) {
		pw_error("show %s: the mode %s has no such stage; try: set fwd tcp", group->name,
			pw_fwd_engine(app->fwd)->name);
		return rc;
	}
	printf("%s: %s\n", group->name, group->help);
	for (unsigned i = 0; i < group->nb_stats; i++)
		printf("  %s: %" PRIu64 " %s\n", group->stats[i].name,
			value_of(stats, &group->stats[i]), group->stats[i].unit);
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
	for (unsigned i = 0; i < group->nb_stats; i++)
		rte_tel_data_add_dict_uint(
			data, group->stats[i].name, value_of(stats, &group->stats[i]));
	return 0;
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
		rte_telemetry_register_cmd(path, answer, help);
	}
}
