/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gro_traffic.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_jhash.h>

#include "random.h"

#define ADDRESS_FIRST RTE_IPV4(10, 1, 0, 0)
#define ADDRESS_OURS RTE_IPV4(10, 0, 0, 1)
#define PORT_FIRST 32768
#define PORTS 28000
#define PORT_OURS 5001

/* Where a flow is in a sequence. */
struct pw_gro_bench_flow {
	uint32_t next; /* segment */
	bool late;     /* the segment before the last one, which has overtaken it, is due */
};

/* Whose turn it is. */
struct turns {
	uint32_t flow;
	uint32_t left; /* packets of the train */
	uint32_t train;
	uint64_t random;
};

struct pw_gro_bench_flow *
pw_gro_bench_flows_create(void)
{
	return calloc(PW_GRO_BENCH_FLOWS_MAX, sizeof(struct pw_gro_bench_flow));
}

void
pw_gro_bench_flows_destroy(struct pw_gro_bench_flow *flows)
{
	free(flows);
}

static uint32_t
next_flow(struct turns *turns, enum pw_gro_bench_order order, uint32_t nb_flows)
{
	if (order == PW_GRO_BENCH_ROBIN) {
		turns->flow = turns->flow + 1 < nb_flows ? turns->flow + 1 : 0;
		return turns->flow;
	}
	if (turns->left == 0) {
		turns->left = turns->train;
		turns->flow = pw_bench_random_below(&turns->random, nb_flows);
	}
	turns->left--;
	return turns->flow;
}

/* 0, 1, 2, ...; where two change places: 1, 0. */
static uint32_t
next_index(struct pw_gro_bench_flow *flow, uint32_t reorder_percent, uint64_t *random)
{
	if (flow->late) {
		flow->late = false;
		return flow->next - 2;
	}
	if (reorder_percent > 0 && pw_bench_random_below(random, 100) < reorder_percent) {
		flow->late = true;
		flow->next += 2;
		return flow->next - 1;
	}
	return flow->next++;
}

static uint32_t
source_address(uint32_t flow)
{
	return rte_cpu_to_be_32(ADDRESS_FIRST + flow);
}

static uint16_t
source_port(uint32_t flow)
{
	return rte_cpu_to_be_16(PORT_FIRST + flow % PORTS);
}

static uint32_t
hash_of(const struct pw_gro_bench_settings *settings, uint32_t flow)
{
	if (settings->hash == PW_GRO_BENCH_SAME)
		flow = 0;
	return rte_jhash_3words(source_address(flow), source_port(flow), 0, 0);
}

void
pw_gro_bench_draw(struct pw_gro_bench_flow *flows, const struct pw_gro_bench_settings *settings,
	uint32_t nb_flows, uint64_t seed, struct pw_gro_bench_packet *packets, uint32_t n)
{
	struct turns turns = {
		.flow = nb_flows - 1, /* robin begins with 0 */
		.train = settings->order == PW_GRO_BENCH_RANDOM4 ? 4 : 1,
		.random = pw_bench_random_init(seed),
	};

	memset(flows, 0, nb_flows * sizeof(*flows));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t flow = next_flow(&turns, settings->order, nb_flows);

		packets[i].flow = flow;
		packets[i].index = next_index(
			&flows[flow], settings->reorder_percent, &turns.random);
		packets[i].rss = hash_of(settings, flow);
	}
}

static uint8_t *
payload_of(const struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM + sizeof(struct pw_gro_bench_header);
}

void
pw_gro_bench_write_payload(struct rte_mbuf *m)
{
	uint8_t *payload = payload_of(m);

	for (unsigned i = 0; i < PW_GRO_BENCH_PAYLOAD_MAX; i++)
		payload[i] = i * 7;
}

/* NOP, NOP, timestamps (RFC 7323): one pair of times, as in packets of the same millisecond. */
static const uint8_t tcp_options[PW_GRO_BENCH_TCP_OPTIONS_BYTES] = {
	1, 1, 8, 10, 0, 1, 2, 3, 0, 4, 5, 6};

static const struct pw_gro_bench_header first_header = {
	.ether.dst_addr.addr_bytes = {2, 0, 0, 0, 0, 1},
	.ether.src_addr.addr_bytes = {2, 0, 0, 0, 0, 2},
	.ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4),
	.ip.version_ihl = RTE_IPV4_VHL_DEF,
	.ip.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
	.ip.time_to_live = 64,
	.ip.next_proto_id = IPPROTO_TCP,
	.ip.dst_addr = RTE_BE32(ADDRESS_OURS),
	.tcp.dst_port = RTE_BE16(PORT_OURS),
	.tcp.recv_ack = RTE_BE32(1),
	.tcp.data_off = (sizeof(struct rte_tcp_hdr) + PW_GRO_BENCH_TCP_OPTIONS_BYTES) / 4 << 4,
	.tcp.tcp_flags = RTE_TCP_ACK_FLAG,
	.tcp.rx_win = RTE_BE16(512),
};

void
pw_gro_bench_template_init(struct pw_gro_bench_template *t,
	const struct pw_gro_bench_settings *settings, const struct rte_mbuf *m)
{
	t->header = first_header;
	memcpy(t->header.tcp_options, tcp_options, sizeof(tcp_options));
	t->payload_bytes = settings->payload_bytes;
	t->header.ip.total_length = rte_cpu_to_be_16(
		sizeof(t->header) - sizeof(t->header.ether) + t->payload_bytes);
	t->payload_sum = rte_raw_cksum(payload_of(m), t->payload_bytes);
	t->ol_flags = RTE_MBUF_F_RX_RSS_HASH;
	if (settings->cksum == PW_GRO_BENCH_VOUCHED)
		t->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

/* RFC 1071; the checksum field is 0 yet. */
static uint16_t
tcp_cksum(const struct pw_gro_bench_template *t, const struct pw_gro_bench_header *h)
{
	uint32_t sum = rte_ipv4_phdr_cksum(&h->ip, 0) + t->payload_sum;

	sum += rte_raw_cksum(&h->tcp, sizeof(h->tcp) + sizeof(h->tcp_options));
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return ~sum;
}

void
pw_gro_bench_write_frame(const struct pw_gro_bench_template *t,
	const struct pw_gro_bench_packet *packet, struct rte_mbuf *m)
{
	struct pw_gro_bench_header *h = (void *)((char *)m->buf_addr + RTE_PKTMBUF_HEADROOM);

	*h = t->header;
	h->ip.src_addr = source_address(packet->flow);
	h->ip.packet_id = rte_cpu_to_be_16(packet->flow * 31 + packet->index);
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	h->tcp.src_port = source_port(packet->flow);
	h->tcp.sent_seq = rte_cpu_to_be_32(packet->flow * 99991 + packet->index * t->payload_bytes);
	h->tcp.cksum = tcp_cksum(t, h);

	m->next = NULL;
	m->tx_offload = 0;
	m->l2_len = sizeof(h->ether);
	m->l3_len = sizeof(h->ip);
	m->l4_len = sizeof(h->tcp) + sizeof(h->tcp_options);
}

void
pw_gro_bench_write_mbuf(const struct pw_gro_bench_template *t,
	const struct pw_gro_bench_packet *packet, struct rte_mbuf *m)
{
	uint16_t bytes = sizeof(struct pw_gro_bench_header) + t->payload_bytes;

	m->data_off = RTE_PKTMBUF_HEADROOM;
	rte_mbuf_refcnt_set(m, 1);
	m->nb_segs = 1;
	m->port = 0;
	m->ol_flags = t->ol_flags;
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP;
	m->pkt_len = bytes;
	m->data_len = bytes;
	m->vlan_tci = 0;
	m->hash.rss = packet->rss;
}
