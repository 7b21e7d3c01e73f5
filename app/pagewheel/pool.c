/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "app.h"
#include "pw_frag_pool.h"
#include "pw_mempool.h"
#include "stages.h"

/* Hugepages of 2 MiB that EAL, ports and TCP take beside the pools. */
#define OTHER_HUGEPAGES 48

static unsigned long
read_number(const char *dir, const char *file)
{
	char path[512];
	unsigned long number = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &number) != 1)
		number = 0;
	fclose(f);
	return number;
}

/* What the pool takes at least: strategies with small pages take more. */
static size_t
needed_bytes(const struct pw_options *options)
{
	return options->total_num_mbufs *
		((size_t)options->mbuf_size + sizeof(struct rte_mbuf) + RTE_CACHE_LINE_SIZE);
}

/* Pages of 2 MiB for the pool, with what small pages waste, and for all else. */
static size_t
needed_hugepages(const struct pw_options *options)
{
	return (2 * needed_bytes(options) + ((size_t)options->frag_mib << 20)) / (2 << 20) +
		OTHER_HUGEPAGES;
}

void
pw_pool_explain_hugepages(const struct pw_options *options)
{
	static const char dir[] = "/sys/kernel/mm/hugepages/hugepages-2048kB";
	size_t free_pages = read_number(dir, "free_hugepages");
	size_t pages = read_number(dir, "nr_hugepages");
	size_t needed = needed_hugepages(options);

	if (free_pages < needed)
		pw_error(
			"about %zu hugepages of 2 MiB are needed, %zu of %zu are free; to reserve enough: "
			"hugeadm --pool-pages-min 2MB:%zu",
			needed, free_pages, pages, pages + needed - free_pages);
	else
		pw_error(
			"%zu hugepages of 2 MiB are free, which is enough if EAL can get at them: mount -t "
			"hugetlbfs nodev /dev/hugepages, remove another user's files there, or add "
			"--in-memory before the --",
			free_pages);
}

static struct rte_mempool *
create_empty(const struct pw_options *options, int socket_id)
{
	struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size = options->mbuf_size};
	struct rte_mempool *mp = rte_mempool_create_empty("pagewheel", options->total_num_mbufs,
		sizeof(struct rte_mbuf) + options->mbuf_size, options->mbcache,
		sizeof(struct rte_pktmbuf_pool_private), socket_id, 0);

	if (mp == NULL)
		return NULL;
	/* rte_mempool keeps the pointer: the options outlive the pool. */
	if (rte_mempool_set_ops_byname(
		    mp, PW_MEMPOOL_OPS_NAME, (void *)(uintptr_t)options->strategy.name) < 0) {
		rte_mempool_free(mp);
		rte_errno = EINVAL;
		return NULL;
	}
	if (options->stage_cycles && pw_stages_open(mp) < 0) {
		rte_mempool_free(mp);
		rte_errno = ENOSPC;
		return NULL;
	}
	rte_pktmbuf_pool_init(mp, &priv);
	return mp;
}

struct rte_mempool *
pw_pool_create(const struct pw_options *options, int socket_id)
{
	struct rte_mempool *mp = create_empty(options, socket_id);
	int rc = mp == NULL ? -rte_errno : rte_mempool_populate_default(mp);

	if (rc >= 0) {
		rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
		return mp;
	}
	rte_mempool_free(mp);
	pw_error("no pool of %u buffers of %u bytes with strategy %s: %s", options->total_num_mbufs,
		options->mbuf_size, options->strategy.name, strerror(-rc));
	if (rc == -ENOMEM || rc == -ENOBUFS)
		pw_pool_explain_hugepages(options);
	return NULL;
}

struct pw_frag_pool *
pw_pool_create_frags(const struct pw_options *options, int socket_id)
{
	struct pw_frag_pool_params params = {
		.name = "pagewheel_frags",
		.socket_id = socket_id,
		.strategy = options->strategy,
		.bytes = (size_t)options->frag_mib << 20,
	};
	struct pw_frag_pool *frags = pw_frag_pool_create(&params);

	if (frags != NULL)
		return frags;
	pw_error("--frag-memory=%u: no %u MiB for fragments: %s", options->frag_mib,
		options->frag_mib, rte_strerror(rte_errno));
	if (rte_errno == ENOMEM)
		pw_pool_explain_hugepages(options);
	return NULL;
}
