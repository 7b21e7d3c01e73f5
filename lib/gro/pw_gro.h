/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_H
#define PW_GRO_H

/**
 * @file
 * Generic receive offload: consecutive segments of a TCP/IPv4 flow become one packet.
 *
 * The rules are those of Linux's tcp_gro_receive() and inet_gro_receive(): a segment is merged only
 * when cutting the merged packet again would give the frames that came in. A packet that cannot be
 * merged never overtakes one of its flow that is held. Everything else passes untouched, at once.
 *
 * Pure: packets come in by pw_gro_receive() and leave through a callback. One instance belongs to
 * one thread.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pw_gro;

/**
 * Take a packet; owns it.
 *
 * A merged packet is a chain of mbufs with right IP and TCP checksums, RTE_MBUF_F_RX_LRO set and
 * the payload length of its segments in tso_segsz. A checksum that was verified on the way, right
 * or wrong, is told by the RX flags.
 */
typedef void (*pw_gro_output_t)(void *ctx, struct rte_mbuf *m);

struct pw_gro_params {
	pw_gro_output_t output;
	void *ctx;
	int socket_id;
};

struct pw_gro_stats {
	uint64_t rx_packets;	  /**< packets in */
	uint64_t tx_packets;	  /**< packets out */
	uint64_t merged;	  /**< packets appended to a held one: rx - tx - held */
	uint64_t held;		  /**< packets held now, merged ones not counted */
	uint64_t pass_not_tcp;	  /**< passed: not TCP over IPv4, or malformed */
	uint64_t pass_fragment;	  /**< passed: IP fragment, IP options, or chained mbuf */
	uint64_t pass_no_payload; /**< passed: pure ACK */
	uint64_t pass_flags; /**< passed: SYN, RST, URG, no ACK, or FIN or PSH on a first segment */
	uint64_t pass_bad_cksum; /**< passed: wrong checksum */
	uint64_t flush_complete; /**< held packet went: FIN, PSH or a shorter segment was merged */
	uint64_t flush_seq;	 /**< held packet went: the next segment was not contiguous */
	uint64_t flush_header; /**< held packet went: ACK number, window, options, flags, TTL, TOS,
				    DF or MAC addresses differ */
	uint64_t flush_ip_id;  /**< held packet went: IP ID neither counts up nor stays */
	uint64_t flush_size;   /**< held packet went: larger segment, or 65535 bytes reached */
	uint64_t flush_pass;   /**< held packet went: a packet of its flow had to pass */
	uint64_t flush_table_full; /**< held packet went: too many flows */
	uint64_t flush_burst;	   /**< held packet went: pw_gro_flush() */
};

/** @return NULL with rte_errno ENOMEM */
struct pw_gro *pw_gro_create(const struct pw_gro_params *params);

/** Free an instance and the packets it holds. NULL is allowed. */
void pw_gro_destroy(struct pw_gro *gro);

/** Take a received Ethernet frame; owns it. The callback may be called before it returns. */
void pw_gro_receive(struct pw_gro *gro, struct rte_mbuf *m);

/** Let all held packets go, the one that came first first: at the end of a burst. */
void pw_gro_flush(struct pw_gro *gro);

/** Read the counters. Exact when read by the owner. */
void pw_gro_get_stats(const struct pw_gro *gro, struct pw_gro_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
