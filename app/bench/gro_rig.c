/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include "bench.h"
#include "clock.h"
#include "environment.h"
#include "random.h"

#define HOT_PACKETS 16384U

/*
 * Of a packet, two lines of the mbuf and two of the header are used. When it is its turn, the lines
 * of all others have been used since it was written: so many that L2 has forgotten it.
 */
#define LINES_BYTES (4 * RTE_CACHE_LINE_SIZE)
#define TIMES_L2 4
#define COLD_PACKETS_MIN 16384U
#define COLD_PACKETS_MAX 65536U

static uint32_t
cold_packets(size_t l2_bytes)
{
	size_t n = TIMES_L2 * l2_bytes / LINES_BYTES;

	return RTE_MIN(RTE_MAX(n, COLD_PACKETS_MIN), COLD_PACKETS_MAX);
}

static void
say_no_memory(uint32_t n, bool cold)
{
	const size_t mbuf_bytes = sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE;
	char reason[PW_BENCH_REASON_MAX], what[64];

	snprintf(what, sizeof(what), "a pool of %u mbufs", n);
	pw_bench_explain_memory(reason, sizeof(reason), what, ((n * mbuf_bytes) >> 21) + 8,
		cold ? "--headers=hot" : "a program less");
	pw_bench_error("%s", reason);
}

/* By address they would come in an order that prefetchers know: figures of cold ones halve. */
static int
take_mbufs(struct pw_gro_bench_rig *rig, uint64_t seed)
{
	static unsigned number;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "gro%u", number++);
	rig->mp = rte_pktmbuf_pool_create_by_ops(name, rig->nb_mbufs, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id(), "ring_mp_mc");
	if (rig->mp == NULL)
		return -ENOMEM;
	if (rte_mempool_get_bulk(rig->mp, (void **)rig->mbufs, rig->nb_mbufs) < 0)
		return -ENOMEM;
	pw_bench_shuffle((void **)rig->mbufs, rig->nb_mbufs, seed);
	for (uint32_t i = 0; i < rig->nb_mbufs; i++)
		pw_gro_bench_write_payload(rig->mbufs[i]);
	return 0;
}

struct pw_gro_bench_rig *
pw_gro_bench_rig_create(bool cold, uint64_t seed)
{
	struct pw_gro_bench_rig *rig = calloc(1, sizeof(*rig));

	if (rig == NULL) {
		pw_bench_error("no memory");
		return NULL;
	}
	rig->l2_bytes = pw_bench_l2_bytes();
	rig->nb_mbufs = cold ? cold_packets(rig->l2_bytes) : PW_GRO_BENCH_WINDOW_MAX;
	rig->mbufs = calloc(rig->nb_mbufs, sizeof(*rig->mbufs));
	rig->packets = calloc(RTE_MAX(rig->nb_mbufs, HOT_PACKETS), sizeof(*rig->packets));
	rig->timed = calloc(
		RTE_MAX(rig->nb_mbufs, HOT_PACKETS) / PW_GRO_BENCH_BURST, sizeof(*rig->timed));
	rig->flows = pw_gro_bench_flows_create();
	rig->clock_cycles = pw_bench_clock_cycles();
	if (rig->mbufs != NULL && rig->packets != NULL && rig->timed != NULL &&
		rig->flows != NULL && take_mbufs(rig, seed) == 0)
		return rig;
	say_no_memory(rig->nb_mbufs, cold);
	pw_gro_bench_rig_destroy(rig);
	return NULL;
}

void
pw_gro_bench_rig_destroy(struct pw_gro_bench_rig *rig)
{
	if (rig == NULL)
		return;
	rte_mempool_free(rig->mp);
	pw_gro_bench_flows_destroy(rig->flows);
	free(rig->timed);
	free(rig->packets);
	free(rig->mbufs);
	free(rig);
}

uint32_t
pw_gro_bench_rig_packets(const struct pw_gro_bench_rig *rig, enum pw_gro_bench_headers headers)
{
	return headers == PW_GRO_BENCH_COLD ? rig->nb_mbufs : HOT_PACKETS;
}
