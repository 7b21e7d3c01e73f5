/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "line.h"

#include <stdlib.h>

#include "line_impair.h"
#include "line_queue.h"
#include "line_rate.h"

/* One way of the line. */
struct direction {
	struct line_config config;
	bool is_plain; /* nothing is copied, and nothing is on the line */
	struct line_rate rate;
	struct line_stats stats;
	struct line_queue queue;
	struct line_dice dice;
};

struct line {
	struct wire *wire;
	struct direction ways[LINE_WAYS];
	unsigned offered; /* frames that the port may still send since it asked last */
};

const struct pw_stat line_stats_table[] = {
	PW_STAT(line_stats, frames, "frames"),
	PW_STAT(line_stats, bytes, "bytes"),
	PW_STAT(line_stats, lost, "frames"),
	PW_STAT(line_stats, reordered, "frames"),
	PW_STAT(line_stats, duplicated, "frames"),
	PW_STAT(line_stats, corrupted, "frames"),
	PW_STAT(line_stats, bad_crc, "frames"),
	PW_STAT(line_stats, bad_cksum, "frames"),
	PW_STAT(line_stats, truncated, "frames"),
	PW_STAT(line_stats, oversized, "frames"),
	PW_STAT(line_stats, overflows, "frames"),
	PW_STAT(line_stats, held, "frames"),
	PW_STAT_END,
};

struct line *
line_create(struct wire *wire, const struct line_config config[LINE_WAYS], uint64_t seed)
{
	struct line *line = calloc(1, sizeof(*line));

	if (line == NULL)
		return NULL;
	line->wire = wire;
	for (unsigned way = 0; way < LINE_WAYS; way++) {
		line_queue_init(&line->ways[way].queue);
		line_dice_init(&line->ways[way].dice, seed, way);
		line_configure(line, way, &config[way]);
	}
	return line;
}

void
line_destroy(struct line *line)
{
	if (line == NULL)
		return;
	for (unsigned way = 0; way < LINE_WAYS; way++)
		line_queue_clear(&line->ways[way].queue);
	free(line);
}

/* Without impairments, and after the last frame left, frames pass as they are again. */
static void
settle(struct direction *way)
{
	way->is_plain = way->queue.nb_waiting == 0 && !line_is_impaired(&way->config);
}

void
line_configure(struct line *line, enum line_way way, const struct line_config *config)
{
	struct direction *direction = &line->ways[way];

	direction->config = *config;
	line_rate_set(&direction->rate, config->rate_bps, config->rate_fps);
	settle(direction);
}

const struct line_config *
line_get_config(const struct line *line, enum line_way way)
{
	return &line->ways[way].config;
}

bool
line_is_paced(const struct line *line)
{
	return line->ways[LINE_RX].rate.has_limit;
}

const struct line_stats *
line_get_stats(const struct line *line, enum line_way way)
{
	return &line->ways[way].stats;
}

/* Frames reach the end of the line. */
static uint64_t
count(struct direction *way, const struct frame *frames, unsigned n)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += frames[i].len_bytes;
	way->stats.frames += n;
	way->stats.bytes += bytes;
	return bytes;
}

static void
hold(struct direction *way, uint64_t now_ns, const struct frame *frame)
{
	const struct line_config *config = &way->config;
	struct held *held = line_impair(config, &way->dice, &way->queue, frame, &way->stats);
	uint64_t due_ns = now_ns + config->delay_ns;
	unsigned behind = 0;

	line_rate_charge(&way->rate, 1, held != NULL ? held->len_bytes : frame->len_bytes);
	if (held == NULL) {
		way->stats.overflows++;
		return;
	}
	if (config->jitter_ns > 0)
		due_ns += line_dice_below(&way->dice, config->jitter_ns + 1);
	if (config->reorder_gap > 0 && line_dice_hits(&way->dice, config->reorder)) {
		behind = 1 + (unsigned)line_dice_below(&way->dice, config->reorder_gap);
		way->stats.reordered++;
	}
	line_queue_push(&way->queue, held, due_ns, behind);
}

/* Frames come to the beginning of an impaired line. */
static void
enter(struct direction *way, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (line_dice_hits(&way->dice, way->config.loss)) {
			line_rate_charge(&way->rate, 1, frames[i].len_bytes);
			way->stats.lost++;
			continue;
		}
		hold(way, now_ns, &frames[i]);
		if (line_dice_hits(&way->dice, way->config.duplicate)) {
			hold(way, now_ns, &frames[i]);
			way->stats.duplicated++;
		}
	}
	way->stats.held = way->queue.nb_waiting;
}

/* Frames come to the end of an impaired line; valid until the queue's release. */
static unsigned
leave(struct direction *way, uint64_t now_ns, struct frame *frames, unsigned n)
{
	n = line_queue_pop(&way->queue, now_ns, frames, n);
	count(way, frames, n);
	way->stats.held = way->queue.nb_waiting;
	return n;
}

/* From the wire, no more than the line can carry now: the rest waits there. */
static unsigned
fetch(struct line *line, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct line_rate *rate = &line->ways[LINE_RX].rate;
	unsigned asked = line_rate_allows(rate, now_ns, n), got;

	if (asked == 0)
		return 0;
	got = line->wire->kind->receive(line->wire, now_ns, frames, asked);
	if (got < asked)
		line_rate_idle(rate);
	return got;
}

static unsigned
receive_plain(struct line *line, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct direction *rx = &line->ways[LINE_RX];

	n = fetch(line, now_ns, frames, n);
	if (n > 0)
		line_rate_charge(&rx->rate, n, count(rx, frames, n));
	return n;
}

unsigned
line_receive(struct line *line, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct direction *rx = &line->ways[LINE_RX];
	struct frame fetched[FRAME_BURST];
	unsigned got;

	if (n > FRAME_BURST)
		n = FRAME_BURST;
	if (rx->is_plain)
		return receive_plain(line, now_ns, frames, n);
	line_queue_release(&rx->queue);
	got = leave(rx, now_ns, frames, n);
	/* What is late already does not become more. */
	if (!line_queue_is_due(&rx->queue, now_ns))
		enter(rx, now_ns, fetched, fetch(line, now_ns, fetched, n));
	got += leave(rx, now_ns, frames + got, n - got);
	settle(rx);
	return got;
}

void
line_rest(struct line *line)
{
	line_rate_rest(&line->ways[LINE_RX].rate);
}

static unsigned
wire_room(struct line *line, unsigned n)
{
	const struct wire_kind *kind = line->wire->kind;
	unsigned room = kind->room != NULL ? kind->room(line->wire) : n;

	return room < n ? room : n;
}

unsigned
line_room(struct line *line, uint64_t now_ns)
{
	struct line_rate *rate = &line->ways[LINE_TX].rate;
	unsigned room = wire_room(line, FRAME_BURST);

	/* The port asked before, and had less to send. */
	if (line->offered > 0 && now_ns > rate->at_ns)
		line_rate_idle(rate);
	line->offered = line_rate_allows(rate, now_ns, room);
	return line->offered;
}

void
line_send(struct line *line, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct direction *tx = &line->ways[LINE_TX];

	line->offered -= n < line->offered ? n : line->offered;
	if (!tx->is_plain) {
		enter(tx, now_ns, frames, n);
		line_tick(line, now_ns);
		return;
	}
	line_rate_charge(&tx->rate, n, count(tx, frames, n));
	line->wire->kind->send(line->wire, now_ns, frames, n);
}

void
line_tick(struct line *line, uint64_t now_ns)
{
	struct direction *tx = &line->ways[LINE_TX];
	struct frame frames[FRAME_BURST];
	unsigned n;

	if (!line_queue_is_due(&tx->queue, now_ns))
		return;
	while ((n = leave(tx, now_ns, frames, wire_room(line, FRAME_BURST))) > 0) {
		line->wire->kind->send(line->wire, now_ns, frames, n);
		line_queue_release(&tx->queue);
	}
	settle(tx);
}
