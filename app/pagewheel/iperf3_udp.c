/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The UDP streams of an iperf3 test. A datagram begins with the time it was sent, in seconds and
 * microseconds, and its number, of 32 or 64 bits. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_udp.h>

#include "iperf3.h"
#include "tcp_stack.h"
#include "udp_send.h"

#define SEND_BURST 32 /* datagrams a stream and poll */

static const char connect_message[] = {'9', '8', '7', '6'};
static const char connect_reply[] = {'6', '7', '8', '9'};

struct head {
	rte_be32_t sec, usec;
	union {
		rte_be32_t number32;
		rte_be64_t number64;
	};
} __rte_packed;
static_assert(sizeof(struct head) == 16, "as on the wire");

static struct pw_iperf3_stream *
find(const struct pw_addr *peer, rte_be16_t port)
{
	for (unsigned i = 0; i < pw_iperf3.nb_streams; i++) {
		struct pw_iperf3_stream *stream = &pw_iperf3.streams[i];

		if (stream->peer_port == port && pw_addr_equal(&stream->peer, peer))
			return stream;
	}
	return NULL;
}

/* False: there was no buffer. */
static bool
send_datagram(const struct pw_iperf3_stream *stream, const void *head, uint32_t head_bytes,
	uint32_t len_bytes, uint64_t now_us)
{
	const struct pw_udp_ends ends = {
		.ip = {.src = stream->local, .dst = stream->peer},
		.src_port = stream->local_port,
		.dst_port = stream->peer_port,
	};

	return pw_udp_send(stream->stack, &ends, head, head_bytes, len_bytes, now_us);
}

/* The client asks for a stream, or asks again: our answer was lost. */
static void
connect_stream(struct pw_tcp_stack *stack, const struct rte_udp_hdr *udp,
	const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_iperf3_stream *stream = find(&ip->src, udp->src_port);

	if (!pw_addr_equal(&ip->src, &pw_iperf3.peer))
		return;
	if (stream == NULL) {
		stream = pw_iperf3_add_stream();
		if (stream == NULL)
			return;
		stream->stack = stack;
		stream->peer = ip->src;
		stream->local = ip->dst;
		stream->peer_port = udp->src_port;
		stream->local_port = udp->dst_port;
		pw_iperf3_stream_is_there();
	}
	send_datagram(stream, connect_reply, sizeof(connect_reply), sizeof(connect_reply), now_us);
}

/* Numbers that jump ahead are losses; one of them that comes late was none. */
static void
count_number(struct pw_iperf3_count *count, uint64_t number)
{
	if (number > count->packets) {
		count->lost += number - count->packets - 1;
		count->packets = number;
	} else if (count->lost > 0) {
		count->lost--;
	}
}

/* RFC 1889 6.3.1 and A.8 */
static void
count_jitter(struct pw_iperf3_stream *stream, const struct head *head, uint64_t now_us)
{
	uint64_t sent_us = rte_be_to_cpu_32(head->sec) * UINT64_C(1000000) +
		rte_be_to_cpu_32(head->usec);
	int64_t transit_us = now_us - sent_us;
	double change_us = transit_us - stream->transit_us;

	if (stream->count.bytes > 0)
		stream->jitter_us += ((change_us < 0 ? -change_us : change_us) -
					     stream->jitter_us) /
			16;
	stream->transit_us = transit_us;
}

static void
take_datagram(struct pw_iperf3_stream *stream, const struct rte_mbuf *m, uint32_t len_bytes,
	uint64_t now_us)
{
	bool wide = pw_iperf3.params.counters64;
	struct head copy;
	const struct head *head;

	if (stream->sends || len_bytes < (wide ? 16 : 12))
		return;
	head = rte_pktmbuf_read(m, sizeof(struct rte_udp_hdr), wide ? 16 : 12, &copy);
	if (head == NULL)
		return;
	count_number(&stream->count,
		wide ? rte_be_to_cpu_64(head->number64) : rte_be_to_cpu_32(head->number32));
	count_jitter(stream, head, now_us);
	pw_iperf3_add(&stream->count.bytes, len_bytes);
}

bool
pw_iperf3_udp_input(struct pw_tcp_stack *stack, struct rte_mbuf *datagram,
	const struct pw_ip_info *ip, uint64_t now_us)
{
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod(datagram, const struct rte_udp_hdr *);
	uint32_t len_bytes = datagram->pkt_len - sizeof(*udp);
	struct pw_iperf3_stream *stream;
	char copy[sizeof(connect_message)];
	const char *text = rte_pktmbuf_read(datagram, sizeof(*udp), sizeof(connect_message), copy);

	rte_spinlock_lock(&pw_iperf3.lock);
	if (!pw_iperf3.params.udp || text == NULL) {
		/* nobody asked for it */
	} else if (pw_iperf3_phase() == PW_IPERF3_STREAMS) {
		if (len_bytes == sizeof(connect_message) &&
			memcmp(text, connect_message, sizeof(connect_message)) == 0)
			connect_stream(stack, udp, ip, now_us);
	} else if (pw_iperf3_phase() == PW_IPERF3_RUNNING) {
		stream = find(&ip->src, udp->src_port);
		if (stream != NULL)
			take_datagram(stream, datagram, len_bytes, now_us);
	}
	rte_spinlock_unlock(&pw_iperf3.lock);
	rte_pktmbuf_free(datagram);
	return true;
}

static void
send_due(struct pw_iperf3_stream *stream, uint64_t now_us)
{
	const struct pw_iperf3_params *params = &pw_iperf3.params;
	uint64_t due = pw_iperf3_due(stream, now_us) / params->len_bytes;

	for (unsigned i = 0; i < SEND_BURST && i < due; i++) {
		uint64_t number = stream->count.packets + 1;
		struct head head = {
			rte_cpu_to_be_32(now_us / 1000000),
			rte_cpu_to_be_32(now_us % 1000000),
			{.number64 = rte_cpu_to_be_64(number)},
		};

		if (!params->counters64)
			head.number32 = rte_cpu_to_be_32(number);
		if (!send_datagram(stream, &head, sizeof(head), params->len_bytes, now_us))
			return;
		pw_iperf3_add(&stream->count.packets, 1);
		pw_iperf3_add(&stream->count.bytes, params->len_bytes);
	}
}

void
pw_iperf3_udp_tick(struct pw_tcp_stack *stack, uint64_t now_us)
{
	if (pw_iperf3_phase() != PW_IPERF3_RUNNING || !pw_iperf3.params.udp)
		return;
	for (unsigned i = 0; i < pw_iperf3.nb_streams; i++)
		if (pw_iperf3.streams[i].sends && pw_iperf3.streams[i].stack == stack)
			send_due(&pw_iperf3.streams[i], now_us);
}
