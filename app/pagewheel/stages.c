/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_mempool.h>

#include "app.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "pw_tcp.h"

#define OPS_NAME "pw_stage_clock"

RTE_DEFINE_PER_LCORE(struct pw_stage_clock *, pw_stage_clock);

/* One a cache line, so that lcores do not meet. */
static struct {
	struct pw_stage_clock clock;
} __rte_cache_aligned *clocks;

static struct rte_mempool_ops handler; /* what the clock runs over */

static int
enqueue(struct rte_mempool *mp, void *const *objects, unsigned n)
{
	enum pw_stage before = pw_stage_enter(PW_STAGE_POOL);
	int rc = handler.enqueue(mp, objects, n);

	pw_stage_enter(before);
	return rc;
}

static int
dequeue(struct rte_mempool *mp, void **objects, unsigned n)
{
	enum pw_stage before = pw_stage_enter(PW_STAGE_POOL);
	int rc = handler.dequeue(mp, objects, n);

	pw_stage_enter(before);
	return rc;
}

int
pw_stages_open(struct rte_mempool *pool)
{
	struct rte_mempool_ops timed = *rte_mempool_get_ops(pool->ops_index);
	int index;

	clocks = calloc(RTE_MAX_LCORE, sizeof(*clocks));
	if (clocks == NULL)
		return -ENOMEM;
	handler = timed;
	snprintf(timed.name, sizeof(timed.name), "%s", OPS_NAME);
	timed.enqueue = enqueue;
	timed.dequeue = dequeue;
	index = rte_mempool_register_ops(&timed);
	if (index < 0)
		return index;
	pool->ops_index = index;
	return 0;
}

void
pw_stages_begin(void)
{
	struct pw_stage_clock *clock;

	if (clocks == NULL)
		return;
	clock = &clocks[rte_lcore_id()].clock;
	clock->stage = PW_STAGE_OTHER;
	clock->since = rte_rdtsc();
	RTE_PER_LCORE(pw_stage_clock) = clock;
}

void
pw_stages_count_poll(struct pw_stage_clock *clock, bool busy)
{
	pw_stage_enter(PW_STAGE_OTHER);
	for (unsigned i = 0; i < PW_STAGES; i++)
		clock->total[i] += busy ? clock->poll[i] : 0;
	memset(clock->poll, 0, sizeof(clock->poll));
}

#define ROW(stage, label)                                                                    \
	{                                                                                    \
		label, "cycles",                                                             \
			offsetof(struct pw_stage_stats, cycles) + (stage) * sizeof(uint64_t) \
	}

const struct pw_stat pw_stage_stat_table[] = {
	ROW(PW_STAGE_DRIVER, "driver"),
	ROW(PW_STAGE_POOL, "pool"),
	ROW(PW_STAGE_GRO, "gro"),
	ROW(PW_STAGE_INET, "inet"),
	ROW(PW_STAGE_TCP, "tcp"),
	ROW(PW_STAGE_READER, "reader"),
	ROW(PW_STAGE_OTHER, "other"),
	PW_STAT(pw_stage_stats, rx_packets, "packets"),
	PW_STAT(pw_stage_stats, rx_bytes, "bytes"),
	PW_STAT_END,
};

int
pw_stages_read(const struct pw_app *app, void *stats)
{
	struct pw_stage_stats *sum = stats;
	struct pw_lcore_stats lcores;
	struct pw_tcp_stats tcp;

	if (clocks == NULL)
		return -ENOENT;
	memset(sum, 0, sizeof(*sum));
	for (unsigned lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		for (unsigned i = 0; i < PW_STAGES; i++)
			sum->cycles[i] += clocks[lcore].clock.total[i];
	pw_fwd_get_lcore_stats(app->fwd, &lcores);
	sum->rx_packets = lcores.rx_packets;
	if (pw_engine_tcp_read_tcp(app, &tcp) == 0)
		sum->rx_bytes = tcp.in_bytes;
	return 0;
}

static void
print_row(const char *name, uint64_t cycles, const struct pw_stage_stats *s)
{
	printf("  %-8s %8.1f cycles a packet", name, (double)cycles / s->rx_packets);
	if (s->rx_bytes > 0)
		printf(" %10.3f cycles a byte", (double)cycles / s->rx_bytes);
	printf(" %8.1f ns a packet\n", cycles * 1e9 / rte_get_tsc_hz() / s->rx_packets);
}

void
pw_stages_print(const struct pw_app *app, const void *stats)
{
	const struct pw_stage_stats *s = stats;
	uint64_t all = 0;

	(void)app;
	if (s->rx_packets == 0)
		return;
	for (unsigned i = 0; i < PW_STAGES; i++) {
		print_row(pw_stage_stat_table[i].name, s->cycles[i], s);
		all += s->cycles[i];
	}
	print_row("all", all, s);
}
