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
	struct rte_ether_addr *addresses = append(m, 2 * sizeof(*addresses));

	addresses[0] = pw_packet_mac(packet->dst_ip);
	addresses[1] = pw_packet_mac(packet->src_ip);
	for (unsigned i = 0; i < packet->nb_tags; i++) {
		uint8_t *tag = append(m, 4);

		pw_frame_put(tag, packet->tags[i].type, 2);
		pw_frame_put(tag + 2, packet->tags[i].tci, 2);
	}
	pw_frame_put(append(m, 2), packet->ipv6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4, 2);
}

static uint32_t
l4_bytes(const struct pw_packet *packet)
{
	return pw_packet_header_bytes(packet) - pw_packet_l4_offset(packet) + packet->payload_bytes;
}

static uint8_t
l4_proto(const struct pw_packet *packet)
{
	return packet->udp ? IPPROTO_UDP : IPPROTO_TCP;
}

static void
append_ipv4(struct rte_mbuf *m, const struct pw_packet *packet)
{
	uint16_t header = sizeof(struct rte_ipv4_hdr) + packet->ip_options_bytes;
	struct rte_ipv4_hdr *ip = append(m, header);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = 4 << 4 | header / 4,
		.type_of_service = packet->tos,
		.total_length = rte_cpu_to_be_16(header + l4_bytes(packet)),
		.packet_id = rte_cpu_to_be_16(packet->ip_id),
		.fragment_offset = rte_cpu_to_be_16(packet->ip_frag),
		.time_to_live = packet->ttl,
		.next_proto_id = l4_proto(packet),
		.src_addr = rte_cpu_to_be_32(packet->src_ip),
		.dst_addr = rte_cpu_to_be_32(packet->dst_ip),
	};
	memset(ip + 1, 1, packet->ip_options_bytes);
}

void
pw_packet_add_ext(struct pw_packet *packet, uint8_t type, uint8_t content)
{
	struct pw_packet_ext *ext = &packet->exts[packet->nb_exts++];

	assert_true(packet->nb_exts <= PW_PACKET_EXTS);
	ext->type = type;
	ext->data[0] = 0;
	memset(ext->data + 1, content, 5);
}

/* The type of header number i behind the IPv6 header. */
static uint8_t
next_header(const struct pw_packet *packet, unsigned i)
{
	return i < packet->nb_exts ? packet->exts[i].type : l4_proto(packet);
}

static void
append_ipv6(struct rte_mbuf *m, const struct pw_packet *packet)
{
	uint8_t *ip = append(m, 40);

	pw_frame_put(ip, 6u << 28 | packet->tos << 20 | packet->flow_label, 4);
	pw_frame_put(ip + 4, 8 * packet->nb_exts + l4_bytes(packet), 2);
	ip[6] = next_header(packet, 0);
	ip[7] = packet->ttl;
	ip[8] = ip[24] = 0xfd;
	pw_frame_put(ip + 20, packet->src_ip, 4);
	pw_frame_put(ip + 36, packet->dst_ip, 4);
	for (unsigned i = 0; i < packet->nb_exts; i++) {
		uint8_t *ext = append(m, 8);

		ext[0] = next_header(packet, i + 1);
		memcpy(ext + 2, packet->exts[i].data, 6);
	}
}

static void
append_payload(struct rte_mbuf *m, const struct pw_packet *packet)
{
	uint32_t offset = packet->seq - packet->payload_base;
	uint8_t *payload = append(m, packet->payload_bytes);

	for (uint32_t i = 0; i < packet->payload_bytes; i++)
		payload[i] = pw_packet_byte(offset + i);
}

static void
append_tcp(struct rte_mbuf *m, const struct pw_packet *packet)
{
	struct rte_tcp_hdr *tcp = append(m, sizeof(*tcp) + packet->options_bytes);

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
	append_payload(m, packet);
}

static void
append_udp(struct rte_mbuf *m, const struct pw_packet *packet)
{
	uint8_t *udp = append(m, 8);

	pw_frame_put(udp, packet->src_port, 2);
	pw_frame_put(udp + 2, packet->dst_port, 2);
	pw_frame_put(udp + 4, l4_bytes(packet), 2);
	append_payload(m, packet);
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
	if (packet->ipv6)
		append_ipv6(m, packet);
	else
		append_ipv4(m, packet);
	if (packet->udp)
		append_udp(m, packet);
	else
		append_tcp(m, packet);
	pw_packet_fix_cksums(m);
	if (packet->no_cksum)
		pw_frame_put(rte_pktmbuf_mtod_offset(m, uint8_t *, pw_packet_l4_offset(packet) + 6),
			0, 2);
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
	pw_frame_fix_cksums(rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
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
	__rte_pktmbuf_copy_hdr(copy, m);
	copy->ol_flags |= m->ol_flags;
	copy->data_off = 0;
	copy->data_len = m->data_len;
	copy->pkt_len = m->data_len;
	rte_pktmbuf_free(m);
	return copy;
}

struct rte_mbuf *
pw_packet_clone(struct rte_mempool *pool, struct rte_mbuf *m)
{
	struct rte_mbuf *clone = rte_pktmbuf_clone(m, pool);

	assert_non_null(clone);
	rte_pktmbuf_free(m);
	return clone;
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
