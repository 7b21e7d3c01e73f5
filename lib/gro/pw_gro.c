/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro.h"

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_jhash.h>
#include <rte_malloc.h>

#include "pw_gro_seg.h"

#define FLOWS_MAX 64
#define BUCKETS 64
#define IP_BYTES_MAX 65535

/* FIN and PSH may differ: they complete the packet. */
#define FLAGS_COMPLETE (RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG)
#define FLAGS_PASS (RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_URG_FLAG)

/* How the IP IDs of a packet's segments go on; without DF they must count up. */
enum ip_id_mode { IP_ID_OPEN, IP_ID_COUNTS, IP_ID_STAYS };

/* A held packet: the headers of its first segment and what the next one is compared with. */
struct flow {
	struct rte_mbuf *head; /* NULL: the entry is not in use */
	struct rte_mbuf *tail;
	struct pw_gro_seg first;
	uint32_t next_seq;
	uint16_t last_ip_id;
	uint16_t payload_sum;
	uint16_t segments;
	enum ip_id_mode id_mode;
	struct flow *next; /* in its bucket */
};

struct pw_gro {
	struct pw_gro_params params;
	struct pw_gro_stats stats;
	unsigned nb_flows; /* entries used since the last flush, in the order they came */
	struct flow *buckets[BUCKETS];
	struct flow flows[FLOWS_MAX];
};

struct pw_gro *
pw_gro_create(const struct pw_gro_params *params)
{
	struct pw_gro *gro = rte_zmalloc_socket(
		"pw_gro", sizeof(*gro), RTE_CACHE_LINE_SIZE, params->socket_id);

	if (gro == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	gro->params = *params;
	return gro;
}

void
pw_gro_destroy(struct pw_gro *gro)
{
	if (gro == NULL)
		return;
	for (unsigned i = 0; i < gro->nb_flows; i++)
		rte_pktmbuf_free(gro->flows[i].head);
	rte_free(gro);
}

static void
output(struct pw_gro *gro, struct rte_mbuf *m)
{
	gro->stats.tx_packets++;
	gro->params.output(gro->params.ctx, &m, 1);
}

static struct flow **
bucket_of(struct pw_gro *gro, const struct pw_gro_seg *seg)
{
	uint32_t ports;

	memcpy(&ports, seg->tcp, sizeof(ports));
	return &gro->buckets[rte_jhash_3words(seg->ip->src_addr, seg->ip->dst_addr, ports, 0) %
		BUCKETS];
}

/* A VLAN tag taken off by the NIC; without one, no tag of 32 bits is like it. */
static uint32_t
stripped_tag(const struct rte_mbuf *m)
{
	return m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? m->vlan_tci : UINT32_MAX;
}

static bool
is_same_flow(const struct flow *flow, const struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	/* Addresses lie behind each other in the IP header, ports in the TCP header. */
	return memcmp(&flow->first.ip->src_addr, &seg->ip->src_addr, 8) == 0 &&
		memcmp(flow->first.tcp, seg->tcp, 4) == 0 &&
		stripped_tag(flow->head) == stripped_tag(m);
}

static struct flow *
find_flow(struct pw_gro *gro, const struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	struct flow *flow = *bucket_of(gro, seg);

	while (flow != NULL && !is_same_flow(flow, m, seg))
		flow = flow->next;
	return flow;
}

/* Make the headers of a merged packet say what it is. */
static void
finish_headers(struct flow *flow)
{
	struct rte_mbuf *m = flow->head;
	struct rte_ipv4_hdr *ip = flow->first.ip;

	m->l2_len = sizeof(struct rte_ether_hdr);
	m->l3_len = sizeof(*ip);
	m->l4_len = flow->first.tcp_len_bytes;
	if (flow->segments == 1)
		return;
	ip->total_length = rte_cpu_to_be_16(m->pkt_len - m->l2_len);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	flow->first.tcp->cksum = pw_gro_seg_tcp_cksum(&flow->first, flow->payload_sum);
	m->tso_segsz = flow->first.payload_bytes;
	m->ol_flags |= RTE_MBUF_F_RX_LRO;
}

/* Let a held packet go, counted under a reason. */
static void
flush_flow(struct pw_gro *gro, struct flow *flow, uint64_t *reason)
{
	struct flow **link = bucket_of(gro, &flow->first);
	struct rte_mbuf *m = flow->head;

	while (*link != flow)
		link = &(*link)->next;
	*link = flow->next;
	finish_headers(flow);
	flow->head = NULL;
	(*reason)++;
	gro->stats.held--;
	output(gro, m);
}

static void
flush_all(struct pw_gro *gro, uint64_t *reason)
{
	for (unsigned i = 0; i < gro->nb_flows; i++)
		if (gro->flows[i].head != NULL)
			flush_flow(gro, &gro->flows[i], reason);
	gro->nb_flows = 0;
}

void
pw_gro_flush(struct pw_gro *gro)
{
	flush_all(gro, &gro->stats.flush_all);
}

/* Everything that must be the same in a flow's segments, but sequence number and IP ID. */
static bool
has_same_header(const struct flow *flow, const struct pw_gro_seg *seg)
{
	const struct pw_gro_seg *first = &flow->first;

	return first->tcp_len_bytes == seg->tcp_len_bytes &&
		first->tcp->recv_ack == seg->tcp->recv_ack &&
		first->tcp->rx_win == seg->tcp->rx_win &&
		((first->tcp->tcp_flags ^ seg->tcp->tcp_flags) & ~FLAGS_COMPLETE) == 0 &&
		first->tcp->data_off == seg->tcp->data_off &&
		memcmp(first->tcp + 1, seg->tcp + 1, seg->tcp_len_bytes - sizeof(*seg->tcp)) == 0 &&
		first->ip->time_to_live == seg->ip->time_to_live &&
		first->ip->type_of_service == seg->ip->type_of_service &&
		first->ip->fragment_offset == seg->ip->fragment_offset &&
		memcmp(first->eth, seg->eth, sizeof(*seg->eth)) == 0;
}

/* The ID mode with one more segment; false when its ID does not fit. */
static bool
next_id_mode(const struct flow *flow, const struct pw_gro_seg *seg, enum ip_id_mode *mode)
{
	uint16_t step = rte_be_to_cpu_16(seg->ip->packet_id) - flow->last_ip_id;
	bool df = seg->ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);

	if (step > 1 || (step == 0 && !df))
		return false;
	*mode = step == 1 ? IP_ID_COUNTS : IP_ID_STAYS;
	return flow->id_mode == IP_ID_OPEN || flow->id_mode == *mode;
}

/* Why a segment cannot join a held packet: the counter to flush it under; NULL when it can. */
static uint64_t *
find_obstacle(struct pw_gro *gro, const struct flow *flow, const struct pw_gro_seg *seg,
	enum ip_id_mode *mode)
{
	if (!has_same_header(flow, seg))
		return &gro->stats.flush_header;
	if (seg->seq != flow->next_seq)
		return &gro->stats.flush_seq;
	if (!next_id_mode(flow, seg, mode))
		return &gro->stats.flush_ip_id;
	if (seg->payload_bytes > flow->first.payload_bytes ||
		flow->head->pkt_len - sizeof(*seg->eth) + seg->payload_bytes > IP_BYTES_MAX)
		return &gro->stats.flush_size;
	return NULL;
}

/* RFC 1071: a sum over bytes that begin at an odd offset is the swapped sum. */
static void
add_payload_sum(struct flow *flow, const struct pw_gro_seg *seg)
{
	uint16_t sum = pw_gro_seg_payload_sum(seg);
	uint32_t both;

	if ((flow->next_seq - flow->first.seq) % 2 != 0)
		sum = rte_bswap16(sum);
	both = (uint32_t)flow->payload_sum + sum;
	flow->payload_sum = (both >> 16) + (both & 0xffff);
}

static void
append(struct flow *flow, struct rte_mbuf *m, const struct pw_gro_seg *seg, enum ip_id_mode mode)
{
	add_payload_sum(flow, seg);
	flow->first.tcp->tcp_flags |= seg->tcp->tcp_flags & FLAGS_COMPLETE;
	flow->next_seq += seg->payload_bytes;
	flow->last_ip_id++;
	if (mode == IP_ID_STAYS)
		flow->last_ip_id--;
	flow->id_mode = mode;
	flow->segments++;

	m->data_off += pw_gro_seg_header_bytes(seg);
	m->data_len = seg->payload_bytes;
	m->pkt_len = seg->payload_bytes;
	flow->tail->next = m;
	flow->tail = m;
	flow->head->nb_segs++;
	flow->head->pkt_len += seg->payload_bytes;
}

static void
hold(struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	struct flow **bucket = bucket_of(gro, seg);
	struct flow *flow;

	if (unlikely(gro->nb_flows == FLOWS_MAX))
		flush_all(gro, &gro->stats.flush_table_full);

	flow = &gro->flows[gro->nb_flows++];
	*flow = (struct flow){
		.head = m,
		.tail = m,
		.first = *seg,
		.next_seq = seg->seq + seg->payload_bytes,
		.last_ip_id = rte_be_to_cpu_16(seg->ip->packet_id),
		.payload_sum = pw_gro_seg_payload_sum(seg),
		.segments = 1,
		.id_mode = IP_ID_OPEN,
		.next = *bucket,
	};
	*bucket = flow;
	gro->stats.held++;
	/* Padding of a short frame is not payload. */
	m->data_len = pw_gro_seg_header_bytes(seg) + seg->payload_bytes;
	m->pkt_len = m->data_len;
}

/* Let a packet of a flow pass, behind what is held of it. */
static void
pass_behind(struct pw_gro *gro, struct flow *flow, struct rte_mbuf *m, uint64_t *reason)
{
	if (flow != NULL)
		flush_flow(gro, flow, &gro->stats.flush_pass);
	(*reason)++;
	output(gro, m);
}

/* Fragments and the like have no ports to go by: they pass behind all that their hosts have held.
 */
static void
pass_behind_hosts(struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	for (unsigned i = 0; i < gro->nb_flows; i++) {
		struct flow *flow = &gro->flows[i];

		if (flow->head != NULL &&
			memcmp(&flow->first.ip->src_addr, &seg->ip->src_addr, 8) == 0)
			flush_flow(gro, flow, &gro->stats.flush_pass);
	}
	gro->stats.pass_fragment++;
	output(gro, m);
}

/* Merge a segment with the held packet of its flow; false when it cannot join. */
static bool
merge(struct pw_gro *gro, struct flow *flow, struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	enum ip_id_mode mode;
	uint64_t *obstacle = find_obstacle(gro, flow, seg, &mode);

	if (obstacle != NULL) {
		flush_flow(gro, flow, obstacle);
		return false;
	}
	append(flow, m, seg, mode);
	gro->stats.merged++;
	if ((seg->tcp->tcp_flags & FLAGS_COMPLETE) != 0 ||
		seg->payload_bytes < flow->first.payload_bytes)
		flush_flow(gro, flow, &gro->stats.flush_complete);
	return true;
}

static void
receive_tcp(struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	struct flow *flow = find_flow(gro, m, seg);
	uint8_t flags = seg->tcp->tcp_flags;

	if ((flags & FLAGS_PASS) != 0 || (flags & RTE_TCP_ACK_FLAG) == 0)
		pass_behind(gro, flow, m, &gro->stats.pass_flags);
	else if (seg->payload_bytes == 0)
		pass_behind(gro, flow, m, &gro->stats.pass_no_payload);
	else if (!pw_gro_seg_verify(m, seg))
		pass_behind(gro, flow, m, &gro->stats.pass_bad_cksum);
	else if (flow != NULL && merge(gro, flow, m, seg))
		return;
	else if ((flags & FLAGS_COMPLETE) != 0)
		pass_behind(gro, NULL, m, &gro->stats.pass_flags);
	else
		hold(gro, m, seg);
}

static void
receive(struct pw_gro *gro, struct rte_mbuf *m)
{
	struct pw_gro_seg seg;

	gro->stats.rx_packets++;
	switch (pw_gro_seg_parse(m, &seg)) {
	case PW_GRO_PARSE_TCP:
		receive_tcp(gro, m, &seg);
		break;
	case PW_GRO_PARSE_IP:
		pass_behind_hosts(gro, m, &seg);
		break;
	default:
		pass_behind(gro, NULL, m, &gro->stats.pass_protocol);
		break;
	}
}

void
pw_gro_receive(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	(void)now_us;
	for (uint16_t i = 0; i < n; i++)
		receive(gro, pkts[i]);
}

void
pw_gro_flush_older(struct pw_gro *gro, uint64_t before_us)
{
	(void)before_us;
	flush_all(gro, &gro->stats.flush_timeout);
}

unsigned
pw_gro_held(const struct pw_gro *gro)
{
	return gro->stats.held;
}

void
pw_gro_get_stats(const struct pw_gro *gro, struct pw_gro_stats *stats)
{
	*stats = gro->stats;
}
