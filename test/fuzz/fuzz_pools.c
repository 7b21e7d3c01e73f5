/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "fuzz_pools.h"

#include <stdlib.h>

#include <rte_eal.h>

struct rte_mempool *fuzz_mbufs;
struct pw_frag_pool *fuzz_frags;

void
fuzz_pools_open(unsigned mbufs, size_t frags_bytes)
{
	static char *eal[] = {"fuzz", "--no-huge", "--no-shconf", "--no-telemetry", "--no-pci",
		"-m", "256", "--log-level=4", NULL};
	struct pw_frag_pool_params params = {
		.name = "fuzz_frags", .socket_id = SOCKET_ID_ANY, .bytes = frags_bytes};

	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0)
		abort();
	fuzz_mbufs = rte_pktmbuf_pool_create(
		"fuzz", mbufs, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	pw_strategy_parse("order0", &params.strategy);
	fuzz_frags = pw_frag_pool_create(&params);
	if (fuzz_mbufs == NULL || fuzz_frags == NULL)
		abort();
}

void
fuzz_pools_expect_home(void)
{
	if (rte_mempool_avail_count(fuzz_mbufs) != fuzz_mbufs->size ||
		pw_frag_pool_in_flight(fuzz_frags) != 0)
		abort();
}
