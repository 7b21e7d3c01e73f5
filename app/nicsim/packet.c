/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "packet.h"

#include <errno.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"
#include "cksum.h"

#define TAG_BYTES 4
#define TYPE_BYTES 2
#define ETHERTYPE_QINQ 0x88a8 /* IEEE 802.1Q, table 9-1; not in net/ethernet.h */

/* Find what is behind the Ethernet header and its VLAN tags. */
static int
read_ether(const struct frame *frame, struct packet *packet)
{
	uint32_t at = 2 * ETHER_ADDR_LEN;

	for (;; at += TAG_BYTES) {
		if (frame->len_bytes < at + TYPE_BYTES)
			return -EINVAL;
		packet->ether_type = get_be16(frame->data + at);
		if (packet->ether_type != ETHERTYPE_VLAN && packet->ether_type != ETHERTYPE_QINQ)
			break;
	}
	at += TYPE_BYTES;
	packet->l3 = frame->data + at;
	packet->l3_bytes = frame->len_bytes - at;
	return 0;
}

static bool
is_l4(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP;
}

static enum packet_kind
read_ipv4(struct packet *packet)
{
	struct iphdr ip;
	uint32_t header, total;

	if (packet->l3_bytes < sizeof(ip))
		return PACKET_MALFORMED;
	memcpy(&ip, packet->l3, sizeof(ip));
	header = ip.ihl * 4;
	if (ip.version != IPVERSION || header < sizeof(ip) || header > packet->l3_bytes)
		return PACKET_MALFORMED;
	if (cksum_fold(cksum_add(0, packet->l3, header)) != 0xffff)
		return PACKET_BAD_IP_CKSUM;
	total = ntohs(ip.tot_len);
	if (total < header || total > packet->l3_bytes)
		return PACKET_MALFORMED;
	packet->ip_version = 4;
	packet->proto = ip.protocol;
	packet->l4 = packet->l3 + header;
	packet->l4_bytes = total - header;
	return is_l4(ip.protocol) && (ntohs(ip.frag_off) & (IP_MF | IP_OFFMASK)) == 0 ? PACKET_L4
										      : PACKET_IP;
}

static enum packet_kind
read_ipv6(struct packet *packet)
{
	struct ip6_hdr ip;

	if (packet->l3_bytes < sizeof(ip))
		return PACKET_MALFORMED;
	memcpy(&ip, packet->l3, sizeof(ip));
	if (ip.ip6_vfc >> 4 != 6 || ntohs(ip.ip6_plen) > packet->l3_bytes - sizeof(ip))
		return PACKET_MALFORMED;
	packet->ip_version = 6;
	packet->proto = ip.ip6_nxt;
	packet->l4 = packet->l3 + sizeof(ip);
	packet->l4_bytes = ntohs(ip.ip6_plen);
	return is_l4(ip.ip6_nxt) ? PACKET_L4 : PACKET_IP;
}

/* RFC 9293 3.1 and RFC 8200 8.1: addresses, length and protocol belong to the sum. */
static bool
is_l4_sum_right(const struct packet *packet)
{
	size_t addresses = packet->ip_version == 4 ? offsetof(struct iphdr, saddr)
						   : offsetof(struct ip6_hdr, ip6_src);
	size_t bytes = packet->ip_version == 4 ? 2 * sizeof(struct in_addr)
					       : 2 * sizeof(struct in6_addr);
	uint64_t sum = htons(packet->proto) + htons(packet->l4_bytes);

	sum = cksum_add(sum, packet->l3 + addresses, bytes);
	return cksum_fold(cksum_add(sum, packet->l4, packet->l4_bytes)) == 0xffff;
}

static enum packet_kind
read_udp(struct packet *packet)
{
	struct udphdr udp;

	if (packet->l4_bytes < sizeof(udp))
		return PACKET_MALFORMED;
	memcpy(&udp, packet->l4, sizeof(udp));
	if (ntohs(udp.len) < sizeof(udp) || ntohs(udp.len) > packet->l4_bytes)
		return PACKET_MALFORMED;
	packet->l4_bytes = ntohs(udp.len);
	packet->payload = packet->l4 + sizeof(udp);
	packet->payload_bytes = packet->l4_bytes - sizeof(udp);
	/* RFC 768: 0 is no checksum; RFC 8200 8.1: not so over IPv6. */
	if (udp.check == 0)
		return packet->ip_version == 4 ? PACKET_L4 : PACKET_BAD_L4_CKSUM;
	return is_l4_sum_right(packet) ? PACKET_L4 : PACKET_BAD_L4_CKSUM;
}

static enum packet_kind
read_tcp(struct packet *packet)
{
	struct tcphdr tcp;

	if (packet->l4_bytes < sizeof(tcp))
		return PACKET_MALFORMED;
	memcpy(&tcp, packet->l4, sizeof(tcp));
	if (tcp.doff * 4 < sizeof(tcp) || tcp.doff * 4 > packet->l4_bytes)
		return PACKET_MALFORMED;
	packet->payload = packet->l4 + tcp.doff * 4;
	packet->payload_bytes = packet->l4_bytes - tcp.doff * 4;
	return is_l4_sum_right(packet) ? PACKET_L4 : PACKET_BAD_L4_CKSUM;
}

enum packet_kind
packet_read(const struct frame *frame, struct packet *packet)
{
	enum packet_kind kind = PACKET_NOT_IP;

	if (read_ether(frame, packet) < 0)
		return PACKET_MALFORMED;
	if (packet->ether_type == ETHERTYPE_IP)
		kind = read_ipv4(packet);
	else if (packet->ether_type == ETHERTYPE_IPV6)
		kind = read_ipv6(packet);
	if (kind != PACKET_L4)
		return kind;
	return packet->proto == IPPROTO_UDP ? read_udp(packet) : read_tcp(packet);
}
