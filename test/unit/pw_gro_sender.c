/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_gro_sender.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>

/* Once in n packets in the worst weather. */
static bool
happens(const struct pw_gro_sender *sender, uint64_t *seed, unsigned n)
{
	return pw_chance(seed, n * sender->weather->calm);
}

struct pw_gro_weather
pw_gro_weather_random(uint64_t *seed)
{
	static const unsigned calm[] = {1, 1, 3, 20};

	return (struct pw_gro_weather){
		.calm = calm[pw_test_random(seed, RTE_DIM(calm))],
		.rss = pw_test_random(seed, 4),
		.other = pw_test_random(seed, 1000),
		.seq = pw_test_random(seed, UINT32_MAX),
		.ack = pw_test_random(seed, UINT32_MAX),
		.ip_id = pw_test_random(seed, UINT32_MAX),
	};
}

/* One of the things a flow goes by. */
static void
make_other(struct pw_gro_sender *sender, unsigned what)
{
	struct pw_packet *next = &sender->next;

	switch (what % 6) {
	case 0:
		next->src_port ^= 0x100;
		break;
	case 1:
		next->dst_port ^= 1;
		break;
	case 2:
		next->src_ip ^= 0x1000000;
		break;
	case 3:
		next->dst_ip ^= 1;
		break;
	case 4:
		sender->port = 1;
		break;
	default: /* the other direction */
		RTE_SWAP(next->src_ip, next->dst_ip);
		RTE_SWAP(next->src_port, next->dst_port);
		break;
	}
}

void
pw_gro_sender_start(struct pw_gro_sender *sender, const struct pw_gro_weather *weather,
	unsigned flow, uint64_t *seed)
{
	unsigned tags = 0, other = flow >> 2 & 3;

	/* The first have none. */
	if (flow >> 4 != 0)
		tags = 1 + (weather->other + (flow >> 4)) % (CASE_TAGS - 1);
	*sender = (struct pw_gro_sender){
		.weather = weather,
		.tags = &pw_gro_case_tags[tags],
		.flow = flow,
		.verdicts = pw_test_random(seed, 4),
		.ids_stay = pw_chance(seed, 3),
		.next = pw_gro_case_packet(flow & 1, flow & 2, &pw_gro_case_tags[tags]),
	};
	sender->next.seq = weather->seq;
	sender->next.ack = weather->ack;
	sender->next.ip_id = weather->ip_id;
	if (pw_chance(seed, 3))
		sender->next.ip_frag = 0;
	if (pw_chance(seed, 5))
		pw_packet_add_ext(&sender->next, IPPROTO_DSTOPTS, 1);
	if (other != 0)
		make_other(sender, weather->other + other);
}

static void
change_tcp(struct pw_packet *next, uint64_t *seed)
{
	switch (pw_test_random(seed, 6)) {
	case 0:
		next->ack += pw_test_random(seed, 5000);
		break;
	case 1:
		next->window = pw_test_random(seed, UINT32_MAX);
		break;
	case 2:
		next->options_bytes = pw_test_random(seed, 11) * 4;
		memset(next->options, 1, next->options_bytes);
		break;
	case 3:
		next->options[pw_test_random(seed, 40)] ^= 1;
		break;
	case 4:
		next->flags ^= pw_chance(seed, 2) ? RTE_TCP_ECE_FLAG : RTE_TCP_CWR_FLAG;
		break;
	default:
		next->reserved ^= 1 << pw_test_random(seed, 4);
		break;
	}
}

static void
change_exts(struct pw_packet *next, uint64_t *seed)
{
	static const uint8_t types[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS};

	if (next->nb_exts > 0 && pw_chance(seed, 3))
		next->exts[pw_test_random(seed, next->nb_exts)].data[5] ^= 1;
	else if (next->nb_exts == 3 || (next->nb_exts > 0 && pw_chance(seed, 2)))
		next->nb_exts = 0;
	else
		pw_packet_add_ext(next, types[pw_test_random(seed, 3)], 1);
}

static void
change_ip(struct pw_gro_sender *sender, uint64_t *seed)
{
	struct pw_packet *next = &sender->next;

	switch (pw_test_random(seed, 8)) {
	case 0:
		next->tos = pw_chance(seed, 2) ? pw_test_random(seed, 4)
					       : pw_test_random(seed, 256);
		break;
	case 1:
		next->ip_frag ^= RTE_IPV4_HDR_DF_FLAG;
		break;
	case 2:
		next->ip_id += pw_test_random(seed, 3);
		break;
	case 3:
		sender->ids_stay = !sender->ids_stay;
		break;
	case 4:
		next->ttl ^= 1;
		break;
	case 5:
		next->ip_id = UINT16_MAX - 3;
		break;
	case 6:
		next->flow_label = pw_chance(seed, 2) ? 0 : pw_test_random(seed, 1 << 20);
		break;
	default:
		change_exts(next, seed);
		break;
	}
}

/* Lasting changes, as they come up in real streams. */
static void
change(struct pw_gro_sender *sender, uint64_t *seed)
{
	switch (pw_test_random(seed, 6)) {
	case 0:
		sender->next.seq += pw_test_random(seed, 3000); /* a loss */
		break;
	case 1:
		sender->next.seq = UINT32_MAX - pw_test_random(seed, 3000);
		break;
	case 2:
		sender->verdicts = pw_test_random(seed, 4);
		break;
	case 3:
	case 4:
		if (!sender->next.udp)
			change_tcp(&sender->next, seed);
		else
			sender->next.no_cksum = !sender->next.no_cksum;
		break;
	default:
		change_ip(sender, seed);
		break;
	}
}

static void
make_fragment(struct pw_packet *packet, uint64_t *seed)
{
	if (!packet->ipv6)
		packet->ip_frag |= pw_chance(seed, 2) ? RTE_IPV4_HDR_MF_FLAG : 100;
	else
		pw_packet_add_ext(packet, IPPROTO_FRAGMENT, pw_test_random(seed, 20));
}

/* What is special about a single packet. */
static void
decorate(const struct pw_gro_sender *sender, struct pw_packet *packet, uint64_t *seed)
{
	static const uint8_t flags[] = {RTE_TCP_FIN_FLAG, RTE_TCP_PSH_FLAG, RTE_TCP_PSH_FLAG,
		RTE_TCP_SYN_FLAG, RTE_TCP_RST_FLAG, RTE_TCP_URG_FLAG, RTE_TCP_CWR_FLAG,
		RTE_TCP_ACK_FLAG};

	if (happens(sender, seed, 12))
		packet->flags ^= flags[pw_test_random(seed, RTE_DIM(flags))];
	if (happens(sender, seed, 60))
		make_fragment(packet, seed);
	if (happens(sender, seed, 60))
		packet->ip_options_bytes = 4 * (1 + pw_test_random(seed, 10));
	if (happens(sender, seed, 20))
		packet->payload_bytes = 0;
	if (packet->payload_bytes < 60)
		packet->pad_bytes = pw_test_random(seed, 7);
	if (happens(sender, seed, 60))
		packet->pad_bytes = pw_test_random(seed, 200);
}

static struct pw_packet
next_packet(struct pw_gro_sender *sender, uint32_t size, uint64_t *seed)
{
	unsigned sent = RTE_MIN(sender->nb_sent, RTE_DIM(sender->sent));
	struct pw_packet packet;

	if (sent > 0 && happens(sender, seed, 15))
		return sender->sent[pw_test_random(seed, sent)];
	if (happens(sender, seed, 15))
		change(sender, seed);
	packet = sender->next;
	packet.payload_bytes = size;
	if (happens(sender, seed, 10))
		packet.payload_bytes = pw_test_random(seed, 1461);
	decorate(sender, &packet, seed);
	sender->next.seq += packet.payload_bytes;
	sender->next.ip_id += !sender->ids_stay;
	sender->sent[sender->nb_sent++ % RTE_DIM(sender->sent)] = packet;
	return packet;
}

/* Damage that makes it no packet of TCP or UDP at all. */
static void
make_loose(struct pw_gro_item *item, uint64_t *seed)
{
	static const struct pw_packet_tag tags[3] = {{0x88a8, 1}, {0x8100, 2}, {0x8100, 3}};
	uint16_t l2 = pw_packet_l2_bytes(&item->packet), l4 = pw_packet_l4_offset(&item->packet);
	uint8_t *data = rte_pktmbuf_mtod(item->m, uint8_t *);
	bool ipv6 = item->packet.ipv6;

	item->loose = true;
	switch (pw_test_random(seed, 6)) {
	case 0:
		pw_frame_put(data + l2 - 2, 0x0806, 2);
		break;
	case 1: /* three tags */
		memmove(data + 12 + 12, data + l2 - 2, l4 - l2);
		for (unsigned i = 0; i < RTE_DIM(tags); i++) {
			pw_frame_put(data + 12 + 4 * i, tags[i].type, 2);
			pw_frame_put(data + 14 + 4 * i, tags[i].tci, 2);
		}
		break;
	case 2:
		data[l2] ^= 0x30;
		break;
	case 3: /* longer than the frame */
		pw_frame_put(data + l2 + (ipv6 ? 4 : 2), item->m->pkt_len, 2);
		break;
	case 4:
		data[l4 -
			(ipv6 ? item->packet.nb_exts > 0 ? 8 : 34
			      : item->packet.ip_options_bytes + 11)] = IPPROTO_ICMP;
		break;
	default:
		rte_pktmbuf_trim(item->m, item->m->pkt_len - pw_test_random(seed, l4));
		break;
	}
}

/* One bit of it, in the IP header or behind the ports. */
static void
damage(struct pw_gro_item *item, uint64_t *seed)
{
	static const uint8_t ip_bytes[] = {1, 4, 5, 8, 10, 11};
	const struct pw_packet *packet = &item->packet;
	uint16_t l4 = pw_packet_l4_offset(packet) + 4;
	uint16_t end = pw_packet_header_bytes(packet) + packet->payload_bytes;
	uint16_t at = l4 + pw_test_random(seed, end - l4);

	if (packet->no_cksum)
		return;
	if (!packet->ipv6 && pw_chance(seed, 4))
		at = pw_packet_l2_bytes(packet) + ip_bytes[pw_test_random(seed, RTE_DIM(ip_bytes))];
	*rte_pktmbuf_mtod_offset(item->m, uint8_t *, at) ^= 1 << pw_test_random(seed, 8);
	item->alone = true;
	/* A NIC that looked has seen it: one of both. */
	if (pw_chance(seed, 2))
		item->m->ol_flags |= at < l4 ? RTE_MBUF_F_RX_IP_CKSUM_BAD
					     : RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

/* What the NIC says of a frame that is right. */
static void
give_verdict(const struct pw_gro_sender *sender, struct pw_gro_item *item, uint64_t *seed)
{
	unsigned verdict = sender->verdicts < 3 ? sender->verdicts : pw_test_random(seed, 3);
	struct rte_mbuf *m = item->m;

	if (happens(sender, seed, 200)) {
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
		item->alone = true;
	} else if (verdict == 1) {
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	} else if (verdict == 2 && !item->packet.no_cksum) {
		item->not_filled = true;
	}
	if (verdict != 0 && !pw_chance(seed, 4))
		m->ol_flags |= verdict == 1 ? RTE_MBUF_F_RX_IP_CKSUM_GOOD
					    : RTE_MBUF_F_RX_IP_CKSUM_NONE;
}

static void
set_fields(const struct pw_gro_sender *sender, struct rte_mbuf *m, uint64_t *seed)
{
	pw_gro_case_strip(m, sender->tags);
	m->port = sender->port;
	if (!(m->ol_flags & RTE_MBUF_F_RX_VLAN))
		m->vlan_tci = pw_test_random(seed, UINT16_MAX);
	if (pw_chance(seed, 10))
		m->tx_offload = (uint64_t)pw_test_random(seed, UINT32_MAX) << 20;
	if (pw_chance(seed, 10))
		m->packet_type = pw_test_random(seed, UINT32_MAX);
	m->hash.rss = sender->weather->rss == 1 ? 7
		: sender->weather->rss == 2	? sender->flow * 0x9e3779b1
						: pw_test_random(seed, UINT32_MAX);
	if (sender->weather->rss != 0)
		m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
}

struct pw_gro_item
pw_gro_sender_next(
	struct pw_gro_sender *sender, struct pw_gro_rig *rig, uint32_t size, uint64_t *seed)
{
	struct pw_gro_item item = {.flow = sender->flow};

	item.packet = next_packet(sender, size, seed);
	item.m = pw_packet_frame(rig->pool, &item.packet);
	set_fields(sender, item.m, seed);
	if (happens(sender, seed, 100))
		make_loose(&item, seed);
	else if (happens(sender, seed, 40))
		damage(&item, seed);
	else
		give_verdict(sender, &item, seed);
	return item;
}

/* Spread over mbufs: anywhere, or behind the headers. */
static void
split(struct pw_gro_rig *rig, struct rte_mbuf *m, uint16_t from, uint64_t *seed)
{
	uint16_t end = m->data_len;

	for (unsigned n = 1 + pw_test_random(seed, 4); n > 0 && end >= from; n--) {
		end = from + pw_test_random(seed, end - from + 1);
		pw_packet_split(rig->pool, m, end);
	}
}

struct rte_mbuf *
pw_gro_item_note(const struct pw_gro_item *item, struct pw_gro_rig *rig, bool exact, uint64_t *seed)
{
	const struct pw_packet *packet = item->loose ? NULL : &item->packet;
	unsigned flow = item->loose ? RIG_LOOSE : item->flow;
	struct rte_mbuf *m = item->m;
	struct pw_gro_rig_frame *frame = pw_gro_rig_expect(rig, flow, m, packet);

	if (item->alone)
		pw_gro_rig_alone(rig, frame);
	if (item->not_filled)
		pw_gro_rig_leave_cksum(frame, m, packet);
	if (exact || pw_chance(seed, 100))
		m = pw_packet_exact(rig->pool, m);
	if (pw_chance(seed, 30))
		split(rig, m,
			packet == NULL || pw_chance(seed, 3) ? 0 : pw_packet_header_bytes(packet),
			seed);
	if (pw_chance(seed, 150)) {
		pw_gro_rig_share(rig, frame, m->next != NULL && pw_chance(seed, 2) ? m->next : m);
	} else if (!RTE_MBUF_HAS_EXTBUF(m) && pw_chance(seed, 150)) {
		pw_gro_rig_alone(rig, frame);
		m = pw_packet_clone(rig->pool, m);
	}
	return m;
}
