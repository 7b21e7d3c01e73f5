/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_chain.h"

#include "pw_sum.h"

struct rte_mbuf *
pw_chain_trim_front(struct rte_mbuf *m, uint32_t len_bytes)
{
	while (len_bytes >= m->data_len && m->next != NULL) {
		struct rte_mbuf *next = m->next;

		len_bytes -= m->data_len;
		next->pkt_len = m->pkt_len - m->data_len;
		next->nb_segs = m->nb_segs - 1;
		next->ol_flags |= m->ol_flags &
			(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
		m->next = NULL;
		m->nb_segs = 1;
		rte_pktmbuf_free_seg(m);
		m = next;
	}
	rte_pktmbuf_adj(m, len_bytes);
	return m;
}

void
pw_chain_cut(struct rte_mbuf *m, uint32_t len_bytes)
{
	struct rte_mbuf *last = m;
	uint32_t left = len_bytes;
	uint16_t segs = 1;

	while (left > last->data_len && last->next != NULL) {
		left -= last->data_len;
		last = last->next;
		segs++;
	}
	last->data_len = left;
	rte_pktmbuf_free(last->next);
	last->next = NULL;
	m->nb_segs = segs;
	m->pkt_len = len_bytes;
}

uint16_t
pw_chain_sum(const struct rte_mbuf *m, uint32_t offset_bytes)
{
	return pw_sum_fold(pw_sum_packet(m, offset_bytes, m->pkt_len - offset_bytes));
}
