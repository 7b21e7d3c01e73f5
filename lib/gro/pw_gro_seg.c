/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_seg.h"

#include <netinet/ip.h>

#include <rte_ether.h>

#define TCP_HEADER_MAX 60

/* What is read, and how much of it there is. */
struct reader {
	const uint8_t *data;
	uint32_t room;
	uint32_t types;
	struct pw_gro_stats *stats;
};

/* Leaves the type of what follows. */
static uint64_t *
parse_ether(const struct reader *r, struct pw_gro_seg *seg, rte_be16_t *ether_type)
{
	seg->at.l2 = RTE_ETHER_HDR_LEN;
	if (r->room < RTE_ETHER_HDR_LEN)
		return &r->stats->pass_malformed;
	*ether_type = pw_gro_load16(r->data + RTE_ETHER_HDR_LEN - 2);
	for (unsigned tags = 0; unlikely(pw_gro_is_vlan(*ether_type)); tags++) {
		seg->at.l2 += RTE_VLAN_HLEN;
		if (tags == PW_GRO_TAGS_MAX)
			return &r->stats->pass_not_ip;
		if (r->room < seg->at.l2)
			return &r->stats->pass_malformed;
		*ether_type = pw_gro_load16(r->data + seg->at.l2 - 2);
	}
	return NULL;
}

static bool
is_wanted(const struct reader *r, struct pw_gro_seg *seg, uint8_t proto)
{
	uint32_t type = seg->at.ipv6 ? PW_GRO_TCP_IPV6 : PW_GRO_TCP_IPV4;

	seg->at.udp = proto == IPPROTO_UDP;
	if (seg->at.udp)
		type = seg->at.ipv6 ? PW_GRO_UDP_IPV6 : PW_GRO_UDP_IPV4;
	return (proto == IPPROTO_TCP || proto == IPPROTO_UDP) && (r->types & type) != 0;
}

/* RFC 791. Leaves the length of the IP packet. */
static uint64_t *
parse_ipv4(const struct reader *r, struct pw_gro_seg *seg, uint32_t *total)
{
	const struct rte_ipv4_hdr *ip = (const void *)(r->data + seg->at.l2);

	if (r->room < seg->at.l2 + sizeof(*ip) || ip->version != IPVERSION)
		return &r->stats->pass_malformed;
	if (!is_wanted(r, seg, ip->next_proto_id))
		return &r->stats->pass_protocol;
	seg->has_hosts = true;
	seg->at.l3 = sizeof(*ip);
	*total = rte_be_to_cpu_16(ip->total_length);
	if (ip->ihl != RTE_IPV4_MIN_IHL)
		return ip->ihl < RTE_IPV4_MIN_IHL ? &r->stats->pass_malformed
						  : &r->stats->pass_ip_options;
	if (ip->fragment_offset & ~rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG))
		return &r->stats->pass_fragment;
	return NULL;
}

/* RFC 8200, section 4.1. Those that Linux looks through (ipv6_gro_pull_exthdrs()). */
static bool
is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_DSTOPTS;
}

static uint64_t *
parse_extensions(const struct reader *r, struct pw_gro_seg *seg, uint8_t *proto)
{
	uint32_t l3 = seg->at.l3;

	while (is_extension(*proto)) {
		const uint8_t *extension = r->data + seg->at.l2 + l3;

		if (r->room < seg->at.l2 + l3 + 2)
			return &r->stats->pass_malformed;
		*proto = extension[0];
		l3 += (extension[1] + 1) * 8;
		if (seg->at.l2 + l3 + TCP_HEADER_MAX > PW_GRO_HEADER_MAX)
			return &r->stats->pass_ip_options;
	}
	seg->at.l3 = l3;
	return *proto == IPPROTO_FRAGMENT ? &r->stats->pass_fragment : NULL;
}

static uint64_t *
parse_ipv6(const struct reader *r, struct pw_gro_seg *seg, uint32_t *total)
{
	const struct rte_ipv6_hdr *ip = (const void *)(r->data + seg->at.l2);
	uint64_t *reason = NULL;
	uint8_t proto;

	if (r->room < seg->at.l2 + sizeof(*ip) || r->data[seg->at.l2] >> 4 != 6)
		return &r->stats->pass_malformed;
	seg->has_hosts = true;
	seg->at.ipv6 = true;
	seg->at.l3 = sizeof(*ip);
	*total = sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);
	proto = ip->proto;
	if (unlikely(is_extension(proto) || proto == IPPROTO_FRAGMENT))
		reason = parse_extensions(r, seg, &proto);
	if (reason != NULL)
		return reason;
	if (is_wanted(r, seg, proto))
		return NULL;
	seg->has_hosts = false;
	return &r->stats->pass_protocol;
}

/* TCP, RFC 9293, or UDP, RFC 768, in an IP packet of that length. */
static uint64_t *
parse_l4(const struct reader *r, struct pw_gro_seg *seg, uint32_t total)
{
	const uint8_t *l4 = pw_gro_l4(r->data, seg->at);
	uint32_t fixed = seg->at.udp ? sizeof(struct rte_udp_hdr) : sizeof(struct rte_tcp_hdr);

	if (total < seg->at.l3 + fixed || r->room < seg->at.l2 + seg->at.l3 + fixed)
		return &r->stats->pass_malformed;
	seg->at.l4 = fixed;
	if (!seg->at.udp)
		seg->at.l4 = (l4[offsetof(struct rte_tcp_hdr, data_off)] >> 4) * 4;
	else if (pw_gro_load_be16(l4 + offsetof(struct rte_udp_hdr, dgram_len)) !=
		total - seg->at.l3)
		return &r->stats->pass_malformed;
	if (seg->at.l4 < fixed || total < (uint32_t)seg->at.l3 + seg->at.l4)
		return &r->stats->pass_malformed;
	seg->payload_bytes = total - seg->at.l3 - seg->at.l4;
	return NULL;
}

uint64_t *
pw_gro_parse(struct rte_mbuf *m, uint32_t types, struct pw_gro_seg *seg, struct pw_gro_stats *stats)
{
	struct reader r = {.types = types, .stats = stats};
	uint32_t total = 0;
	rte_be16_t ether_type;
	uint64_t *reason;

	r.room = RTE_MIN(m->pkt_len, (uint32_t)PW_GRO_HEADER_MAX);
	r.data = rte_pktmbuf_read(m, 0, r.room, seg->copy);
	seg->header = r.data;
	seg->at = (struct pw_gro_layout){0};
	seg->has_hosts = false;
	reason = parse_ether(&r, seg, &ether_type);
	if (unlikely(reason != NULL))
		return reason;
	if (likely(ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		reason = parse_ipv4(&r, seg, &total);
	else if (ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		reason = parse_ipv6(&r, seg, &total);
	else
		reason = &stats->pass_not_ip;
	if (unlikely(reason != NULL))
		return reason;
	if (unlikely(seg->at.l2 + total > m->pkt_len))
		return &stats->pass_malformed;
	return parse_l4(&r, seg, total);
}
