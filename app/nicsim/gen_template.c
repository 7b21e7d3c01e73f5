/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gen_template.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stddef.h>

#include "cksum.h"
#include "frame.h"

#define TAG_BYTES 4
#define TTL 64
#define PORT_DISCARD 9 /* of the receiver */

/* RFC 2544 C.2.2: 198.18.0.0/15 is for tests; RFC 3849: so is 2001:db8::/32. */
#define IPV4_SRC (0xc6120000 | GEN_SOURCE)
#define IPV4_DST 0xc6120002
#define IPV6_PREFIX 0x20010db8
#define IPV6_DST 2

void
gen_layout_init(struct gen_layout *layout)
{
	uint32_t tag = layout->vlan == GEN_NO_VLAN ? 0 : TAG_BYTES;

	layout->l3 = sizeof(struct ether_header) + tag;
	layout->ip_id = layout->l3 + offsetof(struct iphdr, id);
	layout->l4 = layout->l3 + (layout->ipv6 ? sizeof(struct ip6_hdr) : sizeof(struct iphdr));
	/* The last 16 bits of the source address. */
	layout->source = layout->l3 +
		(layout->ipv6 ? offsetof(struct ip6_hdr, ip6_dst) : offsetof(struct iphdr, daddr)) -
		sizeof(uint16_t);
	layout->mark = layout->l4 + (layout->tcp ? sizeof(struct tcphdr) : sizeof(struct udphdr));
	layout->min_bytes = layout->mark + GEN_MARK_BYTES;
	if (layout->min_bytes < FRAME_MIN_BYTES)
		layout->min_bytes = FRAME_MIN_BYTES;
}

static void
build_ether(const struct gen_layout *layout, uint8_t *frame)
{
	uint8_t *type = frame + layout->l3 - sizeof(uint16_t);

	memcpy(frame, layout->dst_mac, ETHER_ADDR_LEN);
	memcpy(frame + ETHER_ADDR_LEN, layout->src_mac, ETHER_ADDR_LEN);
	if (layout->vlan != GEN_NO_VLAN) {
		put_be16(type - TAG_BYTES, ETHERTYPE_VLAN);
		put_be16(type - sizeof(uint16_t), layout->vlan);
	}
	put_be16(type, layout->ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
}

static void
build_ipv4(const struct gen_layout *layout, uint8_t *frame, uint32_t len_bytes)
{
	struct iphdr ip = {
		.version = IPVERSION,
		.ihl = sizeof(ip) / 4,
		.tot_len = htons(len_bytes - layout->l3),
		.id = 0xffff,
		.frag_off = htons(IP_DF),
		.ttl = TTL,
		.protocol = layout->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.saddr = htonl(IPV4_SRC),
		.daddr = htonl(IPV4_DST),
	};

	ip.check = (uint16_t)~cksum_fold(cksum_add(0, &ip, sizeof(ip)));
	memcpy(frame + layout->l3, &ip, sizeof(ip));
}

static void
build_ipv6(const struct gen_layout *layout, uint8_t *frame, uint32_t len_bytes)
{
	struct ip6_hdr ip = {
		.ip6_flow = htonl(6U << 28),
		.ip6_plen = htons(len_bytes - layout->l4),
		.ip6_nxt = layout->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.ip6_hlim = TTL,
	};

	ip.ip6_src.s6_addr32[0] = ip.ip6_dst.s6_addr32[0] = htonl(IPV6_PREFIX);
	ip.ip6_src.s6_addr32[3] = htonl(GEN_SOURCE);
	ip.ip6_dst.s6_addr32[3] = htonl(IPV6_DST);
	memcpy(frame + layout->l3, &ip, sizeof(ip));
}

static void
build_udp(const struct gen_layout *layout, uint8_t *frame, uint32_t len_bytes)
{
	struct udphdr udp = {
		.source = htons(GEN_PORT),
		.dest = htons(PORT_DISCARD),
		.len = htons(len_bytes - layout->l4),
	};

	memcpy(frame + layout->l4, &udp, sizeof(udp));
}

static void
build_tcp(const struct gen_layout *layout, uint8_t *frame)
{
	struct tcphdr tcp = {
		.source = htons(GEN_PORT),
		.dest = htons(PORT_DISCARD),
		.ack_seq = htonl(1),
		.doff = sizeof(tcp) / 4,
		.ack = 1,
		.window = 0xffff,
	};

	memcpy(frame + layout->l4, &tcp, sizeof(tcp));
}

static void
build_payload(const struct gen_layout *layout, uint8_t *frame, uint32_t len_bytes, uint8_t variant)
{
	uint8_t *mark = frame + layout->mark;

	memcpy(mark, gen_mark_magic, sizeof(gen_mark_magic));
	mark[GEN_MARK_VARIANT] = variant;
	gen_mark_write(mark, 0, 0);
	memcpy(mark + GEN_MARK_BYTES, gen_mark_content(variant),
		len_bytes - layout->mark - GEN_MARK_BYTES);
}

static uint32_t
l4_sum(const struct gen_layout *layout, const uint8_t *frame, uint32_t len_bytes)
{
	/* Two addresses stand in front of the L4 header. */
	uint32_t addresses = 2 * (layout->ipv6 ? sizeof(struct in6_addr) : sizeof(struct in_addr));
	uint64_t sum = htons(layout->tcp ? IPPROTO_TCP : IPPROTO_UDP);

	sum += htons(len_bytes - layout->l4);
	return cksum_fold(
		cksum_add(sum, frame + layout->l4 - addresses, len_bytes - layout->l4 + addresses));
}

uint32_t
gen_template_build(
	const struct gen_layout *layout, uint8_t *frame, uint32_t len_bytes, uint8_t variant)
{
	uint32_t sum;
	uint16_t check;

	build_ether(layout, frame);
	if (layout->ipv6)
		build_ipv6(layout, frame, len_bytes);
	else
		build_ipv4(layout, frame, len_bytes);
	if (layout->tcp)
		build_tcp(layout, frame);
	else
		build_udp(layout, frame, len_bytes);
	build_payload(layout, frame, len_bytes, variant);
	sum = l4_sum(layout, frame, len_bytes);
	if (layout->tcp) {
		gen_template_patch_seq(layout, frame, sum, 0);
		return sum;
	}
	/* RFC 768: a sum of 0 is sent as 0xffff. */
	check = sum == 0xffff ? 0xffff : (uint16_t)~sum;
	memcpy(frame + layout->l4 + offsetof(struct udphdr, check), &check, sizeof(check));
	return sum;
}

void
gen_template_patch_seq(
	const struct gen_layout *layout, uint8_t *frame, uint32_t sum, uint32_t tcp_seq)
{
	uint8_t *tcp = frame + layout->l4;
	uint32_t seq = htonl(tcp_seq);
	uint16_t check = (uint16_t)~cksum_fold((uint64_t)sum + seq);

	memcpy(tcp + offsetof(struct tcphdr, seq), &seq, sizeof(seq));
	memcpy(tcp + offsetof(struct tcphdr, check), &check, sizeof(check));
}
