/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "app.h"
#include "pw_copybreak.h"

struct pw_copies {
	struct rte_mempool *headers;
	struct pw_frag_cache *caches[RTE_MAX_LCORE];
	struct pw_copybreak lcores[RTE_MAX_LCORE];
};

static int
open_lcore(struct pw_copies *copies, const struct pw_app *app, unsigned lcore)
{
	struct pw_copybreak_params params = {
		.headers = copies->headers,
		.max_bytes = app->options.copy_break,
		.headroom_bytes = RTE_PKTMBUF_HEADROOM,
	};

	copies->caches[lcore] = pw_frag_cache_create(app->frags);
	if (copies->caches[lcore] == NULL)
		return -rte_errno;
	params.cache = copies->caches[lcore];
	return pw_copybreak_init(&copies->lcores[lcore], &params);
}

struct pw_copies *
pw_copies_create(const struct pw_app *app)
{
	struct pw_copies *copies = calloc(1, sizeof(*copies));
	unsigned lcore;
	int rc = 0;

	if (copies == NULL) {
		pw_error("out of memory");
		return NULL;
	}
	copies->headers = rte_pktmbuf_pool_create("pagewheel_copies", app->options.total_num_mbufs,
		app->options.mbcache, 0, 0, app->pool->socket_id);
	if (copies->headers == NULL)
		rc = -rte_errno;
	RTE_LCORE_FOREACH_WORKER (lcore)
		if (rc == 0)
			rc = open_lcore(copies, app, lcore);
	if (rc == 0)
		return copies;
	pw_error("--copy-break=%u does not start, with %u mbufs for copies: %s",
		app->options.copy_break, app->options.total_num_mbufs, rte_strerror(-rc));
	pw_copies_destroy(copies);
	return NULL;
}

unsigned
pw_copies_destroy(struct pw_copies *copies)
{
	unsigned missing = 0;

	if (copies == NULL)
		return 0;
	for (unsigned i = 0; i < RTE_MAX_LCORE; i++)
		pw_frag_cache_destroy(copies->caches[i]);
	if (copies->headers != NULL)
		missing = rte_mempool_in_use_count(copies->headers);
	rte_mempool_free(copies->headers);
	free(copies);
	return missing;
}

void
pw_copies_take(struct pw_copies *copies, unsigned lcore, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		pkts[i] = pw_copybreak(&copies->lcores[lcore], pkts[i]);
}

int
pw_copies_read(const struct pw_app *app, void *stats)
{
	struct pw_copybreak_stats *sum = stats;

	if (app->copies == NULL)
		return -ENOENT;
	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < RTE_MAX_LCORE; i++) {
		const struct pw_copybreak_stats *one = &app->copies->lcores[i].stats;

		sum->copied += one->copied;
		sum->copied_bytes += one->copied_bytes;
		sum->passed_large += one->passed_large;
		sum->no_memory += one->no_memory;
	}
	return 0;
}
