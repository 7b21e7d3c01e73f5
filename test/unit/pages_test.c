/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_test.h"

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_memory.h>

#include "pw_pages.h"

static void
strategies_parse(void **state)
{
	struct pw_strategy strategy;

	(void)state;
	assert_int_equal(pw_strategy_parse(NULL, &strategy), 0);
	assert_string_equal(strategy.name, PW_STRATEGY_DEFAULT);
	assert_int_equal(pw_strategy_parse("order0", &strategy), 0);
	assert_int_equal(pw_strategy_page_bytes(&strategy), 4096);
	assert_int_equal(pw_strategy_parse("reuse:9", &strategy), 0);
	assert_string_equal(strategy.name, "reuse:9");
	assert_int_equal(pw_strategy_page_bytes(&strategy), 2 << 20);
}

static void
wrong_strategies_are_refused(void **state)
{
	static const char *const wrong[] = {"bogus", "order", "reuse:", "reuse:a", "reuse:10", ":",
		":0", "reuse:-1", "Reuse", "reuse "};
	struct pw_strategy strategy, before;

	(void)state;
	memset(&strategy, 0x5a, sizeof(strategy));
	before = strategy;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		assert_int_equal(pw_strategy_parse(wrong[i], &strategy), -EINVAL);
	assert_memory_equal(&strategy, &before, sizeof(before));
}

static void
pages_are_aligned_and_come_back(void **state)
{
	struct pw_arena_params params = {.socket_id = SOCKET_ID_ANY, .page_order = 3};
	size_t heap = pw_test_heap_bytes();
	unsigned memzones = pw_test_memzones();
	struct pw_arena *arena = pw_arena_create(&params);
	struct pw_arena_stats stats;
	struct pw_page *pages[4];

	(void)state;
	assert_non_null(arena);
	assert_int_equal(pw_arena_reserve(arena, "pages_test", RTE_DIM(pages)), 0);
	for (unsigned i = 0; i < RTE_DIM(pages); i++) {
		pages[i] = pw_page_alloc(arena);
		assert_non_null(pages[i]);
		assert_int_equal((uintptr_t)pages[i]->addr % 32768, 0);
		assert_int_equal(pages[i]->len_bytes, 32768);
		assert_ptr_equal(pw_page_of(arena, pages[i]->addr + 32767), pages[i]);
	}
	assert_null(pw_page_alloc(arena));
	assert_int_equal(rte_errno, ENOMEM);
	for (unsigned i = 0; i < RTE_DIM(pages); i++)
		pw_page_free(arena, pages[i]);
	/* The hottest page goes out first. */
	assert_ptr_equal(pw_page_alloc(arena), pages[3]);
	pw_page_free(arena, pages[3]);

	pw_arena_get_stats(arena, &stats);
	assert_int_equal(stats.pages, 4);
	assert_int_equal(stats.pages_held, 0);
	assert_int_equal(stats.pages_held_max, 4);
	assert_int_equal(stats.pages_touched, 4);
	assert_int_equal(stats.page_failures, 1);
	pw_arena_destroy(arena);
	assert_int_equal(pw_test_heap_bytes(), heap);
	assert_int_equal(pw_test_memzones(), memzones);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies_parse),
		cmocka_unit_test(wrong_strategies_are_refused),
		cmocka_unit_test(pages_are_aligned_and_come_back),
	};

	return cmocka_run_group_tests_name("pages", tests, pw_test_eal, NULL);
}
