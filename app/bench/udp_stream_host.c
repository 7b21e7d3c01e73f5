/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "udp_stream_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#define FRAGS_BYTES (32U << 20)
#define HEADERS 8191
#define HEADERS_CACHE 256
#define FRAMES_MAX 128
/* Payload from one fragment's begin to the next one's. */
#define STEP_BYTES ((PW_UDP_STREAM_MTU - sizeof(struct rte_ipv4_hdr)) / 8 * 8)
#define MIN_ROOM 256 /* less of a page is not worth an mbuf */

struct frames {
	unsigned n;
	struct rte_mbuf *frames[FRAMES_MAX];
};

/* In front of the data that it counts the holders of, in the sender's page. */
struct piece {
	struct rte_mbuf_ext_shared_info shinfo;
	struct pw_frag_pool *frags;
};

static const char *const stage_names[] = {
	[PW_UDP_STREAM_OTHER] = "loop, counting",
	[PW_UDP_STREAM_COPY_IN] = "copy from the sender",
	[PW_UDP_STREAM_SEND_PAGES] = "sender's pages, mbufs",
	[PW_UDP_STREAM_CUT] = "rte_ipv4_fragment_packet",
	[PW_UDP_STREAM_RX_BUFFERS] = "receiver's buffers, mbufs",
	[PW_UDP_STREAM_WIRE_COPY] = "copy by the wire",
	[PW_UDP_STREAM_REASSEMBLE] = "rte_ipv4_frag_reassemble_packet",
	[PW_UDP_STREAM_COPY_OUT] = "copy to the receiver",
	[PW_UDP_STREAM_FREE] = "freeing of mbufs, fragments, pages",
};

const char *
pw_udp_stream_stage_name(enum pw_udp_stream_stage stage)
{
	return stage_names[stage];
}

/* What has run since the last call was the stage of that one. */
static inline void
enter(struct pw_udp_stream_host *host, enum pw_udp_stream_stage stage)
{
	uint64_t now;

	if (!host->timed)
		return;
	now = rte_rdtsc_precise();
	host->cycles[host->stage] += now - host->since;
	host->since = now;
	host->stage = stage;
}

static void
free_piece(void *data, void *opaque)
{
	struct piece *piece = opaque;

	(void)data;
	pw_frag_free(piece->frags, piece);
}

/* A part of the message goes into the socket's page, as much as there is room for. NULL: no memory.
 */
static struct rte_mbuf *
make_piece(struct pw_udp_stream_host *host, const uint8_t *data, uint32_t len_bytes)
{
	struct pw_page *before = host->tx.page;
	struct rte_mbuf *m = rte_pktmbuf_alloc(host->headers);
	struct piece *piece;
	size_t room;
	uint32_t n;

	piece = pw_send_frag_room(&host->tx, host->frags,
		RTE_MIN(len_bytes, MIN_ROOM) + sizeof(*piece) + RTE_CACHE_LINE_SIZE, &room);
	if (m == NULL || piece == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	if (host->tx.page != before) {
		host->counts.send_refills++;
		host->counts.send_fallbacks += (host->tx.page->flags & PW_PAGE_FALLBACK) != 0;
	}
	n = RTE_MIN(len_bytes, (uint32_t)(room - sizeof(*piece)));
	/* The next piece begins on a line of its own. */
	pw_send_frag_take(
		&host->tx, RTE_MIN(room, RTE_ALIGN_CEIL(n + sizeof(*piece), RTE_CACHE_LINE_SIZE)));
	piece->frags = host->frags;
	piece->shinfo = (struct rte_mbuf_ext_shared_info){
		.free_cb = free_piece, .fcb_opaque = piece, .refcnt = 1};
	rte_pktmbuf_attach_extbuf(m, piece + 1, RTE_BAD_IOVA, n, &piece->shinfo);
	m->data_off = 0;
	m->data_len = m->pkt_len = n;
	enter(host, PW_UDP_STREAM_COPY_IN);
	memcpy(piece + 1, data, n);
	enter(host, PW_UDP_STREAM_SEND_PAGES);
	return m;
}

static void
write_headers(struct pw_udp_stream_host *host, struct rte_mbuf *packet)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod(packet, struct rte_ipv4_hdr *);
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	uint32_t len_bytes = sizeof(*ip) + sizeof(*udp) + host->message_bytes;

	packet->data_len = packet->pkt_len = sizeof(*ip) + sizeof(*udp);
	packet->l3_len = sizeof(*ip);
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(len_bytes),
		.packet_id = rte_cpu_to_be_16(host->id++),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = RTE_BE32(0xc6120001), /* 198.18.0.0/15: RFC 2544 C.2.2 */
		.dst_addr = RTE_BE32(0xc6120002),
	};
	*udp = (struct rte_udp_hdr){
		.src_port = RTE_BE16(49152),
		.dst_port = RTE_BE16(9),
		.dgram_len = rte_cpu_to_be_16(sizeof(*udp) + host->message_bytes),
	};
}

/* sendmsg(): the message, copied, as an IP packet. NULL: no memory. */
static struct rte_mbuf *
make_packet(struct pw_udp_stream_host *host)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(host->headers), *piece, *last = packet;
	uint32_t done = 0;

	if (packet == NULL)
		return NULL;
	write_headers(host, packet);
	while (done < host->message_bytes) {
		piece = make_piece(host, host->message + done, host->message_bytes - done);
		if (piece == NULL) {
			rte_pktmbuf_free(packet);
			return NULL;
		}
		done += piece->data_len;
		last->next = piece;
		last = piece;
		packet->nb_segs++;
		packet->pkt_len += piece->data_len;
	}
	return packet;
}

/* Frames of a message, in fragments where it is larger than the MTU. */
static bool
send_message(struct pw_udp_stream_host *host, struct frames *frames)
{
	struct rte_mbuf *packet;
	int n;

	enter(host, PW_UDP_STREAM_SEND_PAGES);
	packet = make_packet(host);
	if (packet == NULL)
		return false;
	if (packet->pkt_len <= PW_UDP_STREAM_MTU) {
		frames->frames[frames->n++] = packet;
		return true;
	}
	enter(host, PW_UDP_STREAM_CUT);
	n = rte_ipv4_fragment_packet(packet, frames->frames + frames->n, FRAMES_MAX - frames->n,
		PW_UDP_STREAM_MTU, host->headers, host->headers);
	enter(host, PW_UDP_STREAM_FREE);
	rte_pktmbuf_free(packet);
	frames->n += RTE_MAX(n, 0);
	return n > 0;
}

/* A chain of the receiver's buffers with room for a frame: a card scatters what does not fit one.
 */
static struct rte_mbuf *
make_rx_buffers(struct pw_udp_stream_host *host, uint32_t len_bytes)
{
	struct rte_mbuf *first = NULL, **link = &first;
	uint32_t max = pw_frag_buf_max(host->frags);

	for (uint32_t left = len_bytes, n; left > 0; left -= n) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(host->headers);
		struct pw_frag_buf *buf;

		n = RTE_MIN(left, max);
		buf = pw_frag_buf_alloc_upto(host->rx, n);
		if (m == NULL || buf == NULL) {
			rte_pktmbuf_free(m);
			pw_frag_buf_put(buf);
			rte_pktmbuf_free(first);
			return NULL;
		}
		if (buf->size_bytes < n)
			max = n = buf->size_bytes;
		pw_frag_buf_hand_over(buf, m, 0, n);
		*link = m;
		link = &m->next;
		first->nb_segs += m != first;
	}
	first->pkt_len = len_bytes;
	return first;
}

/* Both are chains of as many bytes, cut differently. */
static void
copy_chain(const struct rte_mbuf *to, const struct rte_mbuf *from)
{
	uint32_t to_at = 0, from_at = 0;

	while (from != NULL) {
		uint32_t n = RTE_MIN(to->data_len - to_at, from->data_len - from_at);

		memcpy(rte_pktmbuf_mtod_offset(to, void *, to_at),
			rte_pktmbuf_mtod_offset(from, void *, from_at), n);
		to_at += n;
		from_at += n;
		if (to_at == to->data_len) {
			to = to->next;
			to_at = 0;
		}
		if (from_at == from->data_len) {
			from = from->next;
			from_at = 0;
		}
	}
}

/* The frame as it arrives; the sender's is freed, as after its transmission. NULL: no memory. */
static struct rte_mbuf *
carry(struct pw_udp_stream_host *host, struct rte_mbuf *frame)
{
	struct rte_mbuf *rx;

	enter(host, PW_UDP_STREAM_RX_BUFFERS);
	rx = make_rx_buffers(host, frame->pkt_len);
	enter(host, PW_UDP_STREAM_WIRE_COPY);
	if (rx != NULL)
		copy_chain(rx, frame);
	enter(host, PW_UDP_STREAM_FREE);
	rte_pktmbuf_free(frame);
	return rx;
}

/* NULL: fragments are missing yet. */
static struct rte_mbuf *
reassemble(struct pw_udp_stream_host *host, struct rte_mbuf *frame)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod(frame, struct rte_ipv4_hdr *);

	if (!rte_ipv4_frag_pkt_is_fragmented(ip))
		return frame;
	enter(host, PW_UDP_STREAM_REASSEMBLE);
	frame->l2_len = 0;
	frame->l3_len = sizeof(*ip);
	return rte_ipv4_frag_reassemble_packet(host->table, &host->dead, frame, rte_rdtsc(), ip);
}

/* Its number stands at a message's begin and on both sides of where fragments meet; at its end the
 * complement. */
static void
mark(struct pw_udp_stream_host *host)
{
	uint32_t last = host->message_bytes - 1;

	host->number++;
	for (uint32_t at = STEP_BYTES - sizeof(struct rte_udp_hdr); at < last; at += STEP_BYTES)
		host->message[at - 1] = host->message[at] = host->number;
	host->message[last] = UINT8_MAX - host->number;
	host->message[0] = host->number;
}

/* What a wrong order or length would change, or a copy that was not made. */
static bool
is_right(struct pw_udp_stream_host *host)
{
	uint32_t last = host->message_bytes - 1;

	host->read_number++;
	if (host->read[0] != host->read_number ||
		(last > 0 && host->read[last] + host->read_number != UINT8_MAX))
		return false;
	for (uint32_t at = STEP_BYTES - sizeof(struct rte_udp_hdr); at < last; at += STEP_BYTES)
		if (host->read[at - 1] != host->read_number || host->read[at] != host->read_number)
			return false;
	return true;
}

/* recvmsg() */
static void
read_message(struct pw_udp_stream_host *host, struct rte_mbuf *packet)
{
	uint32_t skip = sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr), done = 0;

	enter(host, PW_UDP_STREAM_COPY_OUT);
	for (const struct rte_mbuf *m = packet; m != NULL; m = m->next) {
		uint32_t n = RTE_MIN(m->data_len - skip, host->message_bytes - done);

		memcpy(host->read + done, rte_pktmbuf_mtod_offset(m, void *, skip), n);
		done += n;
		skip = 0;
	}
	enter(host, PW_UDP_STREAM_FREE);
	rte_pktmbuf_free(packet);
	enter(host, PW_UDP_STREAM_OTHER);
	host->counts.received++;
	host->counts.received_bytes += done;
	host->counts.wrong += !is_right(host);
}

static void
receive(struct pw_udp_stream_host *host, struct frames *frames)
{
	for (unsigned i = 0; i < frames->n; i++) {
		struct rte_mbuf *packet = frames->frames[i];

		packet = packet == NULL ? NULL : reassemble(host, packet);
		if (packet != NULL)
			read_message(host, packet);
	}
	rte_ip_frag_free_death_row(&host->dead, 0);
}

void
pw_udp_stream_host_run(struct pw_udp_stream_host *host, unsigned n)
{
	struct frames frames = {0};

	enter(host, PW_UDP_STREAM_OTHER);
	for (unsigned i = 0; i < n; i++) {
		mark(host);
		if (!send_message(host, &frames)) {
			host->counts.failed++;
			host->number--;
			continue;
		}
		host->counts.sent++;
		host->counts.sent_bytes += host->message_bytes;
	}
	for (unsigned i = 0; i < frames.n; i++)
		frames.frames[i] = carry(host, frames.frames[i]);
	receive(host, &frames);
	enter(host, PW_UDP_STREAM_OTHER);
}

static int
open_memory(struct pw_udp_stream_host *host, const struct pw_strategy *strategy)
{
	static unsigned number;
	char name[32];
	struct pw_frag_pool_params params = {
		.name = name,
		.socket_id = (int)rte_socket_id(),
		.strategy = *strategy,
		.bytes = FRAGS_BYTES,
	};

	snprintf(name, sizeof(name), "udp_stream%u", number++);
	host->frags = pw_frag_pool_create(&params);
	if (host->frags == NULL)
		return -rte_errno;
	host->rx = pw_frag_cache_create(host->frags);
	host->headers = rte_pktmbuf_pool_create(
		name, HEADERS, HEADERS_CACHE, 0, RTE_PKTMBUF_HEADROOM + 128, (int)rte_socket_id());
	/* Time-outs do not happen here. */
	host->table = rte_ip_frag_table_create(
		16, 4, 64, rte_get_tsc_hz() * 60, (int)rte_socket_id());
	host->message = malloc(host->message_bytes);
	host->read = calloc(1, host->message_bytes);
	return host->rx == NULL || host->headers == NULL || host->table == NULL ||
			host->message == NULL || host->read == NULL
		? -ENOMEM
		: 0;
}

int
pw_udp_stream_host_open(
	struct pw_udp_stream_host *host, const struct pw_strategy *strategy, uint32_t message_bytes)
{
	int rc;

	*host = (struct pw_udp_stream_host){.message_bytes = message_bytes};
	rc = open_memory(host, strategy);
	if (rc < 0) {
		pw_udp_stream_host_close(host);
		return rc;
	}
	for (uint32_t i = 0; i < message_bytes; i++)
		host->message[i] = i * 31 + (i >> 8);
	return 0;
}

int
pw_udp_stream_host_close(struct pw_udp_stream_host *host)
{
	bool lost = false;

	if (host->table != NULL)
		rte_ip_frag_table_destroy(host->table);
	if (host->headers != NULL)
		lost = rte_mempool_in_use_count(host->headers) > 0;
	if (host->frags != NULL) {
		pw_send_frag_release(&host->tx, host->frags);
		pw_frag_cache_destroy(host->rx);
		lost |= pw_frag_pool_destroy(host->frags) < 0;
	}
	rte_mempool_free(host->headers);
	free(host->message);
	free(host->read);
	return lost ? -EIO : 0;
}
