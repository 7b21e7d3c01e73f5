/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pool_handler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_string_fns.h>

#include "environment.h"
#include "mempool.h"
#include "pool_rig.h"
#include "pw_mempool.h"
#include "random.h"

/* The floor needs memory only: no more than the largest set that a pattern has. */
#define FLOOR_BUFFERS 8192

int
pw_pool_handler_init(struct pw_pool_handler *handler, const char *name)
{
	struct pw_strategy strategy;
	size_t ours = strlen(PW_MEMPOOL_OPS_NAME);

	*handler = (struct pw_pool_handler){.kind = PW_BENCH_DPDK};
	if (strcmp(name, "floor") == 0) {
		handler->kind = PW_BENCH_FLOOR;
		rte_strscpy(handler->name, name, sizeof(handler->name));
		rte_strscpy(handler->ops, "ring_mp_mc", sizeof(handler->ops));
		return 0;
	}
	if (strncmp(name, PW_MEMPOOL_OPS_NAME, ours) != 0 ||
		(name[ours] != ':' && name[ours] != '\0')) {
		if (rte_strscpy(handler->ops, name, sizeof(handler->ops)) < 0)
			return -EINVAL;
		rte_strscpy(handler->name, name, sizeof(handler->name));
		return 0;
	}
	if (strcmp(name + ours, ":") == 0 ||
		pw_strategy_parse(name[ours] == ':' ? name + ours + 1 : NULL, &strategy) < 0)
		return -EINVAL;
	handler->kind = PW_BENCH_OURS;
	rte_strscpy(handler->ops, PW_MEMPOOL_OPS_NAME, sizeof(handler->ops));
	rte_strscpy(handler->strategy, strategy.name, sizeof(handler->strategy));
	snprintf(handler->name, sizeof(handler->name), PW_MEMPOOL_OPS_NAME ":%s", strategy.name);
	return 0;
}

bool
pw_pool_handler_is_loaded(const struct pw_pool_handler *handler)
{
	for (unsigned i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, handler->ops) == 0)
			return true;
	return false;
}

struct pw_bench_column
pw_pool_handler_column(const struct pw_pool_handler *handler)
{
	struct pw_bench_column column = {.side = handler->kind};
	bool ours = handler->kind == PW_BENCH_OURS;

	column.has_ratios = ours && strcmp(handler->strategy, PW_STRATEGY_DEFAULT) == 0;
	rte_strscpy(column.name, handler->name, sizeof(column.name));
	rte_strscpy(column.above, ours ? handler->ops : "", sizeof(column.above));
	rte_strscpy(column.below, ours ? handler->strategy : handler->name, sizeof(column.below));
	return column;
}

/* What is missing, when it is memory. */
static void
explain(struct pw_pool_handler *handler, int rc)
{
	char what[64];

	if (rc != -ENOMEM && rc != -ENOBUFS) {
		snprintf(handler->reason, sizeof(handler->reason),
			"no pool of %u buffers of %zu bytes: %s", handler->size,
			PW_POOL_BUFFER_BYTES, strerror(-rc));
		return;
	}
	snprintf(what, sizeof(what), "a pool of %u buffers of %zu bytes", handler->size,
		PW_POOL_BUFFER_BYTES);
	/* Twice as much: pages have waste. */
	pw_bench_explain_memory(handler->reason, sizeof(handler->reason), what,
		((handler->size * PW_POOL_BUFFER_BYTES) >> 20) + 1, "smaller --sizes");
}

static int
make_pool(struct pw_pool_handler *handler)
{
	handler->mp = pw_bench_mempool_create(handler->ops,
		handler->kind == PW_BENCH_OURS ? handler->strategy : NULL, handler->size,
		PW_POOL_BUFFER_BYTES, handler->cache);
	return handler->mp == NULL ? -rte_errno : 0;
}

/* Get all that can be got, past rte_mempool's cache, whose failing get not every handler bears. */
static unsigned
get_all(struct rte_mempool *mp, void **buffers, unsigned max)
{
	unsigned n = 0;

	while (n + PW_POOL_BURST <= max &&
		rte_mempool_generic_get(mp, buffers + n, PW_POOL_BURST, NULL) == 0)
		n += PW_POOL_BURST;
	while (n < max && rte_mempool_generic_get(mp, buffers + n, 1, NULL) == 0)
		n++;
	return n;
}

static void
put_all(struct rte_mempool *mp, void **buffers, unsigned n)
{
	for (unsigned i = 0; i < n; i += PW_POOL_BURST)
		rte_mempool_generic_put(mp, buffers + i, RTE_MIN(n - i, PW_POOL_BURST), NULL);
}

static int
compare_pointers(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* Learn which buffers there are, and that each is there once. */
static int
learn_buffers(struct pw_pool_handler *handler)
{
	unsigned n = get_all(handler->mp, handler->buffers, handler->size);

	handler->nb_buffers = n;
	qsort(handler->buffers, n, sizeof(*handler->buffers), compare_pointers);
	for (unsigned i = 1; i < n; i++)
		if (handler->buffers[i] == handler->buffers[i - 1]) {
			snprintf(handler->reason, sizeof(handler->reason),
				"a new pool hands out a buffer twice");
			return -EIO;
		}
	put_all(handler->mp, handler->buffers, n);
	/* A handler may have a rest that it cannot serve; ours may not. */
	if (n < (handler->kind == PW_BENCH_DPDK ? handler->size / 2 : handler->size)) {
		snprintf(handler->reason, sizeof(handler->reason),
			"of a new pool, %u of %u buffers can be got", n, handler->size);
		return -EIO;
	}
	return 0;
}

int
pw_pool_handler_open(struct pw_pool_handler *handler, uint32_t size, uint32_t cache)
{
	bool is_floor = handler->kind == PW_BENCH_FLOOR;
	int rc;

	handler->size = is_floor ? FLOOR_BUFFERS : size;
	handler->cache = is_floor ? 0 : cache;
	handler->reason[0] = '\0';
	handler->buffers = calloc(handler->size, sizeof(*handler->buffers));
	handler->scratch = calloc(handler->size, sizeof(*handler->scratch));
	rc = handler->buffers == NULL || handler->scratch == NULL ? -ENOMEM : make_pool(handler);
	if (rc == 0)
		rc = learn_buffers(handler);
	else
		explain(handler, rc);
	if (rc < 0)
		pw_pool_handler_close(handler);
	return rc;
}

void
pw_pool_handler_close(struct pw_pool_handler *handler)
{
	rte_mempool_free(handler->mp);
	handler->mp = NULL;
	free(handler->buffers);
	free(handler->scratch);
	handler->buffers = handler->scratch = NULL;
}

int
pw_pool_handler_reopen(struct pw_pool_handler *handler)
{
	pw_pool_handler_close(handler);
	return pw_pool_handler_open(handler, handler->size, handler->cache);
}

/* The same buffers as ever, each once? Sum and exclusive-or tell, without sorting. */
static bool
are_the_same(void *const *a, void *const *b, unsigned n)
{
	uintptr_t sum = 0, parity = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += (uintptr_t)a[i] - (uintptr_t)b[i];
		parity ^= (uintptr_t)a[i] ^ (uintptr_t)b[i];
	}
	return sum == 0 && parity == 0;
}

int
pw_pool_handler_order(struct pw_pool_handler *handler, enum pw_pool_order order, uint64_t seed)
{
	unsigned n = get_all(handler->mp, handler->scratch, handler->size);

	/* Some of bucket's free buffers wait until others of their group are put. */
	if (n < handler->nb_buffers && handler->kind == PW_BENCH_DPDK) {
		put_all(handler->mp, handler->scratch, n);
		n = get_all(handler->mp, handler->scratch, handler->size);
	}
	if (n != handler->nb_buffers || !are_the_same(handler->scratch, handler->buffers, n)) {
		snprintf(handler->reason, sizeof(handler->reason),
			"%u buffers can be got, %u before%s", n, handler->nb_buffers,
			n == handler->nb_buffers ? ", but they are not the same" : "");
		return -EIO;
	}
	memcpy(handler->scratch, handler->buffers, n * sizeof(*handler->scratch));
	if (order == PW_POOL_DISORDER)
		pw_bench_shuffle(handler->scratch, n, seed);
	put_all(handler->mp, handler->scratch, n);
	return 0;
}

int
pw_pool_handler_settle(struct pw_pool_handler *handler)
{
	unsigned available = pw_bench_mempool_settle(handler->mp);

	if (available == handler->mp->size)
		return 0;
	snprintf(handler->reason, sizeof(handler->reason),
		"%u of %u buffers are back at the end of a measurement", available,
		handler->mp->size);
	return -EIO;
}
