/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_rig.h"

#include <stdlib.h>

#include <rte_lcore.h>

#include "bench.h"
#include "clock.h"
#include "environment.h"
#include "grid.h"

#define MBUFS 4095
#define MBUF_CACHE 256
#define FRAGS_BYTES (8U << 20)

static void
say_no_memory(void)
{
	const size_t mbuf_bytes = sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE;
	char reason[PW_BENCH_REASON_MAX];

	pw_bench_explain_memory(reason, sizeof(reason), "mbufs and fragments",
		((MBUFS * mbuf_bytes + FRAGS_BYTES) >> 21) + 8, "a program less");
	pw_bench_error("%s", reason);
}

struct pw_tcp_bench_rig *
pw_tcp_bench_rig_create(void)
{
	struct pw_frag_pool_params frags = {
		.name = "tcp", .socket_id = SOCKET_ID_ANY, .bytes = FRAGS_BYTES};
	struct pw_tcp_bench_rig *rig = calloc(1, sizeof(*rig));

	if (rig == NULL) {
		pw_bench_error("no memory");
		return NULL;
	}
	rig->clock_cycles = pw_bench_clock_cycles();
	rig->mp = rte_pktmbuf_pool_create(
		"tcp", MBUFS, MBUF_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	pw_strategy_parse(PW_STRATEGY_DEFAULT, &frags.strategy);
	rig->frags = pw_frag_pool_create(&frags);
	if (rig->mp != NULL && rig->frags != NULL)
		return rig;
	say_no_memory();
	pw_tcp_bench_rig_destroy(rig);
	return NULL;
}

void
pw_tcp_bench_rig_destroy(struct pw_tcp_bench_rig *rig)
{
	if (rig == NULL)
		return;
	pw_frag_pool_destroy(rig->frags);
	rte_mempool_free(rig->mp);
	free(rig);
}

uint64_t
pw_tcp_bench_rig_in_use(const struct pw_tcp_bench_rig *rig)
{
	return rte_mempool_in_use_count(rig->mp) + pw_frag_pool_in_flight(rig->frags);
}
