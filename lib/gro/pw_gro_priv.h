/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_PRIV_H
#define PW_GRO_PRIV_H

/**
 * @file
 * The table of held packets. Internal to lib/gro.
 *
 * Packets take the fast path (pw_gro_receive.c) when comparing finds them to be the next one of a
 * held packet, or like one that was held before. All others take the slow path (pw_gro_slow.c),
 * which parses and knows the rules.
 */

#include <rte_common.h>
#include <rte_mbuf.h>

#include "pw_gro.h"
#include "pw_gro_shape.h"

#define PW_GRO_OUT_MAX 64
#define PW_GRO_KINDS 8

/**
 * A held packet. While it is held its first mbuf stays as it came: the next packet is compared
 * with it. Of most packets that nothing follows, only the first line is used.
 */
struct pw_gro_flow {
	struct rte_mbuf *head; /**< NULL: the entry is not in use */
	uint8_t *header;       /**< of the first segment, in the mbuf */
	uint64_t since_us;
	struct pw_gro_shape shape;
	uint32_t key;	/**< see pw_gro_key() */
	uint16_t next;	/**< in its bucket: index + 1, or 0 */
	bool has_state; /**< the second line is filled in */
	uint8_t flags;	/**< TCP's FIN and PSH, of the last segment */

	struct rte_mbuf *tail __rte_cache_aligned; /**< last mbuf */
	uint32_t next_seq;			   /**< of the next segment; UDP counts from 0 */
	int32_t mbufs_left; /**< of shape.mbufs_max; below 0 if the last ones are shorter */
	uint16_t next_id;   /**< IP ID of the next segment */
	uint16_t id_step;   /**< by which it grows */
	uint16_t follower;  /**< whose packet came behind one of this flow, last time */
} __rte_cache_aligned;

static_assert(sizeof(struct pw_gro_flow) == 2 * RTE_CACHE_LINE_SIZE, "two lines");

struct pw_gro {
	struct pw_gro_params params;
	void (*receive)(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us);

	/* Entries are dealt out in a ring, in the order of arrival, from first to next. */
	uint32_t first, next;
	uint32_t flow_mask;
	uint32_t bucket_shift; /**< of a key, the upper bits of which are good */
	uint32_t nb_held;
	uint16_t nb_out;
	uint16_t *buckets; /**< index + 1 of the first flow, or 0 */
	struct pw_gro_flow *flows;

	uint64_t secret[6]; /**< see pw_gro_key() */
	struct rte_mbuf *out[PW_GRO_OUT_MAX];
	struct pw_gro_stats stats;
	struct pw_gro_kind kinds[PW_GRO_KINDS];
};

/**
 * Hash of tags, addresses and ports, so that nobody outside can choose flows that collide:
 * multiply-shift (Dietzfelbinger et al., 1997) with secret factors. The NIC's RSS hash is not
 * asked: it may be missing, the same for all, or another one for some of a flow's packets, and
 * costs as much to get.
 *
 * @param host_words  of 8 bytes: 1 or 4
 * @param tags  in the frame and stripped, see pw_gro_add_tag(); 0: none
 */
static __rte_always_inline uint32_t
pw_gro_key(const uint64_t *secret, const uint8_t *hosts, unsigned host_words, const uint8_t *ports,
	uint64_t tags)
{
	uint64_t sum = pw_gro_load32(ports) * secret[0];

	for (unsigned i = 0; i < host_words; i++)
		sum += pw_gro_load64(hosts + 8 * i) * secret[1 + i];
	if (unlikely(tags != 0))
		sum += tags * secret[5];
	return sum >> 32;
}

/** Of a stripped tag; 0: none. An outer one is left out: others of the flow have it too. */
static __rte_always_inline uint64_t
pw_gro_stripped_tag(const struct rte_mbuf *m)
{
	return unlikely(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) ? m->vlan_tci | 1u << 16 : 0;
}

/** With one more tag that is in the frame. */
static __rte_always_inline uint64_t
pw_gro_add_tag(uint64_t tags, uint16_t raw_tci)
{
	return tags << 16 | raw_tci;
}

static __rte_always_inline uint16_t *
pw_gro_bucket(const struct pw_gro *gro, uint32_t key)
{
	return &gro->buckets[key >> gro->bucket_shift];
}

/** Where to look for the kind of a frame: lengths and types tell them apart. */
static __rte_always_inline struct pw_gro_kind *
pw_gro_kind_of(struct pw_gro *gro, const struct rte_mbuf *m, const uint8_t *header)
{
	return &gro->kinds[(m->data_len ^ header[2 * RTE_ETHER_ADDR_LEN]) % PW_GRO_KINDS];
}

static __rte_always_inline uint32_t
pw_gro_first_seq(const struct pw_gro_flow *flow)
{
	return unlikely(flow->shape.at.udp) ? 0
					    : pw_gro_load_be32(flow->header + flow->shape.seq_at);
}

/** Payload of all segments. */
static __rte_always_inline uint32_t
pw_gro_merged_bytes(const struct pw_gro_flow *flow)
{
	return flow->next_seq - pw_gro_first_seq(flow);
}

/** Mbufs of all segments. */
static __rte_always_inline uint16_t
pw_gro_mbufs(const struct pw_gro_flow *flow)
{
	return flow->shape.mbufs_max - flow->mbufs_left;
}

/** Are there several segments? */
static __rte_always_inline bool
pw_gro_is_merged(const struct pw_gro_flow *flow)
{
	return flow->has_state && pw_gro_mbufs(flow) != flow->head->nb_segs;
}

/** Fill in what is known of the first segment, before the second one is looked at. */
static __rte_always_inline void
pw_gro_begin_state(struct pw_gro_flow *flow, struct rte_mbuf *tail)
{
	flow->has_state = true;
	flow->tail = tail;
	flow->next_seq = pw_gro_first_seq(flow) + flow->shape.payload_bytes;
	flow->mbufs_left = flow->shape.mbufs_max - flow->head->nb_segs;
	flow->id_step = (flow->shape.id_steps & PW_GRO_ID_COUNTS) != 0;
	flow->next_id = pw_gro_load_be16(flow->header + flow->shape.id_at) + flow->id_step;
}

/** Is it the next segment of the stream? UDP has no sequence numbers. */
static __rte_always_inline bool
pw_gro_is_next(const struct pw_gro_flow *flow, const uint8_t *header)
{
	return likely(pw_gro_load_be32(header + flow->shape.seq_at) == flow->next_seq) ||
		flow->shape.at.udp;
}

/** The second segment may have the ID of the first one; then the others must have it too. */
static __rte_always_inline bool
pw_gro_id_stays(struct pw_gro_flow *flow, uint16_t id)
{
	if ((flow->shape.id_steps & PW_GRO_ID_STAYS) == 0 || pw_gro_is_merged(flow) ||
		(uint16_t)(id + flow->id_step) != flow->next_id)
		return false;
	flow->id_step = 0;
	return true;
}

/** Take the IP ID of one more segment, if it fits. */
static __rte_always_inline bool
pw_gro_take_id(struct pw_gro_flow *flow, const uint8_t *header)
{
	uint16_t id = pw_gro_load_be16(header + flow->shape.id_at);

	if (unlikely(id != flow->next_id) && !pw_gro_id_stays(flow, id))
		return false;
	flow->next_id = id + flow->id_step;
	return true;
}

/** Enter a segment of that shape behind the flows that are held. There has to be room. */
static __rte_always_inline void
pw_gro_hold(struct pw_gro *gro, struct rte_mbuf *m, const struct pw_gro_shape *shape, uint32_t key,
	uint64_t now_us)
{
	uint32_t i = gro->next++ & gro->flow_mask;
	struct pw_gro_flow *flow = &gro->flows[i];
	uint16_t *bucket = pw_gro_bucket(gro, key);

	flow->head = m;
	flow->header = rte_pktmbuf_mtod(m, uint8_t *);
	flow->since_us = now_us;
	flow->shape = *shape;
	flow->key = key;
	flow->next = *bucket;
	flow->has_state = false;
	flow->flags = 0;
	*bucket = i + 1;
	gro->nb_held++;
}

static __rte_always_inline bool
pw_gro_is_full(const struct pw_gro *gro)
{
	return gro->next - gro->first > gro->flow_mask;
}

/** Let a packet go. */
static __rte_always_inline void
pw_gro_output(struct pw_gro *gro, struct rte_mbuf *m)
{
	gro->out[gro->nb_out++] = m;
	if (unlikely(gro->nb_out == PW_GRO_OUT_MAX)) {
		gro->stats.tx_packets += gro->nb_out;
		gro->nb_out = 0;
		gro->params.output(gro->params.ctx, gro->out, PW_GRO_OUT_MAX);
	}
}

/** Let a held packet go, counted under a reason. */
void pw_gro_flush_flow(struct pw_gro *gro, struct pw_gro_flow *flow, uint64_t *reason);

/** Let all held packets go, the oldest first, counted under a reason. */
void pw_gro_flush_all(struct pw_gro *gro, uint64_t *reason);

/** Take a packet that the fast path did not take. */
void pw_gro_receive_slow(struct pw_gro *gro, struct rte_mbuf *m, uint64_t now_us);

/** Take a burst; one is chosen by what the CPU has. */
void pw_gro_receive_plain(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us);
void pw_gro_receive_avx2(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us);

#endif
