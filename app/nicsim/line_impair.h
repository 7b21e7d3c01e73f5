/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_LINE_IMPAIR_H
#define NICSIM_LINE_IMPAIR_H

/** @file What a bad line does to one frame, and the dice that it throws. */

#include <stdbool.h>
#include <stdint.h>

#include "line.h"
#include "line_queue.h"

/** State of erand48() and nrand48(). */
struct line_dice {
	unsigned short state[3];
};

/** Begin, each stream of a seed in its own way. */
void line_dice_init(struct line_dice *dice, uint64_t seed, unsigned stream);

/** Whether something of this probability happens; nothing is thrown for 0. */
bool line_dice_hits(struct line_dice *dice, double probability);

/** A number from 0 to below, which is not 0. */
uint64_t line_dice_below(struct line_dice *dice, uint64_t below);

/** Whether a direction needs copies of its frames. */
bool line_is_impaired(const struct line_config *config);

/**
 * Copy a frame for the queue, damaged as the configuration has it, and count what was done.
 *
 * @return NULL when the queue is full
 */
struct held *line_impair(const struct line_config *config, struct line_dice *dice,
	const struct line_queue *queue, const struct frame *frame, struct line_stats *stats);

#endif
