/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_GRO_CASE_H
#define PW_GRO_CASE_H

/**
 * @file
 * Cases of GRO that read as a table: packets sent, and payload sizes that come out.
 *
 * A packet is its payload size, perhaps "x" and how often, and behind a colon what is special about
 * it, in words with commas between: "100:P" has PSH, "100:ttl=7,gap" has TTL 7 and is not
 * contiguous. Words: flags by their letters FSRPUEC; others in apply_ip(), apply_tcp(),
 * apply_frame() and apply_mbuf() of pw_gro_case.c. "f=1" belongs to another flow.
 */

#include "pw_gro_rig.h"

#define CASE_IPV4 1
#define CASE_IPV6 2
#define CASE_BOTH 3

struct pw_gro_case {
	const char *name;
	unsigned versions;
	const char *sent;
	const char *sizes; /**< that come out */
};

/** Where a frame has its VLAN tags. */
struct pw_gro_tags {
	const char *name;
	uint16_t nb_tags;
	struct pw_packet_tag in_frame[2];
	uint64_t stripped; /**< RX flags that say so */
	uint16_t tci, tci_outer;
};

#define CASE_TAGS 9

/** Flows that differ in any of these are different flows. The first has no tags. */
extern const struct pw_gro_tags pw_gro_case_tags[CASE_TAGS];

/** A packet of TCP or UDP as the cases have it. */
struct pw_packet pw_gro_case_packet(bool ipv6, bool udp, const struct pw_gro_tags *tags);

/** Say in the mbuf what the NIC stripped. */
void pw_gro_case_strip(struct rte_mbuf *m, const struct pw_gro_tags *tags);

/** Send packets, without a flush. */
void pw_gro_case_send(struct pw_gro_rig *rig, const struct pw_packet *first,
	const struct pw_gro_tags *tags, const char *sent);

/** Run cases, over both IP versions as they apply, with all tags, and for all kinds of CPU. */
void pw_gro_case_run(struct pw_gro_rig *rig, const struct pw_gro_case *cases, unsigned n, bool udp);

#endif
