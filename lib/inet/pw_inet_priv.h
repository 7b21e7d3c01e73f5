/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_INET_PRIV_H
#define PW_INET_PRIV_H

/** @file What the files of lib/inet share. */

#include <rte_jhash.h>

#include "pw_inet.h"
#include "pw_neigh.h"
#include "pw_reasm.h"

#define PW_INET_OURS_MAX (PW_INET_ADDRESSES_MAX + 1)
#define PW_INET_HOP_LIMIT 64
#define PW_IPV6_HDR_LEN sizeof(struct rte_ipv6_hdr)

/** Flags of struct pw_inet_heard. */
enum {
	PW_HEARD_CREATES = 1,	/**< it asked for us, or answers us: worth an entry */
	PW_HEARD_CONFIRMS = 2,	/**< that packets reach it */
	PW_HEARD_OVERRIDES = 4, /**< its MAC address is new */
};

#define PW_INET_WAYS 64

/** That dst is a host, and which neighbour leads to it: our addresses do not change. */
struct pw_inet_way {
	struct pw_addr dst, next_hop; /**< all zeros: nothing kept here */
};

struct pw_inet {
	struct pw_inet_params params;
	struct pw_inet_address ours[PW_INET_OURS_MAX]; /**< prefix lengths in a struct pw_addr */
	unsigned nb_ours;
	uint32_t next_id;
	uint64_t errors_due_us; /**< when all ICMP errors sent are paid for: see pw_icmp_error.c */
	struct pw_inet_stats stats;
	struct pw_neigh_table neighbours;
	struct pw_reasm reasm;
	struct pw_inet_way ways[PW_INET_WAYS];
};

/** RFC 7739 5.3: where the IDs begin towards a host, so that none tells of the others'. */
static inline uint32_t
pw_inet_id_offset(const struct pw_inet *inet, const struct pw_addr *dst)
{
	return rte_jhash(dst->bytes, sizeof(dst->bytes), inet->params.secret);
}

/** A received IP packet with a right header. */
struct pw_inet_rx {
	struct rte_mbuf *frame; /**< l2_len and l3_len are set */
	struct pw_ip_info ip;
	uint8_t proto;
	uint64_t now_us;
};

/** Count a packet under a reason and free it. */
static inline void
pw_inet_drop(struct rte_mbuf *m, uint64_t *reason)
{
	(*reason)++;
	rte_pktmbuf_free(m);
}

/** A check fails: the frame is to be dropped under this counter. Returns false. */
static inline bool
pw_inet_refuse(uint64_t **reason, uint64_t *counter)
{
	*reason = counter;
	return false;
}

/** Behind the Ethernet and IP headers. */
static inline uint32_t
pw_inet_l4_offset(const struct rte_mbuf *frame)
{
	return frame->l2_len + frame->l3_len;
}

/** What the port said of a packet received is not true of the one made from it. */
static inline void
pw_inet_forget_offloads(struct rte_mbuf *m)
{
	m->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
}

static inline bool
pw_addr_is_multicast(const struct pw_addr *addr)
{
	return pw_addr_is_ipv4(addr) ? addr->bytes[12] >> 4 == 14 : addr->bytes[0] == 0xff;
}

static inline struct pw_addr
pw_addr_from_ipv6(const void *bytes)
{
	struct pw_addr addr;

	memcpy(addr.bytes, bytes, sizeof(addr.bytes));
	return addr;
}

/* pw_address.c */

/** Take over the addresses of the parameters; tells whether they are valid. */
bool pw_inet_set_addresses(struct pw_inet *inet);
bool pw_inet_is_ours(const struct pw_inet *inet, const struct pw_addr *addr);
/** Is it an IPv6 group that we are in: all nodes, and the solicited-node ones of our addresses? */
bool pw_inet_in_group(const struct pw_inet *inet, const struct pw_addr *addr);
/** Is it a neighbour's? */
bool pw_inet_is_on_link(const struct pw_inet *inet, const struct pw_addr *addr);
/** Can it be the address of one host on a network, and not ours? */
bool pw_inet_is_peer(const struct pw_inet *inet, const struct pw_addr *addr);
/** The neighbour that a packet has to be handed to; NULL: no way there. Valid until the next call.
 */
const struct pw_addr *pw_inet_next_hop(struct pw_inet *inet, const struct pw_addr *dst);

/* pw_inet.c */

/** Hand a whole frame to the port. */
void pw_inet_send_frame(struct pw_inet *inet, struct rte_mbuf *frame);

/** Put an Ethernet header in front and send; without headroom for it the packet is dropped. */
void pw_inet_send_ether(struct pw_inet *inet, struct rte_mbuf *m, const struct rte_ether_addr *dst,
	uint16_t ether_type);

/** A packet of ours of so many bytes, which are zeros; NULL: none left, which is counted. */
struct rte_mbuf *pw_inet_new_packet(struct pw_inet *inet, uint16_t len_bytes);

/* pw_arp.c, pw_nd.c */

/** Take an ARP frame; owns it. */
void pw_arp_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Send a request for an address, to a MAC address or to all. */
void pw_arp_request(struct pw_inet *inet, rte_be32_t ip, const struct rte_ether_addr *mac);

/** Take an ICMPv6 packet of ND with a right checksum; owns it. */
void pw_nd_input(struct pw_inet *inet, struct pw_inet_rx *rx);

/** Send a neighbour solicitation, to a MAC address or to all. */
void pw_nd_solicit(
	struct pw_inet *inet, const struct pw_addr *target, const struct rte_ether_addr *mac);

/* pw_neigh.c */

/** Learn of a neighbour, here and, by heard(), in the host's other instances. */
void pw_neigh_learn(struct pw_inet *inet, const struct pw_inet_heard *heard, uint64_t now_us);

/** Send an IP packet to a neighbour, or ask for its MAC address first; owns the packet. */
void pw_neigh_send(struct pw_inet *inet, struct rte_mbuf *packet, const struct pw_addr *next_hop,
	uint64_t now_us);

/** Ask again, and give up. */
void pw_neigh_tick(struct pw_inet *inet, uint64_t now_us);

/* pw_ipv4.c, pw_ipv6.c, pw_l4.c */

/** Take a frame; owns it. */
void pw_ipv4_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);
void pw_ipv6_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Take a packet in one piece, without extension headers; owns the frame. */
void pw_l4_input(struct pw_inet *inet, struct pw_inet_rx *rx);

/** One's complement sum of the pseudo header and of all from offset on: 0xffff when it is right. */
uint16_t pw_l4_sum(const struct rte_mbuf *m, uint32_t offset_bytes, const struct pw_ip_info *ip,
	uint8_t proto);

/* pw_icmp.c, pw_icmpv6.c */

/** Take an ICMP packet; owns the frame. */
void pw_icmp_input(struct pw_inet *inet, struct pw_inet_rx *rx);
void pw_icmpv6_input(struct pw_inet *inet, struct pw_inet_rx *rx);

/* pw_icmp_error.c */

/** Take an ICMP or ICMPv6 error with a right checksum; owns the frame. */
void pw_icmp_error_input(struct pw_inet *inet, struct pw_inet_rx *rx);

/** What an ICMP or ICMPv6 error says. */
struct pw_icmp_error {
	uint8_t type, code;
	uint32_t word; /**< the second one of its header */
};

/**
 * Tell the sender of a packet what is wrong with it, unless it must not be told or others were told
 * too much lately.
 *
 * @param header  the packet's IP header of header_len bytes; behind it comes what is in rest from
 *	rest_offset on
 */
void pw_icmp_error_send(struct pw_inet *inet, const struct pw_inet_rx *rx,
	const struct pw_icmp_error *error, const void *header, uint16_t header_len,
	const struct rte_mbuf *rest, uint32_t rest_offset);

/* pw_output.c, pw_fragment.c */

/**
 * Put an IP header in front of a packet and send it; owns it. Its checksum is right already.
 *
 * @param next_hop  of pw_inet_next_hop()
 */
void pw_inet_output(struct pw_inet *inet, struct rte_mbuf *m, const struct pw_ip_info *info,
	uint8_t proto, const struct pw_addr *next_hop, uint64_t now_us);

/** Send an IP packet to a MAC address, in fragments where it is too large; owns it. */
void pw_inet_transmit(
	struct pw_inet *inet, struct rte_mbuf *packet, const struct rte_ether_addr *mac);

/** Send a packet that is too large in fragments; owns it. */
void pw_fragment_send(
	struct pw_inet *inet, struct rte_mbuf *packet, const struct rte_ether_addr *mac);

#endif
