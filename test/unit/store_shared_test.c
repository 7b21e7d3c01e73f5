/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Two lcores and two plain threads at once, which hand objects over to each other. */
#include "pw_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "pw_store.h"
#include "pw_store_rig.h"

#define WORKERS 4
#define BURST_MAX 48
#define HELD_MAX 400
#define RING_OBJECTS 512

struct worker {
	const struct box *box;
	struct rte_ring *ring; /* for objects on their way to somebody else */
	unsigned *owners;      /* by object; 0: in the store */
	unsigned me;	       /* from 1 */
	unsigned steps;
	unsigned held_max;
	uint64_t seed;
	void *held[HELD_MAX + BURST_MAX];
	unsigned len;
	uint64_t gets, puts, failures, conflicts, wrong_puts;
};

static unsigned *
owner_of(const struct worker *worker, const void *obj)
{
	return &worker->owners[((const unsigned char *)obj - worker->box->lent) /
		worker->box->stride_bytes];
}

/* Who has it changes from one to another. */
static void
pass(struct worker *worker, void *const *objs, unsigned n, unsigned from, unsigned to)
{
	for (unsigned i = 0; i < n; i++)
		worker->conflicts += __atomic_exchange_n(owner_of(worker, objs[i]), to,
					     __ATOMIC_RELAXED) != from;
}

static void
get(struct worker *worker, unsigned n)
{
	void **to = worker->held + worker->len;

	if (pw_store_get(worker->box->store, to, n) < 0) {
		worker->failures++;
		return;
	}
	pass(worker, to, n, 0, worker->me);
	worker->len += n;
	worker->gets += n;
}

static void
put(struct worker *worker, unsigned n)
{
	n = RTE_MIN(n, worker->len);
	worker->len -= n;
	pass(worker, worker->held + worker->len, n, worker->me, 0);
	worker->wrong_puts += pw_store_put(worker->box->store, worker->held + worker->len, n);
	worker->puts += n;
}

/* Into the ring, from which another frees them. */
static void
hand_over(struct worker *worker, unsigned n)
{
	void **from;

	n = RTE_MIN(n, worker->len);
	from = worker->held + worker->len - n;
	pass(worker, from, n, worker->me, WORKERS + 1);
	if (rte_ring_enqueue_bulk(worker->ring, from, n, NULL) == 0)
		pass(worker, from, n, WORKERS + 1, worker->me);
	else
		worker->len -= n;
}

static void
take_over(struct worker *worker, unsigned n)
{
	void *objs[BURST_MAX];

	n = rte_ring_dequeue_burst(worker->ring, objs, n, NULL);
	pass(worker, objs, n, WORKERS + 1, 0);
	worker->wrong_puts += pw_store_put(worker->box->store, objs, n);
	worker->puts += n;
}

static int
work(void *arg)
{
	struct worker *worker = arg;

	for (unsigned i = 0; i < worker->steps; i++) {
		unsigned n = 1 + pw_test_random(&worker->seed, BURST_MAX);
		unsigned what = pw_test_random(&worker->seed, 8);

		if (what < 4 && worker->len + n <= worker->held_max)
			get(worker, n);
		else if (what == 4)
			hand_over(worker, n);
		else if (what == 5)
			take_over(worker, n);
		else
			put(worker, n);
		/* More of us than CPUs: who is put off while it has a lock keeps all waiting. */
		if (i % 8 == 0)
			sched_yield();
	}
	put(worker, worker->len);
	return 0;
}

static void *
work_as_thread(void *arg)
{
	work(arg);
	return NULL;
}

/* Lcores 0 and 1, and plain threads. */
static void
work_together(struct worker workers[WORKERS])
{
	pthread_t threads[2];

	assert_int_equal(rte_eal_remote_launch(work, &workers[1], 1), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, work_as_thread, &workers[2 + i]), 0);
	work(&workers[0]);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(rte_eal_wait_lcore(1), 0);
	take_over(&workers[0], 0);
	while (rte_ring_count(workers[0].ring) > 0)
		take_over(&workers[0], BURST_MAX);
}

static struct rte_ring *hand_over_ring;

static int
set_up(void **state)
{
	int rc = pw_test_eal(state);

	if (rc == 0)
		hand_over_ring = rte_ring_create(
			"store_shared", RING_OBJECTS, SOCKET_ID_ANY, RING_F_EXACT_SZ);
	return hand_over_ring == NULL ? -1 : rc;
}

/* All of them work on a store; nobody holds more than held_max. */
static void
share(struct box *box, unsigned steps, unsigned held_max, bool may_fail)
{
	static struct worker workers[WORKERS];
	uint64_t gets = 0, puts = 0, failures = 0;

	memset(workers, 0, sizeof(workers));
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){.box = box,
			.ring = hand_over_ring,
			.me = i + 1,
			.steps = steps,
			.held_max = held_max,
			.seed = i,
			.owners = i == 0 ? calloc(box->objects, sizeof(unsigned))
					 : workers[0].owners};
	}
	work_together(workers);
	for (unsigned i = 0; i < WORKERS; i++) {
		assert_int_equal(workers[i].conflicts, 0);
		assert_int_equal(workers[i].wrong_puts, 0);
		assert_true(workers[i].gets > 0);
		gets += workers[i].gets;
		puts += workers[i].puts;
		failures += workers[i].failures;
	}
	if (!may_fail)
		assert_int_equal(failures, 0);
	assert_int_equal(gets, puts);
	assert_int_equal(box_stats(box).gets, gets);
	assert_int_equal(box_stats(box).failures, failures);
	free(workers[0].owners);
}

/* There are enough for all, if barely: then no get may fail, whatever the others do meanwhile. */
static void
objects_have_one_owner_and_no_get_fails(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(
			box_strategies[s], WORKERS * 100 + RING_OBJECTS, s % 2 == 0);

		share(&box, PW_TEST_MANY(20000), 100, false);
		close_box(&box);
	}
}

/* There are plenty: magazines go round by the depot, pages by caches and rings. */
static void
objects_have_one_owner_where_there_are_many(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 4000, s % 2 == 1);

		share(&box, PW_TEST_MANY(20000), HELD_MAX, false);
		close_box(&box);
	}
}

/* There are too few, so all gather from each other all the time. */
static void
objects_have_one_owner_where_there_are_few(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 64, s % 2 == 0);

		share(&box, PW_TEST_MANY(10000), HELD_MAX, true);
		close_box(&box);
	}
}

/* Somebody asks for counts and statistics, and puts what is wrong, while others work. */
struct nosy {
	const struct box *box;
	bool end; /* atomic */
	uint64_t looks;
	unsigned impossible;
};

static void *
look(void *arg)
{
	struct nosy *nosy = arg;
	char *middle = (char *)nosy->box->lent + nosy->box->offset_bytes + 8;

	while (!__atomic_load_n(&nosy->end, __ATOMIC_RELAXED) || nosy->looks < 3) {
		struct pw_store_stats stats = box_stats(nosy->box);
		void *wrong = middle;

		nosy->impossible += stats.free > stats.objects ||
			stats.pages.pages_held > stats.pages.pages ||
			stats.pinned_pages > stats.pages.pages;
		nosy->impossible += pw_store_count(nosy->box->store) > nosy->box->objects;
		if (!box_is_hot(nosy->box->strategy))
			nosy->impossible += pw_store_put(nosy->box->store, &wrong, 1) != 1;
		nosy->looks++;
		usleep(200);
	}
	return NULL;
}

static void
statistics_can_be_read_at_any_time(void **state)
{
	(void)state;
	for (unsigned s = 0; s < nb_box_strategies; s++) {
		struct box box = open_simple(box_strategies[s], 1000, s % 2 == 0);
		struct nosy nosy = {.box = &box};
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, look, &nosy), 0);
		share(&box, PW_TEST_MANY(5000), HELD_MAX, true);
		__atomic_store_n(&nosy.end, true, __ATOMIC_RELAXED);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(nosy.impossible, 0);
		close_box(&box);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_have_one_owner_and_no_get_fails),
		cmocka_unit_test(objects_have_one_owner_where_there_are_many),
		cmocka_unit_test(objects_have_one_owner_where_there_are_few),
		cmocka_unit_test(statistics_can_be_read_at_any_time),
	};

	return cmocka_run_group_tests_name("store_shared", tests, set_up, NULL);
}
