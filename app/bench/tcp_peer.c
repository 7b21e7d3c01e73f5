/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_peer.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define US_IPV4 RTE_IPV4(10, 0, 0, 1)
#define PEERS_IPV4 RTE_IPV4(10, 1, 0, 0) /* of the first of them */
#define FIRST_PORT 1024
#define PORTS 32768U

/* Numbers of the active ones, behind those of the idle ones. */
#define ACTIVE_FIRST (1U << 21)

/* Before anything is measured. */
#define IDLE_MS 5000

/* RFC 9293 3.2, 7323. */
#define OPT_NOP 1
#define OPT_MSS 2
#define OPT_WSCALE 3
#define OPT_SACK_OK 4
#define OPT_TS 8
#define TS_BYTES 10

/* What comes before the TCP header in a frame. */
#define FRAME_HEADERS_BYTES (sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr))
#define OPTIONS_BYTES 12
#define HEADER_BYTES (sizeof(struct rte_tcp_hdr) + OPTIONS_BYTES)

static void
init_peer(struct pw_tcp_bench_peer *peer, uint32_t number)
{
	*peer = (struct pw_tcp_bench_peer){
		.ip = {.src = pw_addr_from_ipv4(rte_cpu_to_be_32(PEERS_IPV4 + number / PORTS)),
			.dst = pw_addr_from_ipv4(RTE_BE32(US_IPV4))},
		.number = number,
		.seq = number * 0x9e3779b1, /* some are about to wrap */
	};
}

void
pw_tcp_bench_peers_renew(struct pw_tcp_bench_peers *peers, uint32_t first)
{
	for (uint32_t i = 0; i < PW_TCP_BENCH_FRESH; i++)
		init_peer(&peers->fresh[i], first + i);
}

static struct pw_tcp_bench_peer *
find_peer(struct pw_tcp_bench_peers *peers, const struct pw_addr *addr, rte_be16_t port)
{
	uint32_t host = rte_be_to_cpu_32(pw_addr_to_ipv4(addr)) - PEERS_IPV4;
	uint32_t number = host * PORTS + rte_be_to_cpu_16(port) - FIRST_PORT;
	struct pw_tcp_bench_peer *peer = &peers->fresh[number % PW_TCP_BENCH_FRESH];

	if (number >= ACTIVE_FIRST && number < ACTIVE_FIRST + PW_TCP_BENCH_ACTIVE)
		return &peers->active[number - ACTIVE_FIRST];
	return peer->number == number ? peer : NULL;
}

static uint8_t *
put_be32(uint8_t *p, uint32_t value)
{
	const rte_be32_t be = rte_cpu_to_be_32(value);

	memcpy(p, &be, sizeof(be));
	return p + sizeof(be);
}

static uint32_t
get_be32(const uint8_t *p)
{
	rte_be32_t be;

	memcpy(&be, p, sizeof(be));
	return rte_be_to_cpu_32(be);
}

/* Returns how many bytes. */
static uint32_t
write_options(const struct pw_tcp_bench_peers *peers, const struct pw_tcp_bench_peer *peer,
	bool syn, uint8_t *options)
{
	static const uint8_t of_syn[] = {OPT_MSS, 4, 1460 >> 8, 1460 & 0xff, OPT_WSCALE, 3, 7,
		OPT_NOP, OPT_SACK_OK, 2, OPT_TS, TS_BYTES};
	static const uint8_t of_others[] = {OPT_NOP, OPT_NOP, OPT_TS, TS_BYTES};
	uint32_t bytes = syn ? sizeof(of_syn) : sizeof(of_others);

	memcpy(options, syn ? of_syn : of_others, bytes);
	put_be32(put_be32(options + bytes, (uint32_t)(peers->endpoint->now_us / 1000)),
		peer->ts_ecr);
	return bytes + 8;
}

/* NULL: none left, and counted. */
static struct rte_mbuf *
new_segment(struct pw_tcp_bench_peers *peers, const struct pw_tcp_bench_peer *peer, uint8_t flags,
	uint32_t payload_bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(peers->mp);
	struct rte_tcp_hdr *hdr;
	uint32_t header;

	if (m == NULL) {
		peers->no_mbuf++;
		return NULL;
	}
	m->data_off += FRAME_HEADERS_BYTES;
	hdr = rte_pktmbuf_mtod(m, struct rte_tcp_hdr *);
	header = sizeof(*hdr) +
		write_options(peers, peer, flags & RTE_TCP_SYN_FLAG, (uint8_t *)(hdr + 1));
	*hdr = (struct rte_tcp_hdr){
		.src_port = rte_cpu_to_be_16(FIRST_PORT + peer->number % PORTS),
		.dst_port = RTE_BE16(PW_TCP_BENCH_PORT),
		.sent_seq = rte_cpu_to_be_32(peer->seq),
		.recv_ack = rte_cpu_to_be_32(peer->ack),
		.data_off = (header / 4) << 4,
		.tcp_flags = flags,
		.rx_win = RTE_BE16(UINT16_MAX),
	};
	m->data_len = header + payload_bytes;
	m->pkt_len = m->data_len;
	return m;
}

static void
add_to_burst(
	struct pw_tcp_bench_burst *burst, struct rte_mbuf *m, const struct pw_tcp_bench_peer *peer)
{
	burst->segments[burst->n] = m;
	burst->ips[burst->n++] = &peer->ip;
}

void
pw_tcp_bench_peer_send(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_peer *peer,
	uint8_t flags, uint32_t payload_bytes, struct pw_tcp_bench_burst *burst)
{
	struct rte_mbuf *m = new_segment(peers, peer, flags, payload_bytes);

	if (m == NULL)
		return;
	add_to_burst(burst, m, peer);
	peer->seq += payload_bytes + ((flags & (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG)) != 0);
	peers->sent_bytes += payload_bytes;
}

/* What GRO leaves of a segment behind the first: payload at its place in the buffer. */
static bool
append_payload(struct pw_tcp_bench_peers *peers, struct rte_mbuf *head)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(peers->mp);

	if (m == NULL) {
		peers->no_mbuf++;
		return false;
	}
	m->data_off += FRAME_HEADERS_BYTES + HEADER_BYTES;
	m->data_len = PW_TCP_BENCH_SEGMENT_BYTES;
	m->pkt_len = m->data_len;
	rte_pktmbuf_chain(head, m);
	return true;
}

void
pw_tcp_bench_peer_send_merged(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_peer *peer,
	unsigned segments, struct pw_tcp_bench_burst *burst)
{
	struct rte_mbuf *head = new_segment(
		peers, peer, RTE_TCP_ACK_FLAG, PW_TCP_BENCH_SEGMENT_BYTES);

	if (head == NULL)
		return;
	while (head->nb_segs < segments && append_payload(peers, head))
		;
	add_to_burst(burst, head, peer);
	peer->seq += head->nb_segs * PW_TCP_BENCH_SEGMENT_BYTES;
	peers->sent_bytes += head->nb_segs * PW_TCP_BENCH_SEGMENT_BYTES;
}

/* The endpoint's timestamp, which is left as it was where there is none. */
static void
read_timestamp(struct pw_tcp_bench_peer *peer, const struct rte_tcp_hdr *hdr)
{
	const uint8_t *opt = (const uint8_t *)(hdr + 1);
	const uint8_t *end = (const uint8_t *)hdr + (hdr->data_off >> 4) * 4;

	while (end - opt >= TS_BYTES) {
		if (opt[0] == OPT_TS) {
			peer->ts_ecr = get_be32(opt + 2);
			return;
		}
		opt += opt[0] == OPT_NOP ? 1 : RTE_MAX(opt[1], 2);
	}
}

static void
hear(struct pw_tcp_bench_peers *peers, const struct rte_mbuf *m, const struct pw_addr *dst,
	struct pw_tcp_bench_burst *acks)
{
	const struct rte_tcp_hdr *hdr = rte_pktmbuf_mtod(m, const struct rte_tcp_hdr *);
	struct pw_tcp_bench_peer *peer = find_peer(peers, dst, hdr->dst_port);
	uint32_t seq = rte_be_to_cpu_32(hdr->sent_seq), bytes = m->pkt_len - m->l4_len;

	if (peer == NULL || (hdr->tcp_flags & RTE_TCP_RST_FLAG)) {
		peers->unexpected++;
		return;
	}
	if (hdr->tcp_flags & RTE_TCP_SYN_FLAG)
		peer->ack = seq;
	peers->unexpected += seq != peer->ack;
	peer->ack = seq + bytes + ((hdr->tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG)) != 0);
	peers->received_bytes += bytes;
	read_timestamp(peer, hdr);
	if (bytes > 0 && acks != NULL && acks->n < PW_TCP_BENCH_BURST)
		pw_tcp_bench_peer_send(peers, peer, RTE_TCP_ACK_FLAG, 0, acks);
}

uint64_t
pw_tcp_bench_exchange(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_burst *burst,
	struct pw_tcp_bench_burst *acks)
{
	struct pw_tcp_bench_endpoint *endpoint = peers->endpoint;
	uint64_t cycles = pw_tcp_bench_endpoint_run(endpoint, burst);
	unsigned n = RTE_MIN(endpoint->nb_out, PW_TCP_BENCH_OUT_MAX);

	burst->n = 0;
	peers->unexpected += endpoint->nb_out - n;
	for (unsigned i = 0; i < n; i++)
		hear(peers, endpoint->out[i], &endpoint->out_dst[i], acks);
	rte_pktmbuf_free_bulk(endpoint->out, n);
	endpoint->nb_out = 0;
	return cycles;
}

static void
open_connections(struct pw_tcp_bench_peers *peers, struct pw_tcp_bench_peer *some, uint32_t n)
{
	struct pw_tcp_bench_burst burst = {0};

	for (uint32_t i = 0; i < n; i++)
		pw_tcp_bench_peer_send(peers, &some[i], RTE_TCP_SYN_FLAG, 0, &burst);
	pw_tcp_bench_exchange(peers, &burst, NULL);
	for (uint32_t i = 0; i < n; i++)
		pw_tcp_bench_peer_send(peers, &some[i], RTE_TCP_ACK_FLAG, 0, &burst);
	pw_tcp_bench_exchange(peers, &burst, NULL);
}

/* Until no timer of the handshakes is left: what is measured are connections that are idle. */
static void
idle_for(struct pw_tcp_bench_peers *peers, uint32_t ms)
{
	struct pw_tcp_bench_burst none = {0};

	for (uint32_t i = 0; i < ms; i++) {
		peers->endpoint->now_us += 1000;
		pw_tcp_bench_exchange(peers, &none, NULL);
	}
}

struct pw_tcp_bench_peers *
pw_tcp_bench_peers_create(
	struct pw_tcp_bench_endpoint *endpoint, const struct pw_tcp_bench_rig *rig, uint32_t idle)
{
	struct pw_tcp_bench_peers *peers = calloc(1, sizeof(*peers));

	if (peers == NULL) {
		pw_bench_error("no memory");
		return NULL;
	}
	peers->endpoint = endpoint;
	peers->mp = rig->mp;
	for (uint32_t i = 0; i < PW_TCP_BENCH_ACTIVE; i++)
		init_peer(&peers->active[i], ACTIVE_FIRST + i);
	open_connections(peers, peers->active, PW_TCP_BENCH_ACTIVE);
	for (uint32_t i = 0; i < idle; i += PW_TCP_BENCH_FRESH) {
		pw_tcp_bench_peers_renew(peers, i);
		open_connections(peers, peers->fresh, RTE_MIN(idle - i, PW_TCP_BENCH_FRESH));
	}
	idle_for(peers, IDLE_MS);
	return peers;
}

void
pw_tcp_bench_peers_destroy(struct pw_tcp_bench_peers *peers)
{
	free(peers);
}
