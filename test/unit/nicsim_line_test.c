/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The line of the software NIC, in virtual time, between a wire that makes numbered frames and a
 * port that looks at them.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "line.h"

#define FRAMES_MAX 200000
#define MS 1000000ull
#define SECOND 1000000000ull

/* Where frames begin and end. */
struct rig {
	struct wire wire;
	struct line *line;
	uint64_t now_ns;
	uint32_t made, limit; /* frames made so far, and at most */
	unsigned len_bytes;   /* of a frame; 0: all lengths */
	unsigned room;
	bool only_counts; /* no bytes are written or looked at */
	uint8_t data[FRAME_BURST][FRAME_MAX_BYTES];
	/* What came out. */
	uint32_t nb_out, last;
	uint8_t head[80]; /* of the last frame */
	bool must_be_intact, must_be_ordered;
	uint64_t out_bytes, hash;
	uint64_t entered_ns[FRAMES_MAX], left_ns[FRAMES_MAX];
	uint8_t times_out[FRAMES_MAX];
};

static unsigned
length_of(const struct rig *rig, uint32_t number)
{
	return rig->len_bytes > 0 ? rig->len_bytes : 60 + number * 37 % 1455;
}

static uint8_t
byte_of(uint32_t number, unsigned i)
{
	return (uint8_t)(number * 31 + i * 7);
}

/* Number in front, then a pattern that depends on it. */
static void
make(struct rig *rig, unsigned slot, struct frame *frame)
{
	uint32_t number = rig->made++;
	unsigned len = length_of(rig, number);

	memcpy(rig->data[slot], &number, 4);
	for (unsigned i = 4; i < len && !rig->only_counts; i++)
		rig->data[slot][i] = byte_of(number, i);
	rig->entered_ns[number % FRAMES_MAX] = rig->now_ns;
	*frame = (struct frame){rig->data[slot], len, 0};
}

static unsigned
make_some(struct rig *rig, struct frame *frames, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && rig->made < rig->limit; i++)
		make(rig, i, &frames[i]);
	return i;
}

static void
check_intact(const struct rig *rig, const struct frame *frame, uint32_t number)
{
	assert_int_equal(frame->len_bytes, length_of(rig, number));
	for (unsigned i = 4; i < frame->len_bytes; i++)
		if (frame->data[i] != byte_of(number, i))
			fail_msg("frame %u: byte %u was changed", number, i);
}

static void
take(struct rig *rig, const struct frame *frames, unsigned n)
{
	uint32_t number;

	for (unsigned i = 0; i < n; i++) {
		assert_in_range(frames[i].len_bytes, 14, FRAME_MAX_BYTES);
		memcpy(&number, frames[i].data, 4);
		if (rig->must_be_intact)
			check_intact(rig, &frames[i], number);
		if (rig->must_be_ordered && rig->nb_out > 0 && number < rig->last)
			fail_msg("frame %u came after %u", number, rig->last);
		rig->last = number;
		memcpy(rig->head, frames[i].data,
			frames[i].len_bytes < 80 ? frames[i].len_bytes : 80);
		rig->nb_out++;
		rig->out_bytes += frames[i].len_bytes;
		for (unsigned j = 0; j < frames[i].len_bytes && !rig->only_counts; j++)
			rig->hash = (rig->hash ^ frames[i].data[j]) * 0x100000001b3;
		rig->hash += rig->now_ns + frames[i].flags;
		if (number < FRAMES_MAX) {
			rig->left_ns[number] = rig->now_ns;
			rig->times_out[number]++;
		}
	}
}

static unsigned
fake_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	(void)now_ns;
	return make_some((struct rig *)wire, frames, n);
}

static void
fake_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct rig *rig = (struct rig *)wire;

	(void)now_ns;
	assert_in_range(n, 1, rig->room);
	take(rig, frames, n);
}

static unsigned
fake_room(struct wire *wire)
{
	return ((struct rig *)wire)->room;
}

static const struct wire_kind fake = {
	.name = "fake", .receive = fake_receive, .send = fake_send, .room = fake_room};

static struct rig *
rig_new(const struct line_config *config, uint64_t seed)
{
	const struct line_config both[LINE_WAYS] = {*config, *config};
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->wire.kind = &fake;
	rig->now_ns = 1700000000 * SECOND; /* as a real clock may say */
	rig->limit = UINT32_MAX;
	rig->room = 1000;
	rig->line = line_create(&rig->wire, both, seed);
	assert_non_null(rig->line);
	return rig;
}

static void
rig_free(struct rig *rig)
{
	line_destroy(rig->line);
	free(rig);
}

/* One turn of a port's loop, one way. */
static unsigned
turn(struct rig *rig, enum line_way way)
{
	struct frame frames[FRAME_BURST];
	unsigned n, room;

	if (way == LINE_RX) {
		n = line_receive(rig->line, rig->now_ns, frames, FRAME_BURST);
		take(rig, frames, n);
		return n;
	}
	line_tick(rig->line, rig->now_ns);
	room = line_room(rig->line, rig->now_ns);
	n = make_some(rig, frames, room);
	if (n > 0)
		line_send(rig->line, rig->now_ns, frames, n);
	return n;
}

/* Turns at irregular times, as many as get on at each. */
static void
run(struct rig *rig, enum line_way way, uint64_t for_ns, uint64_t step_max_ns)
{
	uint64_t end_ns = rig->now_ns + for_ns, step_ns;
	unsigned short dice[3] = {1, 2, 3};

	turn(rig, way); /* time begins */
	while (rig->now_ns < end_ns) {
		step_ns = 1 + (uint64_t)(erand48(dice) * (double)step_max_ns);
		rig->now_ns += step_ns < end_ns - rig->now_ns ? step_ns : end_ns - rig->now_ns;
		for (unsigned i = 0; i < 10000 && turn(rig, way) > 0; i++)
			;
	}
}

static void
check_conserved(const struct rig *rig, enum line_way way)
{
	const struct line_stats *stats = line_get_stats(rig->line, way);

	assert_int_equal(stats->frames, rig->nb_out);
	assert_int_equal(stats->bytes, rig->out_bytes);
	assert_int_equal(stats->frames + stats->lost + stats->held + stats->overflows,
		rig->made + stats->duplicated);
}

static void
a_plain_line_passes_the_frames_themselves(void **state)
{
	struct rig *rig = rig_new(&(struct line_config){0}, 1);
	struct frame frames[FRAME_BURST];

	(void)state;
	assert_false(line_is_paced(rig->line));
	assert_int_equal(line_receive(rig->line, 0, frames, 5), 5);
	for (unsigned i = 0; i < 5; i++)
		assert_ptr_equal(frames[i].data, rig->data[i]);
	assert_int_equal(line_receive(rig->line, 0, frames, 1000), FRAME_BURST);
	assert_int_equal(line_get_stats(rig->line, LINE_RX)->frames, 5 + FRAME_BURST);
	assert_int_equal(line_room(rig->line, 0), FRAME_BURST);
	rig->room = 7;
	assert_int_equal(line_room(rig->line, 0), 7);
	line_send(rig->line, 0, frames, 7);
	assert_int_equal(rig->nb_out, 7);
	assert_int_equal(line_get_stats(rig->line, LINE_TX)->bytes, rig->out_bytes);
	rig_free(rig);
}

static void
check_rate(double is, double expected)
{
	if (is < expected * 0.999 || is > expected * 1.001)
		fail_msg("%.0f a second instead of %.0f", is, expected);
}

static void
check_bps(unsigned len_bytes, uint64_t bps, enum line_way way, bool is_copied)
{
	struct line_config config = {.rate_bps = bps, .corrupt = is_copied ? 1e-12 : 0};
	struct rig *rig = rig_new(&config, 1);

	rig->len_bytes = len_bytes;
	rig->only_counts = true;
	run(rig, way, SECOND, 3 * MS);
	check_rate((double)(rig->out_bytes + 24ull * rig->nb_out) * 8, (double)bps);
	check_conserved(rig, way);
	rig_free(rig);
}

static void
bits_a_second_are_exact(void **state)
{
	(void)state;
	for (enum line_way way = 0; way < LINE_WAYS; way++) {
		check_bps(60, 1000000000, way, false);
		check_bps(60, 1000000000, way, true);
		check_bps(1514, 10000000000, way, false);
		check_bps(9014, 10000000000, way, false);
		check_bps(0, 10000000000, way, false);
		check_bps(0, 100000000, way, false);
		check_bps(0, 100000000, way, true);
	}
}

static void
frames_a_second_are_exact(void **state)
{
	(void)state;
	for (enum line_way way = 0; way < LINE_WAYS; way++) {
		struct rig *rig = rig_new(&(struct line_config){.rate_fps = 123457}, 1);

		run(rig, way, SECOND, 3 * MS);
		check_rate(rig->nb_out, 123457);
		rig_free(rig);
	}
}

static void
a_poller_that_sleeps_loses_all_but_10_ms(void **state)
{
	(void)state;
	for (enum line_way way = 0; way < LINE_WAYS; way++) {
		struct rig *rig = rig_new(&(struct line_config){.rate_fps = 100000}, 1);
		uint32_t before;

		run(rig, way, 100 * MS, 1000);
		before = rig->nb_out;
		rig->now_ns += SECOND;
		while (turn(rig, way) > 0)
			;
		assert_in_range(rig->nb_out - before, 999, 1001);
		rig_free(rig);
	}
}

/* Nothing to send for a while is no reason to be faster than the line later. */
static void
idle_time_is_not_made_up(void **state)
{
	(void)state;
	for (enum line_way way = 0; way < LINE_WAYS; way++) {
		struct rig *rig = rig_new(&(struct line_config){.rate_fps = 100000}, 1);

		rig->limit = 0;
		run(rig, way, 100 * MS, 1000);
		rig->limit = 1000;
		while (turn(rig, way) > 0)
			;
		assert_in_range(rig->nb_out, 1, 2);
		run(rig, way, 20 * MS, 1000);
		assert_int_equal(rig->nb_out, 1000);
		rig_free(rig);
	}
}

/* A link that was down has nothing to make up for, either. */
static void
time_while_nobody_listens_is_not_made_up(void **state)
{
	struct rig *rig = rig_new(&(struct line_config){.rate_fps = 100000}, 1);
	uint32_t before;

	(void)state;
	run(rig, LINE_RX, 100 * MS, 1000);
	before = rig->nb_out;
	line_rest(rig->line);
	rig->now_ns += SECOND;
	while (turn(rig, LINE_RX) > 0)
		;
	assert_in_range(rig->nb_out - before, 0, 2);
	run(rig, LINE_RX, 10 * MS, 1000);
	assert_in_range(rig->nb_out - before, 998, 1002);
	rig_free(rig);
}

/* Turns each microsecond. */
static void
run_us(struct rig *rig, enum line_way way, unsigned us)
{
	for (; us > 0; us--) {
		rig->now_ns += 1000;
		while (turn(rig, way) > 0)
			;
	}
}

static void
check_delay(enum line_way way, uint64_t jitter_ns)
{
	struct line_config config = {
		.rate_bps = 1000000000, .delay_ns = 300000, .jitter_ns = jitter_ns};
	struct rig *rig = rig_new(&config, 5);
	uint64_t took_ns, least_ns = UINT64_MAX, most_ns = 0;

	rig->must_be_intact = rig->must_be_ordered = true;
	rig->limit = 5000;
	run_us(rig, way, 100000);
	assert_int_equal(rig->nb_out, 5000);
	for (uint32_t i = 0; i < rig->nb_out; i++) {
		took_ns = rig->left_ns[i] - rig->entered_ns[i];
		least_ns = took_ns < least_ns ? took_ns : least_ns;
		most_ns = took_ns > most_ns ? took_ns : most_ns;
	}
	assert_true(least_ns >= 300000 && most_ns <= 300000 + jitter_ns);
	if (jitter_ns > 0)
		assert_true(least_ns < 300000 + jitter_ns / 2 && most_ns > 300000 + jitter_ns / 2);
	rig_free(rig);
}

static void
delay_is_exact_and_jitter_keeps_order(void **state)
{
	(void)state;
	for (enum line_way way = 0; way < LINE_WAYS; way++) {
		check_delay(way, 0);
		check_delay(way, 1 * MS);
	}
}

/* A setting that is off, or anything up to most. */
static double
dice_probability(unsigned short dice[3], double most)
{
	return erand48(dice) < 0.5 ? 0 : erand48(dice) * most;
}

static struct line_config
random_config(unsigned short dice[3])
{
	return (struct line_config){
		.rate_bps = erand48(dice) < 0.3 ? 0 : 100000000 + (uint64_t)(erand48(dice) * 1e10),
		.rate_fps = erand48(dice) < 0.7 ? 0 : 1000 + (uint64_t)(erand48(dice) * 1e6),
		.delay_ns = erand48(dice) < 0.5 ? 0 : (uint64_t)(erand48(dice) * 1e6),
		.jitter_ns = erand48(dice) < 0.5 ? 0 : (uint64_t)(erand48(dice) * 1e6),
		.loss = dice_probability(dice, 1),
		.reorder = dice_probability(dice, 1),
		.reorder_gap = 1 + (uint64_t)(erand48(dice) * 20),
		.duplicate = dice_probability(dice, 1),
		.corrupt = dice_probability(dice, 0.1),
		.bad_crc = dice_probability(dice, 0.1),
		.bad_cksum = dice_probability(dice, 0.1),
		.truncate = dice_probability(dice, 0.1),
		.oversize = dice_probability(dice, 0.1),
	};
}

static bool
keeps_bytes(const struct line_config *config)
{
	return config->corrupt == 0 && config->bad_crc == 0 && config->bad_cksum == 0 &&
		config->truncate == 0 && config->oversize == 0;
}

/* A while of a random line, changed in the middle; the hash is of all that came out, and when. */
static uint64_t
random_walk(uint64_t seed, enum line_way way)
{
	unsigned short dice[3] = {(unsigned short)seed, 7, 11};
	struct line_config config = random_config(dice);
	struct rig *rig = rig_new(&config, seed);
	uint64_t hash;

	rig->must_be_intact = keeps_bytes(&config);
	rig->must_be_ordered = config.reorder == 0 && keeps_bytes(&config);
	rig->limit = 2000;
	run(rig, way, 2 * MS, 20000);
	check_conserved(rig, way);
	config = random_config(dice);
	line_configure(rig->line, way, &config);
	rig->must_be_intact &= keeps_bytes(&config);
	rig->must_be_ordered &= config.reorder == 0 && keeps_bytes(&config);
	rig->limit = 4000;
	run(rig, way, 2 * MS, 20000);
	check_conserved(rig, way);
	rig->limit = rig->made;
	run(rig, way, 10 * MS, 20000);
	check_conserved(rig, way);
	assert_int_equal(line_get_stats(rig->line, way)->held, 0);
	hash = rig->hash;
	rig_free(rig);
	return hash;
}

static void
each_frame_is_accounted_once_and_the_same_way_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		for (enum line_way way = 0; way < LINE_WAYS; way++)
			assert_int_equal(random_walk(seed, way), random_walk(seed, way));
}

static void
seeds_and_ways_differ(void **state)
{
	struct line_config config = {.loss = 0.5};
	uint64_t hash[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct rig *rig = rig_new(&config, 1 + i / 2);

		rig->limit = 1000;
		run_us(rig, i % 2, 100);
		hash[i] = rig->hash;
		rig_free(rig);
		for (unsigned j = 0; j < i; j++)
			assert_int_not_equal(hash[j], hash[i]);
	}
}

/* n frames through a line of this configuration. */
static struct rig *
pass(const struct line_config *config, uint32_t n)
{
	struct rig *rig = rig_new(config, 99);

	rig->len_bytes = 100;
	rig->limit = n;
	run_us(rig, LINE_RX, 20000);
	assert_int_equal(rig->made, n);
	check_conserved(rig, LINE_RX);
	assert_int_equal(line_get_stats(rig->line, LINE_RX)->held, 0);
	return rig;
}

/* Within 5 standard deviations of 3 % of 100000. */
static void
check_3_percent(uint64_t n)
{
	assert_in_range(n, 3000 - 270, 3000 + 270);
}

static void
events_are_as_likely_as_asked(void **state)
{
	const struct line_config config = {.loss = 0.03,
		.reorder = 0.03 / 0.97,
		.reorder_gap = 3,
		.duplicate = 0.03 / 0.97,
		.corrupt = 0.03 / 0.97,
		.bad_crc = 0.03 / 0.97,
		.truncate = 0.03 / 0.97,
		.oversize = 0.03 / 0.97};
	struct rig *rig = pass(&config, 100000);
	const struct line_stats *stats = line_get_stats(rig->line, LINE_RX);

	(void)state;
	check_3_percent(stats->lost);
	check_3_percent(stats->duplicated);
	/* Duplicates have a chance of their own. */
	check_3_percent((uint64_t)((double)stats->reordered / 1.031));
	check_3_percent((uint64_t)((double)stats->corrupted / 1.031));
	check_3_percent((uint64_t)((double)stats->bad_crc / 1.031));
	check_3_percent((uint64_t)((double)stats->truncated / 1.031));
	check_3_percent((uint64_t)((double)stats->oversized / 1.031));
	rig_free(rig);
}

static void
certain_events_hit_each_frame(void **state)
{
	struct rig *rig = pass(&(struct line_config){.loss = 1}, 100);

	(void)state;
	assert_int_equal(rig->nb_out, 0);
	rig_free(rig);
	rig = pass(&(struct line_config){.duplicate = 1}, 100);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(rig->times_out[i], 2);
	rig_free(rig);
}

/* Who left the line, in order: numbers of all frames. */
static unsigned
order_of_leaving(const struct line_config *config, uint32_t *order, uint32_t n)
{
	struct rig *rig = rig_new(config, 3);
	struct frame frames[FRAME_BURST];
	unsigned nb = 0, got;

	rig->limit = n;
	for (unsigned us = 0; us < 5000; us++, rig->now_ns += 1000) {
		got = line_receive(rig->line, rig->now_ns, frames, FRAME_BURST);
		for (unsigned i = 0; i < got; i++)
			memcpy(&order[nb++], frames[i].data, 4);
	}
	rig_free(rig);
	return nb;
}

static void
reordered_frames_are_overtaken_by_up_to_the_gap(void **state)
{
	static uint32_t order[10000];
	bool is_in_order = true;

	(void)state;
	for (unsigned percent = 5; percent <= 100; percent += 95) {
		struct line_config config = {
			.reorder = percent / 100.0, .reorder_gap = 5, .delay_ns = 1000};

		assert_int_equal(order_of_leaving(&config, order, 10000), 10000);
		for (unsigned i = 0; i < 10000; i++) {
			unsigned overtakers = 0;

			for (unsigned j = i > 20 ? i - 20 : 0; j < i; j++)
				overtakers += order[j] > order[i];
			assert_in_range(overtakers, 0, 5);
			is_in_order &= order[i] == i;
		}
	}
	assert_false(is_in_order);
}

static void
nobody_waits_for_good_to_be_overtaken(void **state)
{
	(void)state;
	for (enum line_way way = 0; way < LINE_WAYS; way++) {
		struct rig *rig = rig_new(
			&(struct line_config){.reorder = 1, .reorder_gap = 100}, 1);

		rig->limit = 1;
		run_us(rig, way, 900);
		assert_int_equal(rig->nb_out, 0);
		assert_int_equal(line_get_stats(rig->line, way)->held, 1);
		run_us(rig, way, 200);
		assert_int_equal(rig->nb_out, 1);
		rig_free(rig);
	}
}

static unsigned
bits_changed(const struct rig *rig, const struct frame *frame)
{
	unsigned bits = 0;
	uint32_t number = rig->made - 1;

	for (unsigned i = 0; i < frame->len_bytes; i++) {
		uint8_t right = i < 4 ? (uint8_t)(number >> 8 * i) : byte_of(number, i);

		bits += (unsigned)__builtin_popcount(right ^ frame->data[i]);
	}
	return bits;
}

static void
one_bit_is_changed_and_the_crc_tells_or_not(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct line_config config = {.corrupt = i == 0, .bad_crc = i == 1};
		struct rig *rig = rig_new(&config, 1);
		struct frame frame;

		for (unsigned n = 0; n < 1000; n++) {
			assert_int_equal(line_receive(rig->line, n, &frame, 1), 1);
			assert_int_equal(bits_changed(rig, &frame), 1);
			assert_int_equal(frame.flags, i == 1 ? FRAME_BAD_CRC : 0);
			assert_int_equal(frame.len_bytes, length_of(rig, n));
		}
		rig_free(rig);
	}
}

static void
a_frame_of_no_length_is_borne(void **state)
{
	struct line_config config = {
		.corrupt = 1, .bad_crc = 1, .bad_cksum = 1, .truncate = 1, .duplicate = 1};
	struct rig *rig = rig_new(&config, 1);
	struct frame out[2];

	(void)state;
	rig->limit = 0;
	for (unsigned len = 0; len <= 14; len++) {
		uint8_t *data = calloc(1, len + 1);
		const struct frame frame = {data, len, 0};

		assert_non_null(data);
		rig->room = 0;
		line_send(rig->line, rig->now_ns, &frame, 1);
		free(data);
	}
	assert_int_equal(line_get_stats(rig->line, LINE_TX)->held, 30);
	assert_int_equal(line_receive(rig->line, rig->now_ns, out, 2), 0);
	rig_free(rig);
}

static void
lengths_change_within_bounds(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct line_config config = {.truncate = i == 0, .oversize = i == 1};
		struct rig *rig = rig_new(&config, 1);
		struct frame frame;

		for (unsigned n = 0; n < 1000; n++) {
			rig->len_bytes = n % 3 == 0 ? 15 : n % 3 == 1 ? 1000 : FRAME_MAX_BYTES - 1;
			assert_int_equal(line_receive(rig->line, n, &frame, 1), 1);
			if (i == 0)
				assert_in_range(frame.len_bytes, 14, rig->len_bytes - 1);
			else
				assert_in_range(
					frame.len_bytes, rig->len_bytes + 1, FRAME_MAX_BYTES);
			assert_memory_equal(frame.data + 4, rig->data[0] + 4,
				frame.len_bytes < rig->len_bytes ? frame.len_bytes - 4
								 : rig->len_bytes - 4);
		}
		rig_free(rig);
	}
}

/* A frame of one kind, and where its checksum is; 0: it has none. */
struct sample {
	const char *name;
	unsigned len_bytes, cksum_at;
	uint8_t data[80];
};

static const struct sample samples[] = {
	{"TCP/IPv4", 60, 14 + 20 + 16, {[12] = 0x08, 0x00, 0x45, [23] = 6, [50] = 0x12, 0x34}},
	{"TCP with options/IPv4", 60, 14 + 24 + 16, {[12] = 0x08, 0x00, 0x46, [23] = 6}},
	{"UDP/IPv4", 60, 14 + 20 + 6, {[12] = 0x08, 0x00, 0x45, [23] = 17, [40] = 0x00, 0x01}},
	{"UDP/IPv4 without a checksum", 60, 14 + 10, {[12] = 0x08, 0x00, 0x45, [23] = 17}},
	{"later fragment", 60, 14 + 10, {[12] = 0x08, 0x00, 0x45, [20] = 0x20, 0x01, [23] = 6}},
	{"ICMP", 60, 14 + 10, {[12] = 0x08, 0x00, 0x45, [23] = 1}},
	{"VLAN", 64, 18 + 20 + 16, {[12] = 0x81, 0x00, 0, 5, 0x08, 0x00, 0x45, [27] = 6}},
	{"two VLANs", 68, 22 + 20 + 16,
		{[12] = 0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 5, 0x08, 0x00, 0x45, [31] = 6}},
	{"three VLANs", 72, 0,
		{[12] = 0x81, 0x00, 0, 5, 0x81, 0x00, 0, 5, 0x81, 0x00, 0, 5, 0x08, 0x00, 0x45}},
	{"TCP/IPv6", 74, 14 + 40 + 16, {[12] = 0x86, 0xdd, 0x60, [20] = 6}},
	{"UDP/IPv6", 74, 14 + 40 + 6, {[12] = 0x86, 0xdd, 0x60, [20] = 17, [60] = 0xff, 0xff}},
	{"ICMP/IPv6", 74, 0, {[12] = 0x86, 0xdd, 0x60, [20] = 58}},
	{"ARP", 60, 0, {[12] = 0x08, 0x06}},
	{"IPv4 without an end", 33, 0, {[12] = 0x08, 0x00, 0x45, [23] = 6}},
	{"TCP without an end", 51, 14 + 10, {[12] = 0x08, 0x00, 0x45, [23] = 6}},
	{"wrong version", 60, 0, {[12] = 0x08, 0x00, 0x55, [23] = 6}},
	{"wrong header length", 60, 0, {[12] = 0x08, 0x00, 0x44, [23] = 6}},
	{"header longer than the frame", 60, 0, {[12] = 0x08, 0x00, 0x4f, [23] = 6}},
	{"IPv6 without an end", 53, 0, {[12] = 0x86, 0xdd, 0x60, [20] = 6}},
	{"no type", 14, 0, {[12] = 0x81, 0x00}},
};

/* Send it, from memory that ends where it ends; what came out is in head. */
static void
send_sample(struct rig *rig, const struct sample *sample)
{
	uint8_t *heap = malloc(sample->len_bytes);
	struct frame frame = {heap, sample->len_bytes, 0};

	assert_non_null(heap);
	memcpy(heap, sample->data, sample->len_bytes);
	line_send(rig->line, rig->now_ns, &frame, 1);
	free(heap);
}

static void
checksums_are_found_and_made_wrong(void **state)
{
	struct rig *rig = rig_new(&(struct line_config){.bad_cksum = 1}, 1);
	const struct line_stats *stats = line_get_stats(rig->line, LINE_TX);
	uint64_t expected = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		unsigned at = samples[i].cksum_at;

		send_sample(rig, &samples[i]);
		expected += at > 0;
		if (stats->bad_cksum != expected)
			fail_msg("%s: counted wrongly", samples[i].name);
		for (unsigned j = 0; j < samples[i].len_bytes; j++)
			if ((rig->head[j] != samples[i].data[j]) != (at > 0 && j == at + 1))
				fail_msg("%s: wrong at byte %u", samples[i].name, j);
		if (at > 0 && rig->head[at] == 0 && rig->head[at + 1] == 0)
			fail_msg("%s: a checksum of 0 is none", samples[i].name);
	}
	rig_free(rig);
}

static void
a_store_that_is_full_is_counted(void **state)
{
	struct line_config config = {.delay_ns = 10 * SECOND};
	struct rig *rig = rig_new(&config, 1);
	const struct line_stats *stats = line_get_stats(rig->line, LINE_RX);
	struct frame frames[FRAME_BURST];

	(void)state;
	rig->len_bytes = 9014;
	while (rig->made < 10000)
		assert_int_equal(line_receive(rig->line, rig->now_ns, frames, FRAME_BURST), 0);
	assert_in_range(stats->held, 4000, 6000);
	check_conserved(rig, LINE_RX);
	rig->limit = rig->made;
	rig->now_ns += 10 * SECOND;
	while (turn(rig, LINE_RX) > 0)
		;
	check_conserved(rig, LINE_RX);
	assert_int_equal(stats->held, 0);
	assert_true(stats->overflows > 0);
	rig_free(rig);
}

static void
a_wire_without_room_is_waited_for(void **state)
{
	struct rig *rig = rig_new(&(struct line_config){.duplicate = 1, .delay_ns = 1000}, 1);

	(void)state;
	rig->must_be_intact = rig->must_be_ordered = true;
	rig->limit = 20;
	rig->room = 20;
	turn(rig, LINE_TX);
	rig->room = 0;
	run_us(rig, LINE_TX, 10);
	assert_int_equal(rig->nb_out, 0);
	rig->room = 3;
	run_us(rig, LINE_TX, 10);
	assert_int_equal(rig->nb_out, 40);
	check_conserved(rig, LINE_TX);
	rig_free(rig);
}

static void
without_impairments_again_frames_pass_as_they_are(void **state)
{
	struct rig *rig = rig_new(&(struct line_config){.delay_ns = 5 * MS}, 1);
	struct frame frame;

	(void)state;
	rig->must_be_intact = rig->must_be_ordered = true;
	assert_int_equal(turn(rig, LINE_RX), 0);
	line_configure(rig->line, LINE_RX, &(struct line_config){0});
	/* Those that come now do not overtake those on the line. */
	assert_int_equal(turn(rig, LINE_RX), 0);
	rig->now_ns += 5 * MS;
	rig->limit = rig->made;
	while (turn(rig, LINE_RX) > 0)
		;
	check_conserved(rig, LINE_RX);
	rig->limit++;
	assert_int_equal(line_receive(rig->line, rig->now_ns, &frame, 1), 1);
	assert_ptr_equal(frame.data, rig->data[0]);
	rig_free(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_line_passes_the_frames_themselves),
		cmocka_unit_test(bits_a_second_are_exact),
		cmocka_unit_test(frames_a_second_are_exact),
		cmocka_unit_test(a_poller_that_sleeps_loses_all_but_10_ms),
		cmocka_unit_test(idle_time_is_not_made_up),
		cmocka_unit_test(time_while_nobody_listens_is_not_made_up),
		cmocka_unit_test(delay_is_exact_and_jitter_keeps_order),
		cmocka_unit_test(each_frame_is_accounted_once_and_the_same_way_again),
		cmocka_unit_test(seeds_and_ways_differ),
		cmocka_unit_test(events_are_as_likely_as_asked),
		cmocka_unit_test(certain_events_hit_each_frame),
		cmocka_unit_test(reordered_frames_are_overtaken_by_up_to_the_gap),
		cmocka_unit_test(nobody_waits_for_good_to_be_overtaken),
		cmocka_unit_test(one_bit_is_changed_and_the_crc_tells_or_not),
		cmocka_unit_test(a_frame_of_no_length_is_borne),
		cmocka_unit_test(lengths_change_within_bounds),
		cmocka_unit_test(checksums_are_found_and_made_wrong),
		cmocka_unit_test(a_store_that_is_full_is_counted),
		cmocka_unit_test(a_wire_without_room_is_waited_for),
		cmocka_unit_test(without_impairments_again_frames_pass_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
