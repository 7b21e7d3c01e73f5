/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <rte_common.h>

#include "pw_tcp_wheel.h"

#include "pw_test.h"

#define NODES 500
#define HOUR_US 3600000000

struct node {
	struct pw_tcp_wheel_node node;
	uint64_t want_us; /* 0: not in the wheel */
};

struct rig {
	struct pw_tcp_wheel wheel;
	struct node nodes[NODES];
	uint64_t now_us, last_us;
	unsigned fired;
	uint64_t again_us; /* what fired comes again so much later */
};

static void
on_fire(struct pw_tcp_wheel_node *node, void *ctx)
{
	struct node *mine = container_of(node, struct node, node);
	struct rig *rig = ctx;

	assert_int_equal(node->due_us, 0);
	assert_true(mine->want_us != 0 && mine->want_us <= rig->now_us);
	assert_true(mine->want_us >= rig->last_us);
	rig->last_us = mine->want_us;
	mine->want_us = 0;
	rig->fired++;
	if (rig->again_us > 0) {
		mine->want_us = rig->now_us + rig->again_us;
		pw_tcp_wheel_add(&rig->wheel, node, mine->want_us);
	}
}

static void
add(struct rig *rig, unsigned i, uint64_t due_us)
{
	rig->nodes[i].want_us = due_us;
	pw_tcp_wheel_add(&rig->wheel, &rig->nodes[i].node, due_us);
}

static void
advance(struct rig *rig, uint64_t us)
{
	rig->now_us += us;
	rig->last_us = 0;
	pw_tcp_wheel_advance(&rig->wheel, rig->now_us, on_fire, rig);
	for (unsigned i = 0; i < NODES; i++)
		if (rig->nodes[i].want_us != 0)
			assert_true(rig->nodes[i].want_us > rig->now_us &&
				rig->nodes[i].want_us >= rig->wheel.next_us);
}

static int
set_up(void **state)
{
	static struct rig rig;

	rig = (struct rig){0};
	pw_tcp_wheel_init(&rig.wheel);
	*state = &rig;
	return 0;
}

static void
each_fires_at_its_time(void **state)
{
	static const uint64_t times_us[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 200000, 1000000,
		1ull << 30, (1ull << 36) - 1, 1ull << 42, (1ull << 42) + 1};
	struct rig *rig = *state;

	for (unsigned start = 0; start < 20; start++) {
		uint64_t base_us = rig->now_us;

		for (unsigned i = 0; i < RTE_DIM(times_us); i++)
			add(rig, i, base_us + times_us[i]);
		for (unsigned i = 0; i < RTE_DIM(times_us); i++) {
			rig->fired = 0;
			if (base_us + times_us[i] - 1 > rig->now_us)
				advance(rig, base_us + times_us[i] - 1 - rig->now_us);
			assert_int_equal(rig->fired, 0);
			advance(rig, 1);
			assert_int_equal(rig->fired, 1);
		}
		assert_int_equal(rig->wheel.next_us, UINT64_MAX);
		advance(rig, 1);
	}
}

static void
what_is_removed_does_not_fire(void **state)
{
	struct rig *rig = *state;

	pw_tcp_wheel_remove(&rig->wheel, &rig->nodes[0].node);
	for (unsigned i = 0; i < NODES; i++)
		add(rig, i, 1 + 977 * i);
	for (unsigned i = 0; i < NODES; i++) {
		pw_tcp_wheel_remove(&rig->wheel, &rig->nodes[i].node);
		rig->nodes[i].want_us = 0;
	}
	advance(rig, HOUR_US);
	assert_int_equal(rig->fired, 0);
	assert_int_equal(rig->wheel.next_us, UINT64_MAX);
}

/* Hours at once: each fires once, in order, and what comes again waits for its time. */
static void
time_may_jump(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < NODES; i++)
		add(rig, i, 1 + i * 7919777);
	rig->again_us = 1;
	advance(rig, 10 * (uint64_t)HOUR_US);
	assert_int_equal(rig->fired, NODES);
	advance(rig, 1);
	assert_int_equal(rig->fired, 2 * NODES);
	/* The past is now. */
	rig->again_us = 0;
	advance(rig, 1);
	add(rig, 0, rig->now_us - 5);
	rig->nodes[0].want_us = rig->now_us;
	assert_true(rig->wheel.next_us <= rig->now_us);
	rig->fired = 0;
	pw_tcp_wheel_advance(&rig->wheel, rig->now_us, on_fire, rig);
	assert_int_equal(rig->fired, 1);
}

static uint64_t
random_delay(uint64_t *seed)
{
	return 1 + pw_test_random(seed, UINT32_MAX) % (1ull << pw_test_random(seed, 32));
}

/* Against the plain rule: what is due fires, nothing else (see advance()). */
static void
as_a_list_would(void **state)
{
	struct rig *rig = *state;
	uint64_t seed = pw_test_seed();

	for (unsigned round = 0; round < 20000; round++) {
		unsigned i = pw_test_random(&seed, NODES);

		pw_tcp_wheel_remove(&rig->wheel, &rig->nodes[i].node);
		rig->nodes[i].want_us = 0;
		if (pw_test_random(&seed, 4) > 0)
			add(rig, i, rig->now_us + random_delay(&seed));
		if (pw_test_random(&seed, 3) == 0)
			advance(rig, random_delay(&seed));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_fires_at_its_time, set_up),
		cmocka_unit_test_setup(what_is_removed_does_not_fire, set_up),
		cmocka_unit_test_setup(time_may_jump, set_up),
		cmocka_unit_test_setup(as_a_list_would, set_up),
	};

	return cmocka_run_group_tests_name("tcp_wheel", tests, NULL, NULL);
}
