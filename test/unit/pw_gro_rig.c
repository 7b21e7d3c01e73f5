/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_rig.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf_dyn.h>
#include <rte_tcp.h>
#include <rte_vect.h>

#include "pw_gro_cut.h"

#define PACKET_MAX (UINT16_MAX + 64)
#define UDP_SEGMENTS_MAX 64 /* Linux's UDP_GRO_CNT_MAX */
#define CKSUM_FLAGS (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)

/* Where the flow's number is in the mbuf. */
static int flow_offset;

static uint32_t *
flow_of(struct rte_mbuf *m)
{
	return RTE_MBUF_DYNFIELD(m, flow_offset, uint32_t *);
}

/* One packet, in one piece. */
static void
flatten(const struct rte_mbuf *m, uint8_t *data)
{
	const char *fault;

	if (rte_mbuf_check(m, 1, &fault) != 0)
		fail_msg("mbuf: %s", fault);
	assert_true(m->pkt_len <= PACKET_MAX);
	for (; m != NULL; m = m->next) {
		memcpy(data, rte_pktmbuf_mtod(m, char *), m->data_len);
		data += m->data_len;
	}
}

static uint32_t
type_of(bool ipv6, bool udp)
{
	if (udp)
		return ipv6 ? PW_GRO_UDP_IPV6 : PW_GRO_UDP_IPV4;
	return ipv6 ? PW_GRO_TCP_IPV6 : PW_GRO_TCP_IPV4;
}

static uint32_t
types_on(const struct pw_gro_rig *rig)
{
	return rig->params.types == 0 ? PW_GRO_TCP : rig->params.types;
}

static struct pw_gro_rig_frame *
pop_frame(struct pw_gro_rig *rig, unsigned flow)
{
	struct pw_gro_rig_frame *frame = STAILQ_FIRST(&rig->flows[flow]);

	if (frame == NULL)
		fail_msg("a packet came out that never went in");
	STAILQ_REMOVE_HEAD(&rig->flows[flow], next);
	rig->prompt -= frame->prompt;
	return frame;
}

static void
free_frame(struct pw_gro_rig_frame *frame)
{
	if (frame->shared != NULL)
		rte_pktmbuf_free_seg(frame->shared);
	free(frame);
}

/* For whoever looks for the fault. */
static void
print_frame(const struct pw_gro_rig_frame *frame)
{
	print_message("frame %" PRIu64 " of %u bytes, IP ends at %u, flags %#" PRIx64 ":",
		frame->number, frame->len_bytes, frame->ip_end, frame->mbuf.ol_flags);
	for (uint32_t i = 0; i < RTE_MIN(frame->len_bytes, 120U); i++)
		print_message(" %02x", frame->data[i]);
	print_message("\n");
}

static void
expect_bytes(const uint8_t *data, uint32_t len_bytes, const struct pw_gro_rig_frame *frame)
{
	if ((len_bytes == frame->len_bytes || len_bytes == frame->ip_end) &&
		memcmp(data, frame->data, len_bytes) == 0)
		return;
	print_frame(frame);
	assert_true(len_bytes == frame->len_bytes || len_bytes == frame->ip_end);
	assert_memory_equal(data, frame->data, len_bytes);
}

/* All that is not GRO's. */
static void
expect_fields(const struct rte_mbuf *m, const struct rte_mbuf *in, uint64_t more_flags)
{
	uint64_t others = ~(CKSUM_FLAGS | RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT);

	assert_int_equal(m->ol_flags & others, (in->ol_flags | more_flags) & others);
	assert_int_equal(m->port, in->port);
	assert_int_equal(m->vlan_tci, in->vlan_tci);
	assert_int_equal(m->vlan_tci_outer, in->vlan_tci_outer);
	assert_int_equal(m->hash.rss, in->hash.rss);
	assert_int_equal(m->packet_type, in->packet_type);
}

/* A verdict that GRO gave must be true; right is -1 where there is nothing to check. */
static void
expect_verdict(uint64_t in, uint64_t out, uint64_t good, uint64_t bad, int right)
{
	if (out == in)
		return;
	if (right < 0)
		fail_msg("a verdict on a checksum that is not there");
	assert_int_equal(out, right ? good : bad);
}

/* What the flags say about a packet that was not merged. */
static void
check_verdicts(const struct rte_mbuf *m, const struct rte_mbuf *in, const uint8_t *data)
{
	int ip_right = -1, l4_right = -1;
	struct pw_frame frame;

	if (pw_frame_read(data, m->pkt_len, &frame)) {
		bool cut = frame.end > m->pkt_len;
		bool udp = frame.proto == IPPROTO_UDP;

		if (frame.version == 4)
			ip_right = rte_raw_cksum(data + frame.l3, frame.l4 - frame.l3) == 0xffff;
		if (!cut && frame.l4 + (udp ? 8 : 20) <= frame.end)
			l4_right = pw_frame_l4_cksum(data, &frame) == 0;
		if (l4_right >= 0 && udp && pw_frame_get16(data + frame.l4 + 6) == 0)
			l4_right = frame.version == 4;
	}
	expect_verdict(in->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK,
		m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_GOOD,
		RTE_MBUF_F_RX_IP_CKSUM_BAD, ip_right);
	expect_verdict(in->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK,
		m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_GOOD,
		RTE_MBUF_F_RX_L4_CKSUM_BAD, l4_right);
}

static void
check_single(const struct rte_mbuf *m, uint8_t *data, const struct pw_gro_rig_frame *frame)
{
	expect_fields(m, &frame->mbuf, 0);
	if ((m->ol_flags & RTE_MBUF_F_RX_LRO) == 0)
		assert_int_equal(pw_gro_segments(m), 1);
	check_verdicts(m, &frame->mbuf, data);
	/* May be filled in, or not. */
	if (frame->cksum_at != 0 &&
		(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE)
		memcpy(data + frame->cksum_at, frame->data + frame->cksum_at, 2);
	expect_bytes(data, m->pkt_len, frame);
}

/* Each segment was verified, or vouched for. */
static void
check_merged_verdicts(const struct rte_mbuf *m, const struct rte_mbuf *in, bool ipv4, bool no_cksum)
{
	uint64_t l4 = no_cksum ? in->ol_flags : RTE_MBUF_F_RX_L4_CKSUM_NONE;
	uint64_t ip = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint64_t ip_in = in->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;

	assert_int_equal(
		m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, l4 & RTE_MBUF_F_RX_L4_CKSUM_MASK);
	if (!ipv4 || ip_in == RTE_MBUF_F_RX_IP_CKSUM_NONE)
		assert_true(ip == ip_in || (ipv4 && ip == RTE_MBUF_F_RX_IP_CKSUM_GOOD));
	else
		assert_int_equal(ip, RTE_MBUF_F_RX_IP_CKSUM_GOOD);
}

/* It is of a kind that may be merged, and not too much. */
static void
check_merged(struct pw_gro_rig *rig, const struct rte_mbuf *m, const uint8_t *data,
	const struct pw_gro_rig_frame *first)
{
	const char *fault = pw_gro_cut_fault(m, data);
	const uint8_t *cksum;
	struct pw_frame frame;
	bool udp, ipv4;

	if (fault != NULL)
		fail_msg("merged packet: %s", fault);
	pw_frame_read(data, m->pkt_len, &frame);
	udp = frame.proto == IPPROTO_UDP;
	ipv4 = frame.version == 4;
	cksum = data + pw_frame_cksum_offset(&frame);
	assert_true(types_on(rig) & type_of(!ipv4, udp));
	if (udp)
		assert_in_range(pw_gro_segments(m), 2, UDP_SEGMENTS_MAX);
	if (rig->params.max_mbufs != 0)
		assert_true(m->nb_segs <= rig->params.max_mbufs);
	if (first->cksum_at == 0)
		assert_memory_equal(cksum, first->data + (cksum - data), 2);
	expect_fields(m, &first->mbuf, RTE_MBUF_F_RX_LRO);
	check_merged_verdicts(m, &first->mbuf, ipv4, udp && pw_frame_get16(cksum) == 0);
}

/* IDs count up, or stay: with DF both do, and the second frame tells. */
static bool
ids_stay(const struct pw_gro_rig *rig, const struct pw_gro_rig_frame *frame)
{
	const struct pw_gro_rig_frame *next = STAILQ_NEXT(frame, next);
	uint32_t l3 = frame->mbuf.l2_len;

	return !rig->params.exact_tso && next != NULL && (frame->data[l3 + 6] & 0x40) != 0 &&
		memcmp(frame->data + l3 + 4, next->data + l3 + 4, 2) == 0;
}

static void
pop_merged(struct pw_gro_rig *rig, const struct rte_mbuf *m, const uint8_t *data, unsigned flow)
{
	struct pw_gro_cut how = {
		.ids_stay = ids_stay(rig, STAILQ_FIRST(&rig->flows[flow])),
		.cwr_once = rig->params.exact_tso,
	};
	unsigned n = pw_gro_segments(m);

	for (unsigned i = 0; i < n; i++) {
		struct pw_gro_rig_frame *frame = pop_frame(rig, flow);
		uint8_t again[RIG_FRAME_MAX];

		if (frame->alone) {
			print_frame(frame);
			fail_msg("merged");
		}
		assert_int_equal(frame->mbuf.port, m->port);
		assert_true(pw_gro_cut_header_bytes(m) + m->tso_segsz <= sizeof(again));
		expect_bytes(again, pw_gro_cut_frame(m, data, how, i, again), frame);
		free_frame(frame);
	}
}

/* In a flush the oldest comes first, and in one by time nothing younger comes. */
static void
check_age(struct pw_gro_rig *rig, const struct pw_gro_rig_frame *frame)
{
	if (!rig->flushing)
		return;
	assert_true(frame->number >= rig->last_number);
	assert_true(frame->now_us <= rig->before_us);
	rig->last_number = frame->number;
}

static void
note_size(struct pw_gro_rig *rig, uint32_t payload_bytes)
{
	size_t used = strlen(rig->sizes);

	snprintf(rig->sizes + used, sizeof(rig->sizes) - used, "%s%u", used > 0 ? " " : "",
		payload_bytes);
}

static void
collect_one(struct pw_gro_rig *rig, struct rte_mbuf *m)
{
	static uint8_t data[PACKET_MAX];
	unsigned flow = *flow_of(m);
	struct pw_gro_rig_frame *first;

	flatten(m, data);
	assert_true(flow <= RIG_LOOSE);
	first = STAILQ_FIRST(&rig->flows[flow]);
	if (first == NULL)
		fail_msg("a packet came out that never went in");
	check_age(rig, first);
	if (m->ol_flags & ~first->mbuf.ol_flags & RTE_MBUF_F_RX_LRO) {
		check_merged(rig, m, data, first);
		note_size(rig, m->pkt_len - pw_gro_cut_header_bytes(m));
		pop_merged(rig, m, data, flow);
		rte_pktmbuf_free(m);
	} else {
		check_single(m, data, first);
		note_size(rig, first->payload_bytes);
		rte_pktmbuf_free(m);
		free_frame(pop_frame(rig, flow));
	}
	rig->packets++;
}

static void
collect(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	assert_true(n > 0);
	for (uint16_t i = 0; i < n; i++)
		collect_one(ctx, pkts[i]);
}

static bool
is_fragment(const struct pw_packet *packet)
{
	for (unsigned i = 0; packet->ipv6 && i < packet->nb_exts; i++)
		if (packet->exts[i].type == IPPROTO_FRAGMENT)
			return true;
	return !packet->ipv6 && (packet->ip_frag & ~RTE_IPV4_HDR_DF_FLAG) != 0;
}

/* TSO would not cut it into the same frames again. */
static bool
is_inexact(const struct pw_packet *packet)
{
	return (packet->ipv6 && packet->nb_exts > 0) ||
		(!packet->udp && (packet->flags & RTE_TCP_CWR_FLAG));
}

/* Never merged, whatever is held. */
static bool
is_alone(const struct pw_gro_rig *rig, const struct pw_packet *packet)
{
	uint8_t pass = RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_URG_FLAG;

	if (!(types_on(rig) & type_of(packet->ipv6, packet->udp)) || is_fragment(packet) ||
		packet->payload_bytes == 0 || (rig->params.exact_tso && is_inexact(packet)))
		return true;
	if (packet->udp)
		return packet->ipv6 ? packet->no_cksum : packet->ip_options_bytes != 0;
	return (!packet->ipv6 && packet->ip_options_bytes != 0) || (packet->flags & pass) != 0 ||
		!(packet->flags & RTE_TCP_ACK_FLAG);
}

static bool
is_prompt(const struct pw_packet *packet)
{
	return !packet->udp && (packet->flags & (RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG)) != 0;
}

struct pw_gro_rig_frame *
pw_gro_rig_expect(
	struct pw_gro_rig *rig, unsigned flow, struct rte_mbuf *m, const struct pw_packet *packet)
{
	struct pw_gro_rig_frame *frame = malloc(sizeof(*frame) + m->pkt_len);

	assert_non_null(frame);
	assert_int_equal(m->nb_segs, 1);
	*frame = (struct pw_gro_rig_frame){
		.number = ++rig->frames,
		.now_us = rig->now_us,
		.mbuf = *m,
		.len_bytes = m->pkt_len,
		.ip_end = m->pkt_len,
		.alone = packet == NULL || is_alone(rig, packet),
	};
	if (packet != NULL) {
		frame->mbuf.l2_len = pw_packet_l2_bytes(packet);
		frame->ip_end -= packet->pad_bytes;
		frame->payload_bytes = packet->payload_bytes;
	}
	frame->prompt = frame->alone || is_prompt(packet);
	memcpy(frame->data, rte_pktmbuf_mtod(m, char *), m->pkt_len);
	*flow_of(m) = flow;
	rig->prompt += frame->prompt;
	STAILQ_INSERT_TAIL(&rig->flows[flow], frame, next);
	return frame;
}

void
pw_gro_rig_leave_cksum(
	struct pw_gro_rig_frame *frame, struct rte_mbuf *m, const struct pw_packet *packet)
{
	frame->cksum_at = pw_packet_l4_offset(packet) + (packet->udp ? 6 : 16);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, frame->cksum_at) ^= 0x55;
	m->ol_flags &= ~RTE_MBUF_F_RX_L4_CKSUM_MASK;
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	frame->mbuf.ol_flags = m->ol_flags;
}

void
pw_gro_rig_alone(struct pw_gro_rig *rig, struct pw_gro_rig_frame *frame)
{
	rig->prompt += !frame->prompt;
	frame->alone = frame->prompt = true;
}

void
pw_gro_rig_share(struct pw_gro_rig *rig, struct pw_gro_rig_frame *frame, struct rte_mbuf *m)
{
	rte_mbuf_refcnt_update(m, 1);
	frame->shared = m;
	pw_gro_rig_alone(rig, frame);
}

static uint64_t
sum(const struct pw_gro_stats *stats, const char *prefix)
{
	uint64_t value = 0;

	for (const struct pw_stat *stat = pw_gro_stat_table; stat->name != NULL; stat++)
		if (strncmp(stat->name, prefix, strlen(prefix)) == 0)
			value += pw_stat_value(stat, stats);
	return value;
}

uint64_t
pw_gro_rig_sum(const struct pw_gro_rig *rig, const char *prefix)
{
	struct pw_gro_stats stats;

	pw_gro_get_stats(rig->gro, &stats);
	return sum(&stats, prefix);
}

uint64_t
pw_gro_rig_counter(const struct pw_gro_rig *rig, const char *name)
{
	struct pw_gro_stats stats;

	pw_gro_get_stats(rig->gro, &stats);
	for (const struct pw_stat *stat = pw_gro_stat_table; stat->name != NULL; stat++)
		if (strcmp(stat->name, name) == 0)
			return pw_stat_value(stat, &stats);
	fail_msg("no counter is called %s", name);
	return 0;
}

/* What holds whenever GRO has returned: of a flow one packet is held at most. */
static void
check_counters(const struct pw_gro_rig *rig)
{
	struct pw_gro_stats stats;
	unsigned held = 0;

	for (unsigned i = 0; i < RIG_FLOWS; i++)
		held += !STAILQ_EMPTY(&rig->flows[i]);
	assert_true(STAILQ_EMPTY(&rig->flows[RIG_LOOSE]));
	assert_int_equal(rig->prompt, 0);
	pw_gro_get_stats(rig->gro, &stats);
	assert_int_equal(stats.held, held);
	assert_int_equal(pw_gro_held(rig->gro), held);
	assert_int_equal(stats.rx_packets, rig->frames);
	assert_int_equal(stats.tx_packets, rig->packets);
	assert_int_equal(stats.rx_packets, stats.tx_packets + stats.merged + held);
	assert_int_equal(stats.tx_packets, sum(&stats, "pass_") + sum(&stats, "flush_"));
}

void
pw_gro_rig_receive(struct pw_gro_rig *rig, struct rte_mbuf **pkts, uint16_t n)
{
	pw_gro_receive(rig->gro, pkts, n, rig->now_us);
	check_counters(rig);
}

void
pw_gro_rig_flush_older(struct pw_gro_rig *rig, uint64_t before_us)
{
	rig->flushing = true;
	rig->last_number = 0;
	rig->before_us = before_us;
	pw_gro_flush_older(rig->gro, before_us);
	rig->flushing = false;
	for (unsigned i = 0; i < RIG_FLOWS; i++)
		if (!STAILQ_EMPTY(&rig->flows[i]))
			assert_true(STAILQ_FIRST(&rig->flows[i])->now_us > before_us);
	check_counters(rig);
}

void
pw_gro_rig_flush(struct pw_gro_rig *rig)
{
	rig->flushing = true;
	rig->last_number = 0;
	rig->before_us = UINT64_MAX;
	pw_gro_flush(rig->gro);
	rig->flushing = false;
	check_counters(rig);
	assert_int_equal(pw_gro_held(rig->gro), 0);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
}

void
pw_gro_rig_open(struct pw_gro_rig *rig, struct pw_gro_params params)
{
	pw_gro_destroy(rig->gro);
	params.output = collect;
	params.ctx = rig;
	params.socket_id = SOCKET_ID_ANY;
	rig->params = params;
	rig->frames = rig->packets = 0;
	rig->sizes[0] = '\0';
	rig->gro = pw_gro_create(&params);
	assert_non_null(rig->gro);
}

void
pw_gro_rig_simd(unsigned kind)
{
	static const uint16_t bits[RIG_SIMD_KINDS] = {
		RTE_VECT_SIMD_DISABLED, RTE_VECT_SIMD_256, RTE_VECT_SIMD_512};

	assert_int_equal(rte_vect_set_max_simd_bitwidth(bits[kind]), 0);
}

static int
register_flow_field(void)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "pw_gro_rig_flow",
		.size = sizeof(uint32_t),
		.align = sizeof(uint32_t),
	};

	flow_offset = rte_mbuf_dynfield_register(&field);
	return flow_offset < 0 ? -1 : 0;
}

int
pw_gro_rig_set_up(void **state)
{
	struct pw_gro_rig *rig = calloc(1, sizeof(*rig));

	if (rig == NULL || register_flow_field() < 0)
		return -1;
	rig->pool = pw_packet_pool(RIG_MBUFS, RIG_FRAME_MAX);
	rig->base = rte_mempool_avail_count(rig->pool);
	for (unsigned i = 0; i <= RIG_FLOWS; i++)
		STAILQ_INIT(&rig->flows[i]);
	pw_gro_rig_open(rig, (struct pw_gro_params){0});
	*state = rig;
	return 0;
}

int
pw_gro_rig_tear_down(void **state)
{
	struct pw_gro_rig *rig = *state;
	bool lost;

	pw_gro_destroy(rig->gro);
	/* After a failure. */
	for (unsigned i = 0; i <= RIG_FLOWS; i++)
		while (!STAILQ_EMPTY(&rig->flows[i]))
			free_frame(pop_frame(rig, i));
	lost = rte_mempool_avail_count(rig->pool) != rig->base || pw_packet_exact_count() != 0;
	rte_mempool_free(rig->pool);
	free(rig);
	return lost ? -1 : 0;
}
