/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gso.h"

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "app.h"
#include "port.h"
#include "pw_chain.h"
#include "pw_gro.h"

#define HEADER_MAX 192 /* Ethernet with two tags, IPv4 and TCP with options: 142 */
#define CACHE 64       /* as many as pieces: mostly a packet's come from there */

#define TSO_FLAGS (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM)
#define IPV4_FLAGS (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM)

const struct pw_stat pw_gso_stat_table[] = {
	PW_STAT(pw_gso_stats, tso_packets, "packets"),
	PW_STAT(pw_gso_stats, gso_packets, "packets"),
	PW_STAT(pw_gso_stats, gso_pieces, "packets"),
	PW_STAT(pw_gso_stats, dropped, "packets"),
	PW_STAT_END,
};

int
pw_gso_memory_open(struct pw_gso_memory *memory, const struct pw_app *app)
{
	/* What descriptors hold, one packet being cut, and what lies in caches. */
	unsigned queues = app->nb_ports * app->options.txq;
	unsigned n = queues * (app->options.txd + PW_GSO_PIECES_MAX) +
		2 * CACHE * rte_lcore_count();
	int socket = app->pool->socket_id;

	if (memory->headers == NULL)
		memory->headers = rte_pktmbuf_pool_create("pagewheel_gso_headers", n, CACHE, 0,
			RTE_PKTMBUF_HEADROOM + HEADER_MAX, socket);
	if (memory->headers != NULL && memory->references == NULL)
		memory->references = rte_pktmbuf_pool_create(
			"pagewheel_gso_references", n, CACHE, 0, 0, socket);
	return memory->references == NULL ? -rte_errno : 0;
}

static unsigned
close_pool(struct rte_mempool *pool)
{
	unsigned missing = pool == NULL ? 0 : rte_mempool_in_use_count(pool);

	rte_mempool_free(pool);
	return missing;
}

unsigned
pw_gso_memory_close(struct pw_gso_memory *memory)
{
	return close_pool(memory->headers) + close_pool(memory->references);
}

static bool
has_tso(const struct pw_port_info *info)
{
	return (info->tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_TSO) &&
		(info->tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
}

static bool
fills_cksums(const struct pw_port_info *info)
{
	uint64_t both = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;

	return (info->tx_offloads & both) == both;
}

int
pw_gso_open(struct pw_gso *gso, const struct pw_app *app, struct pw_port *port)
{
	struct pw_port_info info;
	int rc = port->ops->get_info(port, &info);

	if (rc < 0)
		return rc;
	*gso = (struct pw_gso){
		.tso = has_tso(&info),
		.inserts_vlan = info.tx_offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT,
		.types = PW_GRO_TCP_IPV4,
		.mbufs_max = PW_GSO_PIECES_MAX,
	};
	if (gso->tso) {
		gso->types = PW_GRO_TCP;
		gso->mbufs_max = info.tx_mbufs_max;
		return 0;
	}
	if (fills_cksums(&info))
		gso->cksum_flags = IPV4_FLAGS | RTE_MBUF_F_TX_TCP_CKSUM;
	if ((info.tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0)
		gso->copies = app->pool;
	rc = pw_gso_memory_open(app->gso_memory, app);
	gso->ctx = (struct rte_gso_ctx){
		.direct_pool = app->gso_memory->headers,
		.indirect_pool = app->gso_memory->references,
		.gso_types = RTE_ETH_TX_OFFLOAD_TCP_TSO,
	};
	return rc;
}

static uint16_t
drop(struct pw_gso *gso, struct rte_mbuf *m, uint16_t frames)
{
	gso->stats.dropped += frames;
	rte_pktmbuf_free(m);
	return 0;
}

static struct rte_ipv4_hdr *
ip_header(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, m->l2_len);
}

static struct rte_tcp_hdr *
tcp_header(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_tcp_hdr *, m->l2_len + m->l3_len);
}

/* A tag that was taken off when the packet came. */
static bool
put_tag_back(struct rte_mbuf **m, bool by_port)
{
	if (((*m)->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0)
		return true;
	if (!by_port)
		return rte_vlan_insert(m) == 0;
	(*m)->ol_flags |= RTE_MBUF_F_TX_VLAN;
	return true;
}

/* The port starts from the sum of the pseudo header without its length (rte_mbuf_core.h). */
static uint16_t
leave_to_port(struct pw_gso *gso, struct rte_mbuf *m, uint16_t frames, struct rte_mbuf **out)
{
	struct rte_ipv4_hdr *ip = ip_header(m);

	if (gso->mbufs_max != 0 && m->nb_segs > gso->mbufs_max)
		return drop(gso, m, frames);
	if (ip->version == 4) {
		m->ol_flags |= TSO_FLAGS | IPV4_FLAGS;
		ip->hdr_checksum = 0;
		tcp_header(m)->cksum = rte_ipv4_phdr_cksum(ip, m->ol_flags);
	} else {
		/* Behind extension headers drivers' tx_prepare would sum up the wrong protocol. */
		if (m->l3_len != sizeof(struct rte_ipv6_hdr))
			return drop(gso, m, frames);
		m->ol_flags |= TSO_FLAGS | RTE_MBUF_F_TX_IPV6;
		tcp_header(m)->cksum = rte_ipv6_phdr_cksum((void *)ip, m->ol_flags);
	}
	gso->stats.tso_packets++;
	*out = m;
	return 1;
}

/* librte_gso copies the first mbuf's flags to headers of its own: they must not say "external". */
static struct rte_mbuf *
give_own_header(struct pw_gso *gso, struct rte_mbuf *m)
{
	uint16_t bytes = m->l2_len + m->l3_len + m->l4_len;
	struct rte_mbuf *header;

	if (RTE_MBUF_DIRECT(m))
		return m;
	header = rte_pktmbuf_alloc(gso->ctx.direct_pool);
	if (header == NULL)
		return NULL;
	memcpy(rte_pktmbuf_append(header, bytes), rte_pktmbuf_mtod(m, void *), bytes);
	header->ol_flags = m->ol_flags & (RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
	header->vlan_tci = m->vlan_tci;
	header->tx_offload = m->tx_offload;
	header->pkt_len = m->pkt_len;
	header->nb_segs = m->nb_segs + 1;
	header->next = m;
	rte_pktmbuf_adj(m, bytes);
	return header;
}

/* librte_gso refers to no bytes behind a header that fills its mbuf: cards refuse empty mbufs. */
static void
remove_empty(struct rte_mbuf *piece)
{
	struct rte_mbuf *second = piece->next;

	if (second->data_len > 0)
		return;
	piece->next = second->next;
	piece->nb_segs--;
	second->next = NULL;
	rte_pktmbuf_free_seg(second);
}

/* librte_gso leaves checksums to others. */
static void
fill_cksums(const struct pw_gso *gso, struct rte_mbuf *piece)
{
	struct rte_ipv4_hdr *ip = ip_header(piece);
	struct rte_tcp_hdr *tcp = tcp_header(piece);
	uint32_t sum;

	piece->ol_flags = gso->cksum_flags;
	ip->hdr_checksum = 0;
	tcp->cksum = 0;
	if (gso->cksum_flags != 0) {
		tcp->cksum = rte_ipv4_phdr_cksum(ip, piece->ol_flags);
		return;
	}
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	sum = (uint32_t)rte_ipv4_phdr_cksum(ip, 0) +
		pw_chain_sum(piece, piece->l2_len + piece->l3_len);
	tcp->cksum = ~((sum >> 16) + (sum & 0xffff));
}

/* One mbuf instead of a chain. */
static uint16_t
copy_pieces(struct pw_gso *gso, struct rte_mbuf **pieces, uint16_t n)
{
	uint16_t copied = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *copy = rte_pktmbuf_copy(pieces[i], gso->copies, 0, UINT32_MAX);

		rte_pktmbuf_free(pieces[i]);
		if (copy != NULL)
			pieces[copied++] = copy;
	}
	gso->stats.dropped += n - copied;
	return copied;
}

static uint16_t
cut_here(struct pw_gso *gso, struct rte_mbuf *m, uint16_t frames, struct rte_mbuf **out)
{
	int n;

	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4;
	gso->ctx.gso_size = m->l2_len + m->l3_len + m->l4_len + m->tso_segsz;
	n = rte_gso_segment(m, &gso->ctx, out, PW_GSO_PIECES_MAX);
	if (n <= 0 || out[0] == m)
		return drop(gso, m, frames);
	rte_pktmbuf_free(m);
	remove_empty(out[0]);
	gso->stats.gso_packets++;
	gso->stats.gso_pieces += n;
	for (int i = 0; i < n; i++)
		fill_cksums(gso, out[i]);
	return gso->copies == NULL ? n : copy_pieces(gso, out, n);
}

/* What a card or a guest merged does not say how: GRO leaves it alone, and it cannot be cut. */
static bool
is_cuttable(const struct rte_mbuf *m)
{
	return m->l2_len != 0 && m->l4_len != 0 && m->tso_segsz != 0;
}

uint16_t
pw_gso_cut(struct pw_gso *gso, struct rte_mbuf *m, struct rte_mbuf **out)
{
	bool merged = m->ol_flags & RTE_MBUF_F_RX_LRO, here = merged && !gso->tso;
	uint16_t frames = merged && is_cuttable(m) ? pw_gro_segments(m) : 1;
	struct rte_mbuf *own;

	if (merged && !is_cuttable(m))
		return drop(gso, m, frames);
	own = here ? give_own_header(gso, m) : m;
	m->ol_flags &= ~RTE_MBUF_F_RX_LRO;
	if (own == NULL || !put_tag_back(&own, gso->inserts_vlan && !here))
		return drop(gso, own == NULL ? m : own, frames);
	if (here)
		return cut_here(gso, own, frames, out);
	if (merged)
		return leave_to_port(gso, own, frames, out);
	*out = own;
	return 1;
}
