/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

/* So many bursts come before what is measured: tables and code get warm, windows open. */
#define WARM_UP_EXCHANGES (PW_TCP_BENCH_EXCHANGES / 8)
/* Longer than an ACK may be delayed, shorter than any retransmission time-out. */
#define SETTLE_US 100000
/* Far more than what is on its way can need. */
#define SETTLE_EXCHANGES 1000

static void
run_for(struct pw_tcp_bench_pass *pass, const struct pw_tcp_bench_pattern *pattern,
	uint32_t exchanges)
{
	pass->cycles = 0;
	pass->exchanges = 0;
	pass->pieces = 0;
	while (pass->exchanges < exchanges)
		pattern->step(pass);
}

/* Everything that is on its way arrives, and is acknowledged. */
static void
settle(struct pw_tcp_bench_pass *pass)
{
	struct pw_tcp_bench_peers *peers = pass->peers;

	peers->endpoint->work = PW_TCP_BENCH_TAKE;
	for (unsigned i = 0; i < SETTLE_EXCHANGES && pass->burst.n > 0; i++)
		pw_tcp_bench_pass_exchange(pass, true);
	for (unsigned i = 0; i < PW_TCP_BENCH_ACTIVE; i++)
		pw_tcp_bench_peer_send(peers, &peers->active[i], RTE_TCP_ACK_FLAG, 0, &pass->burst);
	pw_tcp_bench_pass_exchange(pass, false);
	peers->endpoint->now_us += SETTLE_US;
	pw_tcp_bench_pass_exchange(pass, false);
}

static int
fail(char *reason, const char *what, uint64_t got, uint64_t expected)
{
	snprintf(reason, PW_BENCH_REASON_MAX, "%s: %" PRIu64 ", expected %" PRIu64, what, got,
		expected);
	return -EIO;
}

/* What does not happen between peers that lose nothing. */
static int
check_counters(const struct pw_tcp_bench_peers *peers, uint32_t idle, char *reason)
{
	struct pw_tcp_stats stats;

	pw_tcp_get_stats(peers->endpoint->tcp, &stats);
	const struct {
		const char *name;
		uint64_t value;
	} zero[] = {
		{"malformed segments", stats.in_errs},
		{"segments sent again", stats.retrans_segs},
		{"segments out of order", stats.ofo_queue},
		{"segments dropped for lack of memory", stats.rcv_mem_drop},
		{"segments beyond the window", stats.rcv_beyond_window},
		{"segments with an old timestamp", stats.paws_drop},
		{"resets sent", stats.out_rsts},
		{"SYNs refused", stats.listen_drops},
		{"SYN cookies", stats.syncookies_sent},
		{"segments not sent for lack of an mbuf", stats.no_mbuf},
		{"data not taken for lack of a fragment", stats.no_frag},
	};

	for (unsigned i = 0; i < RTE_DIM(zero); i++)
		if (zero[i].value > 0)
			return fail(reason, zero[i].name, zero[i].value, 0);
	if (stats.curr_conns != idle + PW_TCP_BENCH_ACTIVE)
		return fail(reason, "connections", stats.curr_conns, idle + PW_TCP_BENCH_ACTIVE);
	return 0;
}

static int
check(const struct pw_tcp_bench_rig *rig, const struct pw_tcp_bench_peers *peers, uint32_t idle,
	char *reason)
{
	const struct pw_tcp_bench_endpoint *endpoint = peers->endpoint;
	uint64_t in_use = pw_tcp_bench_rig_in_use(rig);

	if (peers->no_mbuf > 0)
		return fail(reason, "mbufs that the peers lacked", peers->no_mbuf, 0);
	if (peers->unexpected > 0)
		return fail(reason, "answers that fit no connection", peers->unexpected, 0);
	if (endpoint->taken_bytes != peers->sent_bytes)
		return fail(reason, "bytes in", endpoint->taken_bytes, peers->sent_bytes);
	if (endpoint->given_bytes != peers->received_bytes)
		return fail(reason, "bytes out", peers->received_bytes, endpoint->given_bytes);
	if (in_use > 0)
		return fail(reason, "mbufs and fragments in use", in_use, 0);
	return check_counters(peers, idle, reason);
}

/*
 * The mean, with nothing left out: timers that visit many connections at once come seldom, and have
 * to be in it. What else runs on the machine is left to the median of the rounds.
 */
static double
ns_a_piece(const struct pw_tcp_bench_rig *rig, const struct pw_tcp_bench_pass *pass)
{
	double cycles = (double)pass->cycles - pass->exchanges * rig->clock_cycles;

	return RTE_MAX(cycles, 1) * 1e9 / (double)rte_get_tsc_hz() / RTE_MAX(pass->pieces, 1);
}

int
pw_tcp_bench_measure(const struct pw_tcp_bench_rig *rig, struct pw_tcp_bench_peers *peers,
	const struct pw_tcp_bench_pattern *pattern, uint32_t idle, struct pw_bench_timing *timing,
	char reason[PW_BENCH_REASON_MAX])
{
	struct pw_tcp_bench_pass pass = {.peers = peers};

	peers->endpoint->work = pattern->work;
	run_for(&pass, pattern, WARM_UP_EXCHANGES);
	run_for(&pass, pattern, PW_TCP_BENCH_EXCHANGES);
	*timing = (struct pw_bench_timing){.value = ns_a_piece(rig, &pass)};
	settle(&pass);
	return check(rig, peers, idle, reason);
}
