/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_packet.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

struct rte_ether_addr
pw_packet_mac(uint32_t ip)
{
	return (struct rte_ether_addr){{2, 0, ip >> 24, ip >> 16, ip >> 8, ip}};
}

void
pw_packet_put(uint8_t *p, uint32_t value, unsigned bytes)
{
	while (bytes-- > 0)
		*p++ = value >> (8 * bytes);
}

static void *
append(struct rte_mbuf *m, uint16_t bytes)
{
	void *p = rte_pktmbuf_append(m, bytes);

	assert_non_null(p);
	return memset(p, 0, bytes);
}

static void
append_ether(struct rte_mbuf *m, const struct pw_packet *packet)
{
	struct rte_ether_hdr *eth = append(m, sizeof(*eth));

	eth->dst_addr = pw_packet_mac(packet->dst_ip);
	eth->src_addr = pw_packet_mac(packet->src_ip);
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

static uint32_t
tcp_bytes(const struct pw_packet *packet)
{
	return sizeof(struct rte_tcp_hdr) + packet->options_bytes + packet->payload_bytes;
}

static void
append_ip(struct rte_mbuf *m, const struct pw_packet *packet)
{
	uint16_t header = sizeof(struct rte_ipv4_hdr) + packet->ip_options_bytes;
	struct rte_ipv4_hdr *ip = append(m, header);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = 4 << 4 | header / 4,
		.type_of_service = packet->tos,
		.total_length = rte_cpu_to_be_16(header + tcp_bytes(packet)),
		.packet_id = rte_cpu_to_be_16(packet->ip_id),
		.fragment_offset = rte_cpu_to_be_16(packet->ip_frag),
		.time_to_live = packet->ttl,
		.next_proto_id = IPPROTO_TCP,
		.src_addr = rte_cpu_to_be_32(packet->src_ip),
		.dst_addr = rte_cpu_to_be_32(packet->dst_ip),
	};
	memset(ip + 1, 1, packet->ip_options_bytes);
}

static void
append_tcp(struct rte_mbuf *m, const struct pw_packet *packet)
{
	uint32_t offset = packet->seq - packet->payload_base;
	struct rte_tcp_hdr *tcp = append(m, sizeof(*tcp) + packet->options_bytes);
	uint8_t *payload = append(m, packet->payload_bytes);

	*tcp = (struct rte_tcp_hdr){
		.src_port = rte_cpu_to_be_16(packet->src_port),
		.dst_port = rte_cpu_to_be_16(packet->dst_port),
		.sent_seq = rte_cpu_to_be_32(packet->seq),
		.recv_ack = rte_cpu_to_be_32(packet->ack),
		.data_off = (20 + packet->options_bytes) / 4 << 4 | packet->reserved,
		.tcp_flags = packet->flags,
		.rx_win = rte_cpu_to_be_16(packet->window),
	};
	memcpy(tcp + 1, packet->options, packet->options_bytes);
	for (uint32_t i = 0; i < packet->payload_bytes; i++)
		payload[i] = pw_packet_byte(offset + i);
}

static struct rte_mbuf *
new_mbuf(struct rte_mempool *pool)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	return m;
}

struct rte_mbuf *
pw_packet_frame(struct rte_mempool *pool, const struct pw_packet *packet)
{
	struct rte_mbuf *m = new_mbuf(pool);

	append_ether(m, packet);
	append_ip(m, packet);
	append_tcp(m, packet);
	pw_packet_fix_cksums(m);
	memset(append(m, packet->pad_bytes), 0xa5, packet->pad_bytes);
	return m;
}

struct rte_mbuf *
pw_packet_segment(struct rte_mempool *pool, const struct pw_packet *packet)
{
	struct rte_mbuf *m = new_mbuf(pool);

	append_tcp(m, packet);
	return m;
}

void
pw_packet_fix_cksums(struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14);
	uint16_t header = rte_ipv4_hdr_len(ip), total = rte_be_to_cpu_16(ip->total_length);
	struct rte_tcp_hdr *tcp = (void *)((char *)ip + header);

	if (m->data_len < 14 + header)
		return;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (header + sizeof(*tcp) > total || 14 + total > m->data_len)
		return;
	tcp->cksum = 0;
	tcp->cksum = rte_ipv4_udptcp_cksum(ip, tcp);
}

static void
check_payload(const struct rte_mbuf *m, uint32_t skip, uint32_t offset)
{
	for (; m != NULL; m = m->next, skip = 0)
		for (uint32_t i = skip; i < m->data_len; i++, offset++)
			if (*rte_pktmbuf_mtod_offset(m, uint8_t *, i) != pw_packet_byte(offset))
				fail_msg("payload is wrong at offset %u of the stream", offset);
}

void
pw_packet_read_segment(const struct rte_mbuf *m, struct pw_packet *packet)
{
	const struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod(m, const struct rte_tcp_hdr *);
	uint8_t header = (tcp->data_off >> 4) * 4;

	assert_in_range(header, sizeof(*tcp), m->data_len);
	packet->src_port = rte_be_to_cpu_16(tcp->src_port);
	packet->dst_port = rte_be_to_cpu_16(tcp->dst_port);
	packet->seq = rte_be_to_cpu_32(tcp->sent_seq);
	packet->ack = rte_be_to_cpu_32(tcp->recv_ack);
	packet->flags = tcp->tcp_flags;
	packet->window = rte_be_to_cpu_16(tcp->rx_win);
	packet->options_bytes = header - sizeof(*tcp);
	memcpy(packet->options, tcp + 1, packet->options_bytes);
	packet->payload_bytes = m->pkt_len - header;
	check_payload(m, header, packet->seq - packet->payload_base);
}

static unsigned exact_count;

unsigned
pw_packet_exact_count(void)
{
	return exact_count;
}

static void
free_exact(void *data, void *opaque)
{
	(void)data;
	exact_count--;
	free(opaque);
}

struct rte_mbuf *
pw_packet_exact(struct rte_mempool *pool, struct rte_mbuf *m)
{
	struct exact {
		struct rte_mbuf_ext_shared_info shinfo;
		char data[];
	} *exact = malloc(sizeof(*exact) + m->data_len);
	struct rte_mbuf *copy = new_mbuf(pool);

	assert_non_null(exact);
	exact_count++;
	exact->shinfo.free_cb = free_exact;
	exact->shinfo.fcb_opaque = exact;
	rte_mbuf_ext_refcnt_set(&exact->shinfo, 1);
	memcpy(exact->data, rte_pktmbuf_mtod(m, char *), m->data_len);
	rte_pktmbuf_attach_extbuf(copy, exact->data, RTE_BAD_IOVA, m->data_len, &exact->shinfo);
	copy->data_off = 0;
	copy->data_len = m->data_len;
	copy->pkt_len = m->data_len;
	rte_pktmbuf_free(m);
	return copy;
}

void
pw_packet_split(struct rte_mempool *pool, struct rte_mbuf *m, uint16_t offset)
{
	uint16_t bytes = m->data_len - offset;
	struct rte_mbuf *second = new_mbuf(pool);

	memcpy(append(second, bytes), rte_pktmbuf_mtod_offset(m, char *, offset), bytes);
	m->data_len = offset;
	second->next = m->next;
	m->next = second;
	m->nb_segs++;
}

struct rte_mempool *
pw_packet_pool(unsigned mbufs, uint16_t data_bytes)
{
	static unsigned count;
	struct rte_mempool *pool;
	char name[32];

	snprintf(name, sizeof(name), "packets%u", count++);
	pool = rte_pktmbuf_pool_create(
		name, mbufs, 0, 0, RTE_PKTMBUF_HEADROOM + data_bytes, SOCKET_ID_ANY);
	assert_non_null(pool);
	return pool;
}
