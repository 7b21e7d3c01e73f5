/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* ICMP and ICMPv6 errors, in and out: RFC 792, RFC 1122 3.2.2, RFC 1191, RFC 4443. */

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>

#include "pw_inet_priv.h"

#define ERRORS_PER_SECOND 100 /* RFC 1812 4.3.2.8, RFC 4443 2.4 (f) */
#define ERROR_INTERVAL_US (1000000 / ERRORS_PER_SECOND)
#define ERRORS_BURST 20
#define ICMP_HDR_LEN 8
#define QUOTE_IPV4_MAX (576 - 20 - ICMP_HDR_LEN) /* RFC 1812 4.3.2.3 */
#define QUOTE_IPV6_MAX (RTE_IPV6_MIN_MTU - PW_IPV6_HDR_LEN - ICMP_HDR_LEN)

struct icmp_header {
	uint8_t type, code;
	uint16_t cksum;
	rte_be32_t word;
};
static_assert(sizeof(struct icmp_header) == ICMP_HDR_LEN, "no padding");

static bool
read_at(const struct rte_mbuf *m, uint32_t offset, void *to, uint32_t len)
{
	const void *data = rte_pktmbuf_read(m, offset, len, to);

	if (data != NULL && data != to)
		memcpy(to, data, len);
	return data != NULL;
}

/* The packet that an error is about; offset: of its IP header. */
static bool
read_ipv4(const struct rte_mbuf *m, uint32_t offset, struct pw_inet_error *error)
{
	struct rte_ipv4_hdr ip;

	if (!read_at(m, offset, &ip, sizeof(ip)) || ip.version != IPVERSION ||
		ip.ihl < RTE_IPV4_MIN_IHL ||
		(ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)))
		return false;
	error->sent.src = pw_addr_from_ipv4(ip.src_addr);
	error->sent.dst = pw_addr_from_ipv4(ip.dst_addr);
	error->sent.tos = ip.type_of_service;
	error->proto = ip.next_proto_id;
	return read_at(m, offset + rte_ipv4_hdr_len(&ip), error->head, sizeof(error->head));
}

/* Of extension headers we send only that of the first fragment. */
static bool
read_ipv6(const struct rte_mbuf *m, uint32_t offset, struct pw_inet_error *error)
{
	struct rte_ipv6_hdr ip;
	struct rte_ipv6_fragment_ext fragment;

	if (!read_at(m, offset, &ip, sizeof(ip)) || rte_be_to_cpu_32(ip.vtc_flow) >> 28 != 6)
		return false;
	error->sent.src = pw_addr_from_ipv6(&ip.src_addr);
	error->sent.dst = pw_addr_from_ipv6(&ip.dst_addr);
	error->sent.tos = rte_be_to_cpu_32(ip.vtc_flow) >> RTE_IPV6_HDR_TC_SHIFT;
	error->proto = ip.proto;
	offset += sizeof(ip);
	if (ip.proto == IPPROTO_FRAGMENT) {
		if (!read_at(m, offset, &fragment, sizeof(fragment)) ||
			(fragment.frag_data & RTE_BE16(0xfff8)))
			return false;
		error->proto = fragment.next_header;
		offset += sizeof(fragment);
	}
	/* An address inside of us that looks like IPv4's is not one of IPv6. */
	return !pw_addr_is_ipv4(&error->sent.src) && !pw_addr_is_ipv4(&error->sent.dst) &&
		read_at(m, offset, error->head, sizeof(error->head));
}

/* RFC 1122 4.2.3.9: what is not final is "unreachable". */
static void
read_kind_ipv4(const struct icmp_header *icmp, struct pw_inet_error *error)
{
	if (icmp->type != ICMP_DEST_UNREACH)
		return;
	if (icmp->code == ICMP_PROT_UNREACH || icmp->code == ICMP_PORT_UNREACH)
		error->kind = PW_INET_REFUSED;
	if (icmp->code == ICMP_FRAG_NEEDED) {
		error->kind = PW_INET_TOO_BIG;
		error->mtu_bytes = rte_be_to_cpu_32(icmp->word) & UINT16_MAX;
	}
}

static void
read_kind_ipv6(const struct icmp_header *icmp, struct pw_inet_error *error)
{
	if (icmp->type == ICMP6_PACKET_TOO_BIG) {
		error->kind = PW_INET_TOO_BIG;
		error->mtu_bytes = rte_be_to_cpu_32(icmp->word);
	} else if ((icmp->type == ICMP6_DST_UNREACH && icmp->code == ICMP6_DST_UNREACH_NOPORT) ||
		(icmp->type == ICMP6_PARAM_PROB && icmp->code == ICMP6_PARAMPROB_NEXTHEADER)) {
		error->kind = PW_INET_REFUSED;
	}
}

void
pw_icmp_error_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	struct pw_inet_error error = {.kind = PW_INET_UNREACHABLE};
	uint32_t offset = pw_inet_l4_offset(rx->frame);
	bool ipv4 = pw_addr_is_ipv4(&rx->ip.src);
	struct icmp_header icmp = {0};
	bool good = read_at(rx->frame, offset, &icmp, sizeof(icmp)) &&
		(ipv4 ? read_ipv4 : read_ipv6)(rx->frame, offset + sizeof(icmp), &error) &&
		pw_inet_is_ours(inet, &error.sent.src);

	if (!good) {
		pw_inet_drop(rx->frame, &inet->stats.rx_bad_icmp);
		return;
	}
	pw_inet_drop(rx->frame, &inet->stats.rx_icmp_errors);
	(ipv4 ? read_kind_ipv4 : read_kind_ipv6)(&icmp, &error);
	if (inet->params.ops.error_input != NULL)
		inet->params.ops.error_input(inet->params.ctx, &error, rx->now_us);
}

/* A token bucket as the time at which all that was sent is paid for. */
static bool
may_send(struct pw_inet *inet, uint64_t now_us)
{
	uint64_t due_us = RTE_MAX(inet->errors_due_us, now_us);

	if (due_us - now_us >= ERRORS_BURST * ERROR_INTERVAL_US) {
		inet->stats.tx_errors_limited++;
		return false;
	}
	inet->errors_due_us = due_us + ERROR_INTERVAL_US;
	return true;
}

static struct rte_mbuf *
make_error(struct pw_inet *inet, const struct pw_icmp_error *error, const void *header,
	uint16_t header_len, const struct rte_mbuf *rest, uint32_t rest_offset, uint32_t rest_len)
{
	struct rte_mbuf *m = pw_inet_new_packet(inet, ICMP_HDR_LEN + header_len + rest_len);
	struct icmp_header *icmp;

	if (m == NULL)
		return NULL;
	icmp = rte_pktmbuf_mtod(m, struct icmp_header *);
	icmp->type = error->type;
	icmp->code = error->code;
	icmp->word = rte_cpu_to_be_32(error->word);
	memcpy(icmp + 1, header, header_len);
	read_at(rest, rest_offset, (char *)(icmp + 1) + header_len, rest_len);
	return m;
}

static void
fill_cksum(struct rte_mbuf *m, const struct pw_ip_info *ip)
{
	struct icmp_header *icmp = rte_pktmbuf_mtod(m, struct icmp_header *);

	if (pw_addr_is_ipv4(&ip->src))
		icmp->cksum = ~rte_raw_cksum(icmp, m->data_len);
	else
		icmp->cksum = ~pw_l4_sum(m, 0, ip, IPPROTO_ICMPV6);
}

void
pw_icmp_error_send(struct pw_inet *inet, const struct pw_inet_rx *rx,
	const struct pw_icmp_error *error, const void *header, uint16_t header_len,
	const struct rte_mbuf *rest, uint32_t rest_offset)
{
	bool ipv4 = pw_addr_is_ipv4(&rx->ip.src);
	struct pw_ip_info ip = {.src = rx->ip.dst, .dst = rx->ip.src};
	uint32_t rest_len = RTE_MIN(
		rest->pkt_len - rest_offset, (ipv4 ? QUOTE_IPV4_MAX : QUOTE_IPV6_MAX) - header_len);
	const struct pw_addr *next_hop = pw_inet_next_hop(inet, &ip.dst);
	struct rte_mbuf *m;

	if (pw_addr_is_multicast(&rx->ip.dst) || pw_addr_is_none(&rx->ip.src) || next_hop == NULL ||
		!may_send(inet, rx->now_us))
		return;
	m = make_error(inet, error, header, header_len, rest, rest_offset, rest_len);
	if (m == NULL)
		return;
	fill_cksum(m, &ip);
	inet->stats.tx_icmp_errors++;
	pw_inet_output(inet, m, &ip, ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6, next_hop, rx->now_us);
}
