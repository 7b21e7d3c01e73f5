/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_REASM_H
#define PW_REASM_H

/** @file Fragments put together by librte_ip_frag. Internal to lib/inet. */

#include <rte_ip_frag.h>

struct pw_inet;

struct pw_reasm {
	struct rte_ip_frag_tbl *table;
	struct rte_ip_frag_death_row dead;
};

/** @return 0, or -ENOMEM */
int pw_reasm_open(struct pw_reasm *reasm);
void pw_reasm_close(struct pw_reasm *reasm);

/**
 * Take a fragment, of which l2_len and l3_len are set and which ends with the IP packet; owns it.
 * The l3_len of IPv6 ends behind the fragment header, which is the first behind the IPv6 header.
 *
 * @return the packet that it completes, without fragment header; or NULL
 */
struct rte_mbuf *pw_reasm_ipv4(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);
struct rte_mbuf *pw_reasm_ipv6(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us);

/** Drop the fragments of packets that stay incomplete. */
void pw_reasm_tick(struct pw_inet *inet, uint64_t now_us);

#endif
