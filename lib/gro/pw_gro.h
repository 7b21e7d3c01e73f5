/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_H
#define PW_GRO_H

/**
 * @file
 * Generic receive offload: consecutive segments of a flow become one packet.
 *
 * The rules are those of Linux (tcp_gro_receive(), inet_gro_receive(), ipv6_gro_receive(),
 * udp_gro_receive()): a segment is merged only when cutting the merged packet again gives the
 * frames that came in. A packet that cannot be merged never overtakes one of its flow that is held.
 * Everything else passes untouched, at once.
 *
 * A flow is what has the same port, VLAN tags (up to two, in the frame or stripped), addresses,
 * protocol and ports. TCP and UDP are merged over IPv4 and over IPv6, there also behind hop-by-hop,
 * routing and destination options that are the same.
 *
 * Pure: packets come in by pw_gro_receive() and leave through a callback, the time is an argument.
 * One instance belongs to one thread. Nothing is allocated after pw_gro_create().
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pw_stat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_gro;

/**
 * Take packets, in their order; owns them. Must not call the instance that calls it.
 *
 * A merged packet is a chain of mbufs with RTE_MBUF_F_RX_LRO set, the payload length of its
 * segments (all but the last one, which may be shorter) in tso_segsz, and l2_len (with tags in the
 * frame), l3_len (with extension headers) and l4_len as TSO wants them. Its length fields and its
 * IP checksum are right. Its TCP or UDP checksum is that of the first segment, and
 * RTE_MBUF_F_RX_L4_CKSUM_NONE says so: all segments' were right, and whoever sends the packet on
 * has to fill it in, as TSO does. (UDP packets without a checksum stay without.)
 *
 * A packet that was not merged is as it came, but for padding behind several mbufs, which may be
 * gone. A checksum that was verified on the way, right or wrong, is told by the RX flags.
 */
typedef void (*pw_gro_output_t)(void *ctx, struct rte_mbuf **pkts, uint16_t n);

#define PW_GRO_TCP_IPV4 (1u << 0)
#define PW_GRO_TCP_IPV6 (1u << 1)
#define PW_GRO_UDP_IPV4 (1u << 2)
#define PW_GRO_UDP_IPV6 (1u << 3)
#define PW_GRO_TCP (PW_GRO_TCP_IPV4 | PW_GRO_TCP_IPV6)
#define PW_GRO_UDP (PW_GRO_UDP_IPV4 | PW_GRO_UDP_IPV6)

#define PW_GRO_FLOWS_DEFAULT 128
#define PW_GRO_FLOWS_MAX 32768

struct pw_gro_params {
	pw_gro_output_t output;
	void *ctx;	/**< handed to output */
	int socket_id;	/**< where to allocate; SOCKET_ID_ANY */
	uint32_t types; /**< what is merged: PW_GRO_*; 0: PW_GRO_TCP */
	/**
	 * Flows held at once, a power of two up to PW_GRO_FLOWS_MAX; 0: PW_GRO_FLOWS_DEFAULT. A
	 * packet goes when so many flows have come behind its own.
	 */
	uint16_t max_flows;
	uint16_t max_mbufs; /**< in a merged packet; 0: as many as fit */
	/**
	 * Merge only what TSO and librte_gso cut into the same frames again. They count IP IDs up,
	 * where Linux also merges IDs that stay, send CWR once, and DPDK's drivers do not look
	 * behind IPv6 extension headers.
	 */
	bool exact_tso;
};

/**
 * Each packet that was not merged is counted under one pass_ reason or was held; each held packet
 * that went, under one flush_ reason.
 */
struct pw_gro_stats {
	uint64_t rx_packets;	  /**< packets in */
	uint64_t tx_packets;	  /**< packets out */
	uint64_t merged;	  /**< packets appended to a held one: rx - tx - held */
	uint64_t held;		  /**< packets held now, merged ones not counted */
	uint64_t pass_not_ip;	  /**< passed: neither IPv4 nor IPv6, or more than two VLAN tags */
	uint64_t pass_protocol;	  /**< passed: a protocol that is not merged */
	uint64_t pass_malformed;  /**< passed: a length or version that does not fit */
	uint64_t pass_fragment;	  /**< passed: IP fragment, or the reserved flag */
	uint64_t pass_ip_options; /**< passed: IPv4 options, or long IPv6 extension headers */
	uint64_t pass_mbuf; /**< passed: merged by the NIC, shared, or headers not in the first mbuf
			     */
	uint64_t pass_no_payload; /**< passed: pure ACK, empty datagram */
	uint64_t pass_flags;	  /**< passed: SYN, RST, URG, no ACK, or FIN or PSH on a first
				       segment */
	uint64_t pass_bad_cksum;  /**< passed: wrong checksum */
	uint64_t flush_complete;  /**< held packet went: FIN, PSH or a shorter segment was merged */
	uint64_t flush_seq;	  /**< held packet went: the next segment was not contiguous */
	uint64_t flush_header; /**< held packet went: ACK number, window, options, flags, TTL, TOS,
				    DF, MAC addresses or extension headers differ */
	uint64_t flush_ip_id;  /**< held packet went: IP ID neither counts up nor stays */
	uint64_t flush_size;   /**< held packet went: larger segment, 65535 bytes or max_mbufs
				    reached */
	uint64_t flush_pass;   /**< held packet went: a packet of its flow had to pass */
	uint64_t flush_table_full; /**< held packet went: max_flows */
	uint64_t flush_all;	   /**< held packet went: pw_gro_flush() */
	uint64_t flush_timeout;	   /**< held packet went: pw_gro_flush_older() */
};

/** Describes struct pw_gro_stats; ends as pw_stat.h says. */
extern const struct pw_stat pw_gro_stat_table[];

/** @return NULL with rte_errno EINVAL (types or max_flows) or ENOMEM */
struct pw_gro *pw_gro_create(const struct pw_gro_params *params);

/** Free an instance and the packets it holds. NULL is allowed. */
void pw_gro_destroy(struct pw_gro *gro);

/**
 * Take received Ethernet frames; owns them. Checksums without a verdict of the NIC in the RX flags
 * are verified here. All that need not be held has gone through the callback
 * when it returns.
 *
 * @param now_us  of a clock that does not go back; for pw_gro_flush_older() alone
 */
void pw_gro_receive(struct pw_gro *gro, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us);

/** Let all held packets go, the one that came first first: at the end of a burst, or of a port. */
void pw_gro_flush(struct pw_gro *gro);

/** Let the packets go of which the first segment came at before_us or earlier. */
void pw_gro_flush_older(struct pw_gro *gro, uint64_t before_us);

/** Packets held now, merged ones not counted. */
unsigned pw_gro_held(const struct pw_gro *gro);

/**
 * Read the counters. Exact when read by the owner; another thread may find some of a burst behind
 * the others. pw_stat_print(stdout, pw_gro_stat_table, &stats) prints them.
 */
void pw_gro_get_stats(const struct pw_gro *gro, struct pw_gro_stats *stats);

/** Frames that a packet which came out of GRO stands for. */
static inline uint16_t
pw_gro_segments(const struct rte_mbuf *m)
{
	uint32_t payload_bytes = m->pkt_len - m->l2_len - m->l3_len - m->l4_len;

	if ((m->ol_flags & RTE_MBUF_F_RX_LRO) == 0)
		return 1;
	return (payload_bytes + m->tso_segsz - 1) / m->tso_segsz;
}

#ifdef __cplusplus
}
#endif

#endif
