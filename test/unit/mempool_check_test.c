/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Buffers freed twice or into the wrong pool: what the handler refuses, counts, logs and stops. */
#include "pw_test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "pw_mempool.h"
#include "pw_mempool_rig.h"

/* All strategies with PAGEWHEEL_CHECK=count, and those that need no check. */
static struct rte_mempool *
strict_pool(unsigned i, unsigned mbufs)
{
	const char *strategy = pool_strategies[i / 2];
	bool check = i % 2 == 0;

	if (!check && !pool_is_strict(strategy))
		return NULL;
	return make_checked_pool(strategy, mbufs, check ? "count" : "off");
}

#define STRICT_ROWS (2 * nb_pool_strategies)

static void
assert_logged(const struct log *log, const struct rte_mempool *mp, const void *obj)
{
	char address[32];

	snprintf(address, sizeof(address), "%p", obj);
	if (strstr(log->text, address) == NULL || strstr(log->text, mp->name) == NULL)
		fail_msg("neither %s nor %s in: %s", address, mp->name, log->text);
}

/* DPDK's own handlers give the mbuf out twice. */
static void
an_mbuf_freed_twice_comes_once(void **state)
{
	static void *all[MBUFS];

	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		struct rte_mempool *mp = strict_pool(i, MBUFS);
		struct rte_mbuf *m, *one, *two;
		struct log log;

		if (mp == NULL)
			continue;
		m = rte_pktmbuf_alloc(mp);
		open_log(&log);
		rte_pktmbuf_free(m);
		rte_mempool_put(mp, m);
		close_log(&log);
		assert_logged(&log, mp, m);
		free(log.text);
		assert_int_equal(rte_mempool_avail_count(mp), MBUFS);
		assert_int_equal(pool_stats(mp).double_puts, 1);
		one = rte_pktmbuf_alloc(mp);
		two = rte_pktmbuf_alloc(mp);
		assert_ptr_not_equal(one, two);
		rte_pktmbuf_free(one);
		rte_pktmbuf_free(two);
		assert_int_equal(rte_mempool_get_bulk(mp, all, MBUFS), 0);
		assert_true(rte_mempool_get(mp, (void **)&m) < 0);
		rte_mempool_put_bulk(mp, all, MBUFS);
		assert_true(rte_mempool_full(mp));
		rte_mempool_free(mp);
	}
}

/* Also the middle of a buffer of its own, and what is no buffer at all. */
static void
what_is_not_of_the_pool_is_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		struct rte_mempool *a = strict_pool(i, MBUFS);
		struct rte_mempool *b;
		void *theirs, *mine;

		if (a == NULL)
			continue;
		b = empty_pool("order0", 10, 2048, 0);
		assert_int_equal(rte_mempool_populate_default(b), 10);
		assert_int_equal(rte_mempool_get(b, &theirs), 0);
		assert_int_equal(rte_mempool_get(a, &mine), 0);
		{
			void *wrong[] = {theirs, RTE_PTR_ADD(mine, 8), RTE_PTR_ADD(mine, 64),
				RTE_PTR_SUB(mine, 64), NULL, &mine};

			for (unsigned w = 0; w < RTE_DIM(wrong); w++) {
				struct log log;

				open_log(&log);
				rte_mempool_ops_enqueue_bulk(a, &wrong[w], 1);
				close_log(&log);
				assert_logged(&log, a, wrong[w]);
				free(log.text);
				assert_int_equal(pool_stats(a).foreign_puts, w + 1);
				assert_int_equal(rte_mempool_avail_count(a), MBUFS - 1);
			}
		}
		rte_mempool_put(a, mine);
		rte_mempool_put(b, theirs);
		assert_true(rte_mempool_full(a));
		assert_true(rte_mempool_full(b));
		rte_mempool_free(b);
		rte_mempool_free(a);
	}
}

static unsigned
count_lines(const char *text, const char *with)
{
	unsigned count = 0;

	for (; (text = strstr(text, with)) != NULL; text++)
		count++;
	return count;
}

/* A program that is wrong at each packet does not fill its log. */
static void
ten_lines_of_a_pool_are_enough(void **state)
{
	(void)state;
	for (unsigned i = 0; i < STRICT_ROWS; i++) {
		struct rte_mempool *mp = strict_pool(i, MBUFS);
		struct log log;
		void *objs[2];

		if (mp == NULL)
			continue;
		assert_int_equal(rte_mempool_get_bulk(mp, objs, 2), 0);
		rte_mempool_put_bulk(mp, objs, 2);
		open_log(&log);
		for (unsigned n = 0; n < 500; n++)
			rte_mempool_put_bulk(mp, objs, 2);
		close_log(&log);
		assert_int_equal(count_lines(log.text, "2 buffers refused"), 10);
		assert_int_equal(count_lines(log.text, "\n"), 10);
		free(log.text);
		assert_int_equal(pool_stats(mp).double_puts, 1000);
		assert_true(rte_mempool_full(mp));
		rte_mempool_free(mp);
	}
}

/* With reuse and no check a second free shows when it comes to its page. */
static void
an_unchecked_hot_pool_tells_when_it_sorts(void **state)
{
	struct rte_mempool *mp = make_checked_pool("reuse", MBUFS, "off");
	static void *all[MBUFS];
	struct log log;

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, all, MBUFS), 0);
	open_log(&log);
	rte_mempool_put(mp, all[0]);
	rte_mempool_put(mp, all[0]);
	assert_int_equal(pool_stats(mp).double_puts, 0);
	assert_int_equal(rte_mempool_avail_count(mp), 2);
	/* Three magazines further the first is sorted. */
	rte_mempool_put_bulk(mp, all + 1, MBUFS - 1);
	close_log(&log);
	assert_int_equal(pool_stats(mp).double_puts, 1);
	assert_logged(&log, mp, all[0]);
	free(log.text);
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
}

static void
wrong_check_modes_are_refused(void **state)
{
	static const char *const wrong[] = {"yes", "1", "Count", "stop ", "off,count", "countstop"};
	struct pw_test_memory before = pw_test_memory();

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		struct log log;

		setenv(PW_MEMPOOL_CHECK_ENV, wrong[i], 1);
		open_log(&log);
		assert_null(try_pool(NULL, MBUFS, 0, ROOM));
		assert_int_equal(rte_errno, EINVAL);
		close_log(&log);
		unsetenv(PW_MEMPOOL_CHECK_ENV);
		assert_non_null(strstr(log.text, PW_MEMPOOL_CHECK_ENV));
		assert_non_null(strstr(log.text, wrong[i]));
		assert_non_null(strstr(log.text, "off, count or stop"));
		free(log.text);
		pw_test_memory_equal(before);
	}
}

/* Right programs see no difference. */
static void
checked_pools_work_as_others(void **state)
{
	static const char *const checks[] = {"off", "count", "stop"};
	static void *all[MBUFS];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(checks) * nb_pool_strategies; i++) {
		struct pw_test_memory before = pw_test_memory();
		struct rte_mempool *mp = make_checked_pool(
			pool_strategies[i / RTE_DIM(checks)], MBUFS, checks[i % RTE_DIM(checks)]);

		for (unsigned n = 1; n < MBUFS; n += 1 + n / 2) {
			assert_int_equal(rte_mempool_get_bulk(mp, all, n), 0);
			assert_int_equal(rte_mempool_avail_count(mp), MBUFS - n);
			rte_mempool_put_bulk(mp, all, n);
		}
		assert_int_equal(pool_stats(mp).double_puts + pool_stats(mp).foreign_puts, 0);
		rte_mempool_free(mp);
		pw_test_memory_equal(before);
	}
}

/* What a child process says as it puts a buffer twice, and how it ends. */
static int
free_twice(struct rte_mempool *mp, void *obj, char *said, size_t size)
{
	const struct rlimit no_core = {0, 0};
	size_t len = 0;
	int status, fds[2];
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(fds[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		rte_openlog_stream(stderr);
		rte_mempool_put(mp, obj);
		rte_mempool_put(mp, obj);
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], said + len, size - 1 - len)) > 0)
		len += n;
	close(fds[0]);
	said[len] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
stop_ends_the_program_with_the_address(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * nb_pool_strategies; i++) {
		bool stop = i % 2 == 0;
		struct rte_mempool *mp = make_checked_pool(
			pool_strategies[i / 2], 64, stop ? "stop" : "count");
		char said[16384], text[64];
		void *obj;
		int status;

		assert_int_equal(rte_mempool_get(mp, &obj), 0);
		status = free_twice(mp, obj, said, sizeof(said));
		if (stop) {
			assert_true(WIFSIGNALED(status));
			assert_int_equal(WTERMSIG(status), SIGABRT);
			snprintf(text, sizeof(text), "a buffer at %p was freed twice", obj);
			assert_non_null(strstr(said, text));
		} else {
			assert_true(WIFEXITED(status));
			assert_null(strstr(said, "PANIC"));
		}
		snprintf(text, sizeof(text), "the last at %p", obj);
		assert_non_null(strstr(said, text));
		rte_mempool_free(mp);
	}
}

/* A release looks at nothing unless it is asked to; a debug build stops. */
static void
a_debug_build_stops_unasked(void **state)
{
	struct rte_mempool *mp;
	char said[16384];
	int status;
	void *obj;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		mp = i == 0 ? make_pool("reuse", 64, 0) : make_checked_pool("reuse", 64, "");
		assert_int_equal(rte_mempool_get(mp, &obj), 0);
		status = free_twice(mp, obj, said, sizeof(said));
#ifdef PW_DEBUG
		assert_true(WIFSIGNALED(status));
#else
		assert_true(WIFEXITED(status));
		assert_string_equal(said, "");
#endif
		rte_mempool_free(mp);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_mbuf_freed_twice_comes_once),
		cmocka_unit_test(what_is_not_of_the_pool_is_refused),
		cmocka_unit_test(ten_lines_of_a_pool_are_enough),
		cmocka_unit_test(an_unchecked_hot_pool_tells_when_it_sorts),
		cmocka_unit_test(wrong_check_modes_are_refused),
		cmocka_unit_test(checked_pools_work_as_others),
		cmocka_unit_test(stop_ends_the_program_with_the_address),
		cmocka_unit_test(a_debug_build_stops_unasked),
	};

	return cmocka_run_group_tests_name("mempool_check", tests, pw_test_eal, NULL);
}
