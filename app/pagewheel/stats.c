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

/* clang-format off */
#define STAT(group, field, unit) {#field, unit, offsetof(struct group, field)}
/* clang-format on */

static const struct pw_stat pool_stats[] = {
	STAT(pw_store_stats, objects, "buffers"),
	STAT(pw_store_stats, free, "buffers"),
	STAT(pw_store_stats, gets, "buffers"),
	STAT(pw_store_stats, puts, "buffers"),
	STAT(pw_store_stats, page_objects, "buffers"),
	STAT(pw_store_stats, reuses, "buffers"),
	STAT(pw_store_stats, flushes, "buffers"),
	STAT(pw_store_stats, gathers, "times"),
	STAT(pw_store_stats, failures, "times"),
	STAT(pw_store_stats, foreign_puts, "buffers"),
	STAT(pw_store_stats, double_puts, "buffers"),
	STAT(pw_store_stats, waste_bytes, "bytes"),
	{"page_bytes", "bytes", offsetof(struct pw_store_stats, pages.page_bytes)},
	{"pages", "pages", offsetof(struct pw_store_stats, pages.pages)},
	{"pages_held", "pages", offsetof(struct pw_store_stats, pages.pages_held)},
	{"pages_held_max", "pages", offsetof(struct pw_store_stats, pages.pages_held_max)},
	{"pages_touched", "pages", offsetof(struct pw_store_stats, pages.pages_touched)},
	{"page_allocs", "pages", offsetof(struct pw_store_stats, pages.page_allocs)},
	{"page_frees", "pages", offsetof(struct pw_store_stats, pages.page_frees)},
	{"page_failures", "times", offsetof(struct pw_store_stats, pages.page_failures)},
	{"meta_bytes", "bytes", offsetof(struct pw_store_stats, pages.meta_bytes)},
};

static const struct pw_stat gro_stats[] = {
	STAT(pw_gro_stats, rx_packets, "packets"),
	STAT(pw_gro_stats, tx_packets, "packets"),
	STAT(pw_gro_stats, merged, "packets"),
	STAT(pw_gro_stats, held, "packets"),
	STAT(pw_gro_stats, pass_not_tcp, "packets"),
	STAT(pw_gro_stats, pass_fragment, "packets"),
	STAT(pw_gro_stats, pass_no_payload, "packets"),
	STAT(pw_gro_stats, pass_flags, "packets"),
	STAT(pw_gro_stats, pass_bad_cksum, "packets"),
	STAT(pw_gro_stats, flush_complete, "packets"),
	STAT(pw_gro_stats, flush_seq, "packets"),
	STAT(pw_gro_stats, flush_header, "packets"),
	STAT(pw_gro_stats, flush_ip_id, "packets"),
	STAT(pw_gro_stats, flush_size, "packets"),
	STAT(pw_gro_stats, flush_pass, "packets"),
	STAT(pw_gro_stats, flush_table_full, "packets"),
	STAT(pw_gro_stats, flush_burst, "packets"),
};

static const struct pw_stat inet_stats[] = {
	STAT(pw_inet_stats, rx_frames, "frames"),
	STAT(pw_inet_stats, rx_arp, "frames"),
	STAT(pw_inet_stats, rx_icmp_echo, "frames"),
	STAT(pw_inet_stats, rx_tcp, "frames"),
	STAT(pw_inet_stats, rx_short, "frames"),
	STAT(pw_inet_stats, rx_other_mac, "frames"),
	STAT(pw_inet_stats, rx_unknown_type, "frames"),
	STAT(pw_inet_stats, rx_bad_arp, "frames"),
	STAT(pw_inet_stats, rx_bad_ip, "frames"),
	STAT(pw_inet_stats, rx_bad_length, "frames"),
	STAT(pw_inet_stats, rx_bad_ip_cksum, "frames"),
	STAT(pw_inet_stats, rx_fragment, "frames"),
	STAT(pw_inet_stats, rx_other_ip, "frames"),
	STAT(pw_inet_stats, rx_unknown_proto, "frames"),
	STAT(pw_inet_stats, rx_bad_l4_cksum, "frames"),
	STAT(pw_inet_stats, tx_frames, "frames"),
	STAT(pw_inet_stats, tx_arp_requests, "frames"),
	STAT(pw_inet_stats, tx_arp_replies, "frames"),
	STAT(pw_inet_stats, tx_no_route, "frames"),
	STAT(pw_inet_stats, tx_no_neighbour, "frames"),
	STAT(pw_inet_stats, tx_no_mbuf, "frames"),
};

static const struct pw_stat tcp_stats[] = {
	STAT(pw_tcp_stats, in_segs, "segments"),
	STAT(pw_tcp_stats, in_bytes, "bytes"),
	STAT(pw_tcp_stats, in_errs, "segments"),
	STAT(pw_tcp_stats, out_segs, "segments"),
	STAT(pw_tcp_stats, out_bytes, "bytes"),
	STAT(pw_tcp_stats, out_rsts, "segments"),
	STAT(pw_tcp_stats, retrans_segs, "segments"),
	STAT(pw_tcp_stats, passive_opens, "connections"),
	STAT(pw_tcp_stats, estab_resets, "connections"),
	STAT(pw_tcp_stats, curr_conns, "connections"),
	STAT(pw_tcp_stats, curr_estab, "connections"),
	STAT(pw_tcp_stats, listen_drops, "segments"),
	STAT(pw_tcp_stats, conns_recycled, "connections"),
	STAT(pw_tcp_stats, delayed_acks, "segments"),
	STAT(pw_tcp_stats, ofo_queue, "segments"),
	STAT(pw_tcp_stats, ofo_drop, "segments"),
	STAT(pw_tcp_stats, rcv_mem_drop, "segments"),
	STAT(pw_tcp_stats, rcv_old, "segments"),
	STAT(pw_tcp_stats, rcv_beyond_window, "segments"),
	STAT(pw_tcp_stats, paws_drop, "segments"),
	STAT(pw_tcp_stats, challenge_acks, "segments"),
	STAT(pw_tcp_stats, window_updates, "segments"),
	STAT(pw_tcp_stats, zero_windows, "segments"),
	STAT(pw_tcp_stats, timeouts, "times"),
	STAT(pw_tcp_stats, fast_retrans, "times"),
	STAT(pw_tcp_stats, window_probes, "segments"),
	STAT(pw_tcp_stats, no_mbuf, "segments"),
	STAT(pw_tcp_stats, no_frag, "times"),
	STAT(pw_tcp_stats, held_mbufs, "buffers"),
};

static const struct pw_stat fwd_stats[] = {
	STAT(pw_lcore_stats, cycles, "cycles"),
	STAT(pw_lcore_stats, busy_cycles, "cycles"),
	STAT(pw_lcore_stats, polls, "polls"),
	STAT(pw_lcore_stats, busy_polls, "polls"),
	STAT(pw_lcore_stats, rx_packets, "packets"),
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
}

#define GROUP(group_name, group_help, stats_array, read_fn, more_fn)                     \
	{                                                                                \
		.name = group_name, .help = group_help, .stats = stats_array,            \
		.nb_stats = RTE_DIM(stats_array), .read = read_fn, .print_more = more_fn \
	}

static const struct pw_stats_group groups[] = {
	GROUP("pool", "RX buffers and their recycling", pool_stats, read_pool, print_pool),
	GROUP("gro", "merging of TCP segments", gro_stats, pw_engine_tcp_read_gro, print_gro),
	GROUP("inet", "ARP, ICMP and IPv4", inet_stats, pw_engine_tcp_read_inet, print_cure),
	GROUP("tcp", "TCP connections and segments", tcp_stats, pw_engine_tcp_read_tcp, print_cure),
	GROUP("lcores", "the polling lcores", fwd_stats, read_fwd, print_fwd),
};

static_assert(sizeof(struct pw_store_stats) <= PW_STATS_MAX_BYTES, "group too large");
static_assert(sizeof(struct pw_tcp_stats) <= PW_STATS_MAX_BYTES, "group too large");

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

	if (rc < 0)
		return rc;
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
