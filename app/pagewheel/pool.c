/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "app.h"
#include "pw_mempool.h"

#define HUGEPAGES_DIR "/sys/kernel/mm/hugepages"

static unsigned long
read_number(const char *dir, const char *file)
{
	char path[512];
	unsigned long number = 0;
	FILE *f;

	snprintf(path, sizeof(path), HUGEPAGES_DIR "/%.200s/%s", dir, file);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &number) != 1)
		number = 0;
	fclose(f);
	return number;
}

void
pw_pool_explain_hugepages(size_t needed_bytes)
{
	DIR *dir = opendir(HUGEPAGES_DIR);
	struct dirent *entry;
	unsigned long kib;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (sscanf(entry->d_name, "hugepages-%lukB", &kib) == 1)
			pw_error("hugepages of %lu KiB: %lu free of %lu", kib,
				read_number(entry->d_name, "free_hugepages"),
				read_number(entry->d_name, "nr_hugepages"));
	if (dir != NULL)
		closedir(dir);
	pw_error("to reserve enough of 2 MiB: hugeadm --pool-pages-min 2MB:%zu",
		needed_bytes / (2 << 20) + 64);
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
	rte_pktmbuf_pool_init(mp, &priv);
	return mp;
}

struct rte_mempool *
pw_pool_create(const struct pw_options *options, int socket_id)
{
	size_t needed = (size_t)options->total_num_mbufs *
		(options->mbuf_size + sizeof(struct rte_mbuf) + RTE_CACHE_LINE_SIZE);
	struct rte_mempool *mp = create_empty(options, socket_id);
	int rc = mp == NULL ? -rte_errno : rte_mempool_populate_default(mp);

	if (rc >= 0) {
		rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
		return mp;
	}
	rte_mempool_free(mp);
	pw_error("no pool of %u buffers of %u bytes (%zu MiB and more) with strategy %s: %s",
		options->total_num_mbufs, options->mbuf_size, needed >> 20, options->strategy.name,
		strerror(-rc));
	if (rc == -ENOMEM || rc == -ENOBUFS)
		pw_pool_explain_hugepages(needed);
	return NULL;
}
