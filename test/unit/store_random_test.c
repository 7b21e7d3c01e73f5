/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * A random walk beside a model that knows who holds what: lcores, by one thread that passes for
 * each of them, and plain threads, which work for it in turn.
 */
#include "pw_test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include <rte_lcore.h>

#include "pw_store.h"
#include "pw_store_priv.h"
#include "pw_store_rig.h"

#define OBJECTS 6000
#define STEPS 1000000 /* of all strategies together */
#define MAX_BURST 600
#define PLAIN_THREADS 3

/* A call that a thread makes for the walk. */
struct call {
	struct pw_store *store;
	void **objs;
	unsigned n;
	bool is_get;
	int rc;
};

struct helper {
	pthread_t thread;
	sem_t begin, end;
	struct call *call; /* NULL: end */
};

/* The reference. */
struct model {
	struct box box;
	struct helper helpers[PLAIN_THREADS];
	void *held[OBJECTS];
	unsigned nb_held;
	bool is_held[OBJECTS];
	uint64_t seed;
	uint64_t gets, puts, failures, doubles, foreigns;
};

static void
run_call(struct call *call)
{
	if (call->is_get)
		call->rc = pw_store_get(call->store, call->objs, call->n);
	else
		call->rc = pw_store_put(call->store, call->objs, call->n);
}

static void *
run_helper(void *arg)
{
	struct helper *helper = arg;

	while (true) {
		while (sem_wait(&helper->begin) < 0)
			;
		if (helper->call == NULL)
			return NULL;
		run_call(helper->call);
		sem_post(&helper->end);
	}
}

static void
start_helpers(struct model *model)
{
	for (unsigned i = 0; i < PLAIN_THREADS; i++) {
		struct helper *helper = &model->helpers[i];

		assert_int_equal(sem_init(&helper->begin, 0, 0), 0);
		assert_int_equal(sem_init(&helper->end, 0, 0), 0);
		assert_int_equal(pthread_create(&helper->thread, NULL, run_helper, helper), 0);
	}
}

static void
help(struct helper *helper, struct call *call)
{
	helper->call = call;
	sem_post(&helper->begin);
	if (call == NULL)
		return;
	while (sem_wait(&helper->end) < 0)
		;
}

static void
stop_helpers(struct model *model)
{
	for (unsigned i = 0; i < PLAIN_THREADS; i++) {
		help(&model->helpers[i], NULL);
		pthread_join(model->helpers[i].thread, NULL);
	}
}

/* As any of those who use the store; real threads now and then, as they take their time. */
static int
call_as_any(struct model *model, bool is_get, void **objs, unsigned n)
{
	static const unsigned lcores[] = {0, 0, 1, 1, LCORE_ID_ANY, 7};
	struct call call = {.store = model->box.store, .objs = objs, .n = n, .is_get = is_get};
	unsigned who = pw_test_random(&model->seed, 200), me;

	if (who < PLAIN_THREADS) {
		help(&model->helpers[who], &call);
		return call.rc;
	}
	me = pw_test_act_as(lcores[who % RTE_DIM(lcores)]);
	run_call(&call);
	pw_test_act_as(me);
	return call.rc;
}

static void
walk_get(struct model *model, unsigned n)
{
	void **table = model->held + model->nb_held;

	if (n > OBJECTS - model->nb_held) {
		static void *objs[OBJECTS + MAX_BURST];

		assert_int_equal(call_as_any(model, true, objs, n), -ENOBUFS);
		assert_null(objs[0]);
		assert_null(objs[n - 1]);
		model->failures++;
		return;
	}
	if (call_as_any(model, true, table, n) != 0)
		fail_msg("%s: no %u objects where %u are free", model->box.strategy, n,
			OBJECTS - model->nb_held);
	for (unsigned i = 0; i < n; i++) {
		unsigned id = box_id(&model->box, table[i]);

		assert_false(model->is_held[id]);
		model->is_held[id] = true;
	}
	model->nb_held += n;
	model->gets += n;
}

static void
walk_put(struct model *model, unsigned n)
{
	n = RTE_MIN(n, model->nb_held);
	for (unsigned i = 0; i < n; i++) {
		void **last = &model->held[model->nb_held - 1 - i];
		void **any = &model->held[pw_test_random(&model->seed, model->nb_held - i)];
		void *obj = *any;

		*any = *last;
		*last = obj;
		model->is_held[box_id(&model->box, obj)] = false;
	}
	model->nb_held -= n;
	model->puts += n;
	assert_int_equal(call_as_any(model, false, model->held + model->nb_held, n), 0);
}

/* Put what is wrong: an object that is free, if it is one, or the middle of one. */
static void
walk_put_wrong(struct model *model)
{
	size_t at = (size_t)pw_test_random(&model->seed, OBJECTS) * model->box.stride_bytes +
		model->box.offset_bytes;
	uint32_t id = model->box.ids[at];
	void *obj = model->box.lent + at;

	if (pw_test_random(&model->seed, 4) == 0) {
		obj = (char *)obj + 8;
		model->foreigns++;
	} else if (id == 0 || id == UINT32_MAX || model->is_held[id - 1]) {
		return;
	} else {
		model->doubles++;
	}
	assert_int_equal(call_as_any(model, false, &obj, 1), 1);
	assert_ptr_equal(pw_store_last_bad_put(model->box.store), obj);
}

/* No table has more in it than it has room for. */
static void
check_bounds(const struct model *model)
{
	const struct pw_store *store = model->box.store;

	for (unsigned i = 0; i < PW_SLOTS; i++) {
		const struct pw_store_part *part = store->parts[i];

		if (part == NULL)
			continue;
		assert_true(part->own_len <= PW_MAGAZINE_SIZE);
		assert_true(part->got_len <= PW_MAGAZINE_SIZE);
		assert_true(part->got_head <= part->got_len);
		assert_true(part->cut_left <= store->layout.max_objects);
		assert_true(part->flip == NULL || part->flip->len <= PW_FLIP_PAGES);
	}
	if (store->hot)
		assert_int_equal(store->depot.nb_full + store->depot.nb_empty, PW_DEPOT_MAGAZINES);
}

static void
walk_step(struct model *model, bool rising, bool strict)
{
	unsigned max = pw_test_random(&model->seed, 64) == 0 ? MAX_BURST : 9;
	unsigned n = 1 + pw_test_random(&model->seed, max);

	if (strict && pw_test_random(&model->seed, 16) == 0)
		walk_put_wrong(model);
	if (pw_test_random(&model->seed, 8) < (rising ? 5 : 3))
		walk_get(model, n);
	else
		walk_put(model, n);
	assert_int_equal(pw_store_count(model->box.store), OBJECTS - model->nb_held);
	check_bounds(model);
}

static void
check_counters(const struct model *model)
{
	struct pw_store_stats stats = box_stats(&model->box);

	assert_int_equal(stats.gets, model->gets);
	assert_int_equal(stats.puts, model->puts);
	assert_int_equal(stats.failures, model->failures);
	assert_int_equal(stats.double_puts, model->doubles);
	assert_int_equal(stats.foreign_puts, model->foreigns);
}

static void
walk(const char *strategy, bool check, unsigned steps, uint64_t seed)
{
	static struct model model;

	memset(&model, 0, sizeof(model));
	model.seed = seed;
	model.box = open_simple(strategy, OBJECTS, check);
	start_helpers(&model);
	for (unsigned i = 0; i < steps; i++)
		walk_step(&model, i / 2000 % 2 == 0, check || !box_is_hot(strategy));
	check_counters(&model);
	walk_put(&model, OBJECTS);
	take_all(&model.box, model.held, 100);
	put_as(&model.box, 0, model.held, OBJECTS);
	stop_helpers(&model);
	close_box(&model.box);
}

static void
random_walk_agrees_with_the_model(void **state)
{
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned i = 0; i < 2 * nb_box_strategies; i++)
		walk(box_strategies[i / 2], i % 2 == 0, STEPS / (2 * nb_box_strategies), seed + i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_walk_agrees_with_the_model),
	};

	return cmocka_run_group_tests_name("store_random", tests, pw_test_eal, NULL);
}
