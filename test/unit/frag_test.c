/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_ring.h>

#include "pw_frag.h"
#include "pw_frag_pool.h"
#include "pw_frag_rig.h"
#include "pw_pages.h"

static const char *const presets[] = {PW_FRAG_STRATEGIES};
/* The presets that cut pages to the last byte, in small and in large pages. */
static const char *const cutting[] = {
	"order0", "order3", "cached", "cached:1", "reuse", "reuse:0", "page_pool", "page_pool:2"};

/* ---- the pool ---- */

static void
wrong_pools_are_refused(void **state)
{
	struct desk desk;
	struct pw_frag_pool_params good, params;
	struct pw_test_memory before;

	(void)state;
	desk_open(&desk, "reuse", 1);
	good = desk_params("reuse", 1);
	before = pw_test_memory();
	for (unsigned i = 0;; i++) {
		int error = EINVAL;

		params = good;
		switch (i) {
		case 0:
			params.name = NULL;
			break;
		case 1:
			params.name = "";
			break;
		case 2:
			params.name = "frag_name_of_32_characters_-----";
			error = ENAMETOOLONG;
			break;
		case 3:
			params.bytes = 0;
			break;
		case 4:
			params.bytes = SIZE_MAX;
			break;
		case 5:
			params.bytes = (size_t)1 << 40;
			error = ENOMEM;
			break;
		case 6:
			params.socket_id = -2;
			break;
		case 7:
			params.strategy.page_order = PW_PAGE_ORDER_MAX + 1;
			break;
		case 8: /* one of another desk's */
			assert_non_null(rte_memzone_reserve(good.name, 64, SOCKET_ID_ANY, 0));
			before = pw_test_memory();
			error = EEXIST;
			break;
		default:
			rte_memzone_free(rte_memzone_lookup(good.name));
			desk_close(&desk);
			return;
		}
		rte_errno = 0;
		assert_null(pw_frag_pool_create(&params));
		assert_int_equal(rte_errno, error);
		pw_test_memory_equal(before);
	}
}

/* Whichever allocation fails on the way to a first fragment, nothing stays behind. */
static void
failed_creations_leak_nothing(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct pw_frag_pool_params params = desk_params(presets[s], 1);
		struct pw_test_memory before = pw_test_memory();
		struct pw_frag_pool *pool;
		struct pw_frag_cache *cache;
		bool failed;
		int k = -1;

		do {
			rte_errno = 0;
			pw_test_fail_alloc(++k);
			pool = pw_frag_pool_create(&params);
			cache = pool == NULL ? NULL : pw_frag_cache_create(pool);
			failed = pw_test_alloc_failed();
			pw_test_fail_alloc(-1);
			assert_int_equal(cache == NULL, failed);
			assert_int_equal(rte_errno == ENOMEM, failed);
			pw_frag_cache_destroy(cache);
			assert_int_equal(pw_frag_pool_destroy(pool), 0);
			pw_test_memory_equal(before);
		} while (failed);
		assert_true(k >= 6);
	}
}

static void
a_thousand_pools_leak_nothing(void **state)
{
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct pw_frag_pool_params params = desk_params(presets[i % RTE_DIM(presets)], 1);
		struct pw_frag_pool *pool = pw_frag_pool_create(&params);
		struct pw_frag_cache *cache = pw_frag_cache_create(pool);
		void *frag = pw_frag_alloc(cache, 100, 64);

		assert_non_null(frag);
		pw_frag_cache_destroy(cache);
		assert_int_equal(pw_frag_free(pool, frag), 0);
		assert_int_equal(pw_frag_pool_destroy(pool), 0);
	}
	pw_test_memory_equal(before);
}

static void
a_pool_with_fragments_in_flight_stays(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		char *frags[7];

		desk_open(&desk, presets[s], 16);
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			frags[i] = desk_take(&desk, 1000);
			memset(frags[i], i, 1000);
		}
		assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 7);
		pw_frag_cache_destroy(desk.cache);
		desk.cache = NULL;
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), 7 - i);
			assert_int_equal(frags[i][0], i);
			assert_int_equal(frags[i][999], i);
			desk_give(&desk, frags[i]);
		}
		desk_close(&desk);
	}
	assert_int_equal(pw_frag_pool_destroy(NULL), 0);
}

static void
a_pool_with_caches_stays(void **state)
{
	struct desk desk;
	struct pw_frag_cache *other;

	(void)state;
	desk_open(&desk, "cached", 2);
	other = pw_frag_cache_create(desk.pool);
	assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
	pw_frag_cache_destroy(desk.cache);
	assert_int_equal(pw_frag_pool_destroy(desk.pool), -EBUSY);
	assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
	pw_frag_cache_destroy(other);
	pw_frag_cache_destroy(NULL);
	desk.cache = NULL;
	desk_close(&desk);
}

/* In use or not, bias or not: what is in flight is what was handed out and not freed. */
static void
references_in_flight_are_counted(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		char *frags[40];
		uint64_t in_flight = 0;

		desk_open(&desk, presets[s], 64);
		for (unsigned i = 0; i < RTE_DIM(frags); i++, in_flight++) {
			frags[i] = desk_take(&desk, 1 + i * 100);
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), in_flight + 1);
		}
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			assert_int_equal(pw_frag_ref(desk.pool, frags[i]), 0);
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), ++in_flight);
		}
		for (unsigned i = 0; i < 2 * RTE_DIM(frags); i++) {
			if (i % 3 == 0)
				desk_give(&desk, frags[i / 2]);
			else
				assert_int_equal(pw_frag_cache_free(desk.cache, frags[i / 2]), 0);
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), --in_flight);
		}
		desk_close(&desk);
	}
}

/* A fragment of one byte in each page: the pages count in full, and as pinned. */
static void
pages_pinned_by_few_fragments_are_told(void **state)
{
	struct desk desk;
	struct pw_frag_pool_stats stats;
	char *held[1000], *filler;

	(void)state;
	desk_open(&desk, "order0", 1000 + 10);
	for (unsigned i = 0; i < RTE_DIM(held); i++) {
		filler = desk_take(&desk, 4095);
		held[i] = desk_take(&desk, 1);
		desk_give(&desk, filler);
	}
	stats = desk_pool_stats(&desk);
	assert_int_equal(stats.frags_in_flight, 1000);
	assert_int_equal(stats.pages_in_use, 1000);
	assert_int_equal(stats.bytes_in_use, 1000 * 4096);
	assert_int_equal(stats.pages_pinned, 999); /* the last one is still cut */
	assert_true(stats.pages.meta_bytes * 100 <= stats.pages.bytes);
	pw_frag_cache_destroy(desk.cache);
	desk.cache = NULL;
	assert_int_equal(desk_pool_stats(&desk).pages_pinned, 1000);
	for (unsigned i = 0; i < 500; i++)
		assert_int_equal(pw_frag_ref(desk.pool, held[i]), 0);
	assert_int_equal(pw_frag_ref(desk.pool, held[0]), 0);
	assert_int_equal(desk_pool_stats(&desk).pages_pinned, 999); /* three are not few */
	desk_give(&desk, held[0]);
	for (unsigned i = 0; i < 500; i++)
		desk_give(&desk, held[i]);
	for (unsigned i = 0; i < RTE_DIM(held); i++)
		desk_give(&desk, held[i]);
	desk_close(&desk);
}

/* ---- cutting ---- */

static void
fragments_go_from_the_end_to_the_start(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(cutting); s++) {
		struct desk desk;
		char *frags[4], *next, *start;
		size_t size;

		desk_open(&desk, cutting[s], 2);
		size = desk.page_bytes / 4 - 24;
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			frags[i] = desk_take(&desk, size);
			start = desk_page_start(&desk, frags[0]);
			assert_ptr_equal(frags[i], start + desk.page_bytes - (i + 1) * size);
		}
		next = desk_take(&desk, 97); /* one byte more than is left */
		assert_ptr_not_equal(desk_page_start(&desk, next), start);
		assert_ptr_equal(next, desk_page_start(&desk, next) + desk.page_bytes - 97);
		assert_int_equal(desk_stats(&desk).tail_bytes, 96);
		for (unsigned i = 0; i < RTE_DIM(frags); i++)
			desk_give(&desk, frags[i]);
		desk_give(&desk, next);
		desk_close(&desk);
	}
}

static void
a_page_can_be_used_to_the_last_byte(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(cutting); s++) {
		struct desk desk;
		char *frags[3];

		desk_open(&desk, cutting[s], 2);
		frags[0] = desk_take(&desk, desk.page_bytes);
		assert_ptr_equal(frags[0], desk_page_start(&desk, frags[0]));
		frags[1] = desk_take(&desk, desk.page_bytes - 1);
		frags[2] = desk_take(&desk, 1);
		assert_ptr_equal(frags[2], desk_page_start(&desk, frags[1]));
		for (unsigned i = 0; i < RTE_DIM(frags); i++)
			desk_give(&desk, frags[i]);
		assert_int_equal(desk_stats(&desk).tail_bytes, 0);
		desk_close(&desk);
	}
}

static void
fragments_are_aligned_and_apart(void **state)
{
	static const char *const strategies[] = {
		PW_FRAG_STRATEGIES, "reuse:0", "reuse:9", "flip:0", "flip:4", "flip:9"};
	static const size_t sizes[] = {1, 7, 64, 100, 1536, 2049, 4096};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk;
		char *last = NULL;
		size_t last_size = 0;

		desk_open(&desk, strategies[s], 30);
		for (size_t align = 1; align <= desk.page_bytes; align *= 2) {
			size_t size = sizes[align % RTE_DIM(sizes)];
			char *frag = pw_frag_alloc(desk.cache, size, align);

			assert_non_null(frag);
			assert_int_equal((uintptr_t)frag % align, 0);
			assert_ptr_equal(desk_page_start(&desk, frag),
				desk_page_start(&desk, frag + size - 1));
			assert_true(
				frag + size <= last || last == NULL || last + last_size <= frag);
			if (last != NULL)
				desk_give(&desk, last);
			last = frag;
			last_size = size;
		}
		desk_give(&desk, last);
		desk_close(&desk);
	}
}

static void
refused_calls_leave_the_cache_as_it_was(void **state)
{
	static const struct {
		size_t size_pages, size_bytes, align_pages, align_bytes;
		int error;
	} wrong[] = {
		{0, 0, 0, 1, EINVAL},
		{0, 0, 0, 64, EINVAL},
		{0, 1, 0, 0, EINVAL},
		{0, 1, 0, 3, EINVAL},
		{0, 1, 0, 96, EINVAL},
		{0, 1, 2, 0, EINVAL},
		{0, 1, 0, SIZE_MAX, EINVAL},
		{0, 1, 0, (size_t)1 << 32, EINVAL},
		{0, 1, 0, (size_t)1 << 63, EINVAL},
		{1, 1, 0, 1, EMSGSIZE},
		{1, 1, 0, 64, EMSGSIZE},
		{0, (size_t)1 << 32, 0, 1, EMSGSIZE},
		{0, ((size_t)1 << 32) + 1, 0, 1, EMSGSIZE},
		{0, SIZE_MAX, 0, 1, EMSGSIZE},
		{0, SIZE_MAX, 0, 3, EINVAL},
	};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct pw_frag_stats before, after;
		struct desk desk;
		char *first, *second;

		desk_open(&desk, presets[s], 2);
		first = desk_take(&desk, 10);
		before = desk_stats(&desk);
		for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
			size_t size = wrong[i].size_pages * desk.page_bytes + wrong[i].size_bytes;
			size_t align = wrong[i].align_pages * desk.page_bytes +
				wrong[i].align_bytes;

			rte_errno = 0;
			assert_null(pw_frag_alloc(desk.cache, size, align));
			assert_int_equal(rte_errno, wrong[i].error);
		}
		after = desk_stats(&desk);
		assert_memory_equal(&after, &before, sizeof(before));
		second = desk_take(&desk, 10);
		if (!desk_flips(&desk))
			assert_ptr_equal(second, first - 10);
		desk_give(&desk, first);
		desk_give(&desk, second);
		desk_close(&desk);
	}
}

static void
refused_calls_take_no_page(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		char *frag;

		desk_open(&desk, presets[s], 1);
		for (unsigned i = 0; i < 3; i++)
			assert_null(pw_frag_alloc(desk.cache, 0, 1));
		assert_null(pw_frag_alloc(desk.cache, desk.page_bytes + 1, 1));
		assert_int_equal(desk_pool_stats(&desk).pages_in_use, 0);
		frag = desk_take(&desk, desk.page_bytes);
		assert_ptr_equal(frag, desk_page_start(&desk, frag));
		desk_give(&desk, frag);
		desk_close(&desk);
	}
}

static void
exhaustion_leaves_the_cache_as_it_was(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(cutting); s++) {
		struct desk desk;
		char *first, *second;

		desk_open(&desk, cutting[s], 1);
		first = desk_take(&desk, desk.page_bytes - 96);
		for (unsigned i = 0; i < 3; i++) {
			rte_errno = 0;
			assert_null(pw_frag_alloc(desk.cache, 97, 1));
			assert_int_equal(rte_errno, ENOMEM);
		}
		assert_int_equal(desk_stats(&desk).failures, 3);
		assert_int_equal(desk_stats(&desk).allocs, 1);
		assert_int_equal(desk_stats(&desk).tail_bytes, 0);
		second = desk_take(&desk, 96);
		assert_ptr_equal(second, first - 96);
		desk_give(&desk, first);
		desk_give(&desk, second);
		desk_close(&desk);
	}
}

/* A pool of one page serves for ever, as long as the page becomes free in between. */
static void
one_page_is_enough(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;

		desk_open(&desk, presets[s], 1);
		for (unsigned i = 0; i < 600; i++) {
			/* Halves and whole pages in turn, for those that flip. */
			size_t size = i / 2 % 2 == 0 ? desk.page_bytes / 2 + 1
						     : desk.page_bytes / 2;
			char *frag = desk_take(&desk, size);

			memset(frag, i, size);
			if (i % 3 == 0)
				desk_give(&desk, frag);
			else
				assert_int_equal(pw_frag_cache_free(desk.cache, frag), 0);
		}
		assert_int_equal(desk_stats(&desk).failures, 0);
		desk_close(&desk);
	}
}

static void
fragments_and_bytes_are_counted(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		struct pw_frag_stats stats;
		char *frag, *other;

		desk_open(&desk, presets[s], 2);
		frag = pw_frag_alloc(desk.cache, 100, 64);
		other = pw_frag_alloc(desk.cache, 1, 1);
		assert_int_equal(pw_frag_ref(desk.pool, other), 0);
		assert_int_equal(pw_frag_cache_free(desk.cache, other), 0);
		assert_int_equal(pw_frag_cache_free(desk.cache, other), 0);
		desk_give(&desk, frag);
		assert_int_equal(pw_frag_cache_free(desk.cache, &desk), -EINVAL);
		stats = desk_stats(&desk);
		assert_int_equal(stats.allocs, 2);
		assert_int_equal(stats.bytes, 101);
		assert_int_equal(stats.local_frees, 2);
		assert_int_equal(stats.refills, desk_flips(&desk) ? 2 : 1);
		assert_int_equal(stats.reuses, 0);
		assert_int_equal(stats.failures, 0);
		assert_int_equal(stats.fallback_pages, 0);
		assert_int_equal(stats.tail_bytes, desk_flips(&desk) ? desk.page_bytes - 101 : 0);
		desk_close(&desk);
	}
}

/* ---- references ---- */

/* The most references there can be: a big page of the smallest fragments. */
static void
bytes_fill_a_page_which_goes_home_once(void **state)
{
	static const char *const strategies[] = {"order0:4", "cached:4", "reuse:4", "page_pool:4",
		"order0:9", "cached:9", "reuse:9", "page_pool:9"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct pw_frag_pool_stats before, stats;
		struct desk desk;
		char *first, *next;

		desk_open(&desk, strategies[s], 2);
		first = desk_take(&desk, 1);
		for (size_t i = 1; i < desk.page_bytes; i++)
			assert_ptr_equal(desk_take(&desk, 1), first - i);
		next = desk_take(&desk, 1);
		assert_ptr_not_equal(desk_page_start(&desk, next), desk_page_start(&desk, first));
		before = desk_pool_stats(&desk);
		assert_int_equal(before.frags_in_flight, desk.page_bytes + 1);
		for (size_t i = 0; i < desk.page_bytes - 1; i++)
			desk_give(&desk, first - i);
		stats = desk_pool_stats(&desk);
		assert_int_equal(stats.frags_in_flight, 2);
		assert_int_equal(stats.pages_in_use, 2);
		desk_give(&desk, first - (desk.page_bytes - 1));
		stats = desk_pool_stats(&desk);
		assert_int_equal(stats.frags_in_flight, 1);
		assert_int_equal(stats.pages_in_use, 1);
		assert_int_equal(
			stats.pages.page_frees + stats.cache.cached, before.pages.page_frees + 1);
		/* It is home: nothing more to free there. */
		assert_int_equal(pw_frag_free(desk.pool, first), -EINVAL);
		desk_give(&desk, next);
		desk_close(&desk);
	}
}

/* Freed while the cache still uses the page, nothing goes home before the cache leaves it. */
static void
bytes_freed_at_once_keep_the_page(void **state)
{
	(void)state;
	for (unsigned local = 0; local < 2; local++) {
		struct desk desk;
		char *first = NULL;

		desk_open(&desk, "reuse:9", 1);
		for (size_t i = 0; i < 2 * desk.page_bytes; i++) {
			char *frag = desk_take(&desk, 1);

			if (i == 0)
				first = frag;
			assert_ptr_equal(frag, first - i % desk.page_bytes);
			if (local)
				assert_int_equal(pw_frag_cache_free(desk.cache, frag), 0);
			else
				desk_give(&desk, frag);
		}
		assert_int_equal(desk_pool_stats(&desk).pages_in_use, 1);
		assert_int_equal(desk_stats(&desk).reuses, 1);
		assert_int_equal(desk_stats(&desk).refills, 1);
		assert_int_equal(desk_stats(&desk).local_frees, local ? 2 * desk.page_bytes : 0);
		desk_close(&desk);
	}
}

/* More references than a cache may keep of what its owner frees, in either half. */
static void
many_references_come_and_go(void **state)
{
	static const char *const strategies[] = {"reuse:0", "flip:0"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk;
		char *frags[2];

		desk_open(&desk, strategies[s], 2);
		for (unsigned f = 0; f < RTE_DIM(frags); f++) {
			frags[f] = desk_take(&desk, 100);
			for (unsigned i = 0; i < 100000; i++) {
				assert_int_equal(pw_frag_ref(desk.pool, frags[f]), 0);
				assert_int_equal(pw_frag_cache_free(desk.cache, frags[f]), 0);
			}
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), f + 1);
		}
		for (unsigned i = 1; i < 16384; i++)
			for (unsigned f = 0; f < RTE_DIM(frags); f++)
				assert_int_equal(pw_frag_ref(desk.pool, frags[f]), 0);
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 2 * 16384);
		for (unsigned i = 0; i < 16384; i++)
			for (unsigned f = 0; f < RTE_DIM(frags); f++)
				assert_int_equal(pw_frag_cache_free(desk.cache, frags[f]), 0);
		desk_close(&desk);
	}
}

/* One of two holders of a fragment lets go: the other's bytes stay while 1000 more pass. */
static void
a_second_reference_keeps_the_bytes(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		char *frag, expected[2048];
		struct desk desk;

		desk_open(&desk, presets[s], 300);
		frag = desk_take(&desk, 2048);
		memset(expected, 0x5a, sizeof(expected));
		memset(frag, 0x5a, 2048);
		assert_int_equal(pw_frag_ref(desk.pool, frag), 0);
		desk_give(&desk, frag);
		for (unsigned i = 0; i < 1000; i++) {
			char *other = desk_take(&desk, 2048);

			assert_true(other + 2048 <= frag || frag + 2048 <= other);
			memset(other, i, 2048);
			if (i % 2 == 0)
				desk_give(&desk, other + i); /* anywhere in it */
			else
				assert_int_equal(pw_frag_cache_free(desk.cache, other + i), 0);
		}
		assert_memory_equal(frag, expected, sizeof(expected));
		desk_give(&desk, frag);
		desk_close(&desk);
	}
}

static void
foreign_addresses_are_refused(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk, other;
		char *frag, *foreign;

		desk_open(&desk, presets[s], 2);
		desk_open(&other, presets[s], 2);
		frag = desk_take(&desk, 100);
		foreign = desk_take(&other, 100);
		{
			char *start = desk_page_start(&desk, frag);
			char *memory = RTE_PTR_ALIGN_FLOOR(start, 2 << 20);
			const void *wrong[] = {NULL, &desk, foreign, memory - 1,
				start + desk.page_bytes /* free */, (void *)UINTPTR_MAX};

			for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
				assert_int_equal(pw_frag_free(desk.pool, wrong[i]), -EINVAL);
				assert_int_equal(pw_frag_ref(desk.pool, wrong[i]), -EINVAL);
				assert_int_equal(pw_frag_cache_free(desk.cache, wrong[i]), -EINVAL);
			}
			assert_int_equal(desk_pool_stats(&desk).refused, 3 * RTE_DIM(wrong));
		}
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 1);
		assert_int_equal(pw_frag_pool_in_flight(other.pool), 1);
		desk_give(&desk, frag);
		desk_give(&other, foreign);
		/* The one opened last goes first: what each checks is the memory at its opening. */
		desk_close(&other);
		desk_close(&desk);
	}
}

/* Whoever frees twice is told, at the latest when the cache leaves the page; nothing else breaks.
 */
static void
second_frees_are_counted(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++)
		for (unsigned way = 0; way < 3; way++) {
			struct desk desk;
			char *frag;

			desk_open(&desk, presets[s], 3);
			frag = desk_take(&desk, 1000);
			if (way == 2) {
				pw_frag_cache_destroy(desk.cache);
				desk.cache = NULL;
			}
			for (unsigned i = 0; i < 2; i++) {
				if (way == 0)
					pw_frag_cache_free(desk.cache, frag);
				else
					pw_frag_free(desk.pool, frag);
			}
			pw_frag_cache_destroy(desk.cache);
			desk.cache = NULL;
			assert_int_equal(desk_pool_stats(&desk).refused, 1);
			desk_close(&desk);
		}
}

static void
fragments_outlive_their_cache(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		char *frags[7], *later;

		desk_open(&desk, presets[s], 8);
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			frags[i] = desk_take(&desk, 512);
			memset(frags[i], i, 512);
		}
		pw_frag_cache_destroy(desk.cache);
		desk.cache = pw_frag_cache_create(desk.pool);
		later = desk_take(&desk, 512);
		memset(later, 0xff, 512);
		for (unsigned i = 0; i < RTE_DIM(frags); i++) {
			assert_int_equal(frags[i][0], i);
			assert_int_equal(frags[i][511], i);
			assert_int_equal(pw_frag_cache_free(desk.cache, frags[i]), 0);
		}
		desk_give(&desk, later);
		desk_close(&desk);
	}
}

/* ---- reuse ---- */

static void
a_page_is_reused_by_its_only_holder(void **state)
{
	static const struct {
		const char *strategy;
		bool hold;
		uint64_t reuses;
	} rows[] = {
		{"reuse:0", false, 9},
		{"reuse:0", true, 0},
		{"reuse", false, 9},
		{"reuse", true, 0},
		{"order0", false, 0},
		{"order0", true, 0},
		{"order3", false, 0},
		{"cached", false, 0},
		{"page_pool", false, 0},
	};

	(void)state;
	for (unsigned r = 0; r < 2 * RTE_DIM(rows); r++) {
		bool hold = rows[r / 2].hold, local = r % 2;
		uint64_t reuses = rows[r / 2].reuses;
		struct desk desk;
		char *held[10];

		desk_open(&desk, rows[r / 2].strategy, 10);
		for (unsigned i = 0; i < RTE_DIM(held); i++) {
			char *frag = desk_take(&desk, desk.page_bytes / 2);

			held[i] = desk_take(&desk, desk.page_bytes / 2);
			if (local)
				assert_int_equal(pw_frag_cache_free(desk.cache, frag), 0);
			else
				desk_give(&desk, frag);
			if (!hold)
				desk_give(&desk, held[i]);
		}
		assert_int_equal(desk_stats(&desk).reuses, reuses);
		assert_int_equal(desk_stats(&desk).refills, RTE_DIM(held) - reuses);
		assert_int_equal(desk_stats(&desk).tail_bytes, 0);
		for (unsigned i = 0; hold && i < RTE_DIM(held); i++)
			desk_give(&desk, held[i]);
		desk_close(&desk);
	}
}

/* One full turn of the ring, each half freed at once. */
static void
fill_ring(const struct desk *desk, unsigned turns, size_t size_bytes)
{
	for (unsigned i = 0; i < turns * PW_FRAG_FIFO; i++)
		assert_int_equal(pw_frag_cache_free(desk->cache, desk_take(desk, size_bytes)), 0);
}

static void
halves_flip_as_their_turn_comes(void **state)
{
	static const char *const strategies[] = {"flip:0", "flip", "flip:2"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		char *first[PW_FRAG_FIFO], *second[PW_FRAG_FIFO];
		struct desk desk;
		size_t half;

		desk_open(&desk, strategies[s], PW_FRAG_FIFO);
		half = desk.page_bytes / 2;
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++)
			first[i] = desk_take(&desk, half);
		assert_int_equal(desk_stats(&desk).refills, PW_FRAG_FIFO);
		assert_int_equal(desk_stats(&desk).reuses, 0);
		/* Though the first halves are all held, the second ones are free. */
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++) {
			second[i] = desk_take(&desk, half);
			assert_ptr_equal(second[i],
				first[i] == desk_page_start(&desk, first[i]) ? first[i] + half
									     : first[i] - half);
		}
		assert_int_equal(desk_stats(&desk).refills, PW_FRAG_FIFO);
		assert_int_equal(desk_stats(&desk).reuses, PW_FRAG_FIFO);
		assert_null(pw_frag_alloc(desk.cache, half, 1));
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++)
			desk_give(&desk, first[i]);
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++)
			assert_ptr_equal(desk_take(&desk, half), first[i]);
		assert_int_equal(desk_stats(&desk).reuses, 2 * PW_FRAG_FIFO);
		assert_int_equal(desk_stats(&desk).tail_bytes, 0);
		for (unsigned i = 0; i < PW_FRAG_FIFO; i++) {
			desk_give(&desk, first[i]);
			desk_give(&desk, second[i]);
		}
		desk_close(&desk);
	}
}

/*
 * A is the half that went out last, B the one before. Whatever references there are on either, the
 * page flips if and only if B has none.
 */
static void
each_half_counts_for_itself(void **state)
{
	(void)state;
	for (unsigned refs_a = 0; refs_a <= 3; refs_a++)
		for (unsigned refs_b = 0; refs_b <= 3; refs_b++) {
			struct desk desk;
			char *a, *b, *next;
			uint64_t reuses;

			desk_open(&desk, "flip", PW_FRAG_FIFO + 2);
			b = desk_take(&desk, 4096);
			for (unsigned i = 1; i < refs_b; i++)
				pw_frag_ref(desk.pool, b);
			if (refs_b == 0)
				desk_give(&desk, b);
			for (unsigned i = 1; i < PW_FRAG_FIFO; i++)
				desk_give(&desk, desk_take(&desk, 4096));
			a = desk_take(&desk, 4096);
			assert_ptr_equal(desk_page_start(&desk, a), desk_page_start(&desk, b));
			for (unsigned i = 1; i < refs_a; i++)
				pw_frag_ref(desk.pool, a);
			if (refs_a == 0)
				assert_int_equal(pw_frag_cache_free(desk.cache, a), 0);
			for (unsigned i = 1; i < PW_FRAG_FIFO; i++)
				desk_give(&desk, desk_take(&desk, 4096));

			reuses = desk_stats(&desk).reuses;
			next = desk_take(&desk, 4096);
			assert_int_equal(desk_stats(&desk).reuses - reuses, refs_b == 0);
			if (refs_b == 0)
				assert_ptr_equal(next, b);
			else
				assert_true(next != a && next != b);
			assert_int_equal(pw_frag_pool_in_flight(desk.pool), refs_a + refs_b + 1);
			desk_give(&desk, next);
			for (unsigned i = 0; i < refs_a; i++)
				desk_give(&desk, a);
			for (unsigned i = 0; i < refs_b; i++)
				desk_give(&desk, b);
			desk_close(&desk);
		}
}

/* A clone keeps its half out of use, turn after turn, until it is freed. */
static void
a_clone_stops_the_flip(void **state)
{
	struct desk desk;
	char *clone, *start;

	(void)state;
	desk_open(&desk, "flip", PW_FRAG_FIFO + 1);
	clone = desk_take(&desk, 2048);
	start = desk_page_start(&desk, clone);
	assert_int_equal(pw_frag_ref(desk.pool, clone), 0);
	assert_int_equal(pw_frag_cache_free(desk.cache, clone), 0);
	memset(clone, 0x5a, 2048);
	for (unsigned i = 0; i < 4 * PW_FRAG_FIFO; i++) {
		char *frag = desk_take(&desk, 2048);

		/* The other half goes out once, then the page has left the ring. */
		assert_int_equal(desk_page_start(&desk, frag) == start, i == PW_FRAG_FIFO - 1);
		memset(frag, 0, 2048);
		desk_give(&desk, frag);
	}
	assert_int_equal(desk_stats(&desk).refills, PW_FRAG_FIFO + 1);
	for (unsigned i = 0; i < 2048; i++)
		assert_int_equal(clone[i], 0x5a);
	desk_give(&desk, clone);
	assert_int_equal(desk_pool_stats(&desk).pages_in_use, PW_FRAG_FIFO);
	desk_close(&desk);
}

static void
more_than_a_half_takes_a_page_of_its_own(void **state)
{
	static const size_t sizes[][2] = {{4097, 1}, {8192, 1}, {1, 8192}, {4096, 8192}};
	struct desk desk;

	(void)state;
	desk_open(&desk, "flip", PW_FRAG_FIFO + 1);
	fill_ring(&desk, 1, 2048);
	for (unsigned i = 0; i < 4 * RTE_DIM(sizes); i++) {
		const size_t *size = sizes[i % RTE_DIM(sizes)];
		struct pw_frag_stats before = desk_stats(&desk);
		char *frag = pw_frag_alloc(desk.cache, size[0], size[1]);

		assert_non_null(frag);
		assert_int_equal((uintptr_t)frag % size[1], 0);
		assert_int_equal(desk_stats(&desk).refills, before.refills + 1);
		assert_int_equal(desk_stats(&desk).reuses, before.reuses);
		/* Freed by an address in its other half, it goes home. */
		assert_int_equal(
			pw_frag_cache_free(desk.cache, frag + (i % 2 ? size[0] - 1 : 0)), 0);
		assert_int_equal(desk_pool_stats(&desk).pages_in_use, PW_FRAG_FIFO);
	}
	fill_ring(&desk, 2, 2048);
	assert_int_equal(desk_stats(&desk).reuses, 2 * PW_FRAG_FIFO);
	desk_close(&desk);
}

/* Pages that lie on another node are used once. */
static void
pages_off_node_are_not_reused(void **state)
{
	static const char *const strategies[] = {"reuse", "reuse:0", "flip"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct desk desk;
		struct pw_page *page;
		char *frag;

		desk_open(&desk, strategies[s], PW_FRAG_FIFO + 2);
		frag = desk_take(&desk, desk.page_bytes / 2);
		page = pw_page_of(desk.arena, frag);
		page->flags |= PW_PAGE_OFF_NODE;
		desk_give(&desk, frag);
		if (desk_flips(&desk))
			for (unsigned i = 1; i < PW_FRAG_FIFO; i++)
				desk_give(&desk, desk_take(&desk, desk.page_bytes / 2));
		else
			desk_give(&desk, desk_take(&desk, desk.page_bytes / 2));
		frag = desk_take(&desk, desk.page_bytes / 2);
		assert_int_equal(desk_stats(&desk).reuses, 0);
		desk_give(&desk, frag);
		page->flags &= ~PW_PAGE_OFF_NODE;
		desk_close(&desk);
	}
}

/* ---- fallback ---- */

static void
large_fragments_do_not_fit_fallback_pages(void **state)
{
	static const char *const strategies[] = {"order3", "cached", "reuse", "page_pool:3"};

	(void)state;
	for (unsigned s = 0; s < RTE_DIM(strategies); s++) {
		struct pw_frag_stats before, after;
		char *frag, canary[4096];
		struct desk desk;

		desk_open(&desk, strategies[s], 2);
		assert_true(pw_arena_fragment(desk.arena, 0) > 0);
		before = desk_stats(&desk);
		for (unsigned i = 0; i < 3; i++) {
			rte_errno = 0;
			assert_null(pw_frag_alloc(desk.cache, 4097, 1));
			assert_int_equal(rte_errno, ENOMEM);
			assert_null(pw_frag_alloc(desk.cache, 1, 8192));
			assert_int_equal(rte_errno, ENOMEM);
			assert_null(pw_frag_alloc(desk.cache, desk.page_bytes + 1, 1));
			assert_int_equal(rte_errno, EMSGSIZE);
			assert_int_equal(desk_pool_stats(&desk).pages_in_use, 0);
		}
		after = desk_stats(&desk);
		assert_int_equal(after.failures, 6);
		after.failures = 0;
		assert_memory_equal(&after, &before, sizeof(before));

		frag = desk_take(&desk, 4096);
		assert_int_equal(desk_page_bytes(&desk, frag), 4096);
		assert_ptr_equal(frag, desk_page_start(&desk, frag));
		assert_int_equal(desk_stats(&desk).fallback_pages, 1);
		memset(frag + 4096, 0x5a, 4096); /* pinned by pw_arena_fragment() */
		memset(canary, 0x5a, 4096);
		memset(frag, 0, 4096);
		assert_memory_equal(frag + 4096, canary, 4096);

		/* In a fallback page, as in an empty cache. */
		desk_give(&desk, frag);
		frag = desk_take(&desk, 10);
		rte_errno = 0;
		assert_null(pw_frag_alloc(desk.cache, 4097, 1));
		assert_int_equal(rte_errno, ENOMEM);
		assert_ptr_equal(desk_take(&desk, 10), frag - 10);
		desk_give(&desk, frag);
		desk_give(&desk, frag - 10);
		desk_close(&desk);
	}
}

/* Once there are large pages again they are taken: a fallback page is not used a second time. */
static void
fallback_pages_are_left_when_empty(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		char *frag;

		desk_open(&desk, presets[s], 4);
		if (desk.strategy.page_order == 0) {
			desk_close(&desk);
			continue;
		}
		pw_arena_fragment(desk.arena, 0);
		for (unsigned i = 1; i <= 3; i++) {
			frag = desk_take(&desk, 4096);
			assert_int_equal(desk_page_bytes(&desk, frag), 4096);
			assert_int_equal(desk_stats(&desk).fallback_pages, i);
			assert_int_equal(desk_stats(&desk).reuses, 0);
			desk_give(&desk, frag);
		}
		assert_int_equal(desk_pool_stats(&desk).cache.cached, 0);
		pw_arena_defragment(desk.arena);
		frag = desk_take(&desk, 4096);
		assert_int_equal(desk_page_bytes(&desk, frag), desk.page_bytes);
		assert_int_equal(desk_stats(&desk).fallback_pages, 3);
		desk_give(&desk, frag);
		desk_close(&desk);
	}
}

/* ---- other threads ---- */

struct parcel {
	struct pw_frag_pool *pool;
	char *frags[64];
	int rc;
};

static void *
free_parcel(void *arg)
{
	struct parcel *parcel = arg;

	for (unsigned i = 0; i < RTE_DIM(parcel->frags); i++)
		parcel->rc |= pw_frag_free(parcel->pool, parcel->frags[i]);
	return NULL;
}

static void
any_thread_may_free(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct parcel parcel = {0};
		struct desk desk;

		desk_open(&desk, presets[s], 64);
		parcel.pool = desk.pool;
		for (unsigned i = 0; i < RTE_DIM(parcel.frags); i++)
			parcel.frags[i] = desk_take(&desk, 1024);
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 64);
		pw_test_on_thread(free_parcel, &parcel);
		assert_int_equal(parcel.rc, 0);
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
		assert_int_equal(desk_pool_stats(&desk).pages_in_use, desk_flips(&desk) ? 64 : 1);
		desk_close(&desk);
	}
}

static void *
own_cache(void *arg)
{
	struct pw_frag_pool *pool = arg;
	struct pw_frag_cache *cache = pw_frag_cache_create(pool);
	void *frags[8];

	if (cache == NULL)
		return NULL;
	for (unsigned i = 0; i < 1000 * RTE_DIM(frags); i++) {
		void **frag = &frags[i % RTE_DIM(frags)];

		if (i >= RTE_DIM(frags) && pw_frag_cache_free(cache, *frag) < 0)
			return NULL;
		*frag = pw_frag_alloc(cache, 700, 64);
		if (*frag == NULL)
			return NULL;
	}
	pw_frag_cache_destroy(cache);
	for (unsigned i = 0; i < RTE_DIM(frags); i++)
		if (pw_frag_free(pool, frags[i]) < 0)
			return NULL;
	return pool;
}

/* A thread that is no lcore. */
static void
any_thread_may_own_a_cache(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct desk desk;
		pthread_t thread;
		void *pool = NULL;

		desk_open(&desk, presets[s], 20);
		assert_int_equal(pthread_create(&thread, NULL, own_cache, desk.pool), 0);
		assert_int_equal(pthread_join(thread, &pool), 0);
		assert_ptr_equal(pool, desk.pool);
		assert_int_equal(pw_frag_pool_in_flight(desk.pool), 0);
		desk_close(&desk);
	}
}

#define LINE_FRAGS PW_TEST_MANY(2000000)

struct line {
	struct pw_frag_pool *pool;
	struct rte_ring *ring;
	uint64_t wrong;
	uint64_t popped; /* written last */
};

/* What comes out of the ring must be what was written, in its order; tells how many did. */
static uint64_t
pop_line(struct line *line)
{
	for (uint64_t popped = 0; popped < LINE_FRAGS; popped++) {
		uint64_t since = 0;
		void *frag;

		while (rte_ring_sc_dequeue(line->ring, &frag) < 0)
			if (!pw_test_wait(&since))
				return popped;
		if (*(uint64_t *)frag != popped || ((uint64_t *)frag)[255] != popped)
			line->wrong++;
		line->wrong += pw_frag_free(line->pool, frag) != 0;
	}
	return LINE_FRAGS;
}

/* The consumer's lcore. */
static int
free_line(void *arg)
{
	struct line *line = arg;

	__atomic_store_n(&line->popped, pop_line(line), __ATOMIC_RELEASE);
	return 0;
}

/* Returns how many went into the ring: fewer when it or the arena stays full. */
static uint64_t
push_line(const struct desk *desk, struct rte_ring *ring)
{
	uint64_t pushed;

	for (pushed = 0; pushed < LINE_FRAGS; pushed++) {
		uint64_t *frag, since = 0;

		while ((frag = pw_frag_alloc(desk->cache, 2048, 64)) == NULL)
			if (!pw_test_wait(&since))
				return pushed;
		frag[0] = pushed;
		frag[255] = pushed;
		for (since = 0; rte_ring_sp_enqueue(ring, frag) < 0;)
			if (!pw_test_wait(&since))
				return pushed;
	}
	return pushed;
}

static void
one_lcore_allocates_and_another_frees(void **state)
{
	(void)state;
	for (unsigned s = 0; s < RTE_DIM(presets); s++) {
		struct rte_ring *ring = rte_ring_create(
			"frag_line", 512, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		struct line line = {.ring = ring};
		struct desk desk;
		uint64_t pushed, popped;

		assert_non_null(ring);
		desk_open(&desk, presets[s], 300);
		line.pool = desk.pool;
		assert_int_equal(rte_eal_remote_launch(free_line, &line, 1), 0);
		pushed = push_line(&desk, ring);
		rte_eal_wait_lcore(1);
		popped = __atomic_load_n(&line.popped, __ATOMIC_ACQUIRE);
		if (popped < LINE_FRAGS)
			fail_msg("stuck with %" PRIu64 " fragments allocated, %" PRIu64 " freed",
				pushed, popped);
		assert_int_equal(pushed, popped);
		assert_int_equal(line.wrong, 0);
		assert_int_equal(desk_stats(&desk).allocs, LINE_FRAGS);
		desk_close(&desk);
		rte_ring_free(ring);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_pools_are_refused),
		cmocka_unit_test(failed_creations_leak_nothing),
		cmocka_unit_test(a_thousand_pools_leak_nothing),
		cmocka_unit_test(a_pool_with_fragments_in_flight_stays),
		cmocka_unit_test(a_pool_with_caches_stays),
		cmocka_unit_test(references_in_flight_are_counted),
		cmocka_unit_test(pages_pinned_by_few_fragments_are_told),
		cmocka_unit_test(fragments_go_from_the_end_to_the_start),
		cmocka_unit_test(a_page_can_be_used_to_the_last_byte),
		cmocka_unit_test(fragments_are_aligned_and_apart),
		cmocka_unit_test(refused_calls_leave_the_cache_as_it_was),
		cmocka_unit_test(refused_calls_take_no_page),
		cmocka_unit_test(exhaustion_leaves_the_cache_as_it_was),
		cmocka_unit_test(one_page_is_enough),
		cmocka_unit_test(fragments_and_bytes_are_counted),
		cmocka_unit_test(bytes_fill_a_page_which_goes_home_once),
		cmocka_unit_test(bytes_freed_at_once_keep_the_page),
		cmocka_unit_test(many_references_come_and_go),
		cmocka_unit_test(a_second_reference_keeps_the_bytes),
		cmocka_unit_test(foreign_addresses_are_refused),
		cmocka_unit_test(second_frees_are_counted),
		cmocka_unit_test(fragments_outlive_their_cache),
		cmocka_unit_test(a_page_is_reused_by_its_only_holder),
		cmocka_unit_test(halves_flip_as_their_turn_comes),
		cmocka_unit_test(each_half_counts_for_itself),
		cmocka_unit_test(a_clone_stops_the_flip),
		cmocka_unit_test(more_than_a_half_takes_a_page_of_its_own),
		cmocka_unit_test(pages_off_node_are_not_reused),
		cmocka_unit_test(large_fragments_do_not_fit_fallback_pages),
		cmocka_unit_test(fallback_pages_are_left_when_empty),
		cmocka_unit_test(any_thread_may_free),
		cmocka_unit_test(any_thread_may_own_a_cache),
		cmocka_unit_test(one_lcore_allocates_and_another_frees),
	};

	return cmocka_run_group_tests_name("frag", tests, pw_test_eal, NULL);
}
