/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

/* One packet in so many comes before what is measured: tables and code get warm. */
#define WARM_UP_SHARE 8
/* One time in so many, of the slowest, is left out. */
#define INTERRUPTED_SHARE 32

/* A pass over the packets of a measurement. */
struct pass {
	struct pw_gro_bench_rig *rig;
	struct pw_gro_bench_contender *contender;
	const struct pw_gro_bench_settings *settings;
	struct pw_gro_bench_template template;
	struct pw_gro_bench_result *result;
};

/* Of a packet in a pass; hot ones have the same mbufs again and again. */
static struct rte_mbuf *
mbuf_of(const struct pass *pass, uint32_t packet)
{
	if (pass->settings->headers == PW_GRO_BENCH_HOT)
		packet %= pw_gro_bench_window(pass->settings);
	return pass->rig->mbufs[packet];
}

/*
 * A NIC writes frames into memory or L3; what the driver then writes is the first line of the mbuf,
 * from the descriptor. So for cold headers all frames were written before the pass, and only
 * that line is written here; for hot ones everything is.
 */
static void
prepare_burst(const struct pass *pass, uint32_t first, struct rte_mbuf **burst)
{
	for (uint32_t i = 0; i < PW_GRO_BENCH_BURST; i++) {
		const struct pw_gro_bench_packet *packet = &pass->rig->packets[first + i];

		burst[i] = mbuf_of(pass, first + i);
		if (pass->settings->headers == PW_GRO_BENCH_HOT)
			pw_gro_bench_write_frame(&pass->template, packet, burst[i]);
		pw_gro_bench_write_mbuf(&pass->template, packet, burst[i]);
	}
}

/* The clock waits for what was written before, which is not ours to pay, and for what we wrote. */
static uint64_t
time_burst(struct pw_gro_bench_contender *contender, struct rte_mbuf **burst, bool flush)
{
	const struct pw_gro_bench_kind *kind = contender->kind;
	uint64_t begin = rte_rdtsc_precise();

	kind->receive(contender, burst, PW_GRO_BENCH_BURST);
	if (flush && kind->flush != NULL)
		kind->flush(contender);
	return rte_rdtsc_precise() - begin;
}

/* What is in packets: mbufs, each told from the others, and bytes. */
struct content {
	uint32_t mbufs;
	uintptr_t sum, parity; /* of addresses */
	uint64_t payload_bytes;
};

static void
add_mbuf(struct content *content, const struct rte_mbuf *m)
{
	content->mbufs++;
	content->sum += (uintptr_t)m;
	content->parity ^= (uintptr_t)m;
	content->payload_bytes += m->data_len;
}

static void
add_packet(struct content *content, const struct rte_mbuf *m, uint32_t mbufs_max)
{
	content->payload_bytes -= sizeof(struct pw_gro_bench_header);
	for (; m != NULL && content->mbufs <= mbufs_max; m = m->next)
		add_mbuf(content, m);
}

static int
fail(struct pw_gro_bench_result *result, const char *what, uint64_t out, uint64_t in)
{
	snprintf(result->reason, sizeof(result->reason), "%s: %" PRIu64 " out, %" PRIu64 " in",
		what, out, in);
	return -EIO;
}

/* All mbufs of the window have come out, each once, and with them all bytes of payload. */
static int
check_window(const struct pass *pass, uint32_t first)
{
	const struct pw_gro_bench_output *output = &pass->rig->output;
	const uint32_t window = pw_gro_bench_window(pass->settings);
	const uint64_t bytes = (uint64_t)window * pass->settings->payload_bytes;
	struct content in = {0}, out = {0};

	for (uint32_t i = 0; i < window; i++)
		add_mbuf(&in, mbuf_of(pass, first + i));
	if (output->n > window)
		return fail(pass->result, "more packets than there were", output->n, window);
	for (uint32_t i = 0; i < output->n; i++)
		add_packet(&out, output->packets[i], window);
	if (out.mbufs != window)
		return fail(pass->result, "mbufs were lost or doubled", out.mbufs, window);
	if (out.sum != in.sum || out.parity != in.parity)
		return fail(pass->result, "not the same mbufs", out.mbufs, window);
	if (out.payload_bytes != bytes)
		return fail(pass->result, "bytes of payload", out.payload_bytes, bytes);
	if (pass->contender->bad_cksum > 0)
		return fail(pass->result, "packets with right checksums",
			window - pass->contender->bad_cksum, window);
	return 0;
}

/* From flush to flush. */
static int
run_window(const struct pass *pass, uint32_t first, uint64_t *cycles)
{
	const uint32_t bursts = pass->settings->flush_bursts;
	struct rte_mbuf *burst[PW_GRO_BENCH_BURST];

	pass->rig->output.n = 0;
	*cycles = 0;
	for (uint32_t b = 0; b < bursts; b++) {
		prepare_burst(pass, first + b * PW_GRO_BENCH_BURST, burst);
		*cycles += time_burst(pass->contender, burst, b == bursts - 1);
	}
	return check_window(pass, first);
}

static int
run_pass(const struct pass *pass, uint32_t windows)
{
	const uint32_t window = pw_gro_bench_window(pass->settings);
	struct pw_gro_bench_rig *rig = pass->rig;

	rig->nb_timed = 0;
	for (uint32_t i = 0; i < windows; i++) {
		uint64_t cycles;
		int rc = run_window(pass, i * window, &cycles);

		if (rc < 0)
			return rc;
		if (i < windows / WARM_UP_SHARE)
			continue;
		rig->timed[rig->nb_timed++] = cycles;
		pass->result->packets_in += window;
		pass->result->packets_out += rig->output.n;
	}
	return 0;
}

static void
prepare_pass(struct pass *pass, uint32_t nb_flows, uint64_t seed, uint32_t packets)
{
	struct pw_gro_bench_rig *rig = pass->rig;

	pw_gro_bench_template_init(&pass->template, pass->settings, rig->mbufs[0]);
	pw_gro_bench_draw(rig->flows, pass->settings, nb_flows, seed, rig->packets, packets);
	if (pass->settings->headers == PW_GRO_BENCH_HOT)
		return;
	for (uint32_t i = 0; i < packets; i++) {
		pw_gro_bench_write_frame(&pass->template, &rig->packets[i], rig->mbufs[i]);
		pw_gro_bench_write_mbuf(&pass->template, &rig->packets[i], rig->mbufs[i]);
	}
}

static int
compare_cycles(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The mean, without the slowest few, which interrupts have hit, and without the clock's own time.
 */
static double
ns_a_packet(const struct pass *pass)
{
	const struct pw_gro_bench_rig *rig = pass->rig;
	const uint32_t n = rig->nb_timed - rig->nb_timed / INTERRUPTED_SHARE;
	double bursts = (double)n * pass->settings->flush_bursts, cycles;
	uint64_t sum = 0;

	qsort(rig->timed, rig->nb_timed, sizeof(*rig->timed), compare_cycles);
	for (uint32_t i = 0; i < n; i++)
		sum += rig->timed[i];
	cycles = (double)sum - bursts * rig->clock_cycles;
	return RTE_MAX(cycles, 1) * 1e9 / (double)rte_get_tsc_hz() / (bursts * PW_GRO_BENCH_BURST);
}

int
pw_gro_bench_measure(struct pw_gro_bench_rig *rig, struct pw_gro_bench_contender *contender,
	const struct pw_gro_bench_settings *settings, uint32_t nb_flows, uint64_t seed,
	struct pw_gro_bench_result *result)
{
	const uint32_t window = pw_gro_bench_window(settings);
	const uint32_t windows = pw_gro_bench_rig_packets(rig, settings->headers) / window;
	struct pass pass = {
		.rig = rig, .contender = contender, .settings = settings, .result = result};
	int rc;

	memset(result, 0, sizeof(*result));
	contender->bad_cksum = 0;
	prepare_pass(&pass, nb_flows, seed, windows * window);
	rc = run_pass(&pass, windows);
	if (rc < 0)
		return rc;
	result->timing.value = ns_a_packet(&pass);
	return 0;
}
