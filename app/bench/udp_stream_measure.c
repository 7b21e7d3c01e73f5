/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "udp_stream_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "environment.h"
#include "frag_why.h"
#include "profile.h"

/* A measurement sends about so many bytes, but not more messages than that. */
#define BYTES (256U << 20)
#define QUICK_BYTES (16U << 20)
#define MESSAGES_MAX 65536
#define WARM_UP_BATCHES 64
#define HUGEPAGES 32
#define PROFILE_TIMES 4 /* as long as a measurement */

/* clang-format off */
const struct pw_report_metric pw_udp_stream_metrics[PW_UDP_STREAM_METRICS] = {
	{"throughput", "throughput", "10^6bits/s", 0, PW_REPORT_MORE},
	{"cycles", "cost", "cycles/message", 0, PW_REPORT_LESS},
	{"message_rate", "messages", "1/s", 0, PW_REPORT_MORE},
	{"messages", "messages", "", 0, PW_REPORT_NEITHER},
	{"send_refills", "sender's pages", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"rx_refills", "receiver's pages", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"cache_hits", "pages from caches", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"buddy_hits", "pages from the buddy", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"buddy_work", "its splits and merges", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"fallbacks", "order-0 pages instead", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"failed_gets", "larger pages not to be had", "/1000 messages", 0, PW_REPORT_NEITHER},
	{"held", "memory held", "KiB", 0, PW_REPORT_NEITHER},
};
/* clang-format on */

static void
run_messages(struct pw_udp_stream_host *host, unsigned n)
{
	for (unsigned done = 0; done < n; done += PW_UDP_STREAM_BATCH)
		pw_udp_stream_host_run(host, RTE_MIN(n - done, (unsigned)PW_UDP_STREAM_BATCH));
}

/* What is kept is kept from before memory went into pieces. Returns the bytes that keep it so. */
static uint64_t
prepare(struct pw_udp_stream_host *host, const struct pw_udp_stream_case *what)
{
	struct pw_arena *arena = pw_frag_pool_arena(host->frags);
	struct pw_arena_stats before, after;

	run_messages(host, WARM_UP_BATCHES * PW_UDP_STREAM_BATCH);
	pw_arena_get_stats(arena, &before);
	if (what->fragmented)
		pw_arena_fragment(arena, 0);
	pw_arena_get_stats(arena, &after);
	host->counts = (struct pw_udp_stream_counts){0};
	return after.bytes_held - before.bytes_held;
}

static int
open_host(struct pw_udp_stream_host *host, const struct pw_udp_stream_case *what,
	const struct pw_strategy *strategy, char *reason)
{
	int rc = pw_udp_stream_host_open(host, strategy, what->message_bytes);

	if (rc == -ENOMEM)
		pw_bench_explain_memory(reason, PW_BENCH_REASON_MAX, "fragments and mbufs",
			HUGEPAGES, "a program less");
	else if (rc < 0)
		snprintf(reason, PW_BENCH_REASON_MAX, "no memory for fragments: %s", strerror(-rc));
	return rc;
}

/* What was sent arrived, as it was sent. */
static int
check(const struct pw_udp_stream_counts *counts, unsigned n, char *reason)
{
	if (counts->sent == n && counts->received == n && counts->wrong == 0 &&
		counts->sent_bytes == counts->received_bytes)
		return 0;
	snprintf(reason, PW_BENCH_REASON_MAX,
		"of %u messages %" PRIu64 " were sent, %" PRIu64 " received (%" PRIu64
		" of them wrong), for %" PRIu64 " there was no memory; %" PRIu64
		" bytes were sent, %" PRIu64 " received",
		n, counts->sent, counts->received, counts->wrong, counts->failed,
		counts->sent_bytes, counts->received_bytes);
	return -EIO;
}

static int
close_host(struct pw_udp_stream_host *host, const struct pw_udp_stream_case *what)
{
	if (what->fragmented)
		pw_arena_defragment(pw_frag_pool_arena(host->frags));
	return pw_udp_stream_host_close(host);
}

static unsigned
messages_of(const struct pw_udp_stream_case *what, uint32_t bytes)
{
	return RTE_MIN(RTE_MAX(bytes / what->message_bytes, 1U), (unsigned)MESSAGES_MAX);
}

static void
fill_in(struct pw_bench_timing *timing, const struct pw_udp_stream_host *host, uint64_t cycles,
	const struct pw_bfrag_counters *before, const struct pw_bfrag_counters *after,
	uint64_t pinned_bytes)
{
	const struct pw_udp_stream_counts *counts = &host->counts;
	double n = (double)counts->received, thousands = n / 1000;
	const double more[PW_UDP_STREAM_METRICS - 1] = {
		cycles / n,
		n * rte_get_tsc_hz() / cycles,
		n,
		counts->send_refills / thousands,
		(after->frags.refills - before->frags.refills) / thousands,
		(after->pages.cache_hits + after->pages.ring_hits - before->pages.cache_hits -
			before->pages.ring_hits) /
			thousands,
		(after->pages.buddy_hits - before->pages.buddy_hits) / thousands,
		(after->arena.splits + after->arena.merges - before->arena.splits -
			before->arena.merges) /
			thousands,
		(after->pages.fallbacks - before->pages.fallbacks) / thousands,
		(after->arena.page_failures - before->arena.page_failures) / thousands,
		(after->arena.bytes_held - pinned_bytes) / 1024.0,
	};

	*timing = (struct pw_bench_timing){
		.value = counts->received_bytes * 8 * 1e-6 * rte_get_tsc_hz() / cycles};
	memcpy(timing->more, more, sizeof(more));
}

int
pw_udp_stream_measure(const struct pw_udp_stream_case *what, const struct pw_strategy *strategy,
	bool quick, struct pw_bench_timing *timing, char *reason)
{
	unsigned n = messages_of(what, quick ? QUICK_BYTES : BYTES);
	struct pw_bfrag_counters before, after;
	struct pw_udp_stream_host host;
	uint64_t begin, cycles, pinned_bytes;
	int rc = open_host(&host, what, strategy, reason);

	if (rc < 0)
		return rc;
	pinned_bytes = prepare(&host, what);
	pw_bfrag_counters_read(&before, host.rx);
	begin = rte_rdtsc_precise();
	run_messages(&host, n);
	cycles = rte_rdtsc_precise() - begin;
	pw_bfrag_counters_read(&after, host.rx);
	rc = check(&host.counts, n, reason);
	if (rc == 0)
		fill_in(timing, &host, cycles, &before, &after, pinned_bytes);
	if (close_host(&host, what) < 0 && rc == 0) {
		snprintf(reason, PW_BENCH_REASON_MAX, "mbufs or fragments are not back");
		rc = -EIO;
	}
	return rc;
}

/* Cycles a message, and the share of all. Reading the clock is in it: some 100 reads a message. */
static json_t *
stage_lines(const struct pw_udp_stream_host *host)
{
	json_t *lines = json_array();
	uint64_t all = 0;
	char line[128];

	for (unsigned s = 0; s < PW_UDP_STREAM_STAGES; s++)
		all += host->cycles[s];
	for (unsigned s = 0; s < PW_UDP_STREAM_STAGES; s++) {
		snprintf(line, sizeof(line), "%5.1f %%  %8.0f cycles a message  %s",
			100.0 * host->cycles[s] / all,
			(double)host->cycles[s] / host->counts.received,
			pw_udp_stream_stage_name(s));
		json_array_append_new(lines, json_string(line));
	}
	return lines;
}

struct profile_work {
	struct pw_udp_stream_host *host;
	unsigned messages;
};

static void
do_work(void *ctx)
{
	struct profile_work *work = ctx;

	run_messages(work->host, work->messages);
}

static void
add_profile(json_t *profiles, const struct pw_strategy *strategy, const char *name,
	const char *kind, json_t *lines)
{
	char title[160];

	snprintf(title, sizeof(title), "%s, %s, by %s", strategy->name, name, kind);
	json_array_append_new(profiles, json_pack("{s:s, s:o}", "title", title, "lines", lines));
}

json_t *
pw_udp_stream_profile(
	const struct pw_udp_stream_case *what, const struct pw_strategy *strategy, const char *name)
{
	struct pw_udp_stream_host host;
	char reason[PW_BENCH_REASON_MAX];
	json_t *profiles = json_array(), *symbols = json_array();
	struct profile_work work = {&host, PROFILE_TIMES * messages_of(what, BYTES)};

	if (open_host(&host, what, strategy, reason) < 0) {
		json_decref(symbols);
		return profiles;
	}
	prepare(&host, what);
	if (pw_bench_profile(symbols, do_work, &work) == 0)
		add_profile(profiles, strategy, name, "symbol", json_incref(symbols));
	json_decref(symbols);
	host.counts = (struct pw_udp_stream_counts){0};
	host.timed = true;
	host.since = rte_rdtsc_precise();
	run_messages(&host, work.messages / PROFILE_TIMES / 4 + 1);
	add_profile(profiles, strategy, name, "stage", stage_lines(&host));
	close_host(&host, what);
	return profiles;
}
