/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * A wire with a host that opens connections to the port's and sends as real senders do: as fast
 * as windows allow.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arp.h"
#include "bytes.h"
#include "error.h"
#include "packet.h"
#include "tcp_host.h"
#include "wire.h"

#define PORT_FIRST 40000
#define ARP_ANSWERS FRAME_BURST /* that wait to be taken; others are asked for again */
#define FRAME_ALIGN_BYTES 64
#define INTRODUCTION_NS 1000000 /* for the peer's queues to hear of it, too */

struct peer {
	uint32_t address;
	uint16_t port;
};

struct tcp_config {
	uint64_t flows, bytes, mss, window, burst;
	struct peer to;
	uint32_t from;
};

struct tcp_stats {
	struct tcp_flow_stats flow;
	uint64_t arp_replies;
	uint64_t bad_cksum; /* and what else is damaged */
	uint64_t foreign;
};

struct tcp {
	struct wire wire;
	struct tcp_host_config host_config;
	struct tcp_host *host;
	uint8_t *frames; /* FRAME_BURST, so far apart: */
	size_t stride_bytes;
	unsigned introduced;	  /* addresses that have asked for the peer */
	uint64_t silent_until_ns; /* while the peer learns of them */
	unsigned arp_answers;
	uint8_t arp[ARP_ANSWERS][FRAME_MIN_BYTES];
	struct tcp_stats stats;
};

static int
parse_address(const char *text, uint32_t *address)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return -1;
	*address = ntohl(in.s_addr);
	return 0;
}

static int
parse_from(void *field, const char *value)
{
	return parse_address(value, field);
}

static int
parse_to(void *field, const char *value)
{
	struct peer *to = field;
	char address[INET_ADDRSTRLEN + 1], end;
	unsigned port;

	if (sscanf(value, "%16[0-9.]:%5u%c", address, &port, &end) != 2 || port == 0 ||
		port > UINT16_MAX)
		return -1;
	to->port = (uint16_t)port;
	return parse_address(address, &to->address);
}

static const struct tcp_config defaults = {
	.flows = 1,
	.mss = 1460,
	.window = 1 << 20,
	.burst = 16,
	.to = {0xc6120002, 9}, /* RFC 2544 C.2.2: 198.18.0.0/15; RFC 863: discard */
	.from = 0xc6120001,
};

static const struct param params[] = {
	{"to", "ADDRESS:PORT", "whom to connect to, default 198.18.0.2:9", PARAM_CUSTOM,
		offsetof(struct tcp_config, to), 0, 0, NULL, parse_to},
	{"from", "ADDRESS", "own address, and one a 1024 flows 256 further", PARAM_CUSTOM,
		offsetof(struct tcp_config, from), 0, 0, NULL, parse_from},
	{"flows", "N", "connections", PARAM_UINT, offsetof(struct tcp_config, flows), 1,
		TCP_HOST_FLOWS_MAX, NULL, NULL},
	{"bytes", "N", "that each sends; 0: no end", PARAM_UINT, offsetof(struct tcp_config, bytes),
		0, 1e15, NULL, NULL},
	{"mss", "BYTES", "of a segment, with its options", PARAM_UINT,
		offsetof(struct tcp_config, mss), 536, 8960, NULL, NULL},
	{"window", "BYTES", "in flight of a flow at most", PARAM_UINT,
		offsetof(struct tcp_config, window), 16384, 1 << 30, NULL, NULL},
	{"burst", "N", "segments of a flow before the next has its turn", PARAM_UINT,
		offsetof(struct tcp_config, burst), 1, 1024, NULL, NULL},
	{0},
};

static const struct pw_stat stats[] = {
	PW_STAT_AS("connections_opened", tcp_stats, flow.connections_opened, "connections"),
	PW_STAT_AS("connections_closed", tcp_stats, flow.connections_closed, "connections"),
	PW_STAT_AS("connections_failed", tcp_stats, flow.connections_failed, "connections"),
	PW_STAT_AS("bytes_sent", tcp_stats, flow.bytes_sent, "bytes"),
	PW_STAT_AS("bytes_acked", tcp_stats, flow.bytes_acked, "bytes"),
	PW_STAT_AS("segments", tcp_stats, flow.segments, "segments"),
	PW_STAT_AS("retransmitted", tcp_stats, flow.retransmitted, "segments"),
	PW_STAT_AS("fast_retransmits", tcp_stats, flow.fast_retransmits, "events"),
	PW_STAT_AS("timeouts", tcp_stats, flow.timeouts, "events"),
	PW_STAT_AS("dup_acks", tcp_stats, flow.dup_acks, "segments"),
	PW_STAT_AS("zero_windows", tcp_stats, flow.zero_windows, "events"),
	PW_STAT_AS("window_probes", tcp_stats, flow.window_probes, "segments"),
	PW_STAT(tcp_stats, arp_replies, "frames"),
	PW_STAT(tcp_stats, bad_cksum, "frames"),
	PW_STAT(tcp_stats, foreign, "frames"),
	PW_STAT_END,
};

static void
tcp_close(struct wire *wire)
{
	struct tcp *tcp = (struct tcp *)wire;

	tcp_host_destroy(tcp->host);
	free(tcp->frames);
	free(tcp);
}

static struct tcp_host_config
make_host_config(const struct wire_context *context, const struct tcp_config *config)
{
	const uint8_t mac[] = {0x02, 0x70, 0x77, 0x00, 0x01, (uint8_t)context->port};
	struct tcp_host_config host = {
		.flow = {config->bytes, config->window, (uint16_t)config->mss},
		.ends = {.src = config->from,
			.dst = config->to.address,
			.src_port = PORT_FIRST,
			.dst_port = config->to.port},
		.flows = (unsigned)config->flows,
		.burst = (unsigned)config->burst,
	};

	memcpy(host.ends.src_mac, mac, sizeof(mac));
	memcpy(host.ends.dst_mac, context->port_mac, sizeof(host.ends.dst_mac));
	return host;
}

static struct wire *
tcp_open(const struct wire_context *context, const char *arg, const void *config)
{
	const struct tcp_config *wanted = config;
	struct tcp_host_config host = make_host_config(context, wanted);
	struct tcp *tcp;

	(void)arg;
	if (tcp_host_has_address(&host, wanted->to.address)) {
		nicsim_error("tcp: the address of to is one of from's; ask for another");
		return NULL;
	}
	tcp = calloc(1, sizeof(*tcp));
	if (tcp == NULL) {
		nicsim_error("tcp: no memory");
		return NULL;
	}
	tcp->wire.kind = &wire_tcp;
	tcp->host_config = host;
	tcp->host = tcp_host_create(&host, context->seed);
	tcp->stride_bytes = (TCP_HEADERS_BYTES + wanted->mss + FRAME_ALIGN_BYTES - 1) &
		-FRAME_ALIGN_BYTES;
	tcp->frames = malloc(FRAME_BURST * tcp->stride_bytes);
	if (tcp->host == NULL || tcp->frames == NULL) {
		nicsim_error("tcp: no memory");
		tcp_close(&tcp->wire);
		return NULL;
	}
	return &tcp->wire;
}

static uint8_t *
room_of(const struct tcp *tcp, unsigned i)
{
	return tcp->frames + i * tcp->stride_bytes;
}

static struct frame
frame_in_room(const struct tcp *tcp, unsigned i, uint32_t len_bytes)
{
	return (struct frame){.data = room_of(tcp, i), .len_bytes = len_bytes};
}

/*
 * A host asks for its peer before it speaks to it, which tells the peer where the host is. One that
 * did not would have many answers wait for ARP at once, and a host keeps but one (RFC
 * 1122, 2.3.2.2).
 */
static unsigned
introduce(struct tcp *tcp, uint64_t now_ns, struct frame *frames, unsigned n)
{
	const struct tcp_ends *ends = &tcp->host_config.ends;
	unsigned made = 0;

	for (; made < n && tcp->introduced < tcp_host_addresses(&tcp->host_config); made++) {
		uint32_t address = ends->src + tcp->introduced++ * TCP_HOST_ADDRESS_STEP;

		frames[made] = frame_in_room(tcp, made, FRAME_MIN_BYTES);
		arp_ask(ends->src_mac, address, ends->dst, room_of(tcp, made));
		tcp->silent_until_ns = now_ns + INTRODUCTION_NS;
	}
	return made;
}

/* Adds to the frames made so far; returns how many there are. */
static unsigned
take_arp_answers(struct tcp *tcp, struct frame *frames, unsigned made, unsigned n)
{
	for (; made < n && tcp->arp_answers > 0; made++) {
		frames[made] = frame_in_room(tcp, made, FRAME_MIN_BYTES);
		memcpy(room_of(tcp, made), tcp->arp[--tcp->arp_answers], FRAME_MIN_BYTES);
		tcp->stats.arp_replies++;
	}
	return made;
}

static unsigned
tcp_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct tcp *tcp = (struct tcp *)wire;
	unsigned made = introduce(tcp, now_ns, frames, n);

	made = take_arp_answers(tcp, frames, made, n);
	if (now_ns < tcp->silent_until_ns)
		return made;
	tcp_host_tick(tcp->host, now_ns);
	for (; made < n; made++) {
		uint32_t len_bytes = tcp_host_output(tcp->host, now_ns, room_of(tcp, made));

		if (len_bytes == 0)
			break;
		frames[made] = frame_in_room(tcp, made, len_bytes);
	}
	return made;
}

/* Whether it was for one of the connections. */
static bool
take_packet(struct tcp *tcp, uint64_t now_ns, const struct packet *packet)
{
	struct tcp_segment segment;
	struct tcp_ends ends;

	if (packet->ip_version != 4 || packet->proto != IPPROTO_TCP)
		return false;
	tcp_segment_read(packet, &ends, &segment);
	return tcp_host_input(tcp->host, now_ns, &ends, &segment);
}

/* Answer when it asks for one of us. */
static bool
take_arp(struct tcp *tcp, const struct frame *frame)
{
	uint32_t address = arp_asked_for(frame);

	if (address == 0 || !tcp_host_has_address(&tcp->host_config, address))
		return false;
	if (tcp->arp_answers < ARP_ANSWERS)
		arp_answer(frame, tcp->host_config.ends.src_mac, tcp->arp[tcp->arp_answers++]);
	return true;
}

static void
take_frame(struct tcp *tcp, uint64_t now_ns, const struct frame *frame)
{
	struct packet packet;

	if (frame->flags & FRAME_BAD_CRC) {
		tcp->stats.bad_cksum++;
		return;
	}
	if (take_arp(tcp, frame) || arp_answered_by(frame) == tcp->host_config.ends.dst)
		return;
	switch (packet_read(frame, &packet)) {
	case PACKET_L4:
		if (memcmp(frame->data, tcp->host_config.ends.src_mac, ETHER_ADDR_LEN) == 0 &&
			take_packet(tcp, now_ns, &packet))
			return;
		break;
	case PACKET_MALFORMED:
	case PACKET_BAD_IP_CKSUM:
	case PACKET_BAD_L4_CKSUM:
		tcp->stats.bad_cksum++;
		return;
	case PACKET_IP:
	case PACKET_NOT_IP:
		break;
	}
	tcp->stats.foreign++;
}

static void
tcp_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		take_frame((struct tcp *)wire, now_ns, &frames[i]);
}

static bool
tcp_is_done(const struct wire *wire)
{
	return tcp_host_is_over(((const struct tcp *)wire)->host);
}

static const char *
tcp_verdict(const struct wire *wire)
{
	return tcp_host_verdict(((const struct tcp *)wire)->host);
}

static const void *
tcp_get_stats(struct wire *wire)
{
	struct tcp *tcp = (struct tcp *)wire;

	tcp->stats.flow = *tcp_host_get_stats(tcp->host);
	return &tcp->stats;
}

const struct wire_kind wire_tcp = {
	.name = "tcp",
	.help = "a host that sends over TCP as fast as the port's peer takes it",
	.params = params,
	.defaults = &defaults,
	.config_bytes = sizeof(defaults),
	.open = tcp_open,
	.receive = tcp_receive,
	.send = tcp_send,
	.is_done = tcp_is_done,
	.verdict = tcp_verdict,
	.stats = stats,
	.get_stats = tcp_get_stats,
	.close = tcp_close,
};
