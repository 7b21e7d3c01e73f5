/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Raw frames through GRO of TCP and UDP. The input is a byte for the instance's parameters, then a
 * list of records: two bytes of flags, one of where the frame is split, two of its length, and so
 * many bytes. A record may also repeat the frame before it with its numbers counted up, so that the
 * fuzzer gets trains. Each frame ends where its buffer does. What comes out must be frames that
 * went in, merged ones cut again; those of a flow in their order; and every buffer has to be back.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "pw_frame.h"
#include "pw_gro.h"
#include "pw_gro_cut.h"

#define MBUFS 1023
#define FRAMES_MAX 256
#define FRAME_MAX 2048
#define RECORD_BYTES 5

/* Flags of a record. */
#define SAY_L4_GOOD 0x0001
#define SAY_L4_BAD 0x0002 /* both: not filled in */
#define SAY_IP_GOOD 0x0004
#define SAY_IP_BAD 0x0008
#define STRIP_TAG 0x0010
#define STRIP_TWO 0x0020 /* then STRIP_TAG says no more */
#define OTHER_PORT 0x0040
#define FIX_CKSUMS 0x0080
#define SPLIT 0x0100
#define REPEAT 0x0200
#define FLUSH 0x0400
#define FLUSH_OLDER 0x0800
#define SHARE 0x1000
#define RSS 0x2000
#define OTHER_FLOW (STRIP_TAG | STRIP_TWO | OTHER_PORT)

/* A frame that went in. */
struct frame {
	uint16_t len_bytes;
	uint16_t end;	/* of its IP packet, if that is less */
	uint16_t where; /* flags that make it another flow's */
	bool gone;
	struct rte_mbuf *shared;
	uint8_t data[FRAME_MAX];
};

struct world {
	struct pw_gro *gro;
	struct pw_gro_params params;
	uint64_t now_us;
	unsigned nb_frames, nb_gone;
	struct frame frames[FRAMES_MAX];
};

static struct rte_mempool *pool;
static int number_offset; /* of the mbuf's place in frames */
static unsigned nb_buffers;

#define CHECK(what)              \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

static void
free_buffer(void *data, void *opaque)
{
	(void)data;
	nb_buffers--;
	free(opaque);
}

/* So many bytes in a buffer that ends with them. */
static struct rte_mbuf *
new_mbuf(const uint8_t *data, uint16_t len_bytes)
{
	struct buffer {
		struct rte_mbuf_ext_shared_info shinfo;
		char data[];
	} *buffer = malloc(sizeof(*buffer) + len_bytes);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	CHECK(buffer != NULL && m != NULL);
	nb_buffers++;
	buffer->shinfo.free_cb = free_buffer;
	buffer->shinfo.fcb_opaque = buffer;
	rte_mbuf_ext_refcnt_set(&buffer->shinfo, 1);
	memcpy(buffer->data, data, len_bytes);
	rte_pktmbuf_attach_extbuf(m, buffer->data, RTE_BAD_IOVA, len_bytes, &buffer->shinfo);
	m->data_off = 0;
	m->data_len = m->pkt_len = len_bytes;
	return m;
}

/* In two mbufs. */
static struct rte_mbuf *
new_chain(const uint8_t *data, uint16_t len_bytes, uint16_t at)
{
	struct rte_mbuf *m = new_mbuf(data, at);

	m->next = new_mbuf(data + at, len_bytes - at);
	m->nb_segs = 2;
	m->pkt_len = len_bytes;
	return m;
}

static void
set_fields(struct rte_mbuf *m, unsigned flags, unsigned number)
{
	static const uint64_t l4[] = {RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN, RTE_MBUF_F_RX_L4_CKSUM_GOOD,
		RTE_MBUF_F_RX_L4_CKSUM_BAD, RTE_MBUF_F_RX_L4_CKSUM_NONE};
	static const uint64_t ip[] = {RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN, RTE_MBUF_F_RX_IP_CKSUM_GOOD,
		RTE_MBUF_F_RX_IP_CKSUM_BAD, RTE_MBUF_F_RX_IP_CKSUM_NONE};

	m->ol_flags |= l4[flags & 3] | ip[flags >> 2 & 3];
	if (flags & STRIP_TAG)
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	if (flags & STRIP_TWO)
		m->ol_flags |= RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_QINQ_STRIPPED |
			RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	if (flags & RSS)
		m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	m->vlan_tci = m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? 10 : number;
	m->port = !!(flags & OTHER_PORT);
	*RTE_MBUF_DYNFIELD(m, number_offset, uint32_t *) = number;
}

/* The frame before, one segment on. */
static void
count_up(struct frame *frame)
{
	struct pw_frame at;
	uint8_t *l3, *l4;
	uint32_t payload_bytes;

	if (!pw_frame_read(frame->data, frame->len_bytes, &at) || at.l4 + 20 > frame->len_bytes)
		return;
	l3 = frame->data + at.l3;
	l4 = frame->data + at.l4;
	if (at.version == 4)
		pw_frame_put(l3 + 4, pw_frame_get16(l3 + 4) + 1, 2);
	if (at.proto == IPPROTO_TCP) {
		payload_bytes = at.end - at.l4 - (l4[12] >> 4) * 4;
		pw_frame_put(l4 + 4, pw_frame_get32(l4 + 4) + payload_bytes, 4);
	}
}

/* Where the IP packet ends, if the frame has more. */
static uint16_t
end_of(const struct frame *frame)
{
	struct pw_frame at;

	if (!pw_frame_read(frame->data, frame->len_bytes, &at) || at.end > frame->len_bytes)
		return frame->len_bytes;
	return at.end;
}

/* A NIC that vouches is right: of checksums that are wrong it does not say so. */
static unsigned
honest(const struct frame *frame, unsigned flags)
{
	struct pw_frame at;

	if (!pw_frame_read(frame->data, frame->len_bytes, &at) || at.end > frame->len_bytes ||
		at.l4 + 8 > at.end)
		return flags;
	if (at.version == 4 && rte_raw_cksum(frame->data + at.l3, at.l4 - at.l3) != 0xffff)
		flags &= ~SAY_IP_GOOD;
	if ((flags & 3) == SAY_L4_GOOD && pw_frame_l4_cksum(frame->data, &at) != 0 &&
		(at.proto != IPPROTO_UDP ||
			pw_frame_get16(frame->data + pw_frame_cksum_offset(&at)) != 0))
		flags &= ~SAY_L4_GOOD;
	return flags;
}

/* @return bytes taken */
static size_t
read_frame(struct world *world, unsigned flags, const uint8_t *data, size_t len_bytes)
{
	struct frame *frame = &world->frames[world->nb_frames];

	if ((flags & REPEAT) && world->nb_frames > 0) {
		*frame = frame[-1];
		count_up(frame);
		len_bytes = 0;
	} else {
		frame->len_bytes = len_bytes;
		memcpy(frame->data, data, len_bytes);
	}
	frame->where = flags & (flags & STRIP_TWO ? STRIP_TWO | OTHER_PORT : OTHER_FLOW);
	frame->gone = false;
	frame->shared = NULL;
	if (flags & FIX_CKSUMS)
		pw_frame_fix_cksums(frame->data, frame->len_bytes);
	frame->end = end_of(frame);
	return len_bytes;
}

static void
hand_in(struct world *world, unsigned flags, uint8_t split)
{
	unsigned number = world->nb_frames++;
	struct frame *frame = &world->frames[number];
	struct rte_mbuf *m;

	if (flags & SPLIT)
		m = new_chain(frame->data, frame->len_bytes, RTE_MIN(split, frame->len_bytes));
	else
		m = new_mbuf(frame->data, frame->len_bytes);
	set_fields(m, honest(frame, flags), number);
	if (flags & SHARE) {
		frame->shared = split % 2 && m->next != NULL ? m->next : m;
		rte_mbuf_refcnt_update(frame->shared, 1);
	}
	pw_gro_receive(world->gro, &m, 1, world->now_us);
}

/* Or but for the checksum: of those that were to be filled in, and as 0 and 0xffff are the same. */
static bool
is_same(const struct frame *frame, const uint8_t *data, uint32_t len_bytes)
{
	struct frame fixed;

	if (len_bytes != frame->len_bytes && len_bytes != frame->end)
		return false;
	if (memcmp(frame->data, data, len_bytes) == 0)
		return true;
	fixed = *frame;
	pw_frame_fix_cksums(fixed.data, fixed.len_bytes);
	return memcmp(fixed.data, data, len_bytes) == 0;
}

static void
leave(struct world *world, struct frame *frame)
{
	CHECK(!frame->gone);
	frame->gone = true;
	world->nb_gone++;
	if (frame->shared != NULL)
		rte_pktmbuf_free_seg(frame->shared);
}

static void
check_single(struct world *world, const uint8_t *data, uint32_t len_bytes, unsigned number)
{
	struct frame *frame = &world->frames[number];
	bool same = len_bytes == frame->len_bytes || len_bytes == frame->end;

	CHECK(same && memcmp(frame->data, data, len_bytes) == 0);
	leave(world, frame);
}

/* Is it a piece of a merged packet, of which the IDs count up or stay? */
static bool
is_piece(const struct world *world, const struct frame *frame, const struct rte_mbuf *m,
	const uint8_t *data, unsigned i)
{
	struct pw_gro_cut up = {.cwr_once = world->params.exact_tso}, stay = {.ids_stay = true};
	uint8_t piece[FRAME_MAX];
	uint32_t len_bytes = pw_gro_cut_frame(m, data, up, i, piece);

	if (is_same(frame, piece, len_bytes))
		return true;
	if (world->params.exact_tso)
		return false;
	pw_gro_cut_frame(m, data, stay, i, piece);
	return is_same(frame, piece, len_bytes);
}

/* The frames of it that went in: the first is known, the others came later, in their order. */
static void
check_merged(struct world *world, const struct rte_mbuf *m, const uint8_t *data, unsigned number)
{
	struct frame *frame = &world->frames[number], *end = &world->frames[world->nb_frames];
	uint16_t where = frame->where;
	unsigned n = pw_gro_segments(m);

	CHECK(pw_gro_cut_fault(m, data) == NULL);
	CHECK(pw_gro_cut_header_bytes(m) + m->tso_segsz <= FRAME_MAX);
	CHECK(world->params.max_mbufs == 0 || m->nb_segs <= world->params.max_mbufs);
	CHECK(is_piece(world, frame, m, data, 0));
	for (unsigned i = 0; i < n; i++, frame++) {
		while (frame < end &&
			(frame->gone || frame->where != where ||
				!is_piece(world, frame, m, data, i)))
			frame++;
		CHECK(frame < end && frame->shared == NULL);
		leave(world, frame);
	}
}

static void
frame_out(struct world *world, struct rte_mbuf *m)
{
	static uint8_t data[UINT16_MAX + 64];
	unsigned number = *RTE_MBUF_DYNFIELD(m, number_offset, uint32_t *);
	const char *fault;
	uint32_t at = 0;

	CHECK(rte_mbuf_check(m, 1, &fault) == 0);
	CHECK(m->pkt_len <= sizeof(data) && number < world->nb_frames);
	for (const struct rte_mbuf *seg = m; seg != NULL; at += seg->data_len, seg = seg->next)
		memcpy(data + at, rte_pktmbuf_mtod(seg, const void *), seg->data_len);
	at = m->pkt_len;
	if (m->ol_flags & RTE_MBUF_F_RX_LRO) {
		check_merged(world, m, data, number);
		rte_pktmbuf_free(m);
	} else {
		rte_pktmbuf_free(m);
		check_single(world, data, at, number);
	}
}

static void
gro_out(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		frame_out(ctx, pkts[i]);
}

static void
open_world(struct world *world, uint8_t how)
{
	static const uint16_t flows[] = {0, 1, 2, 8}, mbufs[] = {0, 1, 3, 20};

	world->nb_frames = world->nb_gone = 0;
	world->now_us = 0;
	world->params = (struct pw_gro_params){
		.output = gro_out,
		.ctx = world,
		.socket_id = SOCKET_ID_ANY,
		.types = PW_GRO_TCP | PW_GRO_UDP,
		.max_flows = flows[how & 3],
		.max_mbufs = mbufs[how >> 2 & 3],
		.exact_tso = how & 16,
	};
	world->gro = pw_gro_create(&world->params);
	CHECK(world->gro != NULL);
}

static void
close_world(struct world *world)
{
	struct pw_gro_stats stats;

	pw_gro_flush(world->gro);
	pw_gro_get_stats(world->gro, &stats);
	CHECK(stats.held == 0 && stats.rx_packets == world->nb_frames);
	CHECK(stats.rx_packets == stats.tx_packets + stats.merged);
	CHECK(world->nb_gone == world->nb_frames);
	pw_gro_destroy(world->gro);
	CHECK(nb_buffers == 0 && rte_mempool_avail_count(pool) == MBUFS);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char *eal[] = {"fuzz_gro", "--no-huge", "--no-shconf", "--no-telemetry", "--no-pci",
		"-m", "64", "--log-level=4", NULL};
	static const struct rte_mbuf_dynfield field = {
		.name = "fuzz_gro_number",
		.size = sizeof(uint32_t),
		.align = sizeof(uint32_t),
	};

	(void)argc;
	(void)argv;
	CHECK(rte_eal_init(RTE_DIM(eal) - 1, eal) >= 0);
	pool = rte_pktmbuf_pool_create("fuzz", MBUFS, 0, 0, 0, SOCKET_ID_ANY);
	number_offset = rte_mbuf_dynfield_register(&field);
	CHECK(pool != NULL && number_offset >= 0);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;

	if (size < 1)
		return 0;
	open_world(&world, data[0]);
	data++;
	size--;
	while (size >= RECORD_BYTES && world.nb_frames < FRAMES_MAX) {
		unsigned flags = pw_frame_get16(data);
		uint8_t split = data[2];
		uint16_t len_bytes = pw_frame_get16(data + 3) % FRAME_MAX;
		size_t taken;

		data += RECORD_BYTES;
		size -= RECORD_BYTES;
		taken = read_frame(&world, flags, data, RTE_MIN(len_bytes, size));
		data += taken;
		size -= taken;
		hand_in(&world, flags, split);
		world.now_us += split;
		if (flags & FLUSH)
			pw_gro_flush(world.gro);
		if (flags & FLUSH_OLDER)
			pw_gro_flush_older(world.gro, world.now_us - split);
	}
	close_world(&world);
	return 0;
}
