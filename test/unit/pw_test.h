/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TEST_H
#define PW_TEST_H

/** @file What all unit tests share: cmocka, and EAL without hugepages, NICs or files. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pw_chance.h"

/** Group set-up: start EAL on lcores 0 and 1, once a program. */
int pw_test_eal(void **state);

/** Heap bytes in use in EAL's memory: equal before and after means that nothing leaked. */
size_t pw_test_heap_bytes(void);

/** Number of memzones. */
unsigned pw_test_memzones(void);

/** What must be the same before and after. */
struct pw_test_memory {
	size_t heap_bytes;
	unsigned memzones;
};

struct pw_test_memory pw_test_memory(void);

/**
 * How often something is done many times: a tenth where the thread sanitizer watches, which takes
 * its time and finds a race at the first go.
 */
#ifdef __SANITIZE_THREAD__
#define PW_TEST_MANY(n) ((n) / 10)
#else
#define PW_TEST_MANY(n) (n)
#endif

/** Fail the test unless heap and memzones are as they were. */
void pw_test_memory_equal(struct pw_test_memory before);

/**
 * Let the k-th allocation of EAL memory from now on fail, once; 0 is the next one. -1: none.
 *
 * Heap and memzone requests count, those of DPDK's own libraries too.
 */
void pw_test_fail_alloc(int k);

/** Whether the failure that was asked for has come. */
bool pw_test_alloc_failed(void);

/** Run a function on a plain thread, which is no lcore, and wait. It must not assert. */
void pw_test_on_thread(void *(*run)(void *), void *arg);

/**
 * Give way to other threads, as nothing gets on here; *since is 0 at first.
 *
 * @return false after 10 seconds: somebody is stuck, and the test fails better than it waits
 */
bool pw_test_wait(uint64_t *since);

/**
 * Let this thread pass for an lcore, or LCORE_ID_ANY, so that one thread visits the stores of all.
 *
 * @return the id before
 */
unsigned pw_test_act_as(unsigned lcore);

#endif
