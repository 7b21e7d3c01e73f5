/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_ENVIRONMENT_H
#define BENCH_ENVIRONMENT_H

/** @file What a figure depends on beside the code. */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "pw_samples.h"

struct pw_bench_environment {
	char cpu[128];
	char kernel[128];
	const char *dpdk;
	size_t hugepage_bytes; /**< of EAL's memory */
	int main_cpu;
	int second_cpu; /**< -1: none */
};

void pw_bench_environment_read(struct pw_bench_environment *environment);

/** Free and all hugepages of 2 MiB. */
void pw_bench_hugepages(unsigned long *free_pages, unsigned long *pages);

/** Size of the main lcore's L2 cache; 2 MiB if the kernel does not say. */
size_t pw_bench_l2_bytes(void);

/**
 * Why memory is missing, and what helps.
 *
 * @param what  it was for
 * @param needed  hugepages
 * @param less  how less would do: "smaller --sizes"
 */
void pw_bench_explain_memory(
	char *reason, size_t size, const char *what, unsigned long needed, const char *less);

/**
 * Print it, with what the probes said.
 *
 * @param probes  one-way nanoseconds, by regime
 */
void pw_bench_environment_print(
	const struct pw_bench_common *common, const struct pw_samples *probes, unsigned mixed);

/** The same as JSON; a new reference. */
json_t *pw_bench_environment_json(
	const struct pw_bench_common *common, const struct pw_samples *probes, unsigned mixed);

#endif
