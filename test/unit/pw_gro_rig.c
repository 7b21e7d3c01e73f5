/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

/* One packet, in one piece. */
static uint32_t
flatten(const struct rte_mbuf *m, uint8_t *data)
{
	uint32_t bytes = 0;
	unsigned segs = 0;

	for (const struct rte_mbuf *seg = m; seg != NULL; seg = seg->next, segs++) {
		memcpy(data + bytes, rte_pktmbuf_mtod(seg, char *), seg->data_len);
		bytes += seg->data_len;
	}
	assert_int_equal(bytes, m->pkt_len);
	assert_int_equal(segs, m->nb_segs);
	return bytes;
}

/* The flow's number is the last byte of its source address. */
static struct pw_gro_rig_flow *
flow_of(struct pw_gro_rig *rig, const uint8_t *data)
{
	assert_true(data[29] < RIG_FLOWS);
	return &rig->flows[data[29]];
}

static const struct pw_gro_rig_frame *
pop_frame(struct pw_gro_rig_flow *flow)
{
	if (flow->first == flow->end)
		fail_msg("a packet came out that never went in");
	return &flow->frames[flow->first++];
}

static void
expect_same(const uint8_t *data, uint32_t len_bytes, const struct pw_gro_rig_frame *frame)
{
	if (len_bytes != frame->len_bytes && len_bytes != frame->ip_bytes)
		fail_msg("%u bytes came out, %u went in", len_bytes, frame->len_bytes);
	assert_memory_equal(data, frame->data, len_bytes);
}

/* Segment number i of a merged packet, as a NIC would cut it. */
static uint32_t
cut(const struct rte_mbuf *m, const uint8_t *data, uint32_t offset, uint16_t id_step,
	uint8_t *piece)
{
	uint32_t header = m->l2_len + m->l3_len + m->l4_len;
	uint32_t left = m->pkt_len - header - offset;
	uint32_t n = m->tso_segsz < left ? m->tso_segsz : left;
	struct rte_ipv4_hdr *ip = (void *)(piece + m->l2_len);
	struct rte_tcp_hdr *tcp = (void *)(piece + m->l2_len + m->l3_len);

	memcpy(piece, data, header);
	memcpy(piece + header, data + header + offset, n);
	ip->total_length = rte_cpu_to_be_16(header - m->l2_len + n);
	ip->packet_id = rte_cpu_to_be_16(rte_be_to_cpu_16(ip->packet_id) + id_step);
	tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + offset);
	if (n < left)
		tcp->tcp_flags &= ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	tcp->cksum = 0;
	tcp->cksum = rte_ipv4_udptcp_cksum(ip, tcp);
	return header + n;
}

/* IDs count up, or stay: with DF both do. */
static bool
ids_stay(const struct pw_gro_rig_flow *flow)
{
	const struct pw_gro_rig_frame *first = &flow->frames[flow->first];

	return flow->end - flow->first > 1 && (first->data[20] & 0x40) != 0 &&
		memcmp(first->data + 18, first[1].data + 18, 2) == 0;
}

static void
check_merged(struct pw_gro_rig *rig, const struct rte_mbuf *m, const uint8_t *data)
{
	const struct rte_ipv4_hdr *ip = (const void *)(data + 14);
	struct pw_gro_rig_flow *flow = flow_of(rig, data);
	uint32_t payload = m->pkt_len - m->l2_len - m->l3_len - m->l4_len;
	bool stay = ids_stay(flow);
	uint8_t piece[RIG_FRAME_MAX];
	uint16_t i = 0;

	assert_int_equal(rte_be_to_cpu_16(ip->total_length), m->pkt_len - 14);
	assert_int_equal(rte_raw_cksum(ip, sizeof(*ip)), 0xffff);
	assert_int_equal(rte_ipv4_udptcp_cksum_verify(ip, data + 34), 0);
	assert_in_range(m->tso_segsz, 1, payload - 1);
	for (uint32_t offset = 0; offset < payload; offset += m->tso_segsz, i++) {
		uint32_t len = cut(m, data, offset, stay ? 0 : i, piece);

		expect_same(piece, len, pop_frame(flow));
	}
}

static void
collect_one(struct pw_gro_rig *rig, struct rte_mbuf *m)
{
	static uint8_t data[UINT16_MAX + 15];
	uint32_t len = flatten(m, data);
	const struct rte_tcp_hdr *tcp = (void *)(data + 14 + (data[14] & 15) * 4);
	int payload = ((data[16] << 8) | data[17]) - (data[14] & 15) * 4 - (tcp->data_off >> 4) * 4;
	size_t used = strlen(rig->sizes);

	if (m->ol_flags & RTE_MBUF_F_RX_LRO)
		check_merged(rig, m, data);
	else
		expect_same(data, len, pop_frame(flow_of(rig, data)));
	snprintf(rig->sizes + used, sizeof(rig->sizes) - used, "%s%d", used ? " " : "", payload);
	rig->packets++;
	rte_pktmbuf_free(m);
}

static void
collect(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		collect_one(ctx, pkts[i]);
}

void
pw_gro_rig_receive(struct pw_gro_rig *rig, struct rte_mbuf *m)
{
	uint8_t data[RIG_FRAME_MAX];
	struct pw_gro_rig_frame *frame;
	struct pw_gro_rig_flow *flow;

	flatten(m, data);
	flow = flow_of(rig, data);
	if (flow->first == flow->end)
		flow->first = flow->end = 0;
	assert_true(flow->end < RIG_BURST_MAX);
	frame = &flow->frames[flow->end++];
	frame->len_bytes = m->pkt_len;
	frame->ip_bytes = 14 + (data[16] << 8 | data[17]);
	memcpy(frame->data, data, m->pkt_len);
	/* What another guest of this host left to hardware: see RTE_MBUF_F_RX_L4_CKSUM_NONE. */
	if ((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE)
		*rte_pktmbuf_mtod_offset(m, uint16_t *, 50) ^= 0x5555;
	pw_gro_receive(rig->gro, &m, 1, 0);
}

void
pw_gro_rig_flush(struct pw_gro_rig *rig)
{
	struct pw_gro_stats stats;

	pw_gro_flush(rig->gro);
	for (unsigned i = 0; i < RIG_FLOWS; i++)
		assert_int_equal(rig->flows[i].end, rig->flows[i].first);
	pw_gro_get_stats(rig->gro, &stats);
	assert_int_equal(stats.held, 0);
	assert_int_equal(stats.tx_packets, rig->packets);
	assert_int_equal(stats.rx_packets, stats.tx_packets + stats.merged);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
}

int
pw_gro_rig_set_up(void **state)
{
	struct pw_gro_rig *rig = calloc(1, sizeof(*rig));
	struct pw_gro_params params = {.output = collect, .ctx = rig, .socket_id = SOCKET_ID_ANY};

	if (rig == NULL)
		return -1;
	rig->pool = pw_packet_pool(1023, RIG_FRAME_MAX);
	rig->base = rte_mempool_avail_count(rig->pool);
	rig->gro = pw_gro_create(&params);
	*state = rig;
	return rig->gro == NULL ? -1 : 0;
}

int
pw_gro_rig_tear_down(void **state)
{
	struct pw_gro_rig *rig = *state;
	int rc;

	pw_gro_destroy(rig->gro);
	rc = rte_mempool_avail_count(rig->pool) == rig->base && pw_packet_exact_count() == 0 ? 0
											     : -1;
	rte_mempool_free(rig->pool);
	free(rig);
	return rc;
}
