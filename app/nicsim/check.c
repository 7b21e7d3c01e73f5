/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_flow.h"
#include "gen_mark.h"
#include "packet.h"

struct check {
	struct check_stats stats;
	bool on;
	char verdict[160];
	struct check_flow *flows; /* GEN_FLOWS_MAX; memory that is not used is not there */
};

struct check *
check_create(bool on)
{
	struct check *check = calloc(1, sizeof(*check));

	pattern_init();
	if (check == NULL)
		return NULL;
	check->on = on;
	check->flows = calloc(GEN_FLOWS_MAX, sizeof(*check->flows));
	if (check->flows == NULL) {
		free(check);
		return NULL;
	}
	return check;
}

void
check_destroy(struct check *check)
{
	if (check == NULL)
		return;
	free(check->flows);
	free(check);
}

/* Count what is wrong, and keep it when it is the first. */
static void
complain(struct check *check, uint64_t *counter, const char *what)
{
	(*counter)++;
	if (check->verdict[0] == '\0')
		snprintf(check->verdict, sizeof(check->verdict), "frame %" PRIu64 ": %s",
			check->stats.frames, what);
}

static void
check_order(struct check *check, uint16_t flow, uint32_t seq)
{
	struct check_stats *stats = &check->stats;
	uint32_t missing;

	switch (check_flow_note(&check->flows[flow], seq, &missing)) {
	case CHECK_IN_ORDER:
		stats->lost_or_still_under_way += missing;
		break;
	case CHECK_LATE:
		stats->reordered++;
		if (stats->lost_or_still_under_way > 0)
			stats->lost_or_still_under_way--;
		break;
	case CHECK_TWICE:
		stats->duplicated++;
		break;
	}
}

static void
check_own(struct check *check, const struct packet *packet)
{
	const uint8_t *mark = packet->payload;
	uint16_t flow = (uint16_t)~get_be16(mark + GEN_MARK_FLOW);
	uint32_t seq = get_be32(mark + GEN_MARK_SEQ);
	char what[96];

	check->stats.own++;
	if (seq != ~get_be32(mark + GEN_MARK_SEQ_CHECK)) {
		complain(check, &check->stats.bad_content,
			"the sequence number in the payload is damaged");
		return;
	}
	if (memcmp(mark + GEN_MARK_BYTES, gen_mark_content(mark[GEN_MARK_VARIANT]),
		    packet->payload_bytes - GEN_MARK_BYTES) != 0) {
		snprintf(what, sizeof(what),
			"the payload of number %" PRIu32 " in flow %u is damaged", seq, flow);
		complain(check, &check->stats.bad_content, what);
	}
	check_order(check, flow, seq);
}

static void
check_frame(struct check *check, const struct frame *frame)
{
	struct check_stats *stats = &check->stats;
	struct packet packet;

	if (frame->flags & FRAME_BAD_CRC) {
		stats->bad_crc++;
		return;
	}
	switch (packet_read(frame, &packet)) {
	case PACKET_NOT_IP:
	case PACKET_IP:
		return;
	case PACKET_MALFORMED:
		complain(check, &stats->malformed, "its headers do not fit into it");
		return;
	case PACKET_BAD_IP_CKSUM:
		complain(check, &stats->bad_ip_cksum, "the IPv4 checksum is wrong");
		return;
	case PACKET_BAD_L4_CKSUM:
		complain(check, &stats->bad_l4_cksum, "the TCP or UDP checksum is wrong");
		break;
	case PACKET_L4:
		break;
	}
	if (gen_mark_is_own(packet.payload, packet.payload_bytes))
		check_own(check, &packet);
}

void
check_frames(struct check *check, const struct frame *frames, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		check->stats.frames++;
		check->stats.bytes += frames[i].len_bytes;
		if (check->on)
			check_frame(check, &frames[i]);
	}
}

const struct check_stats *
check_get_stats(const struct check *check)
{
	return &check->stats;
}

const char *
check_verdict(const struct check *check)
{
	return check->verdict[0] == '\0' ? NULL : check->verdict;
}
