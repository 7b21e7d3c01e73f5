/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_seg.h"

#include <errno.h>

#include <rte_byteorder.h>

static uint16_t
read_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
read_be32(const uint8_t *p)
{
	return (uint32_t)read_be16(p) << 16 | read_be16(p + 2);
}

static void
parse_sacks(struct pw_tcp_seg *seg, const uint8_t *block, const uint8_t *end)
{
	for (; end - block >= 8 && seg->nb_sacks < PW_TCP_SACKS_MAX; block += 8)
		seg->sacks[seg->nb_sacks++] = (struct pw_tcp_sack){
			.start = read_be32(block),
			.end = read_be32(block + 4),
		};
}

static void
parse_option(struct pw_tcp_seg *seg, const uint8_t *opt)
{
	uint8_t len = opt[1];

	if (opt[0] == PW_TCP_OPT_MSS && len == PW_TCP_OPT_MSS_BYTES) {
		seg->has_mss = true;
		seg->mss = read_be16(opt + 2);
	} else if (opt[0] == PW_TCP_OPT_WSCALE && len == PW_TCP_OPT_WSCALE_BYTES) {
		seg->has_wscale = true;
		seg->wscale = RTE_MIN(opt[2], PW_TCP_WSCALE_MAX);
	} else if (opt[0] == PW_TCP_OPT_TS && len == PW_TCP_OPT_TS_BYTES) {
		seg->has_ts = true;
		seg->ts_val = read_be32(opt + 2);
		seg->ts_ecr = read_be32(opt + 6);
	} else if (opt[0] == PW_TCP_OPT_SACK_OK && len == PW_TCP_OPT_SACK_OK_BYTES) {
		seg->has_sack_ok = true;
	} else if (opt[0] == PW_TCP_OPT_SACK) {
		parse_sacks(seg, opt + 2, opt + len);
	}
}

/* RFC 9293 3.1: kinds 0 and 1 have no length; a length counts its own two bytes. */
static void
parse_options(struct pw_tcp_seg *seg, const uint8_t *opt, const uint8_t *end)
{
	while (opt < end && *opt != PW_TCP_OPT_END) {
		if (*opt == PW_TCP_OPT_NOP) {
			opt++;
			continue;
		}
		if (end - opt < 2 || opt[1] < 2 || opt[1] > end - opt)
			return;
		parse_option(seg, opt);
		opt += opt[1];
	}
}

int
pw_tcp_seg_parse(const struct rte_mbuf *m, struct pw_tcp_seg *seg)
{
	const struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod(m, const struct rte_tcp_hdr *);
	uint16_t len;

	if (m->data_len < sizeof(*tcp))
		return -EINVAL;
	len = (tcp->data_off >> 4) * 4;
	if (len < sizeof(*tcp) || len > m->data_len)
		return -EINVAL;

	*seg = (struct pw_tcp_seg){
		.seq = rte_be_to_cpu_32(tcp->sent_seq),
		.ack = rte_be_to_cpu_32(tcp->recv_ack),
		.payload_bytes = m->pkt_len - len,
		.window = rte_be_to_cpu_16(tcp->rx_win),
		.flags = tcp->tcp_flags,
		.src_port = tcp->src_port,
		.dst_port = tcp->dst_port,
	};
	parse_options(seg, (const uint8_t *)(tcp + 1), (const uint8_t *)tcp + len);
	return len;
}
