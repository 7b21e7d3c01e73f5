/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>

#include "pw_inet_priv.h"

#define PACKETS_MAX 128 /* incomplete ones: they hold 8 fragments each at most */
#define BUCKET_ENTRIES 8
#define TIMEOUT_US 30000000
#define FREE_AHEAD 4

int
pw_reasm_open(struct pw_reasm *reasm)
{
	/* What it calls cycles are the units of the time it is given. */
	reasm->table = rte_ip_frag_table_create(PACKETS_MAX / BUCKET_ENTRIES, BUCKET_ENTRIES,
		PACKETS_MAX, TIMEOUT_US, SOCKET_ID_ANY);
	return reasm->table == NULL ? -ENOMEM : 0;
}

void
pw_reasm_close(struct pw_reasm *reasm)
{
	if (reasm->table != NULL)
		rte_ip_frag_table_destroy(reasm->table);
}

/* The death row holds what one call leaves there many times, and is not checked for room. */
static void
bury(struct pw_inet *inet)
{
	struct rte_ip_frag_death_row *dead = &inet->reasm.dead;

	inet->stats.rx_reasm_fails += dead->cnt;
	rte_ip_frag_free_death_row(dead, FREE_AHEAD);
}

static bool
is_takeable(struct pw_inet *inet, struct rte_mbuf *frame, uint32_t end_bytes, bool more)
{
	uint32_t header = frame->l2_len + frame->l3_len, len = frame->pkt_len - header;

	/* All but the last are of 8-byte units; beyond 65535 there is the ping of death. */
	if (len == 0 || (more && len % 8 != 0) || end_bytes + len > UINT16_MAX) {
		pw_inet_drop(frame, &inet->stats.rx_bad_length);
		return false;
	}
	/* The library takes headers off the first mbuf, and would leave an empty one. */
	if (frame->data_len == header) {
		pw_inet_drop(frame, &inet->stats.rx_short);
		return false;
	}
	inet->stats.rx_fragments++;
	return true;
}

/* The first fragment's header may be longer than those of the others were. */
static struct rte_mbuf *
finish(struct pw_inet *inet, struct rte_mbuf *packet)
{
	bury(inet);
	if (packet == NULL)
		return NULL;
	if (packet->pkt_len - packet->l2_len > UINT16_MAX) {
		pw_inet_drop(packet, &inet->stats.rx_reasm_fails);
		return NULL;
	}
	/* A port says "good" of fragments whose layer 4 it did not look at. */
	pw_inet_forget_offloads(packet);
	inet->stats.rx_reassembled++;
	return packet;
}

struct rte_mbuf *
pw_reasm_ipv4(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, struct rte_ipv4_hdr *, frame->l2_len);
	uint16_t field = rte_be_to_cpu_16(ip->fragment_offset);
	uint32_t offset_bytes = (field & RTE_IPV4_HDR_OFFSET_MASK) * RTE_IPV4_HDR_OFFSET_UNITS;

	if (!is_takeable(inet, frame, frame->l3_len + offset_bytes, field & RTE_IPV4_HDR_MF_FLAG))
		return NULL;
	return finish(inet,
		rte_ipv4_frag_reassemble_packet(
			inet->reasm.table, &inet->reasm.dead, frame, now_us, ip));
}

struct rte_mbuf *
pw_reasm_ipv6(struct pw_inet *inet, struct rte_mbuf *frame, uint64_t now_us)
{
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, struct rte_ipv6_hdr *, frame->l2_len);
	struct rte_ipv6_fragment_ext *fragment = (void *)(ip + 1);
	uint16_t field = rte_be_to_cpu_16(fragment->frag_data);

	if (!is_takeable(inet, frame, RTE_IPV6_GET_FO(field) * 8, RTE_IPV6_GET_MF(field)))
		return NULL;
	return finish(inet,
		rte_ipv6_frag_reassemble_packet(
			inet->reasm.table, &inet->reasm.dead, frame, now_us, ip, fragment));
}

void
pw_reasm_tick(struct pw_inet *inet, uint64_t now_us)
{
	do {
		rte_ip_frag_table_del_expired_entries(inet->reasm.table, &inet->reasm.dead, now_us);
		if (inet->reasm.dead.cnt == 0)
			return;
		bury(inet);
	} while (true);
}
