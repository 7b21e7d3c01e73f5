/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * What the software NIC does to packets that it sends: checksums, tags, padding, segments. Packets
 * and frames stand in memory of just their size, so that AddressSanitizer sees what goes beyond.
 */

#include "nicsim_test.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "tx_job.h"

#define TAG_BYTES 4
#define PACKET_BYTES_MAX (256 << 10)

static struct tx_job *job;
static uint8_t *to; /* room for a frame, and no byte more */

static int
begin_group(void **state)
{
	(void)state;
	job = tx_job_create();
	to = malloc(FRAME_MAX_BYTES);
	return job == NULL || to == NULL ? -1 : 0;
}

static int
end_group(void **state)
{
	(void)state;
	free(to);
	tx_job_destroy(job);
	return 0;
}

static void
set_packet(const uint8_t *data, uint32_t len_bytes)
{
	free(job->packet);
	job->packet = malloc(len_bytes);
	assert_non_null(job->packet);
	memcpy(job->packet, data, len_bytes);
	job->len_bytes = len_bytes;
	job->active = false;
}

static uint8_t
l4_type(uint8_t protocol)
{
	return protocol == IPPROTO_UDP ? 0 : protocol == IPPROTO_TCP ? 1 : 2;
}

/* The context and the options as a driver gives them, for checksums of a whole packet. */
static void
set_context(const struct test_packet *packet, const struct test_frame *frame)
{
	job->context = (struct tx_context){
		.mac_len = (uint16_t)frame->l3,
		.ip_len = (uint16_t)(frame->l4 - frame->l3),
		.ipv4 = packet->ip == 4,
		.l4_type = l4_type(packet->protocol),
		.l4_len = (uint16_t)frame->l4_header_bytes,
	};
	job->command = TXD_EOP;
	job->options = TXD_TXSM | (packet->ip == 4 ? TXD_IXSM : 0);
	job->pad = false;
}

/* Take checksums out as a driver does: the IP header's is 0, L4's is the pseudo header's sum. */
static void
take_out_sums(struct test_frame *frame, const struct test_packet *packet, bool with_length)
{
	uint8_t *ip = frame->data + frame->l3, *l4 = frame->data + frame->l4;

	if (packet->ip == 4)
		test_put16(ip + 10, 0);
	if (packet->protocol == IPPROTO_SCTP)
		return;
	test_put16(l4 + test_sum_offset(packet->protocol),
		test_pseudo_sum(ip, packet->ip, packet->protocol,
			with_length ? frame->end - frame->l4 : 0));
}

static struct test_packet
offload_packet(uint64_t *seed, uint32_t payload_max)
{
	struct test_packet packet = test_any_packet(seed, payload_max);

	packet.ip = pw_test_random(seed, 2) ? 4 : 6;
	packet.protocol = pw_test_random(seed, 2) ? IPPROTO_TCP : IPPROTO_UDP;
	packet.fragment = 0;
	packet.without_sum = false;
	return packet;
}

/* What insertion of a tag and padding make of a frame, in place. Returns the length. */
static uint32_t
finish(uint8_t *data, uint32_t len_bytes, bool tag, uint16_t vlan, bool pad)
{
	if (tag) {
		for (uint32_t i = len_bytes; i > 12; i--)
			data[i + TAG_BYTES - 1] = data[i - 1];
		test_put16(data + 12, 0x8100);
		test_put16(data + 14, vlan);
		len_bytes += TAG_BYTES;
	}
	while (pad && len_bytes < 60)
		data[len_bytes++] = 0;
	return len_bytes;
}

static void
choose_finish(uint64_t *seed)
{
	job->pad = pw_test_random(seed, 2);
	job->context.vlan = (uint16_t)pw_test_random(seed, 65536);
	if (pw_test_random(seed, 2))
		job->command |= TXD_VLE;
}

static void
expect_frame(uint8_t *expected, uint32_t len_bytes, bool last)
{
	uint32_t len;

	len_bytes = finish(
		expected, len_bytes, job->command & TXD_VLE, job->context.vlan, job->pad);
	assert_true(job->active);
	len = tx_job_next(job, to);
	assert_int_equal(len, len_bytes);
	assert_memory_equal(to, expected, len_bytes);
	assert_int_equal(job->active, !last);
}

static void
checksums_are_put_in(void **state)
{
	static struct test_frame frame, expected;
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct test_packet packet = offload_packet(&seed, 3000);

		test_make(&frame, &packet, &seed);
		expected = frame;
		take_out_sums(&frame, &packet, true);
		set_context(&packet, &frame);
		choose_finish(&seed);
		set_packet(frame.data, frame.len_bytes);
		assert_true(tx_job_begin(job));
		expect_frame(expected.data, expected.len_bytes, true);
	}
}

/* RFC 768: a sum of 0 goes as 0xffff. TCP's may be 0. */
static void
a_sum_of_0_is_none_for_udp_alone(void **state)
{
	static struct test_frame frame;
	struct test_packet packet = {.payload_bytes = 20};
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t offset;

		packet.ip = i & 1 ? 6 : 4;
		packet.protocol = i & 2 ? IPPROTO_TCP : IPPROTO_UDP;
		test_make(&frame, &packet, &seed);
		offset = frame.l4 + test_sum_offset(packet.protocol);
		/* Two bytes of payload take up what the sum was. */
		test_put16(frame.data + frame.end - 2, 0);
		test_set_sums(&frame, &packet);
		test_put16(frame.data + frame.end - 2, test_get16(frame.data + offset));
		take_out_sums(&frame, &packet, true);
		set_context(&packet, &frame);
		set_packet(frame.data, frame.len_bytes);
		assert_true(tx_job_begin(job));
		tx_job_next(job, to);
		assert_int_equal(test_get16(to + offset), i & 2 ? 0 : 0xffff);
	}
}

static void
what_is_not_asked_for_is_not_done(void **state)
{
	static struct test_frame frame;
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct test_packet packet = offload_packet(&seed, 500);

		packet.ip = 4;
		test_make(&frame, &packet, &seed);
		/* Sums are wrong now, and stay so. */
		test_put16(frame.data + frame.l3 + 10, 0x1234);
		test_put16(frame.data + frame.l4 + test_sum_offset(packet.protocol), 0x5678);
		set_context(&packet, &frame);
		job->options = 0;
		set_packet(frame.data, frame.len_bytes);
		assert_true(tx_job_begin(job));
		tx_job_next(job, to);
		assert_memory_equal(to, frame.data, frame.len_bytes);
		job->options = TXD_IXSM;
		assert_true(tx_job_begin(job));
		tx_job_next(job, to);
		assert_int_equal(test_sum(0, to + frame.l3, frame.l4 - frame.l3), 0xffff);
		memcpy(to + frame.l3 + 10, frame.data + frame.l3 + 10, 2);
		assert_memory_equal(to, frame.data, frame.len_bytes);
	}
}

/* CRC32c with the polynomial as it is written, the most significant bit first (RFC 9260, B). */
static uint32_t
slow_crc32c(const uint8_t *data, uint32_t len_bytes)
{
	uint32_t crc = 0xffffffff, reflected = 0;

	for (uint32_t i = 0; i < len_bytes * 8; i++) {
		bool bit = data[i / 8] >> (i % 8) & 1;
		bool out = (crc >> 31) != bit;

		crc = crc << 1 ^ (out ? 0x1edc6f41 : 0);
	}
	for (unsigned i = 0; i < 32; i++)
		reflected |= (crc >> i & 1) << (31 - i);
	return ~reflected;
}

static void
sctp_has_a_crc(void **state)
{
	/* RFC 3720, B.4: of 32 bytes of zeros. */
	static const uint8_t of_zeros[] = {0xaa, 0x36, 0x91, 0x8a};
	static struct test_frame frame;
	struct test_packet packet = {.ip = 4, .protocol = IPPROTO_SCTP, .payload_bytes = 20};
	uint64_t seed = pw_test_seed();

	(void)state;
	assert_int_equal(slow_crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
	for (unsigned round = 0; round < 2000; round++) {
		uint8_t *l4;
		uint32_t crc;

		test_make(&frame, &packet, &seed);
		l4 = frame.data + frame.l4;
		if (round == 0)
			memset(l4, 0, 32);
		set_context(&packet, &frame);
		set_packet(frame.data, frame.len_bytes);
		assert_true(tx_job_begin(job));
		tx_job_next(job, to);
		memset(l4 + 8, 0, 4);
		crc = slow_crc32c(l4, frame.end - frame.l4);
		memcpy(l4 + 8, &crc, 4);
		if (round == 0)
			assert_memory_equal(l4 + 8, of_zeros, 4);
		assert_memory_equal(to + frame.l3 + 12, frame.data + frame.l3 + 12,
			frame.len_bytes - frame.l3 - 12);
		packet.payload_bytes = pw_test_random(&seed, 1400);
		packet.ip = pw_test_random(&seed, 2) ? 4 : 6;
	}
}

/* A packet to cut: headers, and then any payload up to 256 KiB in all. */
struct large {
	uint8_t data[PACKET_BYTES_MAX];
	uint32_t len_bytes, headers;
	struct test_frame head;
	struct test_packet packet;
};

static void
make_large(struct large *large, uint64_t *seed)
{
	uint32_t payload;

	large->packet = offload_packet(seed, 0);
	large->packet.pad_bytes = 0;
	test_make(&large->head, &large->packet, seed);
	/* TCP options. */
	if (large->packet.protocol == IPPROTO_TCP) {
		uint32_t words = pw_test_random(seed, 11);

		large->head.data[large->head.l4 + 12] = (uint8_t)((5 + words) << 4);
		large->head.l4_header_bytes += words * 4;
	}
	large->headers = large->head.l4 + large->head.l4_header_bytes;
	payload = test_between(
		seed, 1, pw_test_random(seed, 4) ? 9000 : PACKET_BYTES_MAX - large->headers);
	large->len_bytes = large->headers + payload;
	take_out_sums(&large->head, &large->packet, false);
	memcpy(large->data, large->head.data, large->headers);
	test_fill(seed, large->data + large->headers, payload);
}

/* The index-th segment as TCP or UDP would have sent it itself, but for the flags' rules (7.2.4.5,
 * and the registers DTXTCPFLGL and DTXTCPFLGH). */
static void
make_segment(const struct large *large, struct test_frame *segment, uint32_t index, uint32_t mss)
{
	uint32_t done = index * mss, left = large->len_bytes - large->headers - done;
	uint32_t payload = left < mss ? left : mss;
	uint8_t *ip = segment->data + large->head.l3, *l4 = segment->data + large->head.l4;

	segment->l3 = large->head.l3;
	segment->l4 = large->head.l4;
	segment->end = segment->len_bytes = large->headers + payload;
	memcpy(segment->data, large->data, large->headers);
	memcpy(segment->data + large->headers, large->data + large->headers + done, payload);
	if (large->packet.ip == 4) {
		test_put16(ip + 2, segment->end - segment->l3);
		test_put16(ip + 4, (test_get16(ip + 4) + index) % 65536);
	} else {
		test_put16(ip + 4, segment->end - segment->l3 - 40);
	}
	if (large->packet.protocol == IPPROTO_TCP) {
		test_put32(l4 + 4, test_get32(l4 + 4) + done);
		if (left > mss)
			l4[13] &= 0xff - 0x08 - 0x01; /* PSH, FIN */
		if (index > 0)
			l4[13] &= 0xff - 0x80; /* CWR */
	} else {
		test_put16(l4 + 4, segment->end - segment->l4);
	}
	test_set_sums(segment, &large->packet);
}

static void
a_tso_packet_is_cut_as_its_sender_would_have(void **state)
{
	static struct large large;
	static struct test_frame segment;
	uint64_t seed = pw_test_seed();

	(void)state;
	for (unsigned round = 0; round < 1500; round++) {
		uint32_t mss, n;

		make_large(&large, &seed);
		mss = test_between(&seed, 1 + large.len_bytes / 100,
			FRAME_MAX_BYTES - TAG_BYTES - large.headers);
		if (pw_test_random(&seed, 2))
			mss = test_between(&seed, 1 + large.len_bytes / 300, 1460);
		set_context(&large.packet, &large.head);
		job->context.mss = (uint16_t)mss;
		job->command |= TXD_TSE;
		choose_finish(&seed);
		set_packet(large.data, large.len_bytes);
		assert_true(tx_job_begin(job));
		n = (large.len_bytes - large.headers + mss - 1) / mss;
		for (uint32_t i = 0; i < n; i++) {
			make_segment(&large, &segment, i, mss);
			expect_frame(segment.data, segment.len_bytes, i == n - 1);
		}
	}
}

/* Whether the lengths make sense, as the header file and the datasheet have it (7.2.3.2.3). */
static bool
makes_sense(void)
{
	const struct tx_context *c = &job->context;
	bool tso = job->command & TXD_TSE, sum = job->options & TXD_TXSM;
	uint32_t tag = job->command & TXD_VLE ? 4 : 0, ip_min = c->ipv4 ? 20 : 40;
	uint32_t l4_min = c->l4_type == 0 ? 8 : c->l4_type == 1 ? 20 : 12;
	uint32_t l4 = c->mac_len + c->ip_len, headers = l4 + c->l4_len;

	if (job->len_bytes < 14 || (!tso && job->len_bytes + tag > FRAME_MAX_BYTES))
		return false;
	if (!tso && !sum && !(job->options & TXD_IXSM))
		return true;
	if (c->mac_len < 14 || c->ip_len < ip_min || l4 > job->len_bytes)
		return false;
	if ((tso || sum) && c->l4_type == 3)
		return false;
	if (sum && l4 + l4_min > job->len_bytes)
		return false;
	return !tso ||
		(c->l4_type < 2 && c->l4_len >= l4_min && c->mss > 0 && headers < job->len_bytes &&
			headers + c->mss + 4 <= FRAME_MAX_BYTES);
}

static void
choose_anything(uint64_t *seed)
{
	bool wild = pw_test_random(seed, 4) == 0;

	job->context = (struct tx_context){
		.mac_len = (uint16_t)(wild ? pw_test_random(seed, 128)
					   : test_between(seed, 12, 18)),
		.ip_len = (uint16_t)(wild ? pw_test_random(seed, 512) : test_between(seed, 18, 44)),
		.l4_len = (uint16_t)(wild ? pw_test_random(seed, 256) : test_between(seed, 6, 24)),
		.mss = (uint16_t)pw_test_random(seed, wild ? 65536 : 300),
		.vlan = (uint16_t)pw_test_random(seed, 65536),
		.ipv4 = pw_test_random(seed, 2),
		.l4_type = (uint8_t)pw_test_random(seed, 4),
	};
	job->command = (pw_test_random(seed, 2) ? TXD_TSE : 0) |
		(pw_test_random(seed, 2) ? TXD_VLE : 0);
	job->options = pw_test_random(seed, 4) << 8;
	job->pad = pw_test_random(seed, 2);
}

static void
any_context_stays_in_bounds(void **state)
{
	static const uint32_t sizes[] = {100, 100, 1000, FRAME_MAX_BYTES + 100, 70000};
	static uint8_t data[70000];
	uint64_t seed = pw_test_seed();
	unsigned begun = 0;

	(void)state;
	test_fill(&seed, data, sizeof(data));
	for (unsigned round = 0; round < 100000; round++) {
		uint32_t len_bytes = pw_test_random(&seed, sizes[pw_test_random(&seed, 5)]),
			 frames = 0;

		test_fill(&seed, data, 64);
		set_packet(data, len_bytes);
		choose_anything(&seed);
		assert_int_equal(tx_job_begin(job), makes_sense());
		begun += job->active;
		while (job->active) {
			uint32_t len = tx_job_next(job, to);

			assert_in_range(len, 14, FRAME_MAX_BYTES);
			assert_in_range(++frames, 1, 70000);
		}
	}
	assert_true(begun > 10000);
}

static void
a_packet_grows_to_its_limit(void **state)
{
	struct tx_job *other = tx_job_create();
	static uint8_t piece[65535];
	uint64_t seed = pw_test_seed();
	uint32_t len_bytes = 0;

	(void)state;
	assert_non_null(other);
	for (unsigned i = 0; i < 10000; i++) {
		uint32_t n = pw_test_random(&seed, i % 2 ? 65536 : 50);
		bool fits = len_bytes + n <= TX_JOB_BYTES;

		assert_int_equal(tx_job_append(other, piece, n), fits);
		len_bytes += fits ? n : 0;
		assert_int_equal(other->len_bytes, len_bytes);
	}
	assert_int_equal(other->len_bytes, TX_JOB_BYTES);
	assert_true(tx_job_append(other, piece, 0));
	assert_false(tx_job_append(other, piece, 1));
	tx_job_destroy(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_are_put_in),
		cmocka_unit_test(a_sum_of_0_is_none_for_udp_alone),
		cmocka_unit_test(what_is_not_asked_for_is_not_done),
		cmocka_unit_test(sctp_has_a_crc),
		cmocka_unit_test(a_tso_packet_is_cut_as_its_sender_would_have),
		cmocka_unit_test(any_context_stays_in_bounds),
		cmocka_unit_test(a_packet_grows_to_its_limit),
	};

	return cmocka_run_group_tests(tests, begin_group, end_group);
}
