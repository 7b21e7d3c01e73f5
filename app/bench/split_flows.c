/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "split_flows.h"

#include <errno.h>
#include <string.h>

#include <rte_arp.h>

#define SENDER 1
#define RECEIVER 2
#define FIRST_PORT 49152
#define FIRST_SEQ 1000
#define FRAME_BYTES (sizeof(struct pw_split_head) + PW_SPLIT_PAYLOAD_BYTES)

_Static_assert(sizeof(struct pw_split_head) == 66, "as on the wire");

static void
make_head(struct pw_split_head *head, unsigned flow)
{
	const struct pw_addr sender = pw_bench_host_addr(SENDER);
	const struct pw_addr receiver = pw_bench_host_addr(RECEIVER);

	*head = (struct pw_split_head){
		.ether = {.dst_addr = pw_bench_host_mac(RECEIVER),
			.src_addr = pw_bench_host_mac(SENDER),
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)},
		.ip = {.version_ihl = RTE_IPV4_VHL_DEF,
			.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
			.time_to_live = 64,
			.next_proto_id = IPPROTO_TCP,
			.src_addr = pw_addr_to_ipv4(&sender),
			.dst_addr = pw_addr_to_ipv4(&receiver)},
		.tcp = {.src_port = rte_cpu_to_be_16(FIRST_PORT + flow),
			.dst_port = RTE_BE16(PW_SPLIT_PORT),
			.data_off = (sizeof(struct rte_tcp_hdr) + 12) / 4 << 4,
			.rx_win = UINT16_MAX},
		.nops = {1, 1},
		.timestamps = {8, 10, 0, 0, 0, 1},
	};
}

/* Checksums are the card's: nobody here looks at them but at the IP header's. */
static void
set_head(struct pw_split_head *head, uint8_t flags, uint32_t seq, uint32_t payload_bytes)
{
	head->tcp.tcp_flags = flags;
	head->tcp.sent_seq = rte_cpu_to_be_32(seq);
	head->ip.total_length = rte_cpu_to_be_16(
		sizeof(*head) - sizeof(head->ether) + payload_bytes);
	head->ip.hdr_checksum = 0;
	head->ip.hdr_checksum = rte_ipv4_cksum(&head->ip);
}

void
pw_split_answer_read(struct pw_split_answer *answer, const struct rte_mbuf *frame)
{
	const struct pw_split_head *head = rte_pktmbuf_mtod(frame, const struct pw_split_head *);
	const uint8_t *option = (const uint8_t *)(&head->tcp + 1);
	const uint8_t *end = (const uint8_t *)&head->tcp + (head->tcp.data_off >> 4) * 4;

	if (head->ether.ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return;
	answer->seq = rte_be_to_cpu_32(head->tcp.sent_seq);
	while (option + 10 <= end && option[0] != 8)
		option += option[0] == 1 ? 1 : RTE_MAX(option[1], 2);
	if (option + 10 <= end)
		memcpy(&answer->tsval, option + 2, sizeof(answer->tsval));
	answer->is_there = true;
}

static int
send_frame(const void *frame, uint16_t len_bytes, struct pw_bench_stack *stack,
	struct rte_mempool *pool)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		return -ENOMEM;
	memcpy(rte_pktmbuf_append(m, len_bytes), frame, len_bytes);
	pw_bench_mark_good(m, 0);
	pw_bench_stack_input(stack, &m, 1, pw_bench_now_us());
	return 0;
}

/* By an ARP request, so that the stack knows us when it has to answer. */
static int
introduce(struct pw_bench_stack *stack, struct rte_mempool *pool)
{
	const struct pw_addr sender = pw_bench_host_addr(SENDER);
	const struct pw_addr receiver = pw_bench_host_addr(RECEIVER);
	const struct {
		struct rte_ether_hdr ether;
		struct rte_arp_hdr arp;
	} request = {
		.ether = {.dst_addr = pw_bench_host_mac(RECEIVER),
			.src_addr = pw_bench_host_mac(SENDER),
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP)},
		.arp = {.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
			.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
			.arp_hlen = RTE_ETHER_ADDR_LEN,
			.arp_plen = sizeof(rte_be32_t),
			.arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST),
			.arp_data = {.arp_sha = pw_bench_host_mac(SENDER),
				.arp_sip = pw_addr_to_ipv4(&sender),
				.arp_tip = pw_addr_to_ipv4(&receiver)}},
	};

	return send_frame(&request, sizeof(request), stack, pool);
}

/* The SYN asks for nothing but timestamps: windows are not scaled, nor needed to be on our side. */
static int
open_flow(struct pw_split_flows *flows, unsigned flow, struct pw_bench_stack *stack,
	struct rte_mempool *pool, const struct pw_split_answer *answer)
{
	struct pw_split_head *head = &flows->heads[flow];
	int rc;

	make_head(head, flow);
	set_head(head, RTE_TCP_SYN_FLAG, FIRST_SEQ, 0);
	rc = send_frame(head, sizeof(*head), stack, pool);
	if (rc < 0)
		return rc;
	if (!answer->is_there)
		return -EPROTO;
	head->tcp.recv_ack = rte_cpu_to_be_32(answer->seq + 1);
	memcpy(head->timestamps + 6, &answer->tsval, sizeof(answer->tsval));
	set_head(head, RTE_TCP_ACK_FLAG, FIRST_SEQ + 1, 0);
	rc = send_frame(head, sizeof(*head), stack, pool);
	set_head(head, RTE_TCP_ACK_FLAG, FIRST_SEQ + 1, PW_SPLIT_PAYLOAD_BYTES);
	flows->next_seq[flow] = FIRST_SEQ + 1;
	return rc;
}

int
pw_split_flows_open(struct pw_split_flows *flows, struct pw_bench_stack *stack,
	struct rte_mempool *pool, const struct pw_split_answer *answer)
{
	int rc = introduce(stack, pool);

	flows->turn = 0;
	for (unsigned i = 0; i < PW_SPLIT_PAYLOAD_BYTES; i++)
		flows->payload[i] = i;
	for (unsigned i = 0; i < PW_SPLIT_FLOWS && rc == 0; i++)
		rc = open_flow(flows, i, stack, pool, answer);
	return rc;
}

void
pw_split_flows_write(struct pw_split_flows *flows, struct rte_mbuf *m)
{
	unsigned flow = flows->turn++ / PW_SPLIT_TRAIN % PW_SPLIT_FLOWS;
	struct pw_split_head *to = rte_pktmbuf_mtod(m, struct pw_split_head *);

	*to = flows->heads[flow];
	to->tcp.sent_seq = rte_cpu_to_be_32(flows->next_seq[flow]);
	memcpy(to + 1, flows->payload, PW_SPLIT_PAYLOAD_BYTES);
	flows->next_seq[flow] += PW_SPLIT_PAYLOAD_BYTES;
	m->data_len = m->pkt_len = FRAME_BYTES;
	pw_bench_mark_good(m, to->tcp.src_port);
}
