/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro.h"

#include <errno.h>

#include <rte_cpuflags.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_vect.h>

#include "pw_gro_cksum.h"
#include "pw_gro_priv.h"

#define BUCKETS_PER_FLOW 2

static void
choose_receive(struct pw_gro *gro)
{
	gro->receive = pw_gro_receive_plain;
#ifdef RTE_ARCH_X86_64
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_256 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI2) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_MOVBE) > 0)
		gro->receive = pw_gro_receive_avx2;
#endif
}

static bool
are_valid(const struct pw_gro_params *params)
{
	return (params->types & ~(PW_GRO_TCP | PW_GRO_UDP)) == 0 &&
		(params->max_flows & (params->max_flows - 1)) == 0 &&
		params->max_flows <= PW_GRO_FLOWS_MAX;
}

static void
set_params(struct pw_gro *gro, const struct pw_gro_params *params, uint32_t flows)
{
	gro->params = *params;
	if (params->types == 0)
		gro->params.types = PW_GRO_TCP;
	if (params->max_mbufs == 0)
		gro->params.max_mbufs = UINT16_MAX;
	gro->flow_mask = flows - 1;
	gro->bucket_shift = 32 - rte_log2_u32(flows * BUCKETS_PER_FLOW);
	for (unsigned i = 0; i < RTE_DIM(gro->secret); i++)
		gro->secret[i] = rte_rand() | 1; /* odd */
	choose_receive(gro);
}

struct pw_gro *
pw_gro_create(const struct pw_gro_params *params)
{
	uint32_t flows = params->max_flows == 0 ? PW_GRO_FLOWS_DEFAULT : params->max_flows;
	size_t buckets_at = sizeof(struct pw_gro) + flows * sizeof(struct pw_gro_flow);
	struct pw_gro *gro;

	if (!are_valid(params)) {
		rte_errno = EINVAL;
		return NULL;
	}
	gro = rte_zmalloc_socket("pw_gro",
		buckets_at + flows * BUCKETS_PER_FLOW * sizeof(*gro->buckets), RTE_CACHE_LINE_SIZE,
		params->socket_id);
	if (gro == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	gro->flows = (void *)(gro + 1);
	gro->buckets = (void *)((char *)gro + buckets_at);
	set_params(gro, params, flows);
	return gro;
}

void
pw_gro_destroy(struct pw_gro *gro)
{
	if (gro == NULL)
		return;
	for (uint32_t i = gro->first; i != gro->next; i++) {
		struct pw_gro_flow *flow = &gro->flows[i & gro->flow_mask];

		if (flow->head == NULL)
			continue;
		if (pw_gro_is_merged(flow))
			flow->head->nb_segs = pw_gro_mbufs(flow);
		rte_pktmbuf_free(flow->head);
	}
	rte_free(gro);
}

/* Where the NIC did not say, the checksums of a packet that is held were found to be right. */
static void
tell_cksums(const struct pw_gro_flow *flow)
{
	struct rte_mbuf *m = flow->head;

	if ((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN &&
		!flow->shape.at.ipv6)
		m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	if ((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN &&
		!pw_gro_has_no_cksum(flow->header, flow->shape.at))
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

/* RFC 1624, eqn. 3; not with a checksum that was left to hardware. */
static void
change_ipv4_length(struct rte_mbuf *m, struct rte_ipv4_hdr *ip, uint16_t len_bytes)
{
	rte_be16_t length = rte_cpu_to_be_16(len_bytes);
	uint32_t sum = (uint16_t)~ip->hdr_checksum + (uint16_t)~ip->total_length + length;

	sum = (sum >> 16) + (sum & 0xffff);
	ip->hdr_checksum = ~((sum >> 16) + sum);
	ip->total_length = length;
	if (likely((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) != RTE_MBUF_F_RX_IP_CKSUM_NONE))
		return;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	m->ol_flags = (m->ol_flags & ~RTE_MBUF_F_RX_IP_CKSUM_MASK) | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
}

static void
finish_headers(const struct pw_gro_flow *flow, uint32_t merged_bytes)
{
	struct pw_gro_layout at = flow->shape.at;
	uint8_t *l3 = flow->header + at.l2, *l4 = l3 + at.l3;
	uint16_t l4_bytes = at.l4 + merged_bytes;

	if (unlikely(at.ipv6))
		((struct rte_ipv6_hdr *)l3)->payload_len = rte_cpu_to_be_16(
			at.l3 - sizeof(struct rte_ipv6_hdr) + l4_bytes);
	else
		change_ipv4_length(flow->head, (struct rte_ipv4_hdr *)l3, at.l3 + l4_bytes);
	if (unlikely(at.udp))
		((struct rte_udp_hdr *)l4)->dgram_len = rte_cpu_to_be_16(l4_bytes);
	else
		((struct rte_tcp_hdr *)l4)->tcp_flags |= flow->flags;
}

/*
 * Make the mbuf and the headers of a merged packet say what it is. Its TCP or UDP checksum is still
 * the first segment's: RTE_MBUF_F_RX_L4_CKSUM_NONE says that whoever sends it on has to fill it in.
 */
static void
finish_merged(const struct pw_gro_flow *flow)
{
	const struct pw_gro_shape *shape = &flow->shape;
	uint32_t merged_bytes = pw_gro_merged_bytes(flow);
	struct rte_mbuf *m = flow->head;

	finish_headers(flow, merged_bytes);
	if (!pw_gro_has_no_cksum(flow->header, flow->shape.at))
		m->ol_flags = (m->ol_flags & ~RTE_MBUF_F_RX_L4_CKSUM_MASK) |
			RTE_MBUF_F_RX_L4_CKSUM_NONE;
	m->ol_flags |= RTE_MBUF_F_RX_LRO;
	if (likely(m->nb_segs == 1)) /* without padding */
		m->data_len = shape->header_bytes + shape->payload_bytes;
	m->nb_segs = pw_gro_mbufs(flow);
	m->pkt_len = shape->header_bytes + merged_bytes;
	m->tx_offload = rte_mbuf_tx_offload(
		shape->at.l2, shape->at.l3, shape->at.l4, shape->payload_bytes, 0, 0, 0);
}

/* The entry is free behind it. */
static __rte_always_inline void
release(struct pw_gro *gro, struct pw_gro_flow *flow)
{
	struct rte_mbuf *m = flow->head;

	if (unlikely(flow->shape.at.unvouched))
		tell_cksums(flow);
	if (pw_gro_is_merged(flow))
		finish_merged(flow);
	flow->head = NULL;
	pw_gro_output(gro, m);
}

static void
unlink_flow(struct pw_gro *gro, const struct pw_gro_flow *flow)
{
	uint16_t *link = pw_gro_bucket(gro, flow->key);
	uint16_t i = flow - gro->flows + 1;

	while (*link != i)
		link = &gro->flows[*link - 1].next;
	*link = flow->next;
}

/* So that the first entry is one in use, and that of few flows always the same entries are. */
static void
forget_released(struct pw_gro *gro)
{
	while (gro->first != gro->next && gro->flows[gro->first & gro->flow_mask].head == NULL)
		gro->first++;
	if (gro->first == gro->next)
		gro->first = gro->next = 0;
}

void
pw_gro_flush_flow(struct pw_gro *gro, struct pw_gro_flow *flow, uint64_t *reason)
{
	unlink_flow(gro, flow);
	release(gro, flow);
	gro->nb_held--;
	(*reason)++;
	forget_released(gro);
}

void
pw_gro_flush_all(struct pw_gro *gro, uint64_t *reason)
{
	for (uint32_t i = gro->first; i != gro->next; i++) {
		struct pw_gro_flow *flow = &gro->flows[i & gro->flow_mask];

		if (flow->head == NULL)
			continue;
		*pw_gro_bucket(gro, flow->key) = 0;
		release(gro, flow);
	}
	*reason += gro->nb_held;
	gro->nb_held = 0;
	gro->first = gro->next = 0;
}

/* Counters are true again when packets are out, for whoever reads them meanwhile. */
static void
hand_out(struct pw_gro *gro)
{
	struct pw_gro_stats *stats = &gro->stats;
	uint16_t n = gro->nb_out;

	stats->tx_packets += n;
	stats->held = gro->nb_held;
	stats->merged = stats->rx_packets - stats->tx_packets - stats->held;
	gro->nb_out = 0;
	if (n > 0)
		gro->params.output(gro->params.ctx, gro->out, n);
}

void
pw_gro_receive(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	gro->stats.rx_packets += n;
	gro->receive(gro, pkts, n, now_us);
	hand_out(gro);
}

void
pw_gro_flush(struct pw_gro *gro)
{
	pw_gro_flush_all(gro, &gro->stats.flush_all);
	hand_out(gro);
}

void
pw_gro_flush_older(struct pw_gro *gro, uint64_t before_us)
{
	while (gro->nb_held > 0) {
		struct pw_gro_flow *oldest = &gro->flows[gro->first & gro->flow_mask];

		if (oldest->since_us > before_us)
			break;
		pw_gro_flush_flow(gro, oldest, &gro->stats.flush_timeout);
	}
	hand_out(gro);
}

unsigned
pw_gro_held(const struct pw_gro *gro)
{
	return gro->nb_held;
}

void
pw_gro_get_stats(const struct pw_gro *gro, struct pw_gro_stats *stats)
{
	*stats = gro->stats;
}
