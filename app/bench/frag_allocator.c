/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "frag_allocator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "environment.h"
#include "mempool.h"

/* Those beside the strategies. */
static const struct {
	const char *name, *help, *ops;
	enum pw_bfrag_kind kind;
	enum pw_bench_side side;
} others[] = {
	{"rte_malloc", "rte_malloc() and rte_free(), aligned to 64 bytes", NULL, PW_BFRAG_MALLOC,
		PW_BENCH_DPDK},
	{"mempool", "a mempool of ring_mp_mc for just that size, cache 256", "ring_mp_mc",
		PW_BFRAG_MEMPOOL, PW_BENCH_DPDK},
	{"mempool:pagewheel", "the same of our handler", "pagewheel", PW_BFRAG_MEMPOOL,
		PW_BENCH_OURS},
	/* Not in the help: it is there always. */
	{"floor", NULL, NULL, PW_BFRAG_FIXED, PW_BENCH_FLOOR},
};

/* Of "frag:reuse", frag is shown above reuse. */
static void
set_name(struct pw_bench_column *column, const char *name)
{
	const char *colon = strchr(name, ':');
	int above = colon == NULL ? 0 : (int)(colon - name);

	rte_strscpy(column->name, name, sizeof(column->name));
	snprintf(column->above, sizeof(column->above), "%.*s", above, name);
	rte_strscpy(column->below, colon == NULL ? name : colon + 1, sizeof(column->below));
}

static int
init_frag(struct pw_bfrag_allocator *allocator, const char *name)
{
	char full[48];

	if (strcmp(name, "frag:") == 0 ||
		pw_strategy_parse(name[4] == ':' ? name + 5 : NULL, &allocator->strategy) < 0)
		return -EINVAL;
	snprintf(full, sizeof(full), "frag:%s", allocator->strategy.name);
	set_name(&allocator->column, full);
	allocator->kind = PW_BFRAG_FRAG;
	allocator->column.side = PW_BENCH_OURS;
	allocator->column.has_ratios = strcmp(allocator->strategy.name, PW_STRATEGY_DEFAULT) == 0;
	return 0;
}

int
pw_bfrag_allocator_init(struct pw_bfrag_allocator *allocator, const char *name)
{
	*allocator = (struct pw_bfrag_allocator){0};
	if (strcmp(name, "frag") == 0 || strncmp(name, "frag:", 5) == 0)
		return init_frag(allocator, name);
	for (unsigned i = 0; i < RTE_DIM(others); i++) {
		if (strcmp(name, others[i].name) != 0)
			continue;
		set_name(&allocator->column, name);
		allocator->kind = others[i].kind;
		allocator->column.side = others[i].side;
		allocator->ops = others[i].ops;
		return 0;
	}
	return -EINVAL;
}

const char *
pw_bfrag_allocator_help(unsigned i, const char **name)
{
	if (i >= RTE_DIM(others))
		return NULL;
	*name = others[i].name;
	return others[i].help;
}

bool
pw_bfrag_allocator_fits(struct pw_bfrag_allocator *allocator, uint32_t size_bytes)
{
	size_t page_bytes = pw_strategy_page_bytes(&allocator->strategy);
	bool flips = allocator->strategy.reuse == PW_REUSE_FLIP;

	if (allocator->kind != PW_BFRAG_FRAG || size_bytes <= page_bytes / (flips ? 2 : 1))
		return true;
	snprintf(allocator->reason, sizeof(allocator->reason), "%s of %zu bytes are too small",
		flips ? "halves of pages" : "pages", page_bytes);
	return false;
}

static int
open_pool(struct pw_bfrag_allocator *allocator)
{
	static unsigned number;
	char name[32];
	struct pw_frag_pool_params params = {
		.name = name,
		.socket_id = (int)rte_socket_id(),
		.strategy = allocator->strategy,
		.bytes = PW_BFRAG_POOL_BYTES,
	};

	snprintf(name, sizeof(name), "bench_frag%u", number++);
	allocator->pool = pw_frag_pool_create(&params);
	return allocator->pool == NULL ? -rte_errno : 0;
}

static int
open_mempool(struct pw_bfrag_allocator *allocator)
{
	allocator->mp = pw_bench_mempool_create(
		allocator->ops, NULL, PW_BFRAG_OBJECTS, allocator->size_bytes, PW_BFRAG_CACHE);
	return allocator->mp == NULL ? -rte_errno : 0;
}

/* What is missing, when it is memory. */
static void
explain(struct pw_bfrag_allocator *allocator, int rc)
{
	unsigned long bytes = PW_BFRAG_POOL_BYTES;
	char what[64];

	if (allocator->kind == PW_BFRAG_FRAG)
		snprintf(what, sizeof(what), "a pool of %lu MiB", bytes >> 20);
	else
		snprintf(what, sizeof(what), "%u objects of %u bytes", PW_BFRAG_OBJECTS,
			allocator->size_bytes);
	if (rc != -ENOMEM && rc != -ENOBUFS)
		snprintf(allocator->reason, sizeof(allocator->reason), "no %s: %s", what,
			strerror(-rc));
	else
		/* Objects may need twice their size: pages have waste. */
		pw_bench_explain_memory(allocator->reason, sizeof(allocator->reason), what,
			allocator->kind == PW_BFRAG_FRAG
				? bytes >> 21
				: ((PW_BFRAG_OBJECTS * allocator->size_bytes) >> 20) + 1,
			"fewer --allocators");
}

int
pw_bfrag_allocator_open(struct pw_bfrag_allocator *allocator, uint32_t size_bytes)
{
	int rc = 0;

	allocator->size_bytes = size_bytes;
	allocator->reason[0] = '\0';
	if (allocator->kind == PW_BFRAG_FRAG) {
		rc = open_pool(allocator);
	} else if (allocator->kind == PW_BFRAG_MEMPOOL) {
		rc = open_mempool(allocator);
	} else if (allocator->kind == PW_BFRAG_FIXED) {
		size_t bytes = (size_t)PW_BFRAG_FLOOR * RTE_ALIGN_CEIL(size_bytes, PW_BFRAG_ALIGN);

		allocator->memory = rte_zmalloc("floor", bytes, PW_BFRAG_ALIGN);
		rc = allocator->memory == NULL ? -ENOMEM : 0;
	}
	if (rc < 0)
		explain(allocator, rc);
	return rc;
}

void
pw_bfrag_allocator_close(struct pw_bfrag_allocator *allocator)
{
	pw_frag_cache_destroy(allocator->cache);
	allocator->cache = NULL;
	/* Some may be in flight, after an error: their memory is lost then. */
	pw_frag_pool_destroy(allocator->pool);
	allocator->pool = NULL;
	rte_mempool_free(allocator->mp);
	allocator->mp = NULL;
	rte_free(allocator->memory);
	allocator->memory = NULL;
}

static uint64_t
count_mallocs(void)
{
	struct rte_malloc_socket_stats stats;

	if (rte_malloc_get_socket_stats((int)rte_socket_id(), &stats) < 0)
		return 0;
	return stats.alloc_count;
}

static uint64_t
bytes_held(const struct pw_bfrag_allocator *allocator)
{
	struct pw_arena_stats stats;

	pw_arena_get_stats(pw_frag_pool_arena(allocator->pool), &stats);
	return stats.bytes_held;
}

int
pw_bfrag_allocator_begin(struct pw_bfrag_allocator *allocator, bool fragmented)
{
	if (allocator->kind == PW_BFRAG_MALLOC)
		allocator->base = count_mallocs();
	if (allocator->kind != PW_BFRAG_FRAG)
		return 0;
	if (fragmented)
		pw_arena_fragment(pw_frag_pool_arena(allocator->pool), 0);
	allocator->base = bytes_held(allocator);
	allocator->cache = pw_frag_cache_create(allocator->pool);
	if (allocator->cache != NULL)
		return 0;
	snprintf(allocator->reason, sizeof(allocator->reason), "no memory for a cache");
	return -ENOMEM;
}

static int
not_back(struct pw_bfrag_allocator *allocator, uint64_t n, const char *what)
{
	snprintf(allocator->reason, sizeof(allocator->reason),
		"%llu %s at the end of a measurement", (unsigned long long)n, what);
	return -EIO;
}

static int
end_frag(struct pw_bfrag_allocator *allocator)
{
	uint64_t in_flight = pw_frag_pool_in_flight(allocator->pool), held;

	pw_frag_cache_destroy(allocator->cache);
	allocator->cache = NULL;
	pw_page_cache_drain(pw_frag_pool_page_cache(allocator->pool));
	held = bytes_held(allocator);
	pw_arena_defragment(pw_frag_pool_arena(allocator->pool));
	if (in_flight > 0)
		return not_back(allocator, in_flight, "fragments are not back");
	if (held != allocator->base)
		return not_back(
			allocator, held - allocator->base, "bytes of empty pages are not home");
	return 0;
}

int
pw_bfrag_allocator_end(struct pw_bfrag_allocator *allocator)
{
	if (allocator->kind == PW_BFRAG_FRAG)
		return end_frag(allocator);
	if (allocator->kind == PW_BFRAG_MALLOC) {
		uint64_t more = count_mallocs() - allocator->base;

		return more == 0 ? 0 : not_back(allocator, more, "allocations are not freed");
	}
	if (allocator->kind == PW_BFRAG_MEMPOOL) {
		unsigned less = allocator->mp->size - pw_bench_mempool_settle(allocator->mp);

		return less == 0 ? 0 : not_back(allocator, less, "objects are not back");
	}
	return 0;
}
