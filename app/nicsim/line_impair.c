/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "line_impair.h"

#include <stdlib.h>
#include <string.h>

#include "line_cksum.h"

#define ETHER_HEADER_BYTES 14

void
line_dice_init(struct line_dice *dice, uint64_t seed, unsigned stream)
{
	/* Seeds that are near to each other would begin near to each other: mix them. */
	seed += stream * 0x9e3779b97f4a7c15;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
	for (unsigned i = 0; i < 3; i++)
		dice->state[i] = (unsigned short)(seed >> (16 + 16 * i));
}

bool
line_dice_hits(struct line_dice *dice, double probability)
{
	return probability > 0 && erand48(dice->state) < probability;
}

uint64_t
line_dice_below(struct line_dice *dice, uint64_t below)
{
	return (uint64_t)(erand48(dice->state) * (double)below);
}

bool
line_is_impaired(const struct line_config *config)
{
	return config->delay_ns > 0 || config->jitter_ns > 0 || config->loss > 0 ||
		config->reorder > 0 || config->duplicate > 0 || config->corrupt > 0 ||
		config->bad_crc > 0 || config->bad_cksum > 0 || config->truncate > 0 ||
		config->oversize > 0;
}

static void
flip_bit(struct line_dice *dice, struct held *held)
{
	uint64_t bit = line_dice_below(dice, (uint64_t)held->len_bytes * 8);

	if (held->len_bytes > 0)
		held->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

/* The length that comes out. */
static uint32_t
change_length(const struct line_config *config, struct line_dice *dice, uint32_t len_bytes,
	struct line_stats *stats)
{
	if (len_bytes > ETHER_HEADER_BYTES && line_dice_hits(dice, config->truncate)) {
		stats->truncated++;
		return ETHER_HEADER_BYTES +
			(uint32_t)line_dice_below(dice, len_bytes - ETHER_HEADER_BYTES);
	}
	if (len_bytes < FRAME_MAX_BYTES && line_dice_hits(dice, config->oversize)) {
		stats->oversized++;
		return len_bytes + 1 + (uint32_t)line_dice_below(dice, FRAME_MAX_BYTES - len_bytes);
	}
	return len_bytes;
}

static void
change_bits(const struct line_config *config, struct line_dice *dice, struct held *held,
	struct line_stats *stats)
{
	if (line_dice_hits(dice, config->bad_cksum))
		stats->bad_cksum += line_cksum_spoil(held->data, held->len_bytes);
	if (line_dice_hits(dice, config->corrupt)) {
		flip_bit(dice, held);
		stats->corrupted++;
	}
	if (line_dice_hits(dice, config->bad_crc)) {
		flip_bit(dice, held);
		held->flags |= FRAME_BAD_CRC;
		stats->bad_crc++;
	}
}

struct held *
line_impair(const struct line_config *config, struct line_dice *dice,
	const struct line_queue *queue, const struct frame *frame, struct line_stats *stats)
{
	struct line_stats counted = *stats;
	uint32_t len_bytes = change_length(config, dice, frame->len_bytes, &counted);
	uint32_t kept_bytes = len_bytes < frame->len_bytes ? len_bytes : frame->len_bytes;
	struct held *held = line_queue_alloc(queue, len_bytes);

	if (held == NULL)
		return NULL;
	memcpy(held->data, frame->data, kept_bytes);
	memset(held->data + kept_bytes, 0, len_bytes - kept_bytes);
	held->len_bytes = len_bytes;
	held->flags = frame->flags;
	change_bits(config, dice, held, &counted);
	*stats = counted;
	return held;
}
