/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_segment.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stddef.h>

#include "bytes.h"
#include "cksum.h"
#include "pattern.h"

#define TTL 64
#define OPTIONS_MAX_BYTES 40 /* RFC 9293 3.1 */

static void
read_option(struct tcp_segment *segment, const uint8_t *option)
{
	uint8_t len = option[1];

	if (option[0] == TCPOPT_MAXSEG && len == TCPOLEN_MAXSEG) {
		segment->has_mss = true;
		segment->mss = get_be16(option + 2);
	} else if (option[0] == TCPOPT_WINDOW && len == TCPOLEN_WINDOW) {
		segment->has_wscale = true;
		segment->wscale = option[2] < TCP_WSCALE_MAX ? option[2] : TCP_WSCALE_MAX;
	} else if (option[0] == TCPOPT_TIMESTAMP && len == TCPOLEN_TIMESTAMP) {
		segment->has_ts = true;
		segment->ts_val = get_be32(option + 2);
		segment->ts_ecr = get_be32(option + 6);
	}
}

/* RFC 9293 3.1: kinds 0 and 1 have no length; a length counts its own two bytes. */
static void
read_options(struct tcp_segment *segment, const uint8_t *option, const uint8_t *end)
{
	while (option < end && *option != TCPOPT_EOL) {
		if (*option == TCPOPT_NOP) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] < 2 || option[1] > end - option)
			return;
		read_option(segment, option);
		option += option[1];
	}
}

void
tcp_segment_read(const struct packet *packet, struct tcp_ends *ends, struct tcp_segment *segment)
{
	const uint8_t *l4 = packet->l4;

	ends->src = get_be32(packet->l3 + offsetof(struct iphdr, saddr));
	ends->dst = get_be32(packet->l3 + offsetof(struct iphdr, daddr));
	ends->src_port = get_be16(l4 + offsetof(struct tcphdr, th_sport));
	ends->dst_port = get_be16(l4 + offsetof(struct tcphdr, th_dport));
	*segment = (struct tcp_segment){
		.seq = get_be32(l4 + offsetof(struct tcphdr, th_seq)),
		.ack = get_be32(l4 + offsetof(struct tcphdr, th_ack)),
		.data_bytes = packet->payload_bytes,
		.flags = l4[offsetof(struct tcphdr, th_flags)],
		.window = get_be16(l4 + offsetof(struct tcphdr, th_win)),
	};
	read_options(segment, l4 + sizeof(struct tcphdr), packet->payload);
}

/* In the order of Linux, with NOPs in front so that words are aligned. */
static uint32_t
write_options(const struct tcp_segment *segment, uint8_t *options)
{
	uint8_t *p = options;

	if (segment->has_mss) {
		put_be16(p, TCPOPT_MAXSEG << 8 | TCPOLEN_MAXSEG);
		put_be16(p + 2, segment->mss);
		p += TCPOLEN_MAXSEG;
	}
	if (segment->has_ts) {
		put_be32(p, TCPOPT_TSTAMP_HDR);
		put_be32(p + 4, segment->ts_val);
		put_be32(p + 8, segment->ts_ecr);
		p += TCPOLEN_TSTAMP_APPA;
	}
	if (segment->has_wscale) {
		put_be32(p,
			(uint32_t)TCPOPT_NOP << 24 | TCPOPT_WINDOW << 16 | TCPOLEN_WINDOW << 8 |
				segment->wscale);
		p += 1 + TCPOLEN_WINDOW;
	}
	return (uint32_t)(p - options);
}

static void
write_ip(const struct tcp_ends *ends, uint32_t l4_bytes, uint16_t ip_id, uint8_t *frame)
{
	struct iphdr ip = {
		.version = IPVERSION,
		.ihl = sizeof(ip) / 4,
		.tot_len = htons(sizeof(ip) + l4_bytes),
		.id = htons(ip_id),
		.frag_off = htons(IP_DF),
		.ttl = TTL,
		.protocol = IPPROTO_TCP,
		.saddr = htonl(ends->src),
		.daddr = htonl(ends->dst),
	};

	memcpy(frame, ends->dst_mac, ETHER_ADDR_LEN);
	memcpy(frame + ETHER_ADDR_LEN, ends->src_mac, ETHER_ADDR_LEN);
	put_be16(frame + offsetof(struct ether_header, ether_type), ETHERTYPE_IP);
	ip.check = (uint16_t)~cksum_fold(cksum_add(0, &ip, sizeof(ip)));
	memcpy(frame + sizeof(struct ether_header), &ip, sizeof(ip));
}

/* Write the header; the data's sum is known without looking at it. Return its length. */
static uint32_t
write_tcp(const struct tcp_ends *ends, const struct tcp_segment *segment, uint8_t *l4)
{
	uint8_t options[OPTIONS_MAX_BYTES];
	uint32_t options_bytes = write_options(segment, options);
	uint32_t header_bytes = sizeof(struct tcphdr) + options_bytes;
	struct tcphdr tcp = {
		.th_sport = htons(ends->src_port),
		.th_dport = htons(ends->dst_port),
		.th_seq = htonl(segment->seq),
		.th_ack = htonl(segment->ack),
		.th_off = header_bytes / 4,
		.th_flags = segment->flags,
		.th_win = htons(segment->window),
	};
	uint64_t sum = (uint64_t)htonl(ends->src) + htonl(ends->dst) + htons(IPPROTO_TCP) +
		htons(header_bytes + segment->data_bytes) +
		pattern_sum(segment->place, segment->data_bytes);

	sum = cksum_add(sum, &tcp, sizeof(tcp));
	tcp.th_sum = (uint16_t)~cksum_fold(cksum_add(sum, options, options_bytes));
	memcpy(l4, &tcp, sizeof(tcp));
	memcpy(l4 + sizeof(tcp), options, options_bytes);
	return header_bytes;
}

uint32_t
tcp_segment_write(const struct tcp_ends *ends, const struct tcp_segment *segment, uint16_t ip_id,
	uint8_t *frame)
{
	uint8_t *l4 = frame + sizeof(struct ether_header) + sizeof(struct iphdr);
	uint32_t header_bytes = write_tcp(ends, segment, l4);
	uint8_t *end = l4 + header_bytes + segment->data_bytes;

	write_ip(ends, header_bytes + segment->data_bytes, ip_id, frame);
	memcpy(l4 + header_bytes, pattern_at(segment->place), segment->data_bytes);
	if (end < frame + FRAME_MIN_BYTES)
		memset(end, 0, frame + FRAME_MIN_BYTES - end);
	return end < frame + FRAME_MIN_BYTES ? FRAME_MIN_BYTES : (uint32_t)(end - frame);
}
