/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_soft_nic.h"

#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

#define FRAME_MAX 10000

/* Its own memory, as tests count what is left of theirs. */
static struct rte_mempool *
wire_pool(void)
{
	static struct rte_mempool *pool;

	if (pool == NULL)
		pool = pw_packet_pool(255, FRAME_MAX);
	return pool;
}

static struct rte_mbuf *
new_packet(const void *header, uint32_t header_bytes, const struct rte_mbuf *m, uint32_t offset,
	uint32_t bytes)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(wire_pool());
	char *data;

	assert_non_null(packet);
	data = rte_pktmbuf_append(packet, header_bytes + bytes);
	assert_non_null(data);
	if (header_bytes > 0)
		memcpy(data, header, header_bytes);
	if (bytes > 0) {
		const void *payload = rte_pktmbuf_read(m, offset, bytes, data + header_bytes);

		assert_non_null(payload);
		if (payload != data + header_bytes)
			memcpy(data + header_bytes, payload, bytes);
	}
	return packet;
}

/* Headers of piece number i, 82599 datasheet 7.2.4.6: FIN and PSH belong to the last one. */
static void
adjust(struct rte_mbuf *packet, const struct rte_mbuf *m, unsigned i, bool last)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(packet, void *, m->l2_len);
	struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(packet, void *, m->l2_len + m->l3_len);

	tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + i * m->tso_segsz);
	if (!last)
		tcp->tcp_flags &= ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
	if (m->l3_len == 0)
		return;
	ip->total_length = rte_cpu_to_be_16(packet->pkt_len - m->l2_len);
	ip->packet_id = rte_cpu_to_be_16(rte_be_to_cpu_16(ip->packet_id) + i);
}

/* The field holds the sum of the pseudo header: without the length where segments are cut. */
static void
fill_tcp_cksum(struct rte_mbuf *packet, const struct rte_mbuf *m)
{
	uint32_t offset = m->l2_len + m->l3_len, bytes = packet->pkt_len - offset;
	struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(packet, void *, offset);
	uint32_t sum = rte_raw_cksum(tcp, bytes);

	if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG)
		sum += rte_cpu_to_be_16(bytes);
	tcp->cksum = ~__rte_raw_cksum_reduce(sum);
}

static void
fill_cksums(struct rte_mbuf *packet, const struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(packet, void *, m->l2_len);

	if (m->ol_flags & (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM))
		fill_tcp_cksum(packet, m);
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		ip->hdr_checksum = rte_ipv4_cksum(ip);
}

static void
cut(struct rte_mbuf *m, pw_soft_nic_wire_t wire, void *ctx)
{
	uint32_t header = m->l2_len + m->l3_len + m->l4_len, offset = header;

	for (unsigned i = 0; offset < m->pkt_len; i++) {
		uint32_t bytes = RTE_MIN(m->pkt_len - offset, (uint32_t)m->tso_segsz);
		struct rte_mbuf *packet = new_packet(
			rte_pktmbuf_mtod(m, void *), header, m, offset, bytes);

		offset += bytes;
		adjust(packet, m, i, offset == m->pkt_len);
		if (m->l3_len > 0)
			fill_cksums(packet, m);
		wire(ctx, packet);
	}
	rte_pktmbuf_free(m);
}

static void
check_chain(const struct rte_mbuf *m)
{
	unsigned segs = 0;
	uint32_t bytes = 0;

	for (const struct rte_mbuf *seg = m; seg != NULL; seg = seg->next, segs++)
		bytes += seg->data_len;
	assert_int_equal(segs, m->nb_segs);
	assert_int_equal(bytes, m->pkt_len);
	assert_in_range(segs, 1, SOFT_NIC_SEGS_MAX);
}

static void
check_cutting(const struct rte_mbuf *m)
{
	uint32_t header = m->l2_len + m->l3_len + m->l4_len;

	assert_in_range(m->tso_segsz, 1, m->pkt_len - header - 1);
	assert_in_range(m->pkt_len - m->l2_len, 1, UINT16_MAX);
	assert_true(m->data_len >= header);
}

/* What a driver and its NIC take for granted. */
static void
check_contract(const struct rte_mbuf *m)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		m, const struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
	const struct rte_tcp_hdr *tcp = (const void *)(ip + 1);

	check_chain(m);
	assert_int_equal(rte_validate_tx_offload(m), 0);
	if ((m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK) == 0)
		return;
	assert_int_equal(m->l2_len, RTE_ETHER_HDR_LEN);
	assert_int_equal(m->l3_len, sizeof(*ip));
	assert_int_equal(m->l4_len, (tcp->data_off >> 4) * 4);
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		assert_int_equal(ip->hdr_checksum, 0);
	if (m->ol_flags & (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM))
		assert_int_equal(tcp->cksum, rte_ipv4_phdr_cksum(ip, m->ol_flags));
	if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG)
		check_cutting(m);
}

void
pw_soft_nic_send(struct rte_mbuf *frame, pw_soft_nic_wire_t wire, void *ctx)
{
	struct rte_mbuf *packet;

	check_contract(frame);
	if (frame->ol_flags & RTE_MBUF_F_TX_TCP_SEG) {
		cut(frame, wire, ctx);
		return;
	}
	packet = new_packet(NULL, 0, frame, 0, frame->pkt_len);
	fill_cksums(packet, frame);
	rte_pktmbuf_free(frame);
	wire(ctx, packet);
}

void
pw_soft_nic_cut(struct rte_mbuf *segment, pw_soft_nic_wire_t wire, void *ctx)
{
	check_chain(segment);
	if ((segment->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0) {
		wire(ctx, segment);
		return;
	}
	check_cutting(segment);
	cut(segment, wire, ctx);
}
