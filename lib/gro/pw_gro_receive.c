/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The fast path. Built once for each kind of CPU, under the name that the macro PW_GRO_RECEIVE
 * gives; the compiler's options choose how bytes are compared.
 */

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_prefetch.h>
#include <rte_vect.h>

#include "pw_gro_cksum.h"
#include "pw_gro_priv.h"

#define HEADERS_AHEAD 12

/* A bit for each of 32 bytes that matter and are not the same. */
#if defined(__AVX2__)
static __rte_always_inline uint32_t
differ32(const void *a, const void *b, uint32_t care)
{
	__m256i same = _mm256_cmpeq_epi8(_mm256_loadu_si256(a), _mm256_loadu_si256(b));

	return ~(uint32_t)_mm256_movemask_epi8(same) & care;
}
#elif defined(__SSE2__)
static __rte_always_inline uint32_t
differ32(const void *a, const void *b, uint32_t care)
{
	const __m128i *x = a, *y = b;
	__m128i low = _mm_cmpeq_epi8(_mm_loadu_si128(x), _mm_loadu_si128(y));
	__m128i high = _mm_cmpeq_epi8(_mm_loadu_si128(x + 1), _mm_loadu_si128(y + 1));

	return ~((uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16) & care;
}
#else
static __rte_always_inline uint32_t
differ32(const void *a, const void *b, uint32_t care)
{
	const uint8_t *x = a, *y = b;
	uint32_t differ = 0;

	for (unsigned i = 0; i < 32; i++)
		differ |= (uint32_t)(x[i] != y[i]) << i;
	return differ & care;
}
#endif

/* Is all that matters of two frames the same? */
static __rte_always_inline bool
is_alike(const uint8_t *header, const struct rte_mbuf *m, const uint8_t *other_header,
	const void *other_mbuf, const struct pw_gro_care *care)
{
	uint32_t differ = differ32(header, other_header, care->header[0]);

	differ |= differ32(header + 32, other_header + 32, care->header[1]);
	differ |= differ32(header + 64, other_header + 64, care->header[2]);
	differ |= differ32((const char *)m + PW_GRO_MBUF_AT, other_mbuf, care->mbuf);
	return differ == 0;
}

/* As if there were no tags; they are kept. */
static const uint8_t *
skip_tags(const uint8_t *header, rte_be16_t *ether_type, uint64_t *tags)
{
	for (unsigned i = 0; i < PW_GRO_TAGS_MAX && pw_gro_is_vlan(*ether_type); i++) {
		*tags = pw_gro_add_tag(*tags, pw_gro_load16(header + RTE_ETHER_HDR_LEN));
		header += RTE_VLAN_HLEN;
		*ether_type = pw_gro_load16(header + 2 * RTE_ETHER_ADDR_LEN);
	}
	return header;
}

#define IPV4_HOSTS_AT (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, src_addr))
#define IPV4_PORTS_AT (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))
#define IPV6_HOSTS_AT (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, src_addr))
#define IPV6_PORTS_AT (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr))

/*
 * The key of the flow, without parsing: right for all frames that pw_gro_kind_learn() takes, any
 * number for others.
 */
static __rte_always_inline uint32_t
guess_key(const struct pw_gro *gro, const struct rte_mbuf *m, const uint8_t *header)
{
	rte_be16_t ether_type = pw_gro_load16(header + 2 * RTE_ETHER_ADDR_LEN);
	uint64_t tags = pw_gro_stripped_tag(m);

	if (unlikely(ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		header = skip_tags(header, &ether_type, &tags);
	if (ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return pw_gro_key(
			gro->secret, header + IPV6_HOSTS_AT, 4, header + IPV6_PORTS_AT, tags);
	return pw_gro_key(gro->secret, header + IPV4_HOSTS_AT, 1, header + IPV4_PORTS_AT, tags);
}

static __rte_always_inline struct pw_gro_flow *
find(const struct pw_gro *gro, uint32_t key)
{
	uint16_t i = *pw_gro_bucket(gro, key);

	while (i != 0) {
		struct pw_gro_flow *flow = &gro->flows[i - 1];

		if (flow->key == key)
			return flow;
		i = flow->next;
	}
	return NULL;
}

/* Checksums that the NIC does not vouch for. Of UDP, 0 is none, and the first segment has one. */
static __rte_noinline bool
has_right_cksums(const struct pw_gro_shape *shape, const struct rte_mbuf *m, const uint8_t *header)
{
	if (pw_gro_has_no_cksum(header, shape->at))
		return false;
	return !shape->at.unvouched ||
		!pw_gro_cksum_is_bad(
			pw_gro_cksum_check(m, header, shape->at, shape->payload_bytes));
}

/* Hang a segment that is like the first one behind it, if it can join. */
static __rte_always_inline bool
append(struct pw_gro_flow *flow, struct rte_mbuf *m, const uint8_t *header)
{
	const struct pw_gro_shape *shape = &flow->shape;

	if (!pw_gro_is_next(flow, header) || unlikely(flow->mbufs_left <= 0))
		return false;
	if (unlikely(shape->has_cksums) && !has_right_cksums(shape, m, header))
		return false;
	if (!pw_gro_take_id(flow, header))
		return false;
	flow->next_seq += shape->payload_bytes;
	flow->mbufs_left--;
	m->data_off += shape->header_bytes;
	m->data_len = shape->payload_bytes;
	flow->tail->next = m;
	flow->tail = m;
	return true;
}

/* Can so much of the header be read? */
static __rte_always_inline bool
has_look(const struct rte_mbuf *m)
{
	return likely(m->data_len >= PW_GRO_LOOK_BYTES) ||
		m->buf_len - m->data_off >= PW_GRO_LOOK_BYTES;
}

/* Hold a segment that is like one which was held before. */
static __rte_always_inline bool
hold(struct pw_gro *gro, struct rte_mbuf *m, const uint8_t *header, uint32_t key, uint64_t now_us)
{
	const struct pw_gro_kind *kind = pw_gro_kind_of(gro, m, header);

	if (!is_alike(header, m, kind->header, kind->mbuf, &kind->care) ||
		unlikely(pw_gro_is_full(gro)) || unlikely(kind->care.mbuf == 0))
		return false;
	if (unlikely(kind->shape.at.unvouched) && !has_right_cksums(&kind->shape, m, header))
		return false;
	pw_gro_hold(gro, m, &kind->shape, key, now_us);
	return true;
}

static __rte_always_inline void
prefetch_header(const struct rte_mbuf *m)
{
	const char *header = rte_pktmbuf_mtod(m, const char *);

	rte_prefetch0(header);
	rte_prefetch0(header + RTE_CACHE_LINE_SIZE);
	rte_prefetch0(&m->next);
}

/* Has it the ports of a held packet? Most packets that belong to others have not. */
static __rte_always_inline bool
has_ports(const struct pw_gro_flow *flow, const uint8_t *header)
{
	uint8_t at = flow->shape.ports_at;

	return pw_gro_load32(header + at) == pw_gro_load32(flow->header + at);
}

static __rte_always_inline bool
append_alike(struct pw_gro_flow *flow, struct rte_mbuf *m, const uint8_t *header)
{
	return likely(is_alike(header, m, flow->header, (const char *)flow->head + PW_GRO_MBUF_AT,
		       &flow->shape.next)) &&
		append(flow, m, header);
}

/* The same for a flow that may not have been appended to yet, or not by comparing. */
static __rte_always_inline bool
join(struct pw_gro_flow *flow, struct rte_mbuf *m, const uint8_t *header)
{
	if (unlikely(!flow->shape.is_fast))
		return false;
	if (!flow->has_state)
		pw_gro_begin_state(flow, flow->head);
	return append_alike(flow, m, header);
}

/*
 * Append it to the flow of the packet before, or to the one whose packet came behind that flow's
 * last time: flows send in trains, or take turns. NULL: it is not so now.
 */
static __rte_always_inline struct pw_gro_flow *
append_as_before(
	struct pw_gro *gro, struct pw_gro_flow *flow, struct rte_mbuf *m, const uint8_t *header)
{
	struct pw_gro_flow *follower;

	if (has_ports(flow, header))
		return append_alike(flow, m, header) ? flow : NULL;
	follower = &gro->flows[flow->follower];
	if (follower->head == NULL || !has_ports(follower, header) || !join(follower, m, header))
		return NULL;
	return follower;
}

/*
 * Take a packet.
 *
 * @param before  flow that the packet before was appended to, or NULL
 * @return the same for this one
 */
static __rte_always_inline struct pw_gro_flow *
receive(struct pw_gro *gro, struct pw_gro_flow *before, struct rte_mbuf *m, uint64_t now_us)
{
	const uint8_t *header = rte_pktmbuf_mtod(m, const uint8_t *);
	struct pw_gro_flow *flow;
	uint32_t key;

	if (unlikely(!has_look(m)))
		goto slow;
	if (before != NULL) {
		flow = append_as_before(gro, before, m, header);
		if (likely(flow != NULL))
			return flow;
	}
	key = guess_key(gro, m, header);
	flow = find(gro, key);
	if (flow == NULL) {
		if (likely(hold(gro, m, header, key, now_us)))
			return NULL;
	} else if (likely(join(flow, m, header))) {
		if (before != NULL)
			before->follower = flow - gro->flows;
		return flow;
	}
slow:
	pw_gro_receive_slow(gro, m, now_us);
	return NULL;
}

void
PW_GRO_RECEIVE(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	struct rte_mbuf **end = pkts + n, **ahead = pkts + RTE_MIN(n, HEADERS_AHEAD);
	struct pw_gro_flow *flow = NULL;

	for (struct rte_mbuf **pkt = pkts; pkt < ahead; pkt++)
		prefetch_header(*pkt);
	/* While one packet is worked on, one that follows comes closer. */
	for (; ahead < end; ahead++, pkts++) {
		prefetch_header(*ahead);
		flow = receive(gro, flow, *pkts, now_us);
	}
	for (; pkts < end; pkts++)
		flow = receive(gro, flow, *pkts, now_us);
}
