/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The rules: what is merged, what is held, what passes and behind what. Linux's
 * inet_gro_receive(), ipv6_gro_receive(), tcp_gro_receive() and udp_gro_receive() are the model.
 */

#include <rte_branch_prediction.h>

#include "pw_chain.h"
#include "pw_gro_cksum.h"
#include "pw_gro_priv.h"

/* FIN and PSH may differ: they complete the packet. */
#define FLAGS_COMPLETE (RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG)
#define FLAGS_PASS (RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_URG_FLAG)

#define HOSTS_SCAN_MAX 128

static uint32_t
key_of(const struct pw_gro *gro, const struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	const uint8_t *hosts = pw_gro_hosts(seg->header, seg->at);
	const uint8_t *ports = pw_gro_l4(seg->header, seg->at);
	uint64_t tags = pw_gro_stripped_tag(m);

	for (unsigned at = RTE_ETHER_HDR_LEN; at < seg->at.l2; at += RTE_VLAN_HLEN)
		tags = pw_gro_add_tag(tags, pw_gro_load16(seg->header + at));
	return seg->at.ipv6 ? pw_gro_key(gro->secret, hosts, 4, ports, tags)
			    : pw_gro_key(gro->secret, hosts, 1, ports, tags);
}

/* Tags that the NIC took off; those that are not there are like no tag of 32 bits. */
static uint64_t
stripped_tags(const struct rte_mbuf *m)
{
	uint32_t inner = UINT32_MAX, outer = UINT32_MAX;

	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		inner = m->vlan_tci;
	if (m->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED)
		outer = m->vlan_tci_outer;
	return (uint64_t)outer << 32 | inner;
}

static bool
have_same_hosts(const struct pw_gro_flow *flow, const struct pw_gro_seg *seg)
{
	return flow->shape.at.ipv6 == seg->at.ipv6 &&
		memcmp(pw_gro_hosts(flow->header, flow->shape.at),
			pw_gro_hosts(seg->header, seg->at), pw_gro_hosts_bytes(seg->at)) == 0;
}

static bool
is_same_flow(const struct pw_gro_flow *flow, const struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	return have_same_hosts(flow, seg) && flow->shape.at.udp == seg->at.udp &&
		memcmp(pw_gro_l4(flow->header, flow->shape.at), pw_gro_l4(seg->header, seg->at),
			4) == 0 &&
		flow->head->port == m->port && flow->shape.at.l2 == seg->at.l2 &&
		memcmp(flow->header + 2 * RTE_ETHER_ADDR_LEN, seg->header + 2 * RTE_ETHER_ADDR_LEN,
			seg->at.l2 - 2 * RTE_ETHER_ADDR_LEN) == 0 &&
		stripped_tags(flow->head) == stripped_tags(m);
}

static struct pw_gro_flow *
find_flow(const struct pw_gro *gro, uint32_t key, const struct rte_mbuf *m,
	const struct pw_gro_seg *seg)
{
	uint16_t i = *pw_gro_bucket(gro, key);

	while (i != 0) {
		struct pw_gro_flow *flow = &gro->flows[i - 1];

		if (flow->key == key && is_same_flow(flow, m, seg))
			return flow;
		i = flow->next;
	}
	return NULL;
}

static uint8_t
tcp_flags(const struct pw_gro_seg *seg)
{
	const struct rte_tcp_hdr *tcp = (const void *)pw_gro_l4(seg->header, seg->at);

	return seg->at.udp ? 0 : tcp->tcp_flags;
}

static bool
has_same_ip(const uint8_t *a, const uint8_t *b, struct pw_gro_layout at)
{
	if (at.ipv6) /* class, flow label; next header, hop limit; extensions */
		return memcmp(a, b, 4) == 0 && memcmp(a + 6, b + 6, 2) == 0 &&
			memcmp(a + 40, b + 40, at.l3 - 40) == 0;
	/* TOS with ECN; flags, TTL */
	return a[1] == b[1] && memcmp(a + 6, b + 6, 3) == 0;
}

static bool
has_same_tcp(const uint8_t *a, const uint8_t *b, uint8_t len_bytes)
{
	/* ACK number, length and reserved bits; flags; window; urgent pointer, options */
	return memcmp(a + 8, b + 8, 5) == 0 && ((a[13] ^ b[13]) & ~FLAGS_COMPLETE) == 0 &&
		memcmp(a + 14, b + 14, 2) == 0 && memcmp(a + 18, b + 18, len_bytes - 18) == 0;
}

/* Everything that must be the same in a flow's segments but lengths, sequence number and ID. */
static bool
has_same_header(const struct pw_gro_flow *flow, const struct pw_gro_seg *seg)
{
	const uint8_t *a = flow->header, *b = seg->header;
	struct pw_gro_layout at = seg->at;

	if (flow->shape.at.l3 != at.l3 || flow->shape.at.l4 != at.l4 ||
		memcmp(a, b, 2 * RTE_ETHER_ADDR_LEN) != 0 || !has_same_ip(a + at.l2, b + at.l2, at))
		return false;
	a = pw_gro_l4(a, at);
	b = pw_gro_l4(b, at);
	/* Of UDP only: with or without a checksum. */
	return at.udp ? (pw_gro_load16(a + 6) == 0) == (pw_gro_load16(b + 6) == 0)
		      : has_same_tcp(a, b, at.l4);
}

static bool
has_room(const struct pw_gro *gro, const struct pw_gro_flow *flow, const struct rte_mbuf *m,
	const struct pw_gro_seg *seg)
{
	uint32_t ip_bytes = seg->at.l3 + seg->at.l4 + pw_gro_merged_bytes(flow) +
		seg->payload_bytes;
	uint32_t mbufs = pw_gro_mbufs(flow) + m->nb_segs;

	return ip_bytes <= UINT16_MAX && mbufs <= gro->params.max_mbufs &&
		!(seg->at.udp && mbufs > PW_GRO_UDP_SEGMENTS_MAX);
}

/*
 * Why a segment cannot join a held packet: the counter to flush it under. NULL when it can; its IP
 * ID is taken then.
 */
static uint64_t *
find_obstacle(struct pw_gro *gro, struct pw_gro_flow *flow, const struct rte_mbuf *m,
	const struct pw_gro_seg *seg)
{
	if (!has_same_header(flow, seg))
		return &gro->stats.flush_header;
	if (!pw_gro_is_next(flow, seg->header))
		return &gro->stats.flush_seq;
	if (seg->payload_bytes > flow->shape.payload_bytes || !has_room(gro, flow, m, seg))
		return &gro->stats.flush_size;
	if (!pw_gro_take_id(flow, seg->header))
		return &gro->stats.flush_ip_id;
	return NULL;
}

/* Cut headers and padding off. */
static struct rte_mbuf *
keep_payload(struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	uint16_t header_bytes = pw_gro_header_bytes(seg->at);

	if (likely(m->nb_segs == 1)) {
		m->data_off += header_bytes;
		m->data_len = seg->payload_bytes;
		return m;
	}
	m = pw_chain_trim_front(m, header_bytes);
	pw_chain_cut(m, seg->payload_bytes);
	return m;
}

/* Hang it behind the others. */
static void
append(struct pw_gro_flow *flow, struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	flow->flags = tcp_flags(seg) & FLAGS_COMPLETE;
	flow->next_seq += seg->payload_bytes;
	m = keep_payload(m, seg);
	flow->mbufs_left -= m->nb_segs;
	flow->tail->next = m;
	flow->tail = rte_pktmbuf_lastseg(m);
}

static void
begin_state(struct pw_gro_flow *flow)
{
	if (flow->head->nb_segs > 1) /* padding would come in between */
		pw_chain_cut(flow->head, flow->shape.header_bytes + flow->shape.payload_bytes);
	pw_gro_begin_state(flow, rte_pktmbuf_lastseg(flow->head));
}

/* Merge a segment with the held packet of its flow; false when it cannot join. */
static bool
merge(struct pw_gro *gro, struct pw_gro_flow *flow, struct rte_mbuf *m,
	const struct pw_gro_seg *seg)
{
	uint64_t *obstacle;

	if (!flow->has_state)
		begin_state(flow);
	obstacle = find_obstacle(gro, flow, m, seg);
	if (obstacle != NULL) {
		pw_gro_flush_flow(gro, flow, obstacle);
		return false;
	}
	append(flow, m, seg);
	if (flow->flags != 0 || seg->payload_bytes < flow->shape.payload_bytes)
		pw_gro_flush_flow(gro, flow, &gro->stats.flush_complete);
	return true;
}

static void
pass(struct pw_gro *gro, struct rte_mbuf *m, uint64_t *reason)
{
	(*reason)++;
	pw_gro_output(gro, m);
}

/* Let a packet of a flow pass, behind what is held of it. */
static void
pass_behind(struct pw_gro *gro, struct pw_gro_flow *flow, struct rte_mbuf *m, uint64_t *reason)
{
	if (flow != NULL)
		pw_gro_flush_flow(gro, flow, &gro->stats.flush_pass);
	pass(gro, m, reason);
}

/*
 * Fragments and the like have no ports to go by: they pass behind all that their hosts have held.
 * Among many flows all go, so that each packet held is looked at a limited number of times.
 */
static void
pass_behind_hosts(
	struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg, uint64_t *reason)
{
	uint32_t end;

	if (gro->next - gro->first > HOSTS_SCAN_MAX)
		pw_gro_flush_all(gro, &gro->stats.flush_pass);
	end = gro->next; /* which a flush may set back */
	for (uint32_t i = gro->first; i != end; i++) {
		struct pw_gro_flow *flow = &gro->flows[i & gro->flow_mask];

		if (flow->head != NULL && have_same_hosts(flow, seg))
			pw_gro_flush_flow(gro, flow, &gro->stats.flush_pass);
	}
	pass(gro, m, reason);
}

/* Somebody else may look at what we would write to. */
static bool
is_shared(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if (rte_mbuf_refcnt_read(m) != 1 || RTE_MBUF_CLONED(m))
			return true;
	return false;
}

/* Somebody else may look at the bytes of an external buffer. */
static bool
is_lent(const struct rte_mbuf *m)
{
	return RTE_MBUF_HAS_EXTBUF(m) && rte_mbuf_ext_refcnt_read(m->shinfo) != 1;
}

/* Can it be the first one of a merged packet? Its headers will be written to. */
static bool
can_be_held(const struct pw_gro *gro, const struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	return m->data_len >= pw_gro_header_bytes(seg->at) && m->nb_segs <= gro->params.max_mbufs &&
		!is_lent(m);
}

static void
hold(struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg, uint32_t key,
	uint64_t now_us)
{
	const struct pw_gro_params *params = &gro->params;
	struct pw_gro_shape shape;

	if (unlikely(pw_gro_is_full(gro)))
		pw_gro_flush_flow(gro, &gro->flows[gro->first & gro->flow_mask],
			&gro->stats.flush_table_full);
	pw_gro_shape_init(&shape, m, seg, params->exact_tso, params->max_mbufs);
	pw_gro_kind_learn(pw_gro_kind_of(gro, m, seg->header), m, &shape);
	pw_gro_hold(gro, m, &shape, key, now_us);
}

/* Why a segment is not merged, whatever is held; NULL when it may be. */
static uint64_t *
find_reason_to_pass(struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg)
{
	uint8_t flags = tcp_flags(seg);

	if (gro->params.exact_tso && (flags & RTE_TCP_CWR_FLAG) != 0)
		return &gro->stats.pass_flags;
	if (gro->params.exact_tso && seg->at.ipv6 && seg->at.l3 > sizeof(struct rte_ipv6_hdr))
		return &gro->stats.pass_ip_options;
	if ((flags & FLAGS_PASS) != 0 || (!seg->at.udp && (flags & RTE_TCP_ACK_FLAG) == 0))
		return &gro->stats.pass_flags;
	if (seg->payload_bytes == 0)
		return &gro->stats.pass_no_payload;
	/* What the NIC or a guest has merged has segments of its own. */
	if (unlikely(is_shared(m) ||
		    (m->ol_flags & (RTE_MBUF_F_RX_LRO | RTE_MBUF_F_TX_TCP_SEG)) != 0))
		return &gro->stats.pass_mbuf;
	return NULL;
}

static void
receive_segment(
	struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_seg *seg, uint64_t now_us)
{
	uint32_t key = key_of(gro, m, seg);
	struct pw_gro_flow *flow = find_flow(gro, key, m, seg);
	uint64_t *reason = find_reason_to_pass(gro, m, seg), rx_flags;

	if (reason != NULL) {
		pass_behind(gro, flow, m, reason);
		return;
	}
	rx_flags = m->ol_flags;
	if (!pw_gro_is_vouched(m, seg->at) || unlikely(pw_gro_has_no_cksum(seg->header, seg->at)))
		rx_flags = pw_gro_cksum_check(m, seg->header, seg->at, seg->payload_bytes);
	if (unlikely(pw_gro_cksum_is_bad(rx_flags))) {
		m->ol_flags = rx_flags;
		pass_behind(gro, flow, m, &gro->stats.pass_bad_cksum);
	} else if (flow != NULL && merge(gro, flow, m, seg)) {
		return;
	} else if ((tcp_flags(seg) & FLAGS_COMPLETE) != 0) {
		m->ol_flags = rx_flags;
		pass(gro, m, &gro->stats.pass_flags);
	} else if (unlikely(!can_be_held(gro, m, seg))) {
		m->ol_flags = rx_flags;
		pass(gro, m, &gro->stats.pass_mbuf);
	} else {
		hold(gro, m, seg, key, now_us);
	}
}

void
pw_gro_receive_slow(struct pw_gro *gro, struct rte_mbuf *m, uint64_t now_us)
{
	struct pw_gro_seg seg;
	uint64_t *reason = pw_gro_parse(m, gro->params.types, &seg, &gro->stats);

	if (likely(reason == NULL))
		receive_segment(gro, m, &seg, now_us);
	else if (seg.has_hosts)
		pass_behind_hosts(gro, m, &seg, reason);
	else
		pass(gro, m, reason);
}
