/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A wire that plays capture files: written here byte by byte, sound ones and broken ones. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire_spec.h"

#define MAGIC_US 0xa1b2c3d4u
#define MAGIC_NS 0xa1b23c4du

static char folder[] = "/tmp/nicsim_pcap_XXXXXX";

static const char *
path_of(const char *name)
{
	static char paths[4][64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static FILE *
begin_file(uint32_t magic, uint32_t link_type)
{
	const uint32_t header[6] = {magic, 2 | 4 << 16, 0, 0, 262144, link_type};
	FILE *file = fopen(path_of("in"), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
	return file;
}

static void
put_record(FILE *file, uint32_t sec, uint32_t fraction, uint32_t captured, uint32_t len)
{
	const uint32_t header[4] = {sec, fraction, captured, len};

	assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
	for (uint32_t i = 0; i < captured; i++)
		assert_int_not_equal(fputc((int)(uint8_t)(len + i), file), EOF);
}

/* Open a wire as the command line does; NULL: refused. */
static struct wire *
open_wire(struct wire_spec *spec, const char *format, ...)
{
	const struct wire_context context = {0};
	struct wire *wire;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_int_equal(wire_spec_parse(spec, text), 0);
	wire = wire_pcap.open(&context, spec->arg, spec->config);
	if (wire == NULL)
		wire_spec_free(spec);
	return wire;
}

static void
close_wire(struct wire_spec *spec, struct wire *wire)
{
	wire_pcap.close(wire);
	wire_spec_free(spec);
}

static uint64_t
counter(struct wire *wire, const char *name)
{
	const struct pw_stat *stat = wire_pcap.stats;

	while (strcmp(stat->name, name) != 0)
		stat++;
	return pw_stat_value(stat, wire_pcap.get_stats(wire));
}

/* A file of frames of these lengths, a millisecond after each other. */
static void
make_file(const uint32_t *lengths, unsigned n)
{
	FILE *file = begin_file(MAGIC_US, 1);

	for (unsigned i = 0; i < n; i++)
		put_record(file, 100, i * 1000, lengths[i], lengths[i]);
	assert_int_equal(fclose(file), 0);
}

static void
check_frame(const struct frame *frame, uint32_t len, uint32_t captured)
{
	assert_int_equal(frame->len_bytes, len < 60 ? 60 : len);
	for (uint32_t i = 0; i < frame->len_bytes; i++)
		assert_int_equal(frame->data[i], i < captured ? (uint8_t)(len + i) : 0);
}

static void
frames_are_played_and_those_that_no_port_takes_skipped(void **state)
{
	static const uint32_t lengths[] = {1514, 13, 14, 59, 60, 15869, 15868, 0};
	struct wire_spec spec;
	struct frame frames[FRAME_BURST];
	struct wire *wire;

	(void)state;
	make_file(lengths, 8);
	wire = open_wire(&spec, "pcap=%s", path_of("in"));
	assert_non_null(wire);
	assert_false(wire_pcap.is_done(wire));
	assert_int_equal(wire_pcap.receive(wire, 5, frames, 1), 1);
	check_frame(&frames[0], 1514, 1514);
	assert_int_equal(wire_pcap.receive(wire, 5, frames, FRAME_BURST), 4);
	check_frame(&frames[0], 14, 14);
	check_frame(&frames[1], 59, 59);
	check_frame(&frames[2], 60, 60);
	check_frame(&frames[3], 15868, 15868);
	assert_true(wire_pcap.is_done(wire));
	assert_int_equal(wire_pcap.receive(wire, 5, frames, FRAME_BURST), 0);
	assert_int_equal(counter(wire, "file_frames"), 5);
	assert_int_equal(counter(wire, "received"), 5);
	assert_int_equal(counter(wire, "file_skipped_short"), 2);
	assert_int_equal(counter(wire, "file_skipped_long"), 1);
	assert_int_equal(counter(wire, "file_padded"), 2);
	close_wire(&spec, wire);
}

static void
what_was_not_captured_is_zeros(void **state)
{
	struct wire_spec spec;
	struct frame frame;
	struct wire *wire;
	FILE *file = begin_file(MAGIC_NS, 1);

	(void)state;
	put_record(file, 0, 0, 20, 1000);
	put_record(file, 0, 0, 100, 70); /* more than there was: a lie */
	assert_int_equal(fclose(file), 0);
	wire = open_wire(&spec, "pcap=%s", path_of("in"));
	assert_non_null(wire);
	assert_int_equal(wire_pcap.receive(wire, 0, &frame, 1), 1);
	check_frame(&frame, 1000, 20);
	assert_int_equal(wire_pcap.receive(wire, 0, &frame, 1), 1);
	check_frame(&frame, 70, 70);
	assert_int_equal(counter(wire, "file_cut"), 1);
	close_wire(&spec, wire);
}

static void
a_file_is_played_as_often_as_asked(void **state)
{
	static const uint32_t lengths[] = {100, 200, 300};
	struct frame frames[FRAME_BURST];
	struct wire_spec spec;
	struct wire *wire;
	unsigned n = 0;

	(void)state;
	make_file(lengths, 3);
	wire = open_wire(&spec, "pcap=%s,loop=7", path_of("in"));
	for (unsigned got; (got = wire_pcap.receive(wire, 0, frames, 2)) > 0; n += got)
		check_frame(&frames[0], lengths[n % 3], 300);
	assert_int_equal(n, 21);
	assert_true(wire_pcap.is_done(wire));
	close_wire(&spec, wire);
	wire = open_wire(&spec, "pcap=%s,loop=0", path_of("in"));
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(wire_pcap.receive(wire, 0, frames, FRAME_BURST), FRAME_BURST);
	assert_false(wire_pcap.is_done(wire));
	close_wire(&spec, wire);
}

static void
timestamps_are_honoured_if_asked(void **state)
{
	struct wire_spec spec;
	struct frame frames[FRAME_BURST];
	struct wire *wire;
	FILE *file = begin_file(MAGIC_NS, 1);

	(void)state;
	put_record(file, 100, 999999999, 60, 60);
	put_record(file, 101, 499, 60, 60); /* 500 ns later */
	put_record(file, 99, 0, 60, 60);    /* back: at once */
	put_record(file, 102, 0, 60, 60);
	assert_int_equal(fclose(file), 0);
	wire = open_wire(&spec, "pcap=%s,timing=file,loop=2", path_of("in"));
	assert_non_null(wire);
	assert_int_equal(wire_pcap.receive(wire, 7000, frames, FRAME_BURST), 1);
	assert_int_equal(wire_pcap.receive(wire, 7499, frames, FRAME_BURST), 0);
	assert_int_equal(wire_pcap.receive(wire, 7500, frames, FRAME_BURST), 2);
	assert_int_equal(wire_pcap.receive(wire, 1000007000, frames, FRAME_BURST), 0);
	/* The last one, and the first one again. */
	assert_int_equal(wire_pcap.receive(wire, 1000007001, frames, FRAME_BURST), 2);
	assert_int_equal(wire_pcap.receive(wire, 1000007500, frames, FRAME_BURST), 0);
	assert_int_equal(wire_pcap.receive(wire, 1000007501, frames, FRAME_BURST), 2);
	assert_false(wire_pcap.is_done(wire));
	assert_int_equal(wire_pcap.receive(wire, UINT64_MAX / 2, frames, FRAME_BURST), 1);
	assert_true(wire_pcap.is_done(wire));
	close_wire(&spec, wire);
}

static void
any_timestamp_is_borne(void **state)
{
	struct wire_spec spec;
	struct frame frames[FRAME_BURST];
	struct wire *wire;
	unsigned n;
	FILE *file = begin_file(MAGIC_NS, 1);

	(void)state;
	put_record(file, UINT32_MAX, UINT32_MAX, 60, 60);
	put_record(file, 0, 0, 60, 60);
	put_record(file, 1, UINT32_MAX, 60, 60);
	assert_int_equal(fclose(file), 0);
	wire = open_wire(&spec, "pcap=%s,timing=file", path_of("in"));
	n = wire_pcap.receive(wire, 0, frames, FRAME_BURST);
	n += wire_pcap.receive(wire, (uint64_t)1 << 63, frames, FRAME_BURST);
	assert_int_equal(n, 3);
	assert_true(wire_pcap.is_done(wire));
	close_wire(&spec, wire);
}

static void
what_the_port_sends_is_written_and_can_be_played(void **state)
{
	uint8_t data[FRAME_MAX_BYTES];
	const struct frame sent[] = {{data, 60, 0}, {data, 700, FRAME_BAD_CRC},
		{data, FRAME_MAX_BYTES, 0}, {data, 14, 0}};
	struct frame frames[FRAME_BURST];
	struct wire_spec spec;
	struct wire *wire = open_wire(&spec, "pcap,out=%s", path_of("out"));

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	assert_non_null(wire);
	assert_true(wire_pcap.is_done(wire));
	wire_pcap.send(wire, 1000000000, sent, 1);
	wire_pcap.send(wire, 1000000123, sent + 1, 3);
	assert_int_equal(counter(wire, "dropped_bad_crc"), 1);
	assert_null(wire_pcap.verdict(wire));
	close_wire(&spec, wire);

	/* What is played is not written over. */
	assert_null(open_wire(&spec, "pcap=%s,out=%s", path_of("out"), path_of("out")));
	wire = open_wire(&spec, "pcap=%s,timing=file", path_of("out"));
	assert_non_null(wire);
	assert_int_equal(wire_pcap.receive(wire, 0, frames, FRAME_BURST), 1);
	assert_int_equal(wire_pcap.receive(wire, 122, frames, FRAME_BURST), 0);
	assert_int_equal(wire_pcap.receive(wire, 123, frames, FRAME_BURST), 2);
	assert_int_equal(frames[0].len_bytes, FRAME_MAX_BYTES);
	assert_memory_equal(frames[0].data, data, FRAME_MAX_BYTES);
	assert_int_equal(frames[1].len_bytes, 60);
	assert_memory_equal(frames[1].data, data, 14);
	close_wire(&spec, wire);
}

static void
a_full_disk_is_told(void **state)
{
	uint8_t data[1514] = {0};
	const struct frame frame = {data, sizeof(data), 0};
	struct wire_spec spec;
	struct wire *wire;

	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	wire = open_wire(&spec, "pcap,out=/dev/full");
	assert_non_null(wire);
	for (unsigned i = 0; i < 100; i++)
		wire_pcap.send(wire, i, &frame, 1);
	assert_true(counter(wire, "dropped_disk") > 0);
	assert_non_null(wire_pcap.verdict(wire));
	close_wire(&spec, wire);
}

static void
must_be_refused(const char *what)
{
	struct wire_spec spec;
	struct wire *wire = open_wire(&spec, "pcap=%s", path_of("in"));

	if (wire != NULL)
		fail_msg("%s was taken", what);
}

/* Whatever is missing at its end: the file is refused, or what is left is whole. */
static void
files_that_are_cut_are_refused(void **state)
{
	static const uint32_t lengths[] = {100, 200, 300};
	struct wire_spec spec;
	struct wire *wire;
	long whole = 24 + 3 * 16 + 600, kept;

	(void)state;
	for (kept = 0; kept < whole; kept++) {
		make_file(lengths, 3);
		assert_int_equal(truncate(path_of("in"), kept), 0);
		wire = open_wire(&spec, "pcap=%s", path_of("in"));
		if (wire == NULL)
			continue;
		if (kept != 24 + 116 && kept != 24 + 116 + 216)
			fail_msg("a file of %ld bytes was taken", kept);
		close_wire(&spec, wire);
	}
}

static void
files_that_are_no_ethernet_capture_are_refused(void **state)
{
	struct wire_spec spec;
	FILE *file;

	(void)state;
	fclose(begin_file(MAGIC_US, 1));
	must_be_refused("an empty file");
	file = begin_file(MAGIC_US, 113);
	put_record(file, 0, 0, 60, 60);
	fclose(file);
	must_be_refused("a cooked capture");
	file = begin_file(0xa1b2c3d5, 1);
	put_record(file, 0, 0, 60, 60);
	fclose(file);
	must_be_refused("a wrong magic");
	file = begin_file(MAGIC_US, 1);
	put_record(file, 0, 0, 60, 60);
	put_record(file, 0, 0, 0, 0);
	fseek(file, -8, SEEK_END);
	fwrite("\xff\xff\xff\x7f\xff\xff\xff\x7f", 8, 1, file);
	fclose(file);
	must_be_refused("a record of 2 GiB");
	assert_int_equal(unlink(path_of("in")), 0);
	must_be_refused("a file that is not there");
	assert_null(open_wire(&spec, "pcap=%s", folder));
	assert_null(open_wire(&spec, "pcap=/dev/null"));
	assert_null(open_wire(&spec, "pcap=-"));
	assert_null(open_wire(&spec, "pcap"));
	assert_null(open_wire(&spec, "pcap,out=-"));
	assert_null(open_wire(&spec, "pcap,out=%s/no/such/folder", folder));
}

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
remove_folder(void **state)
{
	(void)state;
	unlink(path_of("in"));
	unlink(path_of("out"));
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_played_and_those_that_no_port_takes_skipped),
		cmocka_unit_test(what_was_not_captured_is_zeros),
		cmocka_unit_test(a_file_is_played_as_often_as_asked),
		cmocka_unit_test(timestamps_are_honoured_if_asked),
		cmocka_unit_test(any_timestamp_is_borne),
		cmocka_unit_test(what_the_port_sends_is_written_and_can_be_played),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(files_that_are_cut_are_refused),
		cmocka_unit_test(files_that_are_no_ethernet_capture_are_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
