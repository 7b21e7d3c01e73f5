/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_INET_H
#define PW_INET_H

/**
 * @file
 * An IPv4 and IPv6 host on an Ethernet port: ARP and ND, ICMP and ICMPv6, IP in and out.
 *
 * Pure: frames come in by pw_inet_input(), frames go out and packets go up through callbacks, the
 * time is an argument. One instance belongs to one thread. Nothing here prints or waits.
 */

#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "pw_addr.h"
#include "pw_stat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_inet;

#define PW_INET_ADDRESSES_MAX 8

/** An address of ours. */
struct pw_inet_address {
	struct pw_addr addr;
	uint8_t prefix_len; /**< of the network on the link: 0 to 32, or 0 to 128 */
};

/** What an ARP or ND packet says of a neighbour, to instances that did not receive it. */
struct pw_inet_heard {
	struct pw_addr sender, target;
	struct rte_ether_addr mac; /**< of the sender */
	uint8_t flags;		   /**< of lib/inet's own */
	uint8_t reserved;	   /**< 0 */
};

enum pw_inet_error_kind {
	PW_INET_UNREACHABLE, /**< network or host: may pass (RFC 1122 4.2.3.9, RFC 5927) */
	PW_INET_REFUSED,     /**< port or protocol */
	PW_INET_TOO_BIG,     /**< a packet did not fit a link on the way (RFC 1191, 8201) */
};

/** An ICMP error about a packet that we may have sent: all of it may be forged. */
struct pw_inet_error {
	enum pw_inet_error_kind kind;
	struct pw_ip_info sent; /**< src is ours */
	uint8_t proto;
	uint8_t head[8];    /**< the packet's first bytes behind its IP header */
	uint32_t mtu_bytes; /**< of a TOO_BIG; 0: it does not say */
};

struct pw_inet_ops {
	/** Send a frame; owns it. */
	void (*output)(void *ctx, struct rte_mbuf *frame);
	/**
	 * Take a TCP segment for our address; owns it.
	 *
	 * Its data begins with the TCP header and ends with the IP payload; its checksum is right.
	 */
	void (*tcp_input)(
		void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us);
	/**
	 * Take a UDP datagram for our address, which begins with the UDP header; its checksum is
	 * right. Owns it, unless it returns false: then nobody listens, and the sender is told so.
	 * May be NULL.
	 */
	bool (*udp_input)(
		void *ctx, struct rte_mbuf *datagram, const struct pw_ip_info *ip, uint64_t now_us);
	/** An ICMP error came. May be NULL. */
	void (*error_input)(void *ctx, const struct pw_inet_error *error, uint64_t now_us);
	/**
	 * An ARP or ND packet came. A host with an instance for each RX queue gives it to the
	 * others by pw_inet_hear(): which queue such packets arrive at says nothing about who
	 * asked. May be NULL.
	 */
	void (*heard)(void *ctx, const struct pw_inet_heard *heard);
};

struct pw_inet_params {
	struct rte_ether_addr mac;
	/** Of both families. With one of IPv6 there is a link-local one too, made from mac. */
	struct pw_inet_address addresses[PW_INET_ADDRESSES_MAX];
	unsigned nb_addresses;		   /**< 1 to PW_INET_ADDRESSES_MAX */
	struct pw_addr gateway4, gateway6; /**< to what no prefix covers; all zeros: none */
	uint16_t mtu_bytes;		   /**< of the link, 576 (with IPv6 1280) to 65535 */
	struct rte_mempool *pool;	   /**< for the frames it makes itself */
	uint64_t secret;		   /**< for fragment IDs and tables: random */
	/**
	 * What the port does with TCP segments we send: RTE_MBUF_F_TX_IP_CKSUM, _TCP_CKSUM, and
	 * with both _TCP_SEG. It finds the mbuf's flags, header lengths and checksum fields as
	 * rte_mbuf_core.h wants them. 0: all checksums are filled in here.
	 */
	uint64_t tx_offloads;
	struct pw_inet_ops ops;
	void *ctx; /**< handed to ops */
};

/**
 * What became of received frames. One that went nowhere is counted under exactly one rx_ reason. Of
 * packets that another counter has too tell rx_ipv6, rx_reassembled and rx_reasm_fails.
 */
struct pw_inet_stats {
	uint64_t rx_frames;
	uint64_t rx_ipv6; /**< whatever became of them */
	uint64_t rx_arp;
	uint64_t rx_nd; /**< also those that say nothing to a host without autoconfiguration */
	uint64_t rx_icmp_echo;
	uint64_t rx_icmp_errors; /**< about packets of ours */
	uint64_t rx_tcp;
	uint64_t rx_udp;
	uint64_t rx_fragments;	  /**< taken to be put together */
	uint64_t rx_reassembled;  /**< packets put together */
	uint64_t rx_reasm_fails;  /**< fragments that came to nothing: one missing, overlaps, more
				     than librte_ip_frag takes a packet (8), no room in the table */
	uint64_t rx_short;	  /**< no room for a header */
	uint64_t rx_other_mac;	  /**< not for our MAC address, or from a group's */
	uint64_t rx_vlan;	  /**< of a VLAN */
	uint64_t rx_unknown_type; /**< neither ARP nor IP */
	uint64_t rx_bad_arp;
	uint64_t rx_bad_nd;   /**< hop limit, addresses, options */
	uint64_t rx_bad_icmp; /**< errors that are malformed, or about no packet of ours */
	uint64_t rx_bad_ip; /**< version, header length, options, extension headers, source address
			     */
	uint64_t rx_bad_length;	   /**< IP or UDP length below the header, or beyond the frame: also
				      frames larger than a buffer, which a port cuts */
	uint64_t rx_bad_ip_cksum;  /**< IP header checksum */
	uint64_t rx_other_ip;	   /**< not for our IP address */
	uint64_t rx_unknown_proto; /**< neither TCP, UDP, ICMP echo nor an ICMP error */
	uint64_t rx_bad_l4_cksum;  /**< TCP, UDP or ICMP checksum */
	uint64_t rx_no_port;	   /**< UDP that nobody listens to */
	uint64_t tx_frames;
	uint64_t tx_arp_requests;
	uint64_t tx_arp_replies;
	uint64_t tx_nd_solicits;
	uint64_t tx_nd_adverts;
	uint64_t tx_icmp_errors;
	uint64_t tx_errors_limited; /**< ICMP errors not sent: too many */
	uint64_t tx_fragments;
	uint64_t tx_too_long;	  /**< larger than IP or fragments can carry */
	uint64_t tx_no_route;	  /**< neither on the link nor by a gateway */
	uint64_t tx_no_neighbour; /**< no answer to ARP or ND, or too many packets waiting for it */
	uint64_t tx_no_mbuf;	  /**< pool exhausted, or no headroom */
};

/** Describes struct pw_inet_stats; ends as pw_stat.h says. */
extern const struct pw_stat pw_inet_stat_table[];

/** @return NULL with rte_errno EINVAL (addresses, MTU, or offloads) or ENOMEM */
struct pw_inet *pw_inet_create(const struct pw_inet_params *params);

/** Free an instance and the packets that wait in it. NULL is allowed. */
void pw_inet_destroy(struct pw_inet *inet);

/** Take a received frame; owns it. */
void pw_inet_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Learn of a neighbour from a packet that another instance of this host received. */
void pw_inet_hear(struct pw_inet *inet, const struct pw_inet_heard *heard, uint64_t now_us);

/**
 * Our address towards a host: one of its network, or what leads to the gateway.
 *
 * @return 0, or -ENETUNREACH: no way there
 */
int pw_inet_source(const struct pw_inet *inet, const struct pw_addr *dst, struct pw_addr *source);

/**
 * Would a packet go out at once? If not, the neighbour on the way is asked for its MAC address; ask
 * again later. False, too: there is no way.
 */
bool pw_inet_reaches(struct pw_inet *inet, const struct pw_addr *dst, uint64_t now_us);

/**
 * Send a TCP segment; owns it. Fills in the TCP checksum, or leaves it to the port.
 *
 * @param segment  begins with the TCP header, has 54 bytes of headroom. With RTE_MBUF_F_TX_TCP_SEG,
 *	which tx_offloads must have, the port cuts it into pieces of tso_segsz bytes
 * @param ip  src is one of our addresses
 */
void pw_inet_output_tcp(struct pw_inet *inet, struct rte_mbuf *segment, const struct pw_ip_info *ip,
	uint64_t now_us);

/**
 * Send a UDP datagram; owns it. Fills in its length and checksum; in fragments where it is larger
 * than the link's MTU.
 *
 * @param datagram  begins with the UDP header, with both ports filled in, has 54 bytes of headroom
 * @param ip  src is one of our addresses
 */
void pw_inet_output_udp(struct pw_inet *inet, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us);

/**
 * Ask again for neighbours that have not answered, and drop fragments whose packet stays
 * incomplete; call it at least a few times a second.
 */
void pw_inet_tick(struct pw_inet *inet, uint64_t now_us);

/** Read the counters. Exact when read by the owner. */
void pw_inet_get_stats(const struct pw_inet *inet, struct pw_inet_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
