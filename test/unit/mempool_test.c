/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "pw_mempool.h"
#include "pw_mempool_rig.h"

/* The element lies in one page of the strategy, and its header is right. */
static void
check_element(struct rte_mempool *mp, void *obj)
{
	size_t page_bytes = pool_stats(mp).pages.page_bytes;
	char *begin = (char *)obj - mp->header_size;
	char *end = (char *)obj + mp->elt_size + mp->trailer_size;

	assert_ptr_equal(
		RTE_PTR_ALIGN_FLOOR(begin, page_bytes), RTE_PTR_ALIGN_FLOOR(end - 1, page_bytes));
	assert_ptr_equal(rte_mempool_from_obj(obj), mp);
	assert_true(rte_mempool_virt2iova(obj) == rte_mem_virt2iova(obj));
	if ((mp->flags & RTE_MEMPOOL_F_NO_CACHE_ALIGN) == 0)
		assert_int_equal((uintptr_t)obj % RTE_CACHE_LINE_SIZE, 0);
}

/* Take all elements: each comes once and keeps the bytes written to it, and then no more come. */
static void
drain(struct rte_mempool *mp, void **objs)
{
	void *more = NULL;
	unsigned i;

	for (i = 0; i < mp->size; i++) {
		assert_int_equal(rte_mempool_get(mp, &objs[i]), 0);
		check_element(mp, objs[i]);
		memset(objs[i], i, mp->elt_size);
	}
	assert_true(rte_mempool_get(mp, &more) < 0);
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	assert_true(rte_mempool_empty(mp));
	for (i = 0; i < mp->size; i++) {
		unsigned char *bytes = objs[i];

		/* Each is as the one before it. */
		assert_int_equal(bytes[0], i % 256);
		assert_int_equal(memcmp(bytes, bytes + 1, mp->elt_size - 1), 0);
	}
}

static void
every_mbuf_can_be_had(void **state)
{
	static void *objs[MBUFS];

	(void)state;
	for (unsigned i = 0; i < 2 * nb_pool_strategies; i++) {
		struct pw_test_memory before = pw_test_memory();
		unsigned cache_size = i % 2 == 0 ? 0 : 256;
		struct rte_mempool *mp = make_pool(pool_strategies[i / 2], MBUFS, cache_size);

		rte_mempool_audit(mp);
		drain(mp, objs);
		rte_mempool_put_bulk(mp, objs, MBUFS);
		assert_int_equal(rte_mempool_avail_count(mp), MBUFS);
		drain(mp, objs);
		rte_mempool_put_bulk(mp, objs, MBUFS);
		assert_true(rte_mempool_full(mp));
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

static void
fresh_mbufs_are_ready(void **state)
{
	const char *reason;

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp = make_pool(pool_strategies[s], MBUFS, 256);
		struct rte_mbuf *mbufs[64];

		assert_int_equal(rte_pktmbuf_alloc_bulk(mp, mbufs, RTE_DIM(mbufs)), 0);
		for (unsigned i = 0; i < RTE_DIM(mbufs); i++) {
			assert_int_equal(rte_mbuf_check(mbufs[i], 1, &reason), 0);
			assert_ptr_equal(mbufs[i]->pool, mp);
			assert_ptr_equal(mbufs[i]->buf_addr, mbufs[i] + 1);
			assert_int_equal(mbufs[i]->buf_len, ROOM);
			assert_true(mbufs[i]->buf_iova == rte_mem_virt2iova(mbufs[i]->buf_addr));
		}
		rte_pktmbuf_free_bulk(mbufs, RTE_DIM(mbufs));
		assert_int_equal(rte_mempool_avail_count(mp), MBUFS);
		rte_mempool_free(mp);
	}
}

static void
the_strategy_comes_from_config_or_environment(void **state)
{
	static const struct {
		const char *config, *environment;
		size_t page_bytes;
	} rows[] = {
		{NULL, NULL, 32768},
		{NULL, "", 32768},
		{"", NULL, 32768},
		{NULL, "order0", 4096},
		{"order0", NULL, 4096},
		{"order0", "reuse", 4096}, /* the program knows better */
		{"reuse:0", "bogus", 4096},
		{"reuse:9", "order0", 2 << 20},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct rte_mempool *mp = empty_pool(rows[i].config, 100, 64, 0);

		if (rows[i].environment != NULL)
			setenv(PW_MEMPOOL_STRATEGY_ENV, rows[i].environment, 1);
		assert_int_equal(rte_mempool_populate_default(mp), 100);
		unsetenv(PW_MEMPOOL_STRATEGY_ENV);
		assert_int_equal(pool_stats(mp).pages.page_bytes, rows[i].page_bytes);
		rte_mempool_free(mp);
	}
}

static void
wrong_strategies_are_refused(void **state)
{
	static const char *const wrong[] = {"bogus", "reuse:", "reuse:10", "order", "order0,reuse"};
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		struct rte_mempool *mp = empty_pool(wrong[i], 100, 64, 0);
		struct log log;

		open_log(&log);
		assert_int_equal(rte_mempool_populate_default(mp), -EINVAL);
		rte_mempool_free(mp);
		assert_null(try_pool(wrong[i], MBUFS, 0, ROOM));
		assert_int_equal(rte_errno, EINVAL);
		close_log(&log);
		assert_non_null(strstr(log.text, wrong[i]));
		assert_non_null(strstr(log.text, "order0")); /* names what there is */
		free(log.text);
		pw_test_memory_equal(before);
	}
}

static void
rooms_larger_than_a_page_are_refused(void **state)
{
	static const struct {
		const char *strategy;
		uint16_t room_bytes;
		bool fits;
	} rows[] = {
		{"order0", 9216, false},
		{"reuse:0", 9216, false},
		{"reuse:0", 4096, false},
		{"reuse:0", 4096 - sizeof(struct rte_mbuf),
			false}, /* there are header and spread */
		{"reuse:0", 4096 - sizeof(struct rte_mbuf) - 128, true},
		{"reuse:1", 9216, false},
		{"reuse:2", 9216, true},
		{"reuse", UINT16_MAX - 127, false},
		{"reuse:5", UINT16_MAX, true},
		{"order3", 9216, true},
		{"cached", 9216, true},
		{"page_pool", 9216, false},
		{"flip", 9216, false},
		{"flip", ROOM, true},
		{"flip:0", ROOM, false}, /* half a page is all that there is */
		{"flip:2", 9216, false},
		{"flip:3", 9216, true},
	};
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct rte_mempool *mp;
		struct pw_strategy strategy;
		char object[24], page[24];
		size_t page_bytes;
		struct log log;

		assert_int_equal(pw_strategy_parse(rows[i].strategy, &strategy), 0);
		page_bytes = pw_store_room_bytes(&strategy);

		open_log(&log);
		mp = try_pool(rows[i].strategy, 31, 0, rows[i].room_bytes);
		close_log(&log);
		assert_int_equal(mp != NULL, rows[i].fits);
		if (mp == NULL) {
			assert_int_equal(rte_errno, EINVAL);
			snprintf(object, sizeof(object), " %zu ",
				sizeof(struct rte_mbuf) + rows[i].room_bytes);
			snprintf(page, sizeof(page), " %zu ", page_bytes);
			assert_non_null(strstr(log.text, object));
			assert_non_null(strstr(log.text, page));
		}
		free(log.text);
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

static void
exhaustion_is_no_success(void **state)
{
	static struct rte_mbuf *mbufs[64], *more[64], *untouched[64];

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp = make_pool(pool_strategies[s], 64, 0);
		int rc;

		assert_int_equal(rte_pktmbuf_alloc_bulk(mp, mbufs, 33), 0);
		memset(more, 0x5a, sizeof(more));
		memset(untouched, 0x5a, sizeof(untouched));
		rc = rte_mempool_get_bulk(mp, (void **)more, 32);
		assert_true(rc == -ENOBUFS || rc == -ENOMEM);
		assert_true(rte_pktmbuf_alloc_bulk(mp, more, 64) < 0);
		assert_memory_equal(more, untouched, sizeof(more));
		assert_int_equal(rte_mempool_avail_count(mp), 31);
		assert_int_equal(rte_pktmbuf_alloc_bulk(mp, mbufs + 33, 31), 0);
		assert_null(rte_pktmbuf_alloc(mp));
		rte_pktmbuf_free_bulk(mbufs, 64);
		assert_int_equal(rte_mempool_avail_count(mp), 64);
		rte_mempool_free(mp);
	}
}

static void
anonymous_memory_will_do(void **state)
{
	static const unsigned sizes[] = {64, 2176, 3000, 3968};
	static void *objs[MBUFS];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(sizes) * nb_pool_strategies; i++) {
		struct pw_test_memory before = pw_test_memory();
		struct rte_mempool *mp = empty_pool(pool_strategies[i % nb_pool_strategies], MBUFS,
			sizes[i / nb_pool_strategies], 0);

		assert_int_equal(rte_mempool_populate_anon(mp), MBUFS);
		drain(mp, objs);
		rte_mempool_put_bulk(mp, objs, MBUFS);
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

static void
small_elements_are_all_used(void **state)
{
	static const unsigned sizes[] = {1, 8, 24, 64, 100, 1000};
	static const unsigned flags[] = {0, RTE_MEMPOOL_F_NO_CACHE_ALIGN,
		RTE_MEMPOOL_F_NO_CACHE_ALIGN | RTE_MEMPOOL_F_NO_SPREAD};
	static void *objs[1500];

	(void)state;
	for (unsigned i = 0; i < nb_pool_strategies * RTE_DIM(sizes) * RTE_DIM(flags); i++) {
		struct rte_mempool *mp = empty_pool(pool_strategies[i % nb_pool_strategies],
			RTE_DIM(objs), sizes[i / nb_pool_strategies % RTE_DIM(sizes)],
			flags[i / nb_pool_strategies / RTE_DIM(sizes)]);

		assert_int_equal(rte_mempool_populate_default(mp), RTE_DIM(objs));
		drain(mp, objs);
		rte_mempool_put_bulk(mp, objs, RTE_DIM(objs));
		rte_mempool_free(mp);
	}
}

/* The program's own memory, in odd pieces; the first are of no use. */
static void
own_memory_comes_in_pieces(void **state)
{
	static const size_t pieces[][2] = {
		{0, 64}, {100, 63}, {4000, 400}, {8000, 3000}, {12000, 40001}};
	char *memory = aligned_alloc(65536, 65536);
	static void *objs[5000];

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp = empty_pool(pool_strategies[s], RTE_DIM(objs), 100, 0);
		int sum = 0;

		for (unsigned i = 0; i < RTE_DIM(pieces); i++) {
			int rc = rte_mempool_populate_iova(
				mp, memory + pieces[i][0], RTE_BAD_IOVA, pieces[i][1], NULL, NULL);

			assert_true(rc >= 0);
			sum += rc;
		}
		assert_true(sum > (strncmp(pool_strategies[s], "flip", 4) == 0 ? 0 : 100));
		assert_int_equal(rte_mempool_avail_count(mp), sum);
		assert_int_equal(rte_mempool_get_bulk(mp, objs, sum), 0);
		assert_true(rte_mempool_get(mp, &objs[sum]) < 0);
		for (int i = 0; i < sum; i++)
			memset(objs[i], i, 100);
		rte_mempool_put_bulk(mp, objs, sum);
		rte_mempool_free(mp);
	}
	free(memory);
}

/* Where two pieces meet, objects of both lie in what would be one page. */
static void
pieces_that_adjoin_are_told_apart(void **state)
{
	static const unsigned lengths[] = {1536, 4096, 5000, 12344};
	static const size_t bytes = 1 << 20;
	char *memory = aligned_alloc(2 << 20, 2 << 20);
	static void *objs[20000];

	(void)state;
	for (unsigned i = 0; i < nb_pool_strategies * RTE_DIM(lengths); i++) {
		const char *strategy = pool_strategies[i / RTE_DIM(lengths)];
		unsigned length = lengths[i % RTE_DIM(lengths)];
		struct rte_mempool *mp = empty_pool(strategy, RTE_DIM(objs), 100, 0);
		unsigned sum = 0;

		for (size_t at = 0; at + length <= bytes; at += length)
			sum += rte_mempool_populate_iova(
				mp, memory + at, RTE_BAD_IOVA, length, NULL, NULL);
		for (unsigned round = 0; round < 2 && sum > 0; round++) {
			assert_int_equal(rte_mempool_get_bulk(mp, objs, sum), 0);
			rte_mempool_put_bulk(mp, objs, sum);
		}
		assert_int_equal(rte_mempool_avail_count(mp), sum);
		assert_int_equal(pool_stats(mp).foreign_puts, 0);
		rte_mempool_free(mp);
	}
	free(memory);
}

static void
count_call(struct rte_mempool_memhdr *memhdr, void *count)
{
	(void)memhdr;
	(*(unsigned *)count)++;
}

/* Memory that is refused is its lender's still: it is given back once, for the first time. */
static void
memory_lent_twice_is_kept_once(void **state)
{
	struct rte_mempool *mp = empty_pool("reuse", 1000, 100, 0);
	char *memory = aligned_alloc(65536, 65536);
	unsigned given_back = 0;

	(void)state;
	assert_true(rte_mempool_populate_iova(
			    mp, memory, RTE_BAD_IOVA, 65536, count_call, &given_back) > 0);
	assert_true(rte_mempool_populate_iova(
			    mp, memory, RTE_BAD_IOVA, 65536, count_call, &given_back) <= 0);
	assert_int_equal(mp->nb_mem_chunks, 1);
	rte_mempool_free(mp);
	assert_int_equal(given_back, 1);
	free(memory);
}

/* Reads the statistics as telemetry does: at any time from when the pool has its handler. */
struct reader {
	struct rte_mempool *mp;
	bool end; /* atomic */
	uint64_t looks;
	unsigned impossible;
};

static void *
read_statistics(void *arg)
{
	struct reader *reader = arg;

	while (!__atomic_load_n(&reader->end, __ATOMIC_RELAXED) || reader->looks < 10) {
		struct pw_store_stats stats;

		if (pw_mempool_get_stats(reader->mp, &stats) < 0)
			reader->impossible++;
		else
			reader->impossible += stats.free != stats.objects ||
				stats.pages.bytes < stats.objects * 64;
		reader->looks++;
		sched_yield();
	}
	return NULL;
}

static void
statistics_can_be_read_while_it_is_populated(void **state)
{
	char *memory = aligned_alloc(65536, 4 << 20);

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct reader reader = {.mp = empty_pool(pool_strategies[s], 60000, 64, 0)};
		pthread_t thread;
		int sum = rte_mempool_populate_iova(
			reader.mp, memory, RTE_BAD_IOVA, 32768, NULL, NULL);

		assert_true(sum > 0);
		assert_int_equal(pthread_create(&thread, NULL, read_statistics, &reader), 0);
		for (unsigned i = 1; i < 128; i++) {
			int rc = rte_mempool_populate_iova(
				reader.mp, memory + i * 32768, RTE_BAD_IOVA, 32768, NULL, NULL);

			assert_true(rc > 0);
			sum += rc;
			sched_yield();
		}
		__atomic_store_n(&reader.end, true, __ATOMIC_RELAXED);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(reader.impossible, 0);
		assert_int_equal(pool_stats(reader.mp).objects, sum);
		rte_mempool_free(reader.mp);
	}
	free(memory);
}

static void
creating_and_freeing_leaks_nothing(void **state)
{
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct rte_mempool *mp = make_pool(pool_strategies[i % nb_pool_strategies], 15, 0);
		struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

		assert_non_null(m);
		rte_pktmbuf_free(m);
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

static void
failed_allocations_leak_nothing(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct pw_test_memory before = pw_test_memory();
		struct rte_mempool *mp;
		int k = -1, no_memory = 0;

		do {
			struct log log;

			pw_test_fail_alloc(++k);
			open_log(&log);
			mp = try_pool(pool_strategies[s], MBUFS, 256, ROOM);
			close_log(&log);
			free(log.text);
			if (!pw_test_alloc_failed())
				break;
			/* DPDK asks for less then, or tells no rte_errno. */
			if (mp != NULL)
				assert_int_equal(rte_mempool_avail_count(mp), MBUFS);
			else
				no_memory += rte_errno == ENOMEM;
			rte_mempool_free(mp);
			pw_test_memory_equal(before);
		} while (true);
		pw_test_fail_alloc(-1);
		assert_non_null(mp);
		assert_in_range(no_memory, 4, k);
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

/* Each has an error of its own, as far as DPDK tells them apart, and leaves nothing. */
static void
wrong_pools_are_refused(void **state)
{
	static const char long_name[] = "mempool_with_a_name_that_is_too_long";
	static const struct {
		const char *name;
		unsigned n, cache_size;
		uint16_t priv_bytes;
		int error;
	} rows[] = {
		{"mempool_test", 100, 0, 0, EEXIST},
		{long_name, 100, 0, 0, ENAMETOOLONG},
		{"mempool_other", 0, 0, 0, EINVAL},
		{"mempool_other", 100, 100, 0, EINVAL},
		{"mempool_other", 100, RTE_MEMPOOL_CACHE_MAX_SIZE + 1, 0, EINVAL},
		{"mempool_other", 100, 0, 1, EINVAL},
	};
	struct rte_mempool *mp = make_pool(NULL, 100, 0);
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct log log;

		rte_errno = 0;
		open_log(&log);
		assert_null(
			rte_pktmbuf_pool_create_by_ops(rows[i].name, rows[i].n, rows[i].cache_size,
				rows[i].priv_bytes, ROOM, SOCKET_ID_ANY, PW_MEMPOOL_OPS_NAME));
		close_log(&log);
		free(log.text);
		assert_int_equal(rte_errno, rows[i].error);
		pw_test_memory_equal(before);
	}
	assert_int_equal(rte_mempool_avail_count(mp), 100);
	rte_mempool_free(mp);
}

static void
a_handler_that_is_not_there_is_refused(void **state)
{
	struct pw_test_memory before = pw_test_memory();
	struct log log;

	(void)state;
	open_log(&log);
	rte_errno = 0;
	assert_null(rte_pktmbuf_pool_create_by_ops(
		"mempool_test", 100, 0, 0, ROOM, SOCKET_ID_ANY, "pagewheels"));
	assert_int_equal(rte_errno, EINVAL);
	close_log(&log);
	free(log.text);
	pw_test_memory_equal(before);
}

/* A socket that is not there: all of the pool, or none of it. */
static void
an_absent_socket_gives_all_or_nothing(void **state)
{
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp;
		struct log log;

		setenv(PW_MEMPOOL_STRATEGY_ENV, pool_strategies[s], 1);
		rte_errno = 0;
		open_log(&log);
		mp = rte_pktmbuf_pool_create_by_ops(
			"mempool_test", MBUFS, 0, 0, ROOM, 1, PW_MEMPOOL_OPS_NAME);
		close_log(&log);
		unsetenv(PW_MEMPOOL_STRATEGY_ENV);
		if (mp == NULL)
			assert_int_not_equal(rte_errno, 0);
		else
			assert_int_equal(rte_mempool_avail_count(mp), MBUFS);
		free(log.text);
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

static void
more_than_there_is_is_refused(void **state)
{
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		assert_null(try_pool(pool_strategies[s], 10 * (512U << 20 >> 11), 0, ROOM));
		assert_int_equal(rte_errno, ENOMEM);
		pw_test_memory_equal(before);
	}
}

/* Memory that went back when populating failed may come again. */
static void
a_failed_pool_can_be_populated_again(void **state)
{
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp = empty_pool(
			pool_strategies[s], 10 * (512U << 20 >> 11), 2048, 0);
		void *memory, *obj;

		assert_int_equal(rte_mempool_populate_default(mp), -ENOMEM);
		assert_int_equal(rte_mempool_avail_count(mp), 0);
		memory = rte_malloc(NULL, 1 << 20, 0);
		assert_non_null(memory);
		assert_true(rte_mempool_populate_iova(
				    mp, memory, RTE_BAD_IOVA, 1 << 20, NULL, NULL) > 50);
		assert_int_equal(rte_mempool_get(mp, &obj), 0);
		assert_in_range((uintptr_t)obj, (uintptr_t)memory, (uintptr_t)memory + (1 << 20));
		rte_mempool_put(mp, obj);
		rte_mempool_free(mp);
		rte_free(memory);
		pw_test_memory_equal(before);
	}
}

static void
freed_chains_leave_single_mbufs(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp = make_pool(pool_strategies[s], 64, 0);
		struct rte_mbuf *m[3], *all[64];

		assert_int_equal(rte_pktmbuf_alloc_bulk(mp, m, 3), 0);
		for (unsigned i = 0; i < 3; i++)
			assert_non_null(rte_pktmbuf_append(m[i], 100));
		assert_int_equal(rte_pktmbuf_chain(m[0], m[1]), 0);
		assert_int_equal(rte_pktmbuf_chain(m[0], m[2]), 0);
		m[1]->next = NULL; /* split behind the second */
		m[0]->nb_segs = 2;
		rte_pktmbuf_free(m[0]);
		rte_pktmbuf_free(m[2]);
		assert_int_equal(rte_mempool_get_bulk(mp, (void **)all, 64), 0);
		for (unsigned i = 0; i < 64; i++) {
			assert_int_equal(all[i]->nb_segs, 1);
			assert_null(all[i]->next);
			assert_int_equal(rte_mbuf_refcnt_read(all[i]), 1);
		}
		rte_mempool_put_bulk(mp, (void **)all, 64);
		rte_mempool_free(mp);
	}
}

/* An mbuf that a clone still points into is not handed out. */
static void
clones_keep_their_bytes(void **state)
{
	char expected[1000];

	(void)state;
	memset(expected, 0x5a, sizeof(expected));
	for (unsigned s = 0; s < nb_pool_strategies; s++) {
		struct rte_mempool *mp = make_pool(pool_strategies[s], 31, 0);
		struct rte_mbuf *m = rte_pktmbuf_alloc(mp), *clone;

		memcpy(rte_pktmbuf_append(m, 1000), expected, 1000);
		clone = rte_pktmbuf_clone(m, mp);
		assert_non_null(clone);
		rte_pktmbuf_free(m);
		for (unsigned i = 0; i < 1000; i++) {
			struct rte_mbuf *other = rte_pktmbuf_alloc(mp);

			memset(rte_pktmbuf_append(other, 1000), i, 1000);
			rte_pktmbuf_free(other);
		}
		assert_memory_equal(rte_pktmbuf_mtod(clone, char *), expected, 1000);
		assert_int_equal(rte_mempool_avail_count(mp), 29);
		rte_pktmbuf_free(clone);
		assert_int_equal(rte_mempool_avail_count(mp), 31);
		rte_mempool_free(mp);
	}
}

static void *
visit(void *arg)
{
	struct rte_mempool *mp = arg;
	void *objs[8];

	for (unsigned i = 0; i < 1000; i++) {
		if (rte_mempool_get_bulk(mp, objs, 8) < 0)
			return NULL; /* what was taken before is missing: the count tells */
		if (i < 999)
			rte_mempool_put_bulk(mp, objs, 8);
	}
	rte_mempool_put_bulk(mp, objs, 7);
	return NULL;
}

static void
plain_threads_get_and_put(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * nb_pool_strategies; i++) {
		struct rte_mempool *mp = make_pool(pool_strategies[i / 2], 64, i % 2 == 0 ? 0 : 32);

		pw_test_on_thread(visit, mp);
		assert_int_equal(rte_mempool_avail_count(mp), 63);
		rte_mempool_free(mp);
	}
}

#define LINE_MBUFS PW_TEST_MANY(100000)

struct line {
	struct rte_mempool *mp;
	struct rte_ring *ring;
	unsigned popped;
	unsigned wrong;
};

static int
free_line(void *arg)
{
	struct line *line = arg;
	struct rte_mbuf *burst[32];
	uint64_t since = 0;

	while (line->popped < LINE_MBUFS) {
		unsigned n = rte_ring_sc_dequeue_burst(
			line->ring, (void **)burst, RTE_DIM(burst), NULL);

		for (unsigned i = 0; i < n; i++)
			line->wrong += *rte_pktmbuf_mtod(burst[i], uint32_t *) != line->popped++;
		rte_pktmbuf_free_bulk(burst, n);
		if (n > 0)
			since = 0;
		else if (!pw_test_wait(&since))
			return -1;
	}
	return 0;
}

/* Returns how many went into the ring: fewer when it stays full, or the pool empty. */
static uint32_t
push_line(const struct line *line)
{
	uint32_t pushed;

	for (pushed = 0; pushed < LINE_MBUFS; pushed++) {
		uint64_t since = 0;
		struct rte_mbuf *m;

		while ((m = rte_pktmbuf_alloc(line->mp)) == NULL)
			if (!pw_test_wait(&since))
				return pushed;
		*(uint32_t *)(void *)rte_pktmbuf_append(m, 100) = pushed;
		for (since = 0; rte_ring_sp_enqueue(line->ring, m) < 0;)
			if (!pw_test_wait(&since))
				return pushed;
	}
	return pushed;
}

/* One lcore receives, another frees; the pool is too small for both their caches. */
static void
mbufs_cross_lcores(void **state)
{
	struct rte_ring *ring = rte_ring_create(
		"mempool_line", 128, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);

	(void)state;
	assert_non_null(ring);
	for (unsigned i = 0; i < 2 * nb_pool_strategies; i++) {
		struct line line = {.ring = ring};
		uint32_t pushed;

		line.mp = make_pool(pool_strategies[i / 2], 600, i % 2 == 0 ? 0 : 128);
		assert_int_equal(rte_eal_remote_launch(free_line, &line, 1), 0);
		pushed = push_line(&line);
		rte_eal_wait_lcore(1);
		if (line.popped < LINE_MBUFS)
			fail_msg("stuck with %u mbufs allocated, %u freed", pushed, line.popped);
		assert_int_equal(line.wrong, 0);
		assert_int_equal(rte_mempool_avail_count(line.mp), 600);
		rte_mempool_free(line.mp);
	}
	rte_ring_free(ring);
}

static void
other_handlers_have_no_statistics(void **state)
{
	struct rte_mempool *ring = rte_mempool_create(
		"mempool_ring", 15, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	struct rte_mempool *mp = empty_pool(NULL, 15, 64, 0);
	struct pw_store_stats stats;

	(void)state;
	assert_non_null(ring);
	assert_int_equal(pw_mempool_get_stats(ring, &stats), -ENOTSUP);
	assert_int_equal(pw_mempool_get_stats(mp, &stats), -ENOTSUP); /* nothing in it yet */
	rte_mempool_free(mp);
	rte_mempool_free(ring);
}

static void
pools_can_be_made_in_external_memory(void **state)
{
	size_t len = 16 << 20;
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static void *objs[100];
	struct rte_mempool *mp;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(rte_malloc_heap_create("mempool_heap"), 0);
	assert_int_equal(rte_malloc_heap_memory_add("mempool_heap", memory, len, NULL, 0, 4096), 0);
	mp = rte_pktmbuf_pool_create_by_ops("mempool_test", RTE_DIM(objs), 0, 0, ROOM,
		rte_malloc_heap_get_socket("mempool_heap"), PW_MEMPOOL_OPS_NAME);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_get_bulk(mp, objs, RTE_DIM(objs)), 0);
	for (unsigned i = 0; i < RTE_DIM(objs); i++)
		assert_in_range((uintptr_t)objs[i], (uintptr_t)memory, (uintptr_t)memory + len);
	rte_mempool_put_bulk(mp, objs, RTE_DIM(objs));
	rte_mempool_free(mp);
	assert_int_equal(rte_malloc_heap_memory_remove("mempool_heap", memory, len), 0);
	assert_int_equal(rte_malloc_heap_destroy("mempool_heap"), 0);
	munmap(memory, len);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mbuf_can_be_had),
		cmocka_unit_test(fresh_mbufs_are_ready),
		cmocka_unit_test(the_strategy_comes_from_config_or_environment),
		cmocka_unit_test(wrong_strategies_are_refused),
		cmocka_unit_test(rooms_larger_than_a_page_are_refused),
		cmocka_unit_test(exhaustion_is_no_success),
		cmocka_unit_test(anonymous_memory_will_do),
		cmocka_unit_test(small_elements_are_all_used),
		cmocka_unit_test(own_memory_comes_in_pieces),
		cmocka_unit_test(pieces_that_adjoin_are_told_apart),
		cmocka_unit_test(memory_lent_twice_is_kept_once),
		cmocka_unit_test(statistics_can_be_read_while_it_is_populated),
		cmocka_unit_test(creating_and_freeing_leaks_nothing),
		cmocka_unit_test(failed_allocations_leak_nothing),
		cmocka_unit_test(wrong_pools_are_refused),
		cmocka_unit_test(a_handler_that_is_not_there_is_refused),
		cmocka_unit_test(an_absent_socket_gives_all_or_nothing),
		cmocka_unit_test(more_than_there_is_is_refused),
		cmocka_unit_test(a_failed_pool_can_be_populated_again),
		cmocka_unit_test(freed_chains_leave_single_mbufs),
		cmocka_unit_test(clones_keep_their_bytes),
		cmocka_unit_test(plain_threads_get_and_put),
		cmocka_unit_test(mbufs_cross_lcores),
		cmocka_unit_test(other_handlers_have_no_statistics),
		cmocka_unit_test(pools_can_be_made_in_external_memory),
	};

	return cmocka_run_group_tests_name("mempool", tests, pw_test_eal, NULL);
}
