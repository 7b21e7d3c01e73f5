/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * A wire that makes as many frames as the port takes, and checks what the port sends.
 *
 * Frames lie ready in rings, one a size; sending one is to write the numbers of flow and sequence
 * into the next. The flows share them, so that many flows need no more cache than one.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "error.h"
#include "gen_sizes.h"
#include "gen_template.h"
#include "wire.h"

/*
 * Frames in a ring: at least a burst, which stays valid. Each has a content of its own, and the
 * number is prime, so that a buffer used again, mostly a power of two later, sees another one.
 */
#define RING_FRAMES 37
_Static_assert(RING_FRAMES >= FRAME_BURST, "a burst is valid until the next");

/* How far frames lie apart: a multiple of a cache line. */
#define FRAME_ALIGN_BYTES 64

struct gen_config {
	struct gen_sizes sizes;
	uint64_t flows, proto, ip, count, vlan, check;
};

struct gen_stats {
	uint64_t made_frames, made_bytes;
	struct check_stats check;
};

struct ring {
	uint8_t *frames;
	uint32_t len_bytes, stride_bytes;
	unsigned next;
	uint32_t sums[RING_FRAMES];
};

struct gen {
	struct wire wire;
	struct gen_layout layout;
	struct ring rings[GEN_SIZES_MAX];
	unsigned nb_rings;

	unsigned schedule_len, schedule_at;
	uint32_t flows, flow; /* how many, and the next */
	uint16_t first_flow;
	uint32_t seq;	    /* of all flows, as they take turns */
	uint32_t *tcp_seqs; /* of each flow */
	uint64_t left;	    /* frames to be made */

	struct check *check;
	struct gen_stats stats;
	uint8_t schedule[GEN_SCHEDULE_MAX];
};

enum { PROTO_UDP, PROTO_TCP };
enum { IP_4, IP_6 };

static const char *const off_on[] = {"off", "on", NULL};
static const char *const protos[] = {"udp", "tcp", NULL};
static const char *const ips[] = {"4", "6", NULL};

static const struct gen_config defaults = {
	.sizes = {.n = 1, .at_least = true, .bytes = {GEN_SIZE_MIN}, .weights = {1}},
	.flows = 1,
	.vlan = GEN_NO_VLAN,
	.check = 1,
};

static const struct param params[] = {
	{"size", "BYTES|imix|LIST",
		"frames with CRC, 64 to 9728; a list is SIZE:WEIGHT/SIZE:WEIGHT...", PARAM_CUSTOM,
		offsetof(struct gen_config, sizes), 0, 0, NULL, gen_sizes_parse},
	{"flows", "N", "flows that take turns", PARAM_UINT, offsetof(struct gen_config, flows), 1,
		GEN_FLOWS_MAX, NULL, NULL},
	{"proto", "udp|tcp", "tcp: segments with ACK, whoever may answer", PARAM_CHOICE,
		offsetof(struct gen_config, proto), 0, 0, protos, NULL},
	{"ip", "4|6", "version", PARAM_CHOICE, offsetof(struct gen_config, ip), 0, 0, ips, NULL},
	{"count", "N", "frames, then no more; 0: no end", PARAM_UINT,
		offsetof(struct gen_config, count), 0, 1e15, NULL, NULL},
	{"vlan", "ID", "put a tag into frames", PARAM_UINT, offsetof(struct gen_config, vlan), 1,
		GEN_NO_VLAN - 1, NULL, NULL},
	{"check", "on|off", "check frames from the port, or only count them", PARAM_CHOICE,
		offsetof(struct gen_config, check), 0, 0, off_on, NULL},
	{0},
};

static const struct pw_stat stats[] = {
	PW_STAT(gen_stats, made_frames, "frames"),
	PW_STAT(gen_stats, made_bytes, "bytes"),
	CHECK_STAT_ROWS(gen_stats, check),
	PW_STAT_END,
};

static void
gen_close(struct wire *wire)
{
	struct gen *gen = (struct gen *)wire;

	for (unsigned i = 0; i < gen->nb_rings; i++)
		free(gen->rings[i].frames);
	free(gen->tcp_seqs);
	check_destroy(gen->check);
	free(gen);
}

static void
init_layout(struct gen *gen, const struct wire_context *context, const struct gen_config *config)
{
	const uint8_t mac[] = {0x02, 0x70, 0x77, 0x00, 0x01, (uint8_t)context->port};

	memcpy(gen->layout.dst_mac, context->port_mac, sizeof(gen->layout.dst_mac));
	memcpy(gen->layout.src_mac, mac, sizeof(mac));
	gen->layout.vlan = (uint16_t)config->vlan;
	gen->layout.ipv6 = config->ip == IP_6;
	gen->layout.tcp = config->proto == PROTO_TCP;
	gen_layout_init(&gen->layout);
}

static int
init_ring(struct gen *gen, uint32_t len_bytes, bool at_least)
{
	struct ring *ring = &gen->rings[gen->nb_rings];
	uint32_t min_bytes = gen->layout.min_bytes;

	if (len_bytes < min_bytes && !at_least) {
		nicsim_error("gen: size=%u: with these headers a frame has at least %u bytes; ask "
			     "for those, or leave size away",
			len_bytes + FRAME_CRC_BYTES, min_bytes + FRAME_CRC_BYTES);
		return -1;
	}
	ring->len_bytes = len_bytes < min_bytes ? min_bytes : len_bytes;
	ring->stride_bytes = (ring->len_bytes + FRAME_ALIGN_BYTES - 1) & -FRAME_ALIGN_BYTES;
	ring->frames = aligned_alloc(FRAME_ALIGN_BYTES, RING_FRAMES * (size_t)ring->stride_bytes);
	if (ring->frames == NULL) {
		nicsim_error("gen: no memory");
		return -1;
	}
	gen->nb_rings++;
	for (unsigned i = 0; i < RING_FRAMES; i++)
		ring->sums[i] = gen_template_build(&gen->layout,
			ring->frames + i * ring->stride_bytes, ring->len_bytes, (uint8_t)i);
	return 0;
}

static int
init_rings(struct gen *gen, const struct gen_sizes *sizes)
{
	for (unsigned i = 0; i < sizes->n; i++)
		if (init_ring(gen, sizes->bytes[i] - FRAME_CRC_BYTES, sizes->at_least) < 0)
			return -1;
	gen->schedule_len = gen_sizes_schedule(sizes, gen->schedule);
	return 0;
}

static struct wire *
gen_open(const struct wire_context *context, const char *arg, const void *config)
{
	const struct gen_config *wanted = config;
	struct gen *gen = calloc(1, sizeof(*gen));
	uint32_t *tcp_seqs = calloc(wanted->flows, sizeof(*tcp_seqs));
	struct check *check = check_create(wanted->check);

	(void)arg;
	if (gen == NULL || tcp_seqs == NULL || check == NULL) {
		nicsim_error("gen: no memory");
		free(gen);
		free(tcp_seqs);
		check_destroy(check);
		return NULL;
	}
	gen->wire.kind = &wire_gen;
	gen->flows = (uint32_t)wanted->flows;
	/* Flows of other ports' generators are others, so that one checker can tell them apart. */
	gen->first_flow = (uint16_t)(context->port << 12);
	gen->tcp_seqs = tcp_seqs;
	gen->left = wanted->count == 0 ? UINT64_MAX : wanted->count;
	gen->check = check;
	init_layout(gen, context, wanted);
	if (init_rings(gen, &wanted->sizes) < 0) {
		gen_close(&gen->wire);
		return NULL;
	}
	return &gen->wire;
}

/* The next frame, of the next flow. */
static inline void
make_frame(struct gen *gen, struct frame *frame)
{
	struct ring *ring = &gen->rings[gen->schedule[gen->schedule_at]];
	uint8_t *data = ring->frames + ring->next * ring->stride_bytes;
	uint32_t *tcp_seq = &gen->tcp_seqs[gen->flow];

	gen_template_patch(&gen->layout, data, (uint16_t)(gen->first_flow + gen->flow), gen->seq);
	if (gen->layout.tcp) {
		gen_template_patch_seq(&gen->layout, data, ring->sums[ring->next], *tcp_seq);
		*tcp_seq += ring->len_bytes - gen->layout.mark;
	}
	*frame = (struct frame){.data = data, .len_bytes = ring->len_bytes};
	gen->stats.made_bytes += ring->len_bytes;
	if (++ring->next == RING_FRAMES)
		ring->next = 0;
	if (++gen->schedule_at == gen->schedule_len)
		gen->schedule_at = 0;
	if (++gen->flow == gen->flows) {
		gen->flow = 0;
		gen->seq++;
	}
}

static unsigned
gen_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct gen *gen = (struct gen *)wire;

	(void)now_ns;
	if (n > gen->left)
		n = (unsigned)gen->left;
	for (unsigned i = 0; i < n; i++)
		make_frame(gen, &frames[i]);
	if (gen->left != UINT64_MAX)
		gen->left -= n;
	gen->stats.made_frames += n;
	return n;
}

static void
gen_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	(void)now_ns;
	check_frames(((struct gen *)wire)->check, frames, n);
}

static bool
gen_is_done(const struct wire *wire)
{
	return ((const struct gen *)wire)->left == 0;
}

static const char *
gen_verdict(const struct wire *wire)
{
	return check_verdict(((const struct gen *)wire)->check);
}

static const void *
gen_get_stats(struct wire *wire)
{
	struct gen *gen = (struct gen *)wire;

	gen->stats.check = *check_get_stats(gen->check);
	return &gen->stats;
}

const struct wire_kind wire_gen = {
	.name = "gen",
	.help = "makes frames of any size and many flows, and checks those that come",
	.params = params,
	.defaults = &defaults,
	.config_bytes = sizeof(defaults),
	.open = gen_open,
	.receive = gen_receive,
	.send = gen_send,
	.is_done = gen_is_done,
	.verdict = gen_verdict,
	.stats = stats,
	.get_stats = gen_get_stats,
	.close = gen_close,
};
