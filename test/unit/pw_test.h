/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TEST_H
#define PW_TEST_H

/** @file What all unit tests share: cmocka, and EAL without hugepages, NICs or files. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Group set-up: start EAL on lcores 0 and 1, once a program. */
int pw_test_eal(void **state);

/** Heap bytes in use in EAL's memory: equal before and after means that nothing leaked. */
size_t pw_test_heap_bytes(void);

/** Number of memzones. */
unsigned pw_test_memzones(void);

#endif
