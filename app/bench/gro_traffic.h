/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRO_TRAFFIC_H
#define BENCH_GRO_TRAFFIC_H

/**
 * @file
 * The packets of "gro": TCP/IPv4 segments with timestamps, contiguous in each flow.
 *
 * A sequence says which packets come; they are written into mbufs as a NIC and its driver do, the
 * frame and the descriptor apart, so that the caches can forget the frame in between.
 */

#include <assert.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "gro_settings.h"

#define PW_GRO_BENCH_TCP_OPTIONS_BYTES 12U

struct pw_gro_bench_header {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_tcp_hdr tcp;
	uint8_t tcp_options[PW_GRO_BENCH_TCP_OPTIONS_BYTES];
} __rte_packed __rte_aligned(2);

static_assert(sizeof(struct pw_gro_bench_header) == 66, "as most TCP segments have it");

struct pw_gro_bench_packet {
	uint32_t flow;
	uint32_t index; /**< of the segment in its flow */
	uint32_t rss;	/**< the NIC's hash */
};

/** What is the same in all packets of a measurement. */
struct pw_gro_bench_template {
	struct pw_gro_bench_header header;
	uint32_t payload_bytes;
	uint32_t payload_sum; /**< of 16-bit words */
	uint64_t ol_flags;
};

struct pw_gro_bench_flow;

/** Room to draw sequences in; NULL: no memory. */
struct pw_gro_bench_flow *pw_gro_bench_flows_create(void);

void pw_gro_bench_flows_destroy(struct pw_gro_bench_flow *flows);

/** Draw n packets: the same ones for the same seed, settings and number of flows. */
void pw_gro_bench_draw(struct pw_gro_bench_flow *flows,
	const struct pw_gro_bench_settings *settings, uint32_t nb_flows, uint64_t seed,
	struct pw_gro_bench_packet *packets, uint32_t n);

/** The payload that all packets have, as long as it can be. */
void pw_gro_bench_write_payload(struct rte_mbuf *m);

/** @param m  any mbuf with the payload */
void pw_gro_bench_template_init(struct pw_gro_bench_template *t,
	const struct pw_gro_bench_settings *settings, const struct rte_mbuf *m);

/** What the NIC writes but for the payload, and the second line of the mbuf. */
void pw_gro_bench_write_frame(const struct pw_gro_bench_template *t,
	const struct pw_gro_bench_packet *packet, struct rte_mbuf *m);

/** What a driver writes: the first line of the mbuf. */
void pw_gro_bench_write_mbuf(const struct pw_gro_bench_template *t,
	const struct pw_gro_bench_packet *packet, struct rte_mbuf *m);

#endif
