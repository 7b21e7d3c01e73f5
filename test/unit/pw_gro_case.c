/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_case.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

#define STREAMS 4
#define WORDS 8

#define STRIPPED (RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED)
#define BOTH_STRIPPED (STRIPPED | RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_QINQ_STRIPPED)

/* Where nothing was stripped, the mbuf has garbage there. */
const struct pw_gro_tags pw_gro_case_tags[CASE_TAGS] = {
	{"no tag", 0, {{0}}, 0, 10, 7},
	{"tag 10", 1, {{0x8100, 10}}, 0, 3, 0},
	{"tags 20 10", 2, {{0x88a8, 20}, {0x8100, 10}}, 0, 0, 0},
	{"stripped 10", 0, {{0}}, STRIPPED, 10, 7},
	{"tag 20", 1, {{0x8100, 20}}, 0, 0, 0},
	{"tag 10 of the other type", 1, {{0x88a8, 10}}, 0, 0, 0},
	{"stripped 20, tag 10", 1, {{0x8100, 10}}, STRIPPED, 20, 0},
	{"stripped 20 10", 0, {{0}}, BOTH_STRIPPED, 10, 20},
	{"stripped 0", 0, {{0}}, STRIPPED, 0, 0},
};

struct word {
	char name[16];
	uint32_t value;
	bool done;
};

struct pw_packet
pw_gro_case_packet(bool ipv6, bool udp, const struct pw_gro_tags *tags)
{
	return (struct pw_packet){
		.tags = tags->in_frame,
		.nb_tags = tags->nb_tags,
		.ipv6 = ipv6,
		.udp = udp,
		.src_ip = PW_PACKET_PEER,
		.dst_ip = PW_PACKET_US,
		.ttl = 8,
		.ip_id = 1,
		.ip_frag = RTE_IPV4_HDR_DF_FLAG,
		.src_port = 1000,
		.dst_port = 2000,
		.seq = 1000,
		.ack = 500,
		.flags = RTE_TCP_ACK_FLAG,
		.window = 4096,
	};
}

void
pw_gro_case_strip(struct rte_mbuf *m, const struct pw_gro_tags *tags)
{
	m->ol_flags |= tags->stripped;
	m->vlan_tci = tags->tci;
	m->vlan_tci_outer = tags->tci_outer;
}

/* A TCP option of a timestamp, with NOPs in front, between or behind. */
static void
put_ts(struct pw_packet *packet, const char *layout, uint32_t value)
{
	uint8_t *p = packet->options;

	memset(p, 1, 12);
	p += strcmp(layout, "ts") == 0 ? 2 : strcmp(layout, "tsnop") == 0 ? 1 : 0;
	p[0] = 8;
	p[1] = 10;
	pw_frame_put(p + 2, value, 4);
	pw_frame_put(p + 6, 0, 4);
	packet->options_bytes = 12;
}

/* The first or a later fragment. */
static void
make_fragment(struct pw_packet *packet, bool first)
{
	if (!packet->ipv6)
		packet->ip_frag = first ? RTE_IPV4_HDR_MF_FLAG : 64;
	else
		pw_packet_add_ext(packet, IPPROTO_FRAGMENT, first ? 1 : 64);
}

static bool
apply_ext(struct pw_packet *packet, const struct word *word)
{
	if (strcmp(word->name, "hbh") == 0)
		pw_packet_add_ext(packet, IPPROTO_HOPOPTS, word->value);
	else if (strcmp(word->name, "rt") == 0)
		pw_packet_add_ext(packet, IPPROTO_ROUTING, word->value);
	else if (strcmp(word->name, "dst") == 0)
		pw_packet_add_ext(packet, IPPROTO_DSTOPTS, word->value);
	else if (strcmp(word->name, "atomic") == 0)
		pw_packet_add_ext(packet, IPPROTO_FRAGMENT, 0);
	else if (strcmp(word->name, "label") == 0)
		packet->flow_label = word->value;
	else
		return false;
	return true;
}

static bool
apply_ip(struct pw_packet *packet, const struct word *word)
{
	if (strcmp(word->name, "tos") == 0)
		packet->tos = word->value;
	else if (strcmp(word->name, "ttl") == 0)
		packet->ttl = word->value;
	else if (strcmp(word->name, "id") == 0)
		packet->ip_id = word->value;
	else if (strcmp(word->name, "ipopt") == 0)
		packet->ip_options_bytes = 4;
	else if (strcmp(word->name, "mf") == 0 || strcmp(word->name, "off") == 0)
		make_fragment(packet, word->name[0] == 'm');
	else if (strcmp(word->name, "df0") == 0)
		packet->ip_frag = 0;
	else if (strcmp(word->name, "rf") == 0) /* the reserved flag */
		packet->ip_frag |= 0x8000;
	else if (strcmp(word->name, "pad") == 0)
		packet->pad_bytes = word->value;
	else if (strcmp(word->name, "port") == 0)
		packet->src_port++;
	else if (strcmp(word->name, "addr") == 0)
		packet->src_ip++;
	else if (strcmp(word->name, "nosum") == 0)
		packet->no_cksum = true;
	else if (strcmp(word->name, "tcp") == 0 || strcmp(word->name, "udp") == 0)
		packet->udp = word->name[0] == 'u';
	else if (strcmp(word->name, "ipv6") == 0)
		packet->ipv6 = !packet->ipv6;
	else
		return false;
	return true;
}

static bool
apply_tcp(struct pw_packet *packet, const struct word *word)
{
	static const char letters[] = "FSRP UEC"; /* in the order of the bits; a gap for ACK */
	const char *letter = strchr(letters, word->name[0]);

	if (word->name[1] == '\0' && letter != NULL)
		packet->flags |= 1 << (letter - letters);
	else if (strcmp(word->name, "noack") == 0)
		packet->flags &= ~RTE_TCP_ACK_FLAG;
	else if (strcmp(word->name, "ae") == 0)
		packet->reserved = 1;
	else if (strcmp(word->name, "ack") == 0)
		packet->ack += word->value;
	else if (strcmp(word->name, "win") == 0)
		packet->window = word->value;
	else if (strcmp(word->name, "gap") == 0)
		packet->seq++;
	else if (strcmp(word->name, "back") == 0)
		packet->seq -= word->value;
	else if (strcmp(word->name, "seq") == 0)
		packet->seq = word->value;
	else if (strncmp(word->name, "ts", 2) == 0)
		put_ts(packet, word->name, word->value);
	else if (strcmp(word->name, "nops") == 0)
		memset(packet->options, 1, packet->options_bytes = word->value);
	else if (strcmp(word->name, "ws") == 0)
		memcpy(packet->options, (uint8_t[]){1, 3, 3, 7}, packet->options_bytes = 4);
	else
		return false;
	return true;
}

/* Damage done to the frame, and what the NIC says. */
static bool
apply_frame(struct rte_mbuf *m, const struct pw_packet *packet, const struct word *word)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);

	if (strcmp(word->name, "csum") == 0)
		data[pw_packet_l4_offset(packet) + (packet->udp ? 6 : 16)]++;
	else if (strcmp(word->name, "ipcsum") == 0)
		data[pw_packet_l2_bytes(packet) + 10]++;
	else if (strcmp(word->name, "mac") == 0)
		data[word->value]++;
	else if (strcmp(word->name, "nicbad") == 0)
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	else if (strcmp(word->name, "nicgood") == 0)
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	else if (strcmp(word->name, "nicipbad") == 0)
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_BAD;
	else if (strcmp(word->name, "niclro") == 0)
		m->ol_flags |= RTE_MBUF_F_RX_LRO, m->tso_segsz = word->value;
	else if (strcmp(word->name, "nictso") == 0)
		m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG, m->tso_segsz = word->value;
	else if (strcmp(word->name, "nicport") == 0)
		m->port = word->value;
	else if (strcmp(word->name, "ptype") == 0)
		m->packet_type = word->value;
	else if (strcmp(word->name, "rss") == 0)
		m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH, m->hash.rss = word->value;
	else if (strcmp(word->name, "lens") == 0)
		m->tx_offload = word->value * UINT64_C(0x123456789abcdef);
	else
		return false;
	return true;
}

/* In an external buffer that another mbuf has too. */
static struct rte_mbuf *
lend(struct pw_gro_rig *rig, struct rte_mbuf *m, struct pw_gro_rig_frame *frame)
{
	m = pw_packet_exact(rig->pool, m);
	frame->shared = rte_pktmbuf_clone(m, rig->pool);
	assert_non_null(frame->shared);
	pw_gro_rig_alone(rig, frame);
	return m;
}

/* What the frame lies in: split at so many bytes of its IP packet, of layer 4, or shared. */
static struct rte_mbuf *
apply_mbuf(struct pw_gro_rig *rig, struct rte_mbuf *m, const struct pw_packet *packet,
	struct pw_gro_rig_frame *frame, const struct word *word)
{
	if (strcmp(word->name, "cut") == 0)
		pw_packet_split(rig->pool, m, word->value);
	else if (strcmp(word->name, "cut3") == 0)
		pw_packet_split(rig->pool, m, pw_packet_l2_bytes(packet) + word->value);
	else if (strcmp(word->name, "cut4") == 0)
		pw_packet_split(rig->pool, m, pw_packet_l4_offset(packet) + word->value);
	else if (strcmp(word->name, "exact") == 0)
		m = pw_packet_exact(rig->pool, m);
	else if (strcmp(word->name, "nicnone") == 0)
		pw_gro_rig_leave_cksum(frame, m, packet);
	else if (strcmp(word->name, "shared") == 0)
		pw_gro_rig_share(rig, frame, word->value == 0 ? m : m->next);
	else if (strcmp(word->name, "lent") == 0)
		m = lend(rig, m, frame);
	else if (strcmp(word->name, "clone") == 0)
		m = pw_packet_clone(rig->pool, m);
	else
		fail_msg("the case says \"%s\"", word->name);
	return m;
}

static unsigned
parse_words(const char *text, struct word *words)
{
	unsigned n = 0;

	for (text = strchr(text, ':'); text != NULL; text = strchr(text + 1, ',')) {
		struct word *word = &words[n++];
		size_t len = strcspn(text + 1, ",=");

		assert_true(n <= WORDS && len < sizeof(word->name));
		*word = (struct word){.value = 0};
		memcpy(word->name, text + 1, len);
		if (text[1 + len] == '=')
			word->value = strtoul(text + 2 + len, NULL, 0);
	}
	return n;
}

/* Changes next to what the packet behind this one looks like. */
static void
apply_words(struct pw_packet *next, struct pw_packet *packet, struct word *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		words[i].done = strcmp(words[i].name, "f") == 0 || apply_ip(packet, &words[i]) ||
			apply_ext(packet, &words[i]) || apply_tcp(packet, &words[i]);
	next->seq = packet->seq + packet->payload_bytes;
	next->ip_id++;
}

/* A frame that is wrong, or not only ours. */
static bool
forbids_merging(const struct word *word)
{
	static const char *const words[] = {"csum", "ipcsum", "nicbad", "nicipbad", "clone"};

	for (unsigned i = 0; i < RTE_DIM(words); i++)
		if (strcmp(word->name, words[i]) == 0)
			return true;
	return false;
}

static void
send_segment(struct pw_gro_rig *rig, struct pw_packet *streams, const struct pw_gro_tags *tags,
	const char *text)
{
	struct word words[WORDS];
	unsigned n = parse_words(text, words);
	unsigned flow = n > 0 && strcmp(words[0].name, "f") == 0 ? words[0].value : 0;
	struct pw_packet packet = streams[flow];
	struct pw_gro_rig_frame *frame;
	struct rte_mbuf *m;

	packet.payload_bytes = strtoul(text, NULL, 10);
	apply_words(&streams[flow], &packet, words, n);
	m = pw_packet_frame(rig->pool, &packet);
	pw_gro_case_strip(m, tags);
	for (unsigned i = 0; i < n; i++)
		words[i].done |= apply_frame(m, &packet, &words[i]);
	frame = pw_gro_rig_expect(rig, flow, m, &packet);
	for (unsigned i = 0; i < n; i++) {
		if (forbids_merging(&words[i]))
			pw_gro_rig_alone(rig, frame);
		if (!words[i].done)
			m = apply_mbuf(rig, m, &packet, frame, &words[i]);
	}
	pw_gro_rig_receive(rig, &m, 1);
}

void
pw_gro_case_send(struct pw_gro_rig *rig, const struct pw_packet *first,
	const struct pw_gro_tags *tags, const char *sent)
{
	struct pw_packet streams[STREAMS];
	char buf[256], *save = NULL;

	assert_true(strlen(sent) < sizeof(buf));
	snprintf(buf, sizeof(buf), "%s", sent);
	for (unsigned i = 0; i < STREAMS; i++)
		streams[i] = *first;
	for (char *text = strtok_r(buf, " ", &save); text; text = strtok_r(NULL, " ", &save)) {
		char *times = text + strspn(text, "0123456789");
		int n = times[0] == 'x' ? atoi(times + 1) : 1;

		while (n-- > 0)
			send_segment(rig, streams, tags, text);
	}
}

static void
run(struct pw_gro_rig *rig, const struct pw_gro_case *c, bool ipv6, bool udp,
	const struct pw_gro_tags *tags)
{
	struct pw_packet first = pw_gro_case_packet(ipv6, udp, tags);

	rig->sizes[0] = '\0';
	pw_gro_case_send(rig, &first, tags, c->sent);
	pw_gro_rig_flush(rig);
	if (strcmp(rig->sizes, c->sizes) != 0)
		fail_msg("IPv%d, %s: \"%s\" became \"%s\", not \"%s\"", ipv6 ? 6 : 4, tags->name,
			c->sent, rig->sizes, c->sizes);
}

static void
run_all_tags(struct pw_gro_rig *rig, const struct pw_gro_case *c, bool udp)
{
	for (unsigned t = 0; t < CASE_TAGS; t++) {
		if (c->versions & CASE_IPV4)
			run(rig, c, false, udp, &pw_gro_case_tags[t]);
		if (c->versions & CASE_IPV6)
			run(rig, c, true, udp, &pw_gro_case_tags[t]);
	}
}

void
pw_gro_case_run(struct pw_gro_rig *rig, const struct pw_gro_case *cases, unsigned n, bool udp)
{
	for (unsigned k = 0; k < RIG_SIMD_KINDS; k++) {
		pw_gro_rig_simd(k);
		pw_gro_rig_open(rig, rig->params);
		for (unsigned i = 0; i < n; i++) {
			if (k == 0)
				print_message("%s\n", cases[i].name);
			run_all_tags(rig, &cases[i], udp);
		}
	}
}
