/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_mempool_rig.h"

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_log.h>

const char *const pool_strategies[] = {"order0", "order0:4", "order3", "cached", "reuse", "reuse:0",
	"reuse:9", "flip", "flip:3", "page_pool"};
const unsigned nb_pool_strategies = RTE_DIM(pool_strategies);

bool
pool_is_strict(const char *strategy)
{
	return strncmp(strategy, "reuse", 5) != 0;
}

struct rte_mempool *
try_pool(const char *strategy, unsigned mbufs, unsigned cache_size, uint16_t room_bytes)
{
	struct rte_mempool *mp;

	if (strategy == NULL)
		unsetenv(PW_MEMPOOL_STRATEGY_ENV);
	else
		setenv(PW_MEMPOOL_STRATEGY_ENV, strategy, 1);
	rte_errno = 0;
	mp = rte_pktmbuf_pool_create_by_ops("mempool_test", mbufs, cache_size, 0, room_bytes,
		SOCKET_ID_ANY, PW_MEMPOOL_OPS_NAME);
	unsetenv(PW_MEMPOOL_STRATEGY_ENV);
	return mp;
}

struct rte_mempool *
make_pool(const char *strategy, unsigned mbufs, unsigned cache_size)
{
	struct rte_mempool *mp = try_pool(strategy, mbufs, cache_size, ROOM);

	assert_non_null(mp);
	assert_int_equal(mp->populated_size, mbufs);
	assert_int_equal(rte_mempool_avail_count(mp), mbufs);
	return mp;
}

struct rte_mempool *
make_checked_pool(const char *strategy, unsigned mbufs, const char *check)
{
	struct rte_mempool *mp;

	setenv(PW_MEMPOOL_CHECK_ENV, check, 1);
	mp = make_pool(strategy, mbufs, 0);
	unsetenv(PW_MEMPOOL_CHECK_ENV);
	return mp;
}

struct rte_mempool *
empty_pool(const char *strategy, unsigned n, unsigned elt_bytes, unsigned flags)
{
	struct rte_mempool *mp = rte_mempool_create_empty(
		"mempool_elts", n, elt_bytes, 0, 0, SOCKET_ID_ANY, flags);

	assert_non_null(mp);
	assert_int_equal(
		rte_mempool_set_ops_byname(mp, PW_MEMPOOL_OPS_NAME, (void *)(uintptr_t)strategy),
		0);
	return mp;
}

struct pw_store_stats
pool_stats(const struct rte_mempool *mp)
{
	struct pw_store_stats stats;

	assert_int_equal(pw_mempool_get_stats(mp, &stats), 0);
	return stats;
}

void
open_log(struct log *log)
{
	log->stream = open_memstream(&log->text, &log->len);
	assert_non_null(log->stream);
	assert_int_equal(rte_openlog_stream(log->stream), 0);
}

void
close_log(struct log *log)
{
	rte_openlog_stream(NULL);
	fclose(log->stream);
}
