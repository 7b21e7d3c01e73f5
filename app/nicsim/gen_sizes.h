/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_GEN_SIZES_H
#define NICSIM_GEN_SIZES_H

/** @file Sizes of frames that a generator makes: one, or several at a ratio. */

#include <stdbool.h>
#include <stdint.h>

#define GEN_SIZE_MIN 64 /**< with CRC, as the industry counts */
#define GEN_SIZE_MAX 9728
#define GEN_SIZES_MAX 8
#define GEN_WEIGHT_MAX 256
#define GEN_SCHEDULE_MAX (GEN_SIZES_MAX * GEN_WEIGHT_MAX)

struct gen_sizes {
	unsigned n;
	bool at_least; /**< sizes that are too small for the headers are made larger */
	uint32_t bytes[GEN_SIZES_MAX]; /**< with CRC */
	uint32_t weights[GEN_SIZES_MAX];
};

/** Parser of a setting: "64", "imix", "64:7/594:4/1518:1". @return 0 or -1 */
int gen_sizes_parse(void *sizes, const char *text);

/** Write the order in which sizes follow each other, well mixed. @return its length */
unsigned gen_sizes_schedule(const struct gen_sizes *sizes, uint8_t schedule[GEN_SCHEDULE_MAX]);

#endif
