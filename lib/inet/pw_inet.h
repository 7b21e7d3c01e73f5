/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_INET_H
#define PW_INET_H

/**
 * @file
 * An IPv4 host on an Ethernet port: ARP, ICMP echo, and IPv4 in and out.
 *
 * Pure: frames come in by pw_inet_input(), frames go out and TCP segments go up through callbacks,
 * the time is an argument. One instance belongs to one thread. Nothing here prints or waits.
 */

#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pw_inet;

/** What an ARP packet says, to all instances of the host that did not receive it. */
struct pw_inet_arp {
	rte_be32_t sender_ip, target_ip;
	struct rte_ether_addr sender_mac;
	uint16_t reserved; /**< 0 */
};

struct pw_inet_ops {
	/** Send a frame; owns it. */
	void (*output)(void *ctx, struct rte_mbuf *frame);
	/**
	 * Take a TCP segment for our address; owns it.
	 *
	 * Its data begins with the TCP header and ends with the IP payload; its checksum is right.
	 */
	void (*tcp_input)(void *ctx, struct rte_mbuf *segment, rte_be32_t src, rte_be32_t dst,
		uint64_t now_us);
	/**
	 * An ARP packet came. A host with an instance for each RX queue gives it to the others by
	 * pw_inet_hear_arp(): which queue ARP packets arrive at says nothing about who asked. May
	 * be NULL.
	 */
	void (*arp_input)(void *ctx, const struct pw_inet_arp *arp);
};

struct pw_inet_params {
	struct rte_ether_addr mac;
	rte_be32_t ip;
	uint8_t prefix_len; /**< 0 to 32; hosts outside it cannot be reached: there is no gateway */
	struct rte_mempool *pool; /**< for the frames it makes itself */
	/**
	 * What the port does with TCP segments we send: RTE_MBUF_F_TX_IP_CKSUM, _TCP_CKSUM, and
	 * with both _TCP_SEG. It finds the mbuf's flags, header lengths and checksum fields as
	 * rte_mbuf_core.h wants them. 0: all checksums are filled in here.
	 */
	uint64_t tx_offloads;
	struct pw_inet_ops ops;
	void *ctx; /**< handed to ops */
};

/** Frames received that went nowhere are counted under exactly one rx_ reason. */
struct pw_inet_stats {
	uint64_t rx_frames;
	uint64_t rx_arp;
	uint64_t rx_icmp_echo;
	uint64_t rx_tcp;
	uint64_t rx_short;	  /**< no room for a header */
	uint64_t rx_other_mac;	  /**< not for our MAC address */
	uint64_t rx_unknown_type; /**< neither ARP nor IPv4 */
	uint64_t rx_bad_arp;
	uint64_t rx_bad_ip;	   /**< version, header length, options cut, source address */
	uint64_t rx_bad_length;	   /**< IP total length below the header, or beyond the frame: also
				      frames larger than a buffer, which a port cuts */
	uint64_t rx_bad_ip_cksum;  /**< IP header checksum */
	uint64_t rx_fragment;	   /**< IP fragments are not put together yet */
	uint64_t rx_other_ip;	   /**< not for our IP address */
	uint64_t rx_unknown_proto; /**< neither TCP nor ICMP echo */
	uint64_t rx_bad_l4_cksum;  /**< TCP or ICMP checksum */
	uint64_t tx_frames;
	uint64_t tx_arp_requests;
	uint64_t tx_arp_replies;
	uint64_t tx_no_route;	  /**< destination outside the prefix */
	uint64_t tx_no_neighbour; /**< no answer to ARP, or more than one packet waiting for it */
	uint64_t tx_no_mbuf;	  /**< pool exhausted, or no headroom */
};

/** @return NULL with rte_errno EINVAL (prefix, or offloads) or ENOMEM */
struct pw_inet *pw_inet_create(const struct pw_inet_params *params);

/** Free an instance and the packets that wait for a neighbour. NULL is allowed. */
void pw_inet_destroy(struct pw_inet *inet);

/** Take a received frame; owns it. */
void pw_inet_input(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Learn from an ARP packet that another instance of this host received, and answered. */
void pw_inet_hear_arp(struct pw_inet *inet, const struct pw_inet_arp *arp, uint64_t now_us);

/**
 * Send a TCP segment; owns it. Fills in the TCP checksum, or leaves it to the port.
 *
 * @param segment  begins with the TCP header, has 34 bytes of headroom. With RTE_MBUF_F_TX_TCP_SEG,
 *	which tx_offloads must have, the port cuts it into pieces of tso_segsz bytes
 */
void pw_inet_output_tcp(
	struct pw_inet *inet, struct rte_mbuf *segment, rte_be32_t dst, uint64_t now_us);

/** Ask again for neighbours that have not answered; call it at least a few times a second. */
void pw_inet_tick(struct pw_inet *inet, uint64_t now_us);

/** Read the counters. Exact when read by the owner. */
void pw_inet_get_stats(const struct pw_inet *inet, struct pw_inet_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
