/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Frames through GRO, IP, TCP and UDP. The input is a list of records: a kind, two bytes of length,
 * and so many bytes. KIND_RAW is a frame as it is. KIND_SEGMENT is a TCP segment of one connection,
 * its numbers relative to what our end sent last, with right checksums, so that the fuzzer gets
 * behind them. KIND_PACKET is what is behind the addresses of an IP packet of either family, made
 * right alike. WAIT lets time pass. Echo applications send back what arrives. At the end every
 * buffer has to be back.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "fuzz_pools.h"
#include "pw_gro.h"
#include "pw_inet.h"
#include "pw_tcp.h"

#define MBUFS 2048
#define FRAGS_BYTES (2 << 20)
#define OUR_IP 0xc6120002u  /* 198.18.0.2 */
#define PEER_IP 0xc6120001u /* 198.18.0.1 */
#define PEER_PORT 40000
#define ECHO_PORT 7

enum kind { KIND_RAW, KIND_SEGMENT, KIND_WAIT, KIND_PACKET, KINDS };

static const struct pw_addr our_ip6 = {.bytes = {0xfd, [15] = 2}};
static const struct pw_addr peer_ip6 = {.bytes = {0xfd, [15] = 1}};
static const struct rte_ether_addr our_mac = {{2, 0, 0, 0, 0, 2}};
static const struct rte_ether_addr peer_mac = {{2, 0, 0, 0, 0, 1}};

struct world {
	struct pw_gro *gro;
	struct pw_inet *inet;
	struct pw_tcp *tcp;
	uint64_t now_us;
	uint32_t peer_nxt; /* what our end acknowledged last */
	uint32_t our_nxt;  /* what our end will send next */
};

static void
learn(struct world *world, const struct rte_mbuf *frame)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
		frame, const struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
	const struct rte_tcp_hdr *tcp = (const void *)(ip + 1);

	if (frame->data_len < RTE_ETHER_HDR_LEN + sizeof(*ip) + sizeof(*tcp) ||
		ip->next_proto_id != 6 || tcp->dst_port != rte_cpu_to_be_16(PEER_PORT))
		return;
	world->peer_nxt = rte_be_to_cpu_32(tcp->recv_ack);
	world->our_nxt = rte_be_to_cpu_32(tcp->sent_seq) + frame->pkt_len - RTE_ETHER_HDR_LEN -
		sizeof(*ip) - (tcp->data_off >> 4) * 4 + !!(tcp->tcp_flags & RTE_TCP_SYN_FLAG);
}

static void
frame_out(void *ctx, struct rte_mbuf *frame)
{
	learn(ctx, frame);
	rte_pktmbuf_free(frame);
}

static void
gro_out(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	struct world *world = ctx;

	for (uint16_t i = 0; i < n; i++)
		pw_inet_input(world->inet, pkts[i], world->now_us);
}

static void
segment_in(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct world *world = ctx;

	pw_tcp_input(world->tcp, segment, ip, now_us);
}

static bool
datagram_in(void *ctx, struct rte_mbuf *datagram, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct world *world = ctx;
	struct pw_ip_info back = {.src = ip->dst, .dst = ip->src, .tos = ip->tos};
	struct rte_udp_hdr *udp = rte_pktmbuf_mtod(datagram, struct rte_udp_hdr *);
	rte_be16_t port = udp->dst_port;

	if (port != rte_cpu_to_be_16(ECHO_PORT))
		return false;
	udp->dst_port = udp->src_port;
	udp->src_port = port;
	pw_inet_output_udp(world->inet, datagram, &back, now_us);
	return true;
}

static void
segment_out(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct world *world = ctx;

	pw_inet_output_tcp(world->inet, segment, ip, now_us);
}

static void
echo(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct rte_mbuf *m;

	(void)app_ctx;
	while ((m = pw_tcp_recv(conn)) != NULL) {
		for (struct rte_mbuf *seg = m; seg != NULL; seg = seg->next)
			pw_tcp_send(conn, rte_pktmbuf_mtod(seg, const void *), seg->data_len);
		rte_pktmbuf_free(m);
	}
	if (pw_tcp_at_end(conn))
		pw_tcp_shutdown(conn);
}

static const struct pw_tcp_app app = {.name = "echo", .readable = echo};

static void
open_world(struct world *world)
{
	struct pw_gro_params gro = {.output = gro_out, .ctx = world, .socket_id = SOCKET_ID_ANY};
	struct pw_inet_params inet = {
		.mac = our_mac,
		.addresses = {{pw_addr_from_ipv4(RTE_BE32(OUR_IP)), 24}, {our_ip6, 64}},
		.nb_addresses = 2,
		.mtu_bytes = 1500,
		.pool = fuzz_mbufs,
		.ops = {.output = frame_out, .tcp_input = segment_in, .udp_input = datagram_in},
		.ctx = world,
	};
	struct pw_tcp_params tcp = {
		.output = segment_out,
		.ctx = world,
		.pool = fuzz_mbufs,
		.frags = fuzz_frags,
		.max_conns = 16,
		.rcvbuf_bytes = 16384,
		.sndbuf_bytes = 16384,
		.max_held_mbufs = MBUFS / 2,
		.mtu_bytes = 1500,
		.secret = {1},
	};

	world->now_us = 1000000;
	world->peer_nxt = 0xfffff000; /* numbers wrap soon */
	world->gro = pw_gro_create(&gro);
	world->inet = pw_inet_create(&inet);
	world->tcp = pw_tcp_create(&tcp);
	if (world->gro == NULL || world->inet == NULL || world->tcp == NULL ||
		pw_tcp_listen(world->tcp, ECHO_PORT, &app, NULL) < 0)
		abort();
}

static void
close_world(struct world *world)
{
	pw_gro_flush(world->gro);
	pw_tcp_destroy(world->tcp);
	pw_gro_destroy(world->gro);
	pw_inet_destroy(world->inet);
	fuzz_pools_expect_home();
}

static struct rte_mbuf *
new_frame(const void *data, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(fuzz_mbufs);
	void *room = m == NULL ? NULL : rte_pktmbuf_append(m, len);

	if (room == NULL)
		abort();
	memcpy(room, data, len);
	return m;
}

static void
receive(struct world *world, struct rte_mbuf *m)
{
	pw_gro_receive(world->gro, &m, 1, world->now_us);
}

/* Flags, sequence and ACK numbers relative to what is expected, window, then options and payload.
 */
static void
send_segment(struct world *world, const uint8_t *data, uint16_t len)
{
	struct {
		struct rte_ether_hdr eth;
		struct rte_ipv4_hdr ip;
		struct rte_tcp_hdr tcp;
		uint8_t rest[1400];
	} __rte_packed frame = {
		.eth = {our_mac, peer_mac, rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)},
		.ip = {.version_ihl = RTE_IPV4_VHL_DEF, .time_to_live = 64, .next_proto_id = 6},
	};
	int16_t seq, ack;
	uint16_t rest;

	if (len < 8)
		return;
	memcpy(&seq, data + 1, 2);
	memcpy(&ack, data + 3, 2);
	rest = RTE_MIN(len - 8, (int)sizeof(frame.rest));
	memcpy(frame.rest, data + 8, rest);
	frame.ip.src_addr = rte_cpu_to_be_32(PEER_IP);
	frame.ip.dst_addr = rte_cpu_to_be_32(OUR_IP);
	frame.ip.total_length = rte_cpu_to_be_16(40 + rest);
	frame.ip.hdr_checksum = rte_ipv4_cksum(&frame.ip);
	frame.tcp.src_port = rte_cpu_to_be_16(PEER_PORT);
	frame.tcp.dst_port = rte_cpu_to_be_16(ECHO_PORT);
	frame.tcp.tcp_flags = data[0];
	frame.tcp.sent_seq = rte_cpu_to_be_32(world->peer_nxt + seq);
	frame.tcp.recv_ack = rte_cpu_to_be_32(world->our_nxt + ack);
	frame.tcp.rx_win = rte_cpu_to_be_16(data[5] << 8);
	frame.tcp.data_off = (5 + data[6] % 11) << 4;
	frame.tcp.cksum = rte_ipv4_udptcp_cksum(&frame.ip, &frame.tcp);
	receive(world, new_frame(&frame, RTE_ETHER_HDR_LEN + 40 + rest));
	if (data[7] & 1)
		pw_gro_flush(world->gro);
}

static void
send_ipv4(struct world *world, uint8_t *frame, const uint8_t *data, uint16_t rest)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);
	uint8_t *l4 = (uint8_t *)(ip + 1);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(sizeof(*ip) + rest),
		.packet_id = data[4],
		.fragment_offset = rte_cpu_to_be_16((data[2] & 0x20) << 8 | data[3]),
		.time_to_live = 64,
		.next_proto_id = data[1],
		.src_addr = rte_cpu_to_be_32(PEER_IP),
		.dst_addr = rte_cpu_to_be_32(OUR_IP),
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (data[1] == IPPROTO_UDP && rest >= 8)
		memset(l4 + 6, 0, 2); /* there is none */
	if (data[1] == IPPROTO_ICMP && rest >= 4) {
		uint16_t cksum;

		memset(l4 + 2, 0, 2);
		cksum = ~rte_raw_cksum(l4, rest);
		memcpy(l4 + 2, &cksum, 2);
	}
	receive(world, new_frame(frame, RTE_ETHER_HDR_LEN + sizeof(*ip) + rest));
}

static void
send_ipv6(struct world *world, uint8_t *frame, const uint8_t *data, uint16_t rest)
{
	struct rte_ipv6_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);
	uint8_t *l4 = (uint8_t *)(ip + 1);
	uint8_t field = data[1] == IPPROTO_UDP ? 6 : 2;
	uint16_t cksum;

	ip->vtc_flow = rte_cpu_to_be_32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16(rest);
	ip->proto = data[1];
	ip->hop_limits = data[2];
	memcpy(&ip->src_addr, peer_ip6.bytes, 16);
	memcpy(&ip->dst_addr, our_ip6.bytes, 16);
	if ((data[1] == IPPROTO_UDP || data[1] == IPPROTO_ICMPV6) && rest >= field + 2) {
		memset(l4 + field, 0, 2);
		cksum = rte_ipv6_udptcp_cksum(ip, l4);
		memcpy(l4 + field, &cksum, 2);
	}
	receive(world, new_frame(frame, RTE_ETHER_HDR_LEN + sizeof(*ip) + rest));
}

/* Family, protocol, then flags, fragment offset and ID or the hop limit; then what is in it. */
static void
send_packet(struct world *world, const uint8_t *data, uint16_t len)
{
	uint8_t frame[1514] = {0};
	struct rte_ether_hdr *eth = (void *)frame;
	bool ipv6;
	uint16_t rest, headers;

	if (len < 5)
		return;
	ipv6 = data[0] & 1;
	headers = sizeof(*eth) + (ipv6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr));
	rest = RTE_MIN(len - 5, (int)sizeof(frame) - headers);
	*eth = (struct rte_ether_hdr){our_mac, peer_mac,
		rte_cpu_to_be_16(ipv6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4)};
	memcpy(frame + headers, data + 5, rest);
	(ipv6 ? send_ipv6 : send_ipv4)(world, frame, data, rest);
}

static void
let_time_pass(struct world *world, uint16_t len)
{
	pw_gro_flush(world->gro);
	world->now_us += (uint64_t)len * 1000;
	pw_inet_tick(world->inet, world->now_us);
	pw_tcp_tick(world->tcp, world->now_us);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_pools_open(MBUFS, FRAGS_BYTES);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {0};

	open_world(&world);
	while (size >= 3) {
		enum kind kind = data[0] % KINDS;
		uint16_t len = (uint16_t)(data[1] << 8 | data[2]) % 1501;

		data += 3;
		size -= 3;
		if (kind == KIND_WAIT) {
			let_time_pass(&world, len);
			continue;
		}
		len = RTE_MIN(len, size);
		if (kind == KIND_SEGMENT)
			send_segment(&world, data, len);
		else if (kind == KIND_PACKET)
			send_packet(&world, data, len);
		else
			receive(&world, new_frame(data, len));
		data += len;
		size -= len;
	}
	close_world(&world);
	return 0;
}
