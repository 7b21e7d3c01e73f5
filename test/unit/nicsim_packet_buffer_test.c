/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The receive packet buffer against a queue of copies. */

#include "nicsim_test.h"

#include <stdlib.h>
#include <string.h>

#include "packet_buffer.h"

#define COPIES_MAX 70000  /* frames of 0 bytes, 8 each, and some */
#define OVERHEAD_BYTES 16 /* what a frame takes beside its bytes, at most */

static struct {
	uint8_t *data[COPIES_MAX];
	uint32_t len_bytes[COPIES_MAX], flags[COPIES_MAX];
	unsigned head, n;
	uint64_t bytes;
} copies;

static uint8_t bytes[FRAME_MAX_BYTES];

static void
keep_copy(const struct frame *frame)
{
	unsigned at = (copies.head + copies.n++) % COPIES_MAX;

	assert_true(copies.n < COPIES_MAX);
	copies.data[at] = malloc(frame->len_bytes + 1);
	assert_non_null(copies.data[at]);
	memcpy(copies.data[at], frame->data, frame->len_bytes);
	copies.len_bytes[at] = frame->len_bytes;
	copies.flags[at] = frame->flags;
	copies.bytes += frame->len_bytes;
}

static void
put(struct packet_buffer *buffer, uint64_t *seed, uint32_t len_bytes)
{
	struct frame frame = {bytes, len_bytes, pw_test_random(seed, 2)};

	memset(bytes, (int)pw_test_random(seed, 256), len_bytes < 32 ? len_bytes : 32);
	if (packet_buffer_put(buffer, &frame)) {
		keep_copy(&frame);
		return;
	}
	/* No room: not for the frame and the gap that it might leave at the end. */
	assert_true(copies.bytes + (copies.n + 1) * (uint64_t)OVERHEAD_BYTES + 2 * len_bytes +
			FRAME_MAX_BYTES >
		PACKET_BUFFER_BYTES);
}

static void
drop(struct packet_buffer *buffer)
{
	struct frame frame;

	assert_int_equal(packet_buffer_peek(buffer, &frame), copies.n > 0);
	if (copies.n == 0)
		return;
	assert_int_equal(frame.len_bytes, copies.len_bytes[copies.head]);
	assert_int_equal(frame.flags, copies.flags[copies.head]);
	assert_memory_equal(frame.data, copies.data[copies.head], frame.len_bytes);
	packet_buffer_drop(buffer);
	free(copies.data[copies.head]);
	copies.bytes -= frame.len_bytes;
	copies.head = (copies.head + 1) % COPIES_MAX;
	copies.n--;
}

static void
begin(struct packet_buffer *buffer, uint64_t *seed)
{
	test_fill(seed, bytes, sizeof(bytes));
	assert_int_equal(packet_buffer_init(buffer), 0);
	assert_true(packet_buffer_is_empty(buffer));
}

static void
end(struct packet_buffer *buffer)
{
	while (copies.n > 0)
		drop(buffer);
	assert_true(packet_buffer_is_empty(buffer));
	assert_int_equal(buffer->used, 0);
	packet_buffer_fini(buffer);
}

static void
frames_come_out_as_they_went_in(void **state)
{
	uint64_t seed = pw_test_seed();
	struct packet_buffer buffer;

	(void)state;
	begin(&buffer, &seed);
	/* Phases that fill it and empty it, of small frames, large ones, or any. */
	for (unsigned phase = 0; phase < 300; phase++) {
		static const uint32_t sizes[] = {0, 60, 300, 1514, FRAME_MAX_BYTES};
		uint32_t puts = pw_test_random(&seed, 101), size = sizes[pw_test_random(&seed, 5)];

		for (unsigned step = 0; step < 1000; step++) {
			if (pw_test_random(&seed, 100) < puts)
				put(&buffer, &seed, pw_test_random(&seed, size + 1));
			else
				drop(&buffer);
			assert_int_equal(buffer.frames, copies.n);
			assert_true(buffer.used <= PACKET_BUFFER_BYTES);
		}
	}
	end(&buffer);
}

static void
it_is_full_when_no_byte_is_left(void **state)
{
	struct packet_buffer buffer;
	uint64_t seed = 1;
	unsigned n = 0;

	(void)state;
	begin(&buffer, &seed);
	/* 64 bytes with what it takes beside: the buffer is full to its last byte. */
	for (; buffer.used < PACKET_BUFFER_BYTES; n++)
		put(&buffer, &seed, 56);
	assert_int_equal(n, PACKET_BUFFER_BYTES / 64);
	for (unsigned i = 0; i < 3 * n; i++) {
		struct frame frame = {bytes, 0, 0};

		assert_false(packet_buffer_put(&buffer, &frame));
		drop(&buffer);
		put(&buffer, &seed, 56);
		assert_int_equal(buffer.frames, n);
	}
	end(&buffer);
}

/* The end of the memory falls at each place in a frame of each size. */
static void
it_wraps_at_any_place(void **state)
{
	struct packet_buffer buffer;
	uint64_t seed = 2;

	(void)state;
	begin(&buffer, &seed);
	for (uint32_t size = 1; size < 1600; size += 7)
		for (unsigned round = 0; round < 2 * PACKET_BUFFER_BYTES / 20000; round++) {
			for (unsigned i = 0; i < 20000 / (size + 60) + 1; i++)
				put(&buffer, &seed, size + i % 9);
			while (copies.n > 3)
				drop(&buffer);
		}
	end(&buffer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_out_as_they_went_in),
		cmocka_unit_test(it_is_full_when_no_byte_is_left),
		cmocka_unit_test(it_wraps_at_any_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
