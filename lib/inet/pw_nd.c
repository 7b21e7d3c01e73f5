/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Neighbour discovery, RFC 4861: solicitations and advertisements of neighbours. Addresses are
 * configured, so router advertisements and redirects are ignored, and nobody is asked whether an
 * address of ours is in use already (RFC 4862 5.4): who asks for one is answered.
 */

#include <netinet/icmp6.h>

#include "pw_inet_priv.h"

#define HOP_LIMIT 255 /* a router would have made it less: the packet is of this link */

/* RFC 4861 4.3 and 4.4; those of netinet/icmp6.h want to be aligned, which frames are not. */
struct nd_hdr {
	uint8_t type, code;
	rte_be16_t cksum;
	rte_be32_t flags;
	uint8_t target[16];
} __rte_packed;

/* A neighbour message of ours, with one option. */
struct message {
	struct rte_ipv6_hdr ip;
	struct nd_hdr nd;
	struct {
		uint8_t type, len;
		struct rte_ether_addr mac;
	} option;
};
static_assert(sizeof(struct message) == 72, "no padding");
#define ND_BYTES (sizeof(struct message) - offsetof(struct message, nd))

/* What a received one says. */
struct nd {
	uint8_t type;
	rte_be32_t flags;
	struct pw_addr target;
	bool has_mac; /* the option that belongs to the type */
	struct rte_ether_addr mac;
};

/* RFC 4861 6.1 and 7.1: an option without length makes the whole packet invalid. */
static bool
read_options(const uint8_t *options, uint32_t len, struct nd *nd)
{
	uint8_t wanted = nd->type == ND_NEIGHBOR_SOLICIT ? ND_OPT_SOURCE_LINKADDR
							 : ND_OPT_TARGET_LINKADDR;

	while (len > 0) {
		uint32_t bytes = len < 2 ? 0 : options[1] * 8;

		if (bytes == 0 || bytes > len)
			return false;
		if (options[0] == wanted && bytes == 8) {
			memcpy(&nd->mac, options + 2, sizeof(nd->mac));
			nd->has_mac = true;
			if (!rte_is_valid_assigned_ether_addr(&nd->mac))
				return false;
		}
		options += bytes;
		len -= bytes;
	}
	return true;
}

/* The checks of RFC 4861 7.1.1 and 7.1.2; of the checksum and the source before. */
static bool
read_nd(const struct pw_inet_rx *rx, struct nd *nd)
{
	const struct rte_mbuf *frame = rx->frame;
	uint32_t offset = pw_inet_l4_offset(frame), len = frame->pkt_len - offset;
	const struct nd_hdr *msg = rte_pktmbuf_mtod_offset(frame, const struct nd_hdr *, offset);
	bool to_all = pw_addr_is_multicast(&rx->ip.dst);

	if (frame->data_len < offset + len || len < sizeof(*msg) || msg->code != 0)
		return false;
	nd->type = msg->type;
	nd->flags = msg->flags;
	nd->target = pw_addr_from_ipv6(msg->target);
	if (pw_addr_is_multicast(&nd->target) ||
		!read_options((const uint8_t *)(msg + 1), len - sizeof(*msg), nd))
		return false;
	if (nd->type == ND_NEIGHBOR_ADVERT)
		return !(to_all && (nd->flags & ND_NA_FLAG_SOLICITED)) &&
			!pw_addr_is_none(&rx->ip.src);
	return !pw_addr_is_none(&rx->ip.src) ||
		(!nd->has_mac && to_all && rx->ip.dst.bytes[11] == 1);
}

/* ip: from and to whom; mac: of the option. */
static void
send_message(struct pw_inet *inet, const struct pw_ip_info *ip, const struct nd *nd,
	const struct rte_ether_addr *dst)
{
	struct rte_mbuf *m = pw_inet_new_packet(inet, sizeof(struct message));
	struct message *msg;

	if (m == NULL)
		return;
	msg = rte_pktmbuf_mtod(m, struct message *);
	msg->ip.vtc_flow = RTE_BE32(6u << 28);
	msg->ip.payload_len = rte_cpu_to_be_16(ND_BYTES);
	msg->ip.proto = IPPROTO_ICMPV6;
	msg->ip.hop_limits = HOP_LIMIT;
	memcpy(&msg->ip.src_addr, ip->src.bytes, sizeof(ip->src));
	memcpy(&msg->ip.dst_addr, ip->dst.bytes, sizeof(ip->dst));
	msg->nd.type = nd->type;
	msg->nd.flags = nd->flags;
	memcpy(msg->nd.target, nd->target.bytes, sizeof(nd->target));
	msg->option.type = nd->type == ND_NEIGHBOR_SOLICIT ? ND_OPT_SOURCE_LINKADDR
							   : ND_OPT_TARGET_LINKADDR;
	msg->option.len = 1;
	msg->option.mac = inet->params.mac;
	msg->nd.cksum = ~pw_l4_sum(m, offsetof(struct message, nd), ip, IPPROTO_ICMPV6);
	pw_inet_send_ether(inet, m, dst, RTE_ETHER_TYPE_IPV6);
}

/* RFC 4861 7.2.4: who has no address yet is answered by way of all nodes. */
static void
advertise(struct pw_inet *inet, const struct pw_inet_rx *rx, const struct nd *solicit)
{
	static const struct pw_addr all_nodes = {.bytes = {0xff, 2, [15] = 1}};
	static const struct rte_ether_addr all_macs = {{0x33, 0x33, 0, 0, 0, 1}};
	bool known = !pw_addr_is_none(&rx->ip.src);
	struct pw_ip_info ip = {.src = solicit->target, .dst = known ? rx->ip.src : all_nodes};
	struct nd nd = {
		.type = ND_NEIGHBOR_ADVERT,
		.flags = ND_NA_FLAG_OVERRIDE | (known ? ND_NA_FLAG_SOLICITED : 0),
		.target = solicit->target,
	};
	const struct rte_ether_addr *mac = &solicit->mac;

	if (!solicit->has_mac)
		mac = &rte_pktmbuf_mtod(rx->frame, const struct rte_ether_hdr *)->src_addr;
	inet->stats.tx_nd_adverts++;
	send_message(inet, &ip, &nd, known ? mac : &all_macs);
}

/* RFC 4861 7.2.3: that it can send to us says nothing of the other direction. */
static void
solicit_input(struct pw_inet *inet, const struct pw_inet_rx *rx, const struct nd *nd)
{
	struct pw_inet_heard heard = {
		.sender = rx->ip.src,
		.target = nd->target,
		.flags = PW_HEARD_OVERRIDES,
	};

	if (!pw_inet_is_ours(inet, &nd->target))
		return;
	if (nd->has_mac) {
		heard.mac = nd->mac;
		heard.flags |= PW_HEARD_CREATES;
		pw_neigh_learn(inet, &heard, rx->now_us);
	}
	advertise(inet, rx, nd);
}

/* RFC 4861 7.2.5. */
static void
advert_input(struct pw_inet *inet, const struct pw_inet_rx *rx, const struct nd *nd)
{
	struct pw_inet_heard heard = {
		.sender = nd->target, .target = rx->ip.dst, .mac = nd->mac /* or zeros */};

	if (nd->flags & ND_NA_FLAG_SOLICITED)
		heard.flags |= PW_HEARD_CONFIRMS;
	if (nd->flags & ND_NA_FLAG_OVERRIDE)
		heard.flags |= PW_HEARD_OVERRIDES;
	pw_neigh_learn(inet, &heard, rx->now_us);
}

static bool
is_of_neighbour(uint8_t type)
{
	return type == ND_NEIGHBOR_SOLICIT || type == ND_NEIGHBOR_ADVERT;
}

void
pw_nd_input(struct pw_inet *inet, struct pw_inet_rx *rx)
{
	const struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(
		rx->frame, const struct rte_ipv6_hdr *, rx->frame->l2_len);
	uint8_t type = *rte_pktmbuf_mtod_offset(
		rx->frame, const uint8_t *, pw_inet_l4_offset(rx->frame));
	struct nd nd = {0};

	if (ip->hop_limits != HOP_LIMIT || (is_of_neighbour(type) && !read_nd(rx, &nd))) {
		pw_inet_drop(rx->frame, &inet->stats.rx_bad_nd);
		return;
	}
	inet->stats.rx_nd++;
	if (type == ND_NEIGHBOR_SOLICIT)
		solicit_input(inet, rx, &nd);
	else if (type == ND_NEIGHBOR_ADVERT)
		advert_input(inet, rx, &nd);
	rte_pktmbuf_free(rx->frame);
}

void
pw_nd_solicit(struct pw_inet *inet, const struct pw_addr *target, const struct rte_ether_addr *mac)
{
	const uint8_t *last = target->bytes + 13;
	/* RFC 4291 2.7.1, and RFC 2464 7. */
	struct pw_addr group = {.bytes = {0xff, 2, [11] = 1, 0xff, last[0], last[1], last[2]}};
	struct rte_ether_addr group_mac = {{0x33, 0x33, 0xff, last[0], last[1], last[2]}};
	struct nd nd = {.type = ND_NEIGHBOR_SOLICIT, .target = *target};
	struct pw_ip_info ip = {.dst = mac != NULL ? *target : group};

	if (pw_inet_source(inet, target, &ip.src) < 0)
		return;
	inet->stats.tx_nd_solicits++;
	send_message(inet, &ip, &nd, mac != NULL ? mac : &group_mac);
}
