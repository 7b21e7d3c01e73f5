/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "fwd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "app.h"
#include "copies.h"
#include "handover.h"
#include "stages.h"

struct lcore {
	unsigned id;
	struct pw_fwd *fwd;
	bool receives; /* for others, and does nothing else */
	unsigned nb_streams;
	struct pw_stream **streams;
	struct pw_lcore_stats stats;
} __rte_cache_aligned;

struct pw_fwd {
	const struct pw_engine *engine;
	uint16_t burst;
	bool running;
	bool stopping; /* atomic; tells the lcores */
	uint64_t cycles_per_us;
	unsigned nb_streams;
	struct pw_stream *streams; /* also those before the last clear */
	struct pw_stream *base;	   /* counters at the last clear */
	unsigned nb_lcores;
	struct lcore *lcores;
	struct pw_lcore_stats lcore_base;
	struct pw_port **ports;
	uint16_t nb_ports;
	uint64_t *missed_base;	  /* of each port */
	struct pw_copies *copies; /* NULL without --copy-break */
};

uint16_t
pw_stream_receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t burst)
{
	struct pw_port *port = stream->rx_port;
	enum pw_stage before = pw_stage_enter(PW_STAGE_DRIVER);
	uint16_t n = port->ops->rx_burst(port, stream->rx_queue, pkts, burst);

	pw_stage_enter(before);
	return n;
}

uint16_t
pw_stream_try_send(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n)
{
	struct pw_port *port = stream->tx_port;
	enum pw_stage before = pw_stage_enter(PW_STAGE_DRIVER);
	uint16_t sent = port->ops->tx_burst(port, stream->tx_queue, pkts, n);

	pw_stage_enter(before);
	stream->tx_packets += sent;
	return sent;
}

void
pw_stream_send(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = pw_stream_try_send(stream, pkts, n);

	if (unlikely(sent < n)) {
		stream->tx_dropped += n - sent;
		rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	}
}

static uint16_t
poll_stream(struct lcore *lcore, struct pw_stream *stream, uint64_t now_us)
{
	const struct pw_engine *engine = lcore->fwd->engine;
	struct rte_mbuf *pkts[PW_BURST_MAX];
	uint16_t burst = lcore->fwd->burst;
	uint16_t n = stream->handover == NULL ? pw_stream_receive(stream, pkts, burst)
					      : pw_handover_take(stream, pkts, burst);

	if (n > 0) {
		stream->rx_packets += n;
		if (lcore->fwd->copies != NULL)
			pw_copies_take(lcore->fwd->copies, lcore->id, pkts, n);
		engine->receive(stream, pkts, n, now_us);
	}
	if (engine->tick != NULL)
		engine->tick(stream, now_us);
	return n;
}

/* Poll a stream for what this lcore does with it. False: there was nothing to do. */
static bool
serve(struct lcore *lcore, struct pw_stream *stream, uint64_t now_us)
{
	uint64_t sent = stream->tx_packets;
	uint16_t n;

	if (lcore->receives)
		return pw_handover_receive(stream, lcore->fwd->burst) > 0;
	n = poll_stream(lcore, stream, now_us);
	lcore->stats.rx_packets += n;
	return n > 0 || stream->tx_packets != sent;
}

static void
count_poll(struct lcore *lcore, bool busy, uint64_t cycles)
{
	struct pw_lcore_stats *stats = &lcore->stats;

	pw_stages_end_poll(busy);
	stats->cycles += cycles;
	stats->polls++;
	stats->busy_cycles += busy ? cycles : 0;
	stats->busy_polls += busy;
}

static int
run_lcore(void *arg)
{
	struct lcore *lcore = arg;
	struct pw_fwd *fwd = lcore->fwd;
	uint64_t before = rte_rdtsc();

	pw_stages_begin();
	while (!__atomic_load_n(&fwd->stopping, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < lcore->nb_streams; i++) {
			bool busy = serve(lcore, lcore->streams[i], before / fwd->cycles_per_us);
			uint64_t after = rte_rdtsc();

			count_poll(lcore, busy, after - before);
			before = after;
		}
	}
	return 0;
}

/* Port pairs as testpmd makes them: 0 with 1, 2 with 3, the last of an odd number with itself. */
static uint16_t
peer_of(uint16_t port, uint16_t nb_ports)
{
	return (port ^ 1) < nb_ports ? port ^ 1 : port;
}

static int
alloc(struct pw_fwd *fwd, const struct pw_app *app, unsigned workers)
{
	fwd->nb_lcores = workers;
	fwd->nb_streams = app->nb_ports * app->options.rxq;
	fwd->streams = rte_calloc(
		"pw_streams", fwd->nb_streams, sizeof(*fwd->streams), RTE_CACHE_LINE_SIZE);
	fwd->lcores = rte_calloc(
		"pw_lcores", fwd->nb_lcores, sizeof(*fwd->lcores), RTE_CACHE_LINE_SIZE);
	fwd->base = rte_calloc(
		"pw_streams_base", fwd->nb_streams, sizeof(*fwd->base), RTE_CACHE_LINE_SIZE);
	fwd->missed_base = calloc(app->nb_ports, sizeof(*fwd->missed_base));
	if (fwd->streams == NULL || fwd->lcores == NULL || fwd->base == NULL ||
		fwd->missed_base == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < fwd->nb_lcores; i++) {
		fwd->lcores[i].streams = calloc(fwd->nb_streams, sizeof(*fwd->lcores[i].streams));
		if (fwd->lcores[i].streams == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* The i-th stream's: all take turns, or only those from first on. Returns its id. */
static unsigned
give_to_lcore(struct pw_fwd *fwd, struct pw_stream *stream, unsigned i, unsigned first, unsigned n)
{
	struct lcore *lcore = &fwd->lcores[first + i % n];

	lcore->streams[lcore->nb_streams++] = stream;
	return lcore->id;
}

/* With --split the first half of the lcores receives, and the rest, not fewer, does the work. */
static int
lay_out(struct pw_fwd *fwd, const struct pw_app *app)
{
	unsigned receivers = app->options.split ? fwd->nb_lcores / 2 : 0, id, i = 0;
	int rc = 0;

	RTE_LCORE_FOREACH_WORKER (id) {
		fwd->lcores[i].id = id;
		fwd->lcores[i].receives = i < receivers;
		fwd->lcores[i++].fwd = fwd;
	}
	for (i = 0; i < fwd->nb_streams && rc == 0; i++) {
		struct pw_stream *stream = &fwd->streams[i];

		stream->rx_port = app->ports[i / app->options.rxq];
		stream->rx_queue = i % app->options.rxq;
		stream->tx_queue = stream->rx_queue;
		stream->lcore = give_to_lcore(
			fwd, stream, i, receivers, fwd->nb_lcores - receivers);
		stream->rx_lcore = stream->lcore;
		if (receivers == 0)
			continue;
		stream->rx_lcore = give_to_lcore(fwd, stream, i, 0, receivers);
		rc = pw_handover_open(stream, app->options.burst);
	}
	return rc;
}

static void
close_engine(struct pw_fwd *fwd)
{
	for (unsigned i = 0; i < fwd->nb_streams && fwd->engine != NULL; i++)
		if (fwd->engine->close != NULL && fwd->streams[i].engine_data != NULL)
			fwd->engine->close(&fwd->streams[i]);
	fwd->engine = NULL;
}

static int
open_engine(struct pw_fwd *fwd, const struct pw_app *app, const struct pw_engine *engine)
{
	fwd->engine = engine;
	for (unsigned i = 0; i < fwd->nb_streams; i++) {
		struct pw_stream *stream = &fwd->streams[i];
		int rc;

		stream->tx_port = engine->makes_packets
			? stream->rx_port
			: fwd->ports[peer_of(stream->rx_port->id, fwd->nb_ports)];
		rc = engine->open == NULL ? 0 : engine->open(stream, app);
		if (rc < 0) {
			close_engine(fwd);
			return rc;
		}
	}
	return 0;
}

/* Not rte_lcore_count() - 1: that counts service lcores, which run no streams. */
static unsigned
count_workers(void)
{
	unsigned id, count = 0;

	RTE_LCORE_FOREACH_WORKER (id)
		count++;
	return count;
}

static bool
are_enough(unsigned workers, bool split)
{
	if (workers == 0)
		pw_error("one lcore polls and one reads commands: at least two are needed, as in "
			 "-l 0,1 or, on one CPU, --lcores=0@0,1@0; service lcores do not count");
	else if (split && workers == 1)
		pw_error(
			"--split: one lcore receives, one does the rest, and one reads commands: at "
			"least three are needed, as in -l 0-2 or --lcores=0@0,1@0,2@1");
	return workers > (split ? 1 : 0);
}

struct pw_fwd *
pw_fwd_create(const struct pw_app *app)
{
	unsigned workers = count_workers();
	struct pw_fwd *fwd;

	if (!are_enough(workers, app->options.split))
		return NULL;
	fwd = calloc(1, sizeof(*fwd));
	if (fwd == NULL || alloc(fwd, app, workers) < 0 || lay_out(fwd, app) < 0) {
		pw_error("out of memory");
		pw_fwd_destroy(fwd);
		return NULL;
	}
	fwd->burst = app->options.burst;
	fwd->cycles_per_us = RTE_MAX(rte_get_tsc_hz() / 1000000, UINT64_C(1));
	fwd->ports = app->ports;
	fwd->nb_ports = app->nb_ports;
	fwd->copies = app->copies;
	if (open_engine(fwd, app, pw_engine_find(app->options.forward_mode)) < 0) {
		pw_fwd_destroy(fwd);
		return NULL;
	}
	pw_fwd_clear_stats(fwd);
	return fwd;
}

void
pw_fwd_destroy(struct pw_fwd *fwd)
{
	if (fwd == NULL)
		return;
	pw_fwd_stop(fwd);
	close_engine(fwd);
	for (unsigned i = 0; fwd->streams != NULL && i < fwd->nb_streams; i++)
		pw_handover_close(&fwd->streams[i]);
	for (unsigned i = 0; fwd->lcores != NULL && i < fwd->nb_lcores; i++)
		free(fwd->lcores[i].streams);
	rte_free(fwd->streams);
	rte_free(fwd->lcores);
	rte_free(fwd->base);
	free(fwd->missed_base);
	free(fwd);
}

int
pw_fwd_set_engine(struct pw_fwd *fwd, const struct pw_app *app, const struct pw_engine *engine)
{
	const struct pw_engine *before = fwd->engine;
	int rc;

	if (engine == before)
		return 0;
	close_engine(fwd);
	rc = open_engine(fwd, app, engine);
	/* rxonly has no state and cannot fail. */
	if (rc < 0 && open_engine(fwd, app, before) < 0)
		open_engine(fwd, app, pw_engine_find("rxonly"));
	return rc;
}

const struct pw_engine *
pw_fwd_engine(const struct pw_fwd *fwd)
{
	return fwd->engine;
}

static int
launch(struct pw_fwd *fwd)
{
	fwd->running = true;
	fwd->stopping = false;
	for (unsigned i = 0; i < fwd->nb_lcores; i++) {
		struct lcore *lcore = &fwd->lcores[i];

		if (lcore->nb_streams == 0)
			continue;
		if (rte_eal_remote_launch(run_lcore, lcore, lcore->id) < 0) {
			pw_fwd_stop(fwd);
			return -EBUSY;
		}
	}
	return 0;
}

int
pw_fwd_start(struct pw_fwd *fwd)
{
	if (fwd->running)
		return -EALREADY;
	pw_fwd_clear_stats(fwd);
	return launch(fwd);
}

bool
pw_fwd_pause(struct pw_fwd *fwd)
{
	return pw_fwd_stop(fwd) == 0;
}

int
pw_fwd_resume(struct pw_fwd *fwd)
{
	return launch(fwd);
}

/* Their lcores have finished: nothing stays held, neither while stopped nor over a port's reset. */
static void
drain_stream(struct pw_fwd *fwd, struct pw_stream *stream)
{
	uint64_t now_us = rte_rdtsc() / fwd->cycles_per_us;
	struct rte_mbuf *pkts[PW_BURST_MAX];
	uint16_t n;

	while (stream->handover != NULL && (n = pw_handover_take(stream, pkts, fwd->burst)) > 0) {
		stream->rx_packets += n;
		fwd->engine->receive(stream, pkts, n, now_us);
	}
	if (fwd->engine->drain != NULL)
		fwd->engine->drain(stream, now_us);
}

static void
drain_streams(struct pw_fwd *fwd)
{
	for (unsigned i = 0; i < fwd->nb_streams; i++)
		drain_stream(fwd, &fwd->streams[i]);
}

int
pw_fwd_stop(struct pw_fwd *fwd)
{
	if (!fwd->running)
		return -EALREADY;
	__atomic_store_n(&fwd->stopping, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	drain_streams(fwd);
	fwd->running = false;
	return 0;
}

bool
pw_fwd_is_running(const struct pw_fwd *fwd)
{
	return fwd->running;
}

unsigned
pw_fwd_nb_streams(const struct pw_fwd *fwd)
{
	return fwd->nb_streams;
}

const struct pw_stream *
pw_fwd_stream(const struct pw_fwd *fwd, unsigned i)
{
	return &fwd->streams[i];
}

void
pw_fwd_get_lcore_stats(const struct pw_fwd *fwd, struct pw_lcore_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	for (unsigned i = 0; i < fwd->nb_lcores; i++) {
		const struct pw_lcore_stats *lcore = &fwd->lcores[i].stats;

		stats->cycles += lcore->cycles;
		stats->busy_cycles += lcore->busy_cycles;
		stats->polls += lcore->polls;
		stats->busy_polls += lcore->busy_polls;
		stats->rx_packets += lcore->rx_packets;
		if (!fwd->lcores[i].receives)
			continue;
		stats->receiving_cycles += lcore->cycles;
		stats->receiving_busy_cycles += lcore->busy_cycles;
	}
}

static uint64_t
read_missed(struct pw_port *port)
{
	struct pw_port_stats stats;

	return port->ops->get_stats(port, &stats) < 0 ? 0 : stats.rx_missed;
}

void
pw_fwd_clear_stats(struct pw_fwd *fwd)
{
	memcpy(fwd->base, fwd->streams, fwd->nb_streams * sizeof(*fwd->base));
	for (uint16_t i = 0; i < fwd->nb_ports; i++)
		fwd->missed_base[i] = read_missed(fwd->ports[i]);
	pw_fwd_get_lcore_stats(fwd, &fwd->lcore_base);
}

struct totals {
	uint64_t rx, rx_dropped, tx, tx_dropped;
};

static void
print_totals(const struct totals *totals)
{
	printf("  RX-packets: %-18" PRIu64 " RX-dropped: %-18" PRIu64 " RX-total: %" PRIu64 "\n",
		totals->rx, totals->rx_dropped, totals->rx + totals->rx_dropped);
	printf("  TX-packets: %-18" PRIu64 " TX-dropped: %-18" PRIu64 " TX-total: %" PRIu64 "\n",
		totals->tx, totals->tx_dropped, totals->tx + totals->tx_dropped);
}

static void
sum_port(const struct pw_fwd *fwd, uint16_t id, struct totals *totals)
{
	uint64_t missed = read_missed(fwd->ports[id]);

	/* "clear port stats" sets the port's counter back below our base. */
	totals->rx_dropped = missed >= fwd->missed_base[id] ? missed - fwd->missed_base[id]
							    : missed;
	for (unsigned i = 0; i < fwd->nb_streams; i++) {
		const struct pw_stream *stream = &fwd->streams[i], *base = &fwd->base[i];

		if (stream->rx_port == fwd->ports[id])
			totals->rx += stream->rx_packets - base->rx_packets;
		if (stream->tx_port == fwd->ports[id]) {
			totals->tx += stream->tx_packets - base->tx_packets;
			totals->tx_dropped += stream->tx_dropped - base->tx_dropped;
		}
	}
}

static void
print_load(const struct pw_fwd *fwd)
{
	struct pw_lcore_stats now;
	uint64_t cycles, busy, packets;

	pw_fwd_get_lcore_stats(fwd, &now);
	cycles = now.cycles - fwd->lcore_base.cycles;
	busy = now.busy_cycles - fwd->lcore_base.busy_cycles;
	packets = now.rx_packets - fwd->lcore_base.rx_packets;
	if (cycles > 0)
		printf("  Busy: %.1f %% of %.3g s polled", 100.0 * busy / cycles,
			(double)cycles / rte_get_tsc_hz());
	if (packets > 0)
		printf(", %.0f cycles a packet", (double)busy / packets);
	if (cycles > 0)
		printf("\n");
}

void
pw_fwd_print_stats(struct pw_fwd *fwd)
{
	struct totals all = {0};

	for (uint16_t id = 0; id < fwd->nb_ports; id++) {
		struct totals totals = {0};

		sum_port(fwd, id, &totals);
		printf("\n---------------------- Forward statistics for port %-2u ----------------------\n",
			id);
		print_totals(&totals);
		all.rx += totals.rx;
		all.rx_dropped += totals.rx_dropped;
		all.tx += totals.tx;
		all.tx_dropped += totals.tx_dropped;
	}
	printf("\n++++++++++++ Accumulated forward statistics for all ports ++++++++++++\n");
	print_totals(&all);
	print_load(fwd);
	printf("\n");
}
