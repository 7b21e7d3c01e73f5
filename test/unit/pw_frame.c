/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_frame.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>

static bool
read_ipv4(const uint8_t *data, uint32_t bytes, struct pw_frame *frame)
{
	if (frame->l3 + 20 > bytes)
		return false;
	frame->proto = data[frame->l3 + 9];
	frame->l4 = frame->l3 + (data[frame->l3] & 15) * 4;
	frame->end = frame->l3 + pw_frame_get16(data + frame->l3 + 2);
	return frame->l4 <= bytes;
}

static bool
is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_FRAGMENT ||
		proto == IPPROTO_DSTOPTS;
}

static bool
read_ipv6(const uint8_t *data, uint32_t bytes, struct pw_frame *frame)
{
	if (frame->l3 + 40 > bytes)
		return false;
	frame->proto = data[frame->l3 + 6];
	frame->l4 = frame->l3 + 40;
	frame->end = frame->l4 + pw_frame_get16(data + frame->l3 + 4);
	while (is_extension(frame->proto)) {
		const uint8_t *header = data + frame->l4;

		if (frame->l4 + 8 > bytes)
			return false;
		frame->l4 += frame->proto == IPPROTO_FRAGMENT ? 8 : (header[1] + 1) * 8;
		frame->proto = header[0];
	}
	return frame->l4 <= bytes;
}

bool
pw_frame_read(const uint8_t *data, uint32_t bytes, struct pw_frame *frame)
{
	uint32_t l2 = 12;
	uint16_t type;

	do {
		if (l2 + 2 > bytes)
			return false;
		type = pw_frame_get16(data + l2);
		l2 += type == 0x8100 || type == 0x88a8 ? 4 : 2;
	} while (type == 0x8100 || type == 0x88a8);
	frame->l3 = l2;
	frame->version = type == 0x86dd ? 6 : 4;
	if (type == 0x0800)
		return read_ipv4(data, bytes, frame);
	return type == 0x86dd && read_ipv6(data, bytes, frame);
}

uint16_t
pw_frame_l4_cksum(const uint8_t *data, const struct pw_frame *frame)
{
	const uint8_t *ip = data + frame->l3;
	uint32_t l4_bytes = frame->end - frame->l4;
	uint8_t rest[8] = {0, 0, l4_bytes >> 8, l4_bytes, 0, 0, 0, frame->proto};
	uint32_t sum = rte_raw_cksum(rest, sizeof(rest));

	sum += frame->version == 4 ? rte_raw_cksum(ip + 12, 8) : rte_raw_cksum(ip + 8, 32);
	sum += rte_raw_cksum(data + frame->l4, l4_bytes);
	sum = (sum >> 16) + (sum & 0xffff);
	return ~((sum >> 16) + (sum & 0xffff));
}

/* In the order of the bytes in the frame, as rte_raw_cksum() has it. */
static void
put_cksum(uint8_t *p, uint16_t cksum)
{
	memcpy(p, &cksum, sizeof(cksum));
}

static void
fix_l4_cksum(uint8_t *data, const struct pw_frame *frame)
{
	uint8_t *field = data + pw_frame_cksum_offset(frame);
	uint16_t cksum;

	put_cksum(field, 0);
	cksum = pw_frame_l4_cksum(data, frame);
	/* RFC 768: 0 says that there is none. */
	put_cksum(field, cksum == 0 && frame->proto == IPPROTO_UDP ? 0xffff : cksum);
}

void
pw_frame_fix_cksums(uint8_t *data, uint32_t bytes)
{
	struct pw_frame frame;
	uint32_t header_bytes;

	if (!pw_frame_read(data, bytes, &frame))
		return;
	if (frame.version == 4) {
		put_cksum(data + frame.l3 + 10, 0);
		put_cksum(
			data + frame.l3 + 10, ~rte_raw_cksum(data + frame.l3, frame.l4 - frame.l3));
	}
	header_bytes = frame.proto == IPPROTO_UDP ? 8 : 20;
	if ((frame.proto == IPPROTO_UDP || frame.proto == IPPROTO_TCP) &&
		frame.l4 + header_bytes <= frame.end && frame.end <= bytes)
		fix_l4_cksum(data, &frame);
}
