/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* IPv6 in, RFC 8200. */

#include <netinet/icmp6.h>
#include <netinet/in.h>

#include "pw_chain.h"
#include "pw_inet_priv.h"

#define EXTENSIONS_MAX 8
#define PROTO_FIELD offsetof(struct rte_ipv6_hdr, proto)

/* All offsets count from the IPv6 header on. */
struct cursor {
	uint32_t field;	 /* of the byte that tells the next header's type */
	uint32_t offset; /* of the next header */
	uint8_t proto;
};

static struct rte_ipv6_hdr *
ipv6_of(const struct rte_mbuf *frame)
{
	return rte_pktmbuf_mtod_offset(frame, struct rte_ipv6_hdr *, frame->l2_len);
}

static bool
check_addresses(struct pw_inet *inet, const struct rte_ipv6_hdr *ip, struct pw_ip_info *info,
	uint64_t **reason)
{
	info->src = pw_addr_from_ipv6(&ip->src_addr);
	info->dst = pw_addr_from_ipv6(&ip->dst_addr);

	/* Inside of us addresses of this form are IPv4's: no packet may carry one. */
	if (pw_addr_is_ipv4(&info->src) || pw_addr_is_ipv4(&info->dst))
		return pw_inet_refuse(reason, &inet->stats.rx_bad_ip);
	/* Who has no address yet asks only whether somebody else has it (RFC 4862 5.4.2). */
	if (!pw_inet_is_peer(inet, &info->src) &&
		!(pw_addr_is_none(&info->src) && ip->proto == IPPROTO_ICMPV6))
		return pw_inet_refuse(reason, &inet->stats.rx_bad_ip);
	return pw_inet_is_ours(inet, &info->dst) || pw_inet_in_group(inet, &info->dst) ||
		pw_inet_refuse(reason, &inet->stats.rx_other_ip);
}

static bool
check(struct pw_inet *inet, const struct rte_mbuf *frame, struct pw_ip_info *info,
	uint64_t **reason)
{
	const struct rte_ipv6_hdr *ip = ipv6_of(frame);
	uint32_t room = frame->pkt_len - frame->l2_len;

	if (frame->data_len < frame->l2_len + sizeof(*ip))
		return pw_inet_refuse(reason, &inet->stats.rx_short);
	if (rte_be_to_cpu_32(ip->vtc_flow) >> 28 != 6)
		return pw_inet_refuse(reason, &inet->stats.rx_bad_ip);
	if (sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len) > room)
		return pw_inet_refuse(reason, &inet->stats.rx_bad_length);
	info->tos = rte_be_to_cpu_32(ip->vtc_flow) >> RTE_IPV6_HDR_TC_SHIFT;
	return check_addresses(inet, ip, info, reason);
}

static bool
is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_DSTOPTS || proto == IPPROTO_ROUTING;
}

/* RFC 4443 2.4 (e): nobody is told about an ICMPv6 error, nor about what cannot be read so far. */
static bool
may_complain(const struct rte_mbuf *frame)
{
	const uint8_t *ip = (const uint8_t *)ipv6_of(frame);
	uint32_t room = frame->data_len - frame->l2_len, offset = sizeof(struct rte_ipv6_hdr);
	uint8_t proto = ip[PROTO_FIELD];

	while (offset + 8 <= room && (is_extension(proto) || proto == IPPROTO_FRAGMENT)) {
		uint32_t len = proto == IPPROTO_FRAGMENT ? 8 : (ip[offset + 1] + 1) * 8;

		proto = ip[offset];
		offset += len;
	}
	if (proto == IPPROTO_ICMPV6)
		return offset < room && (ip[offset] & ICMP6_INFOMSG_MASK) != 0;
	return offset <= room;
}

/* RFC 4443 3.4: tell the sender which byte we do not understand. */
static bool
complain(struct pw_inet *inet, const struct pw_inet_rx *rx, uint8_t code, uint32_t offset)
{
	struct pw_icmp_error error = {ICMP6_PARAM_PROB, code, offset};

	if (!may_complain(rx->frame))
		return false;
	pw_icmp_error_send(inet, rx, &error, ipv6_of(rx->frame), sizeof(struct rte_ipv6_hdr),
		rx->frame, rx->frame->l2_len + sizeof(struct rte_ipv6_hdr));
	return false;
}

/* RFC 8200 4.2: none of the options is for us; an unknown one says itself what to do. */
static bool
check_options(struct pw_inet *inet, const struct pw_inet_rx *rx, uint32_t offset, uint32_t end)
{
	const uint8_t *ip = (const uint8_t *)ipv6_of(rx->frame);

	while (offset < end) {
		uint8_t type = ip[offset];

		if (type == IP6OPT_PAD1) {
			offset++;
			continue;
		}
		if (end - offset < 2 || end - offset - 2 < ip[offset + 1])
			return false;
		if (type != IP6OPT_PADN && IP6OPT_TYPE(type) != IP6OPT_TYPE_SKIP)
			return IP6OPT_TYPE(type) != IP6OPT_TYPE_DISCARD &&
				complain(inet, rx, ICMP6_PARAMPROB_OPTION, offset);
		offset += 2 + ip[offset + 1];
	}
	return true;
}

/* One extension header: may the packet go on behind it? */
static bool
check_extension(
	struct pw_inet *inet, const struct pw_inet_rx *rx, const struct cursor *at, uint32_t end)
{
	const uint8_t *ip = (const uint8_t *)ipv6_of(rx->frame);

	switch (at->proto) {
	case IPPROTO_HOPOPTS:
		if (at->field != PROTO_FIELD)
			return complain(inet, rx, ICMP6_PARAMPROB_NEXTHEADER, at->field);
		return check_options(inet, rx, at->offset + 2, end);
	case IPPROTO_DSTOPTS:
		return check_options(inet, rx, at->offset + 2, end);
	default:
		/* RFC 8200 4.4: one that is done is skipped; we do not forward. */
		return ip[at->offset + 3] == 0 ||
			complain(inet, rx, ICMP6_PARAMPROB_HEADER, at->offset + 2);
	}
}

/* Go to the first header that is not skipped. */
static bool
walk(struct pw_inet *inet, const struct pw_inet_rx *rx, struct cursor *at)
{
	const uint8_t *ip = (const uint8_t *)ipv6_of(rx->frame);
	uint32_t room = rx->frame->data_len - rx->frame->l2_len;

	for (unsigned i = 0; is_extension(at->proto); i++) {
		uint32_t end;

		if (i == EXTENSIONS_MAX || room - at->offset < 8)
			return false;
		end = at->offset + (ip[at->offset + 1] + 1) * 8;
		if (end > room || !check_extension(inet, rx, at, end))
			return false;
		*at = (struct cursor){at->offset, end, ip[at->offset]};
	}
	return true;
}

/* Move the IPv6 header up to the header at this offset, over those that are done with. */
static void
strip(struct rte_mbuf *frame, uint32_t offset, uint8_t proto)
{
	struct rte_ipv6_hdr *ip = ipv6_of(frame);
	char *start = rte_pktmbuf_mtod(frame, char *);
	uint32_t skip = offset - sizeof(*ip);

	ip->proto = proto;
	if (skip == 0)
		return;
	ip->payload_len = rte_cpu_to_be_16(rte_be_to_cpu_16(ip->payload_len) - skip);
	memmove(start + skip, start, frame->l2_len + sizeof(*ip));
	rte_pktmbuf_adj(frame, skip);
}

/* Frees the frame if the packet is not for more than its extension headers. */
static bool
skip_extensions(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	struct cursor at = {PROTO_FIELD, sizeof(struct rte_ipv6_hdr), ipv6_of(rx->frame)->proto};

	if (!walk(inet, rx, &at)) {
		pw_inet_drop(rx->frame, &inet->stats.rx_bad_ip);
		return false;
	}
	if (at.proto != IPPROTO_TCP && at.proto != IPPROTO_UDP && at.proto != IPPROTO_ICMPV6 &&
		at.proto != IPPROTO_FRAGMENT) {
		if (at.proto != IPPROTO_NONE)
			complain(inet, rx, ICMP6_PARAMPROB_NEXTHEADER, at.field);
		pw_inet_drop(rx->frame, &inet->stats.rx_unknown_proto);
		return false;
	}
	strip(rx->frame, at.offset, at.proto);
	rx->frame->l3_len = sizeof(struct rte_ipv6_hdr);
	rx->proto = at.proto;
	return true;
}

/* The fragment header follows the IPv6 header. Returns false when there is no whole packet. */
static bool
put_together(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	struct rte_ipv6_hdr *ip = ipv6_of(rx->frame);
	const struct rte_ipv6_fragment_ext *fragment = (const void *)(ip + 1);

	if (rx->frame->data_len < rx->frame->l2_len + sizeof(*ip) + sizeof(*fragment)) {
		pw_inet_drop(rx->frame, &inet->stats.rx_short);
		return false;
	}
	/* RFC 6946: the only fragment of a packet has nothing to do with others of its ID. */
	if ((fragment->frag_data & RTE_BE16(0xfff9)) == 0) {
		strip(rx->frame, sizeof(*ip) + sizeof(*fragment), fragment->next_header);
		return true;
	}
	if ((fragment->frag_data & RTE_BE16(1)) && rte_be_to_cpu_16(ip->payload_len) % 8 != 0) {
		complain(inet, rx, ICMP6_PARAMPROB_HEADER,
			offsetof(struct rte_ipv6_hdr, payload_len));
		pw_inet_drop(rx->frame, &inet->stats.rx_bad_length);
		return false;
	}
	rx->frame->l3_len = sizeof(*ip) + sizeof(*fragment);
	rx->frame = pw_reasm_ipv6(inet, rx->frame, rx->now_us);
	return rx->frame != NULL;
}

void
pw_ipv6_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	struct pw_inet_rx rx = {.frame = frame, .now_us = now_us};
	uint64_t *reason;

	inet->stats.rx_ipv6++;
	if (!check(inet, frame, &rx.ip, &reason)) {
		pw_inet_drop(frame, reason);
		return;
	}
	frame->l3_len = sizeof(struct rte_ipv6_hdr);
	pw_chain_cut(frame,
		frame->l2_len + sizeof(struct rte_ipv6_hdr) +
			rte_be_to_cpu_16(ipv6_of(frame)->payload_len));

	if (!skip_extensions(inet, &rx))
		return;
	if (rx.proto == IPPROTO_FRAGMENT &&
		(!put_together(inet, &rx) || !skip_extensions(inet, &rx)))
		return;
	pw_l4_input(inet, &rx);
}
