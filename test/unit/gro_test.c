/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "pw_gro_rig.h"

/* Linux's own names and cases (tools/testing/selftests, gro), then ours. A segment is its payload
 * size, and after a colon what is special about it: see apply().
 */
static const struct {
	const char *name;
	const char *sent;
	const char *sizes; /* that come out */
} cases[] = {
	{"data_same", "100 100", "200"},
	{"data_lrg_sml", "100 50", "150"},
	{"data_sml_lrg", "50 100", "50 100"},
	{"ack", "0 0 0:ack=1", "0 0 0"},
	{"flags_psh", "100 100 100:P 100 100", "300 200"},
	{"flags_syn", "100 100 0:S 100 100", "200 0 200"},
	{"flags_rst", "100 100 0:R 100 100", "200 0 200"},
	{"flags_urg", "100 100 0:U 100 100", "200 0 200"},
	{"flags_cwr", "100 100:C 100:C 100 100", "100 200 200"},
	{"tcp_csum", "100 100:csum", "100 100"},
	{"tcp_seq", "100 100:gap", "100 100"},
	{"tcp_ts", "100:ts=0 100:ts=0 100:ts=9 100:tsnop=9 100:tsend=9", "200 100 100 100"},
	{"tcp_opt", "100:ts=0 100:ts=0 100:ws", "200 100"},
	{"ip_ecn", "100 100:tos=2", "100 100"},
	{"ip_ecn ce", "100:tos=2 100:tos=3", "100 100"},
	{"ip_tos", "100 100:tos=1", "100 100"},
	{"ip_tos class", "100 100:tos=240", "100 100"},
	{"ip_ttl", "100 100:ttl=7", "100 100"},
	{"ip_opt", "100 100:ipopt 100", "100 100 100"},
	{"ip_frag4", "100 100:mf", "100 100"},
	{"ip_id_df1_inc", "100 100", "200"},
	{"ip_id_df1_fixed", "100:id=7 100:id=7", "200"},
	{"ip_id_df0_inc", "100:df0 100:df0", "200"},
	{"large_max", "4036x16 919 919", "65495 919"},
	{"large_rem", "4036x16 920 920:gap", "64576 920 920"},

	{"IDs wrap", "100:id=65534 100:id=65535 100:id=0 100:id=1", "400"},
	{"IDs wrap, DF 0", "100:df0,id=65535 100:df0,id=0", "200"},
	{"IDs count, then stay", "100:id=7 100:id=8 100:id=8", "200 100"},
	{"IDs stay, then count", "100:id=7 100:id=7 100:id=8", "200 100"},
	{"IDs stay, DF 0", "100:df0,id=7 100:df0,id=7", "100 100"},
	{"ID jumps", "100:id=7 100:id=9 100:id=8", "100 100 100"},
	{"DF differs", "100 100:df0", "100 100"},
	{"shorter completes", "100 50 50 50", "150 100"},
	{"FIN merges and completes", "100 100:F", "200"},
	{"FIN alone", "100 100 0:F", "200 0"},
	{"PSH on the first", "100:P 100 100", "100 200"},
	{"PSH on the second", "100 100:P", "200"},
	{"ack moves", "100 100 100:ack=1 100:ack=1", "200 200"},
	{"window differs", "100 100:win=9", "100 100"},
	{"ECE differs", "100:E 100:E 100", "200 100"},
	{"reserved bits differ", "100 100:ae", "100 100"},
	{"no ACK flag", "100 100:noack 100", "100 100 100"},
	{"pure ACK in the middle", "100 100 0 100 100", "200 0 200"},
	{"SYN with data", "100 100:S 100", "100 100 100"},
	{"RST with data", "100 100:R 100", "100 100 100"},
	{"seen again", "100 100 100:back=200 100:back=100", "200 100 100"},
	{"overlap", "100 100:back=1", "100 100"},
	{"bad checksum between", "100 100 100:csum 100 100", "200 100 200"},
	{"bad checksum first", "100:csum 100 100", "100 200"},
	{"bad IP checksum", "100 100:ipcsum", "100 100"},
	{"NIC says bad", "100 100:nicbad 100", "100 100 100"},
	{"NIC says good", "100:nicgood 100:nicgood", "200"},
	{"NIC vouches, not filled in", "100:nicnone 100:nicnone", "200"},
	{"NIC vouches for the second", "100 100:nicnone", "200"},
	{"odd sizes", "3 3 3 3 1", "13"},
	{"one byte padded, then more", "1:pad=5 100", "1 100"}, /* as data_sml_lrg */
	{"one byte each, padded", "1:pad=5 1:pad=5", "2"},
	{"padded short one last", "100 1:pad=5", "101"},
	{"padded ACK", "100 0:pad=6 100", "100 0 100"},
	{"offset fragment", "100 100:off 100", "100 100 100"},
	{"first fragment of the next", "100 100 100:mf", "200 100"},
	{"two first fragments", "100:mf 100:mf", "100 100"},
	{"fragments that the NIC calls good", "100:nicgood,mf 100:nicgood,off", "100 100"},
	{"two last fragments", "100:off 100:off", "100 100"},
	{"hop limits 64 and 63", "100:ttl=64 100:ttl=63", "100 100"},
	{"other MAC address", "100 100:mac", "100 100"},
	{"chained mbuf", "100 100:chain 100", "100 100 100"},
	{"tag 10, tag 20", "100:vlan=10 100:vlan=20", "100 100"},
	{"tag 10 twice", "100:vlan=10 100:vlan=10", "200"},
	{"untagged, tag 0", "100 100:vlan=0", "100 100"},
	{"tagged, untagged", "100:vlan=10 100", "100 100"},
	{"urgent data", "100 100:U 100", "100 100 100"},
	{"sequence numbers wrap", "100:seq=4294967196 100 100", "300"},
};

/* A TCP option of a timestamp, with NOPs in front, between or behind. */
static void
put_ts(struct pw_packet *packet, const char *layout, uint32_t value)
{
	uint8_t *p = packet->options;

	memset(p, 1, 12);
	p += strcmp(layout, "ts") == 0 ? 2 : strcmp(layout, "tsnop") == 0 ? 1 : 0;
	p[0] = 8;
	p[1] = 10;
	pw_packet_put(p + 2, value, 4);
	pw_packet_put(p + 6, 0, 4);
	packet->options_bytes = 12;
}

static bool
apply_ip(struct pw_packet *packet, const char *what, uint32_t value)
{
	if (strcmp(what, "tos") == 0)
		packet->tos = value;
	else if (strcmp(what, "ttl") == 0)
		packet->ttl = value;
	else if (strcmp(what, "id") == 0)
		packet->ip_id = value;
	else if (strcmp(what, "ipopt") == 0)
		packet->ip_options_bytes = 4;
	else if (strcmp(what, "mf") == 0)
		packet->ip_frag = RTE_IPV4_HDR_MF_FLAG;
	else if (strcmp(what, "off") == 0)
		packet->ip_frag = 64;
	else if (strcmp(what, "df0") == 0)
		packet->ip_frag = 0;
	else if (strcmp(what, "pad") == 0)
		packet->pad_bytes = value;
	else
		return false;
	return true;
}

static bool
apply_tcp(struct pw_packet *packet, const char *what, uint32_t value)
{
	static const char letters[] = "FSRP UEC"; /* in the order of the bits; a gap for ACK */
	const char *letter = strchr(letters, what[0]);

	if (what[1] == '\0' && letter != NULL)
		packet->flags |= 1 << (letter - letters);
	else if (strcmp(what, "noack") == 0)
		packet->flags &= ~RTE_TCP_ACK_FLAG;
	else if (strcmp(what, "ae") == 0)
		packet->reserved = 1;
	else if (strcmp(what, "ack") == 0)
		packet->ack += value;
	else if (strcmp(what, "win") == 0)
		packet->window = value;
	else if (strcmp(what, "gap") == 0)
		packet->seq++;
	else if (strcmp(what, "back") == 0)
		packet->seq -= value;
	else if (strcmp(what, "seq") == 0)
		packet->seq = value;
	else if (strncmp(what, "ts", 2) == 0)
		put_ts(packet, what, value);
	else if (strcmp(what, "ws") == 0)
		memcpy(packet->options, (uint8_t[]){1, 3, 3, 7}, packet->options_bytes = 4);
	else
		return false;
	return true;
}

/* What the NIC says, and damage done to the frame that was built. */
static void
apply_frame(struct pw_gro_rig *rig, struct rte_mbuf *m, const char *what, uint32_t value)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);

	if (strcmp(what, "csum") == 0) {
		data[50]++;
	} else if (strcmp(what, "ipcsum") == 0) {
		data[24]++;
	} else if (strcmp(what, "nicbad") == 0) {
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	} else if (strcmp(what, "nicgood") == 0) {
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	} else if (strcmp(what, "nicnone") == 0) {
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	} else if (strcmp(what, "mac") == 0) {
		data[5]++;
	} else if (strcmp(what, "chain") == 0) {
		pw_packet_split(rig->pool, m, 60);
	} else if (strcmp(what, "vlan") == 0) {
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = value;
	} else {
		fail_msg("the case says \"%s\"", what);
	}
}

/* Send one segment; next is what the one after it looks like. */
static void
send_segment(struct pw_gro_rig *rig, const char *text, struct pw_packet *next)
{
	char buf[64], *word, *frame_words[4] = {NULL};
	struct pw_packet packet = *next;
	struct rte_mbuf *m;
	unsigned n = 0;

	snprintf(buf, sizeof(buf), "%s", text);
	packet.payload_bytes = strtoul(buf, NULL, 10);
	strtok(buf, ":");
	for (word = strtok(NULL, ","); word != NULL; word = strtok(NULL, ",")) {
		char *value = strchr(word, '=');
		uint32_t number = value != NULL ? strtoul(value + 1, NULL, 10) : 0;
		char what[16];

		snprintf(what, sizeof(what), "%.*s", (int)strcspn(word, "="), word);
		if (!apply_ip(&packet, what, number) && !apply_tcp(&packet, what, number))
			frame_words[n++] = word;
	}
	next->seq = packet.seq + packet.payload_bytes;
	next->ip_id++;
	m = pw_packet_frame(rig->pool, &packet);
	for (unsigned i = 0; i < n; i++) {
		char *value = strchr(frame_words[i], '=');

		frame_words[i][strcspn(frame_words[i], "=")] = '\0';
		apply_frame(rig, m, frame_words[i], value == NULL ? 0 : atoi(value + 1));
	}
	pw_gro_rig_receive(rig, m);
}

static const struct pw_packet plain = {
	.src_ip = 0x0a000002,
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

static void
run_case(struct pw_gro_rig *rig, const char *sent, const char *sizes)
{
	struct pw_packet next = plain;
	char buf[256], *save = NULL;

	snprintf(buf, sizeof(buf), "%s", sent);
	rig->sizes[0] = '\0';
	for (char *text = strtok_r(buf, " ", &save); text; text = strtok_r(NULL, " ", &save)) {
		char *times = strchr(text, 'x');
		int n = times != NULL && times[1] >= '0' && times[1] <= '9' ? atoi(times + 1) : 1;

		while (n-- > 0)
			send_segment(rig, text, &next);
	}
	pw_gro_rig_flush(rig);
	assert_string_equal(rig->sizes, sizes);
}

static void
merge_cases(void **state)
{
	for (unsigned i = 0; i < RTE_DIM(cases); i++) {
		print_message("%s\n", cases[i].name);
		run_case(*state, cases[i].sent, cases[i].sizes);
	}
}

/* What came out of an instance without the rig: packets that are no TCP, or no packets at all. */
struct outputs {
	struct rte_mbuf *packets[128];
	unsigned n;
};

static void
collect(void *ctx, struct rte_mbuf **pkts, uint16_t n)
{
	struct outputs *out = ctx;

	assert_true(out->n + n <= RTE_DIM(out->packets));
	memcpy(out->packets + out->n, pkts, n * sizeof(*pkts));
	out->n += n;
}

static void
receive(struct pw_gro *gro, struct rte_mbuf *m)
{
	pw_gro_receive(gro, &m, 1, 0);
}

static struct pw_gro *
new_gro(struct outputs *out)
{
	struct pw_gro_params params = {.output = collect, .ctx = out, .socket_id = SOCKET_ID_ANY};
	struct pw_gro *gro = pw_gro_create(&params);

	out->n = 0;
	assert_non_null(gro);
	return gro;
}

static void
free_outputs(struct pw_gro_rig *rig, struct pw_gro *gro, struct outputs *out)
{
	for (unsigned i = 0; i < out->n; i++)
		rte_pktmbuf_free(out->packets[i]);
	pw_gro_destroy(gro);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
}

static void
failed_allocations_leak_nothing(void **state)
{
	struct pw_gro_params params = {.output = collect, .socket_id = SOCKET_ID_ANY};
	struct pw_test_memory before = pw_test_memory();
	struct pw_gro *gro;
	int k = -1;

	(void)state;
	do {
		pw_test_fail_alloc(++k);
		rte_errno = 0;
		gro = pw_gro_create(&params);
		if (!pw_test_alloc_failed())
			break;
		assert_null(gro);
		assert_int_equal(rte_errno, ENOMEM);
		pw_test_memory_equal(before);
	} while (true);
	pw_test_fail_alloc(-1);
	assert_non_null(gro);
	assert_true(k >= 1);
	pw_gro_destroy(gro);
	pw_test_memory_equal(before);
}

/* A frame of a flow and place in it. */
static struct rte_mbuf *
segment(struct pw_gro_rig *rig, uint16_t port, unsigned i)
{
	struct pw_packet packet = plain;

	packet.src_port = port;
	packet.payload_bytes = 100;
	packet.seq += 100 * i;
	packet.ip_id += i;
	return pw_packet_frame(rig->pool, &packet);
}

/* Each byte a frame may be damaged in that makes it no mergeable TCP segment. */
static const struct {
	const char *name;
	uint8_t offset, value;
	uint8_t len_bytes; /* 0: whole */
} malformed[] = {
	{"no Ethernet header", 0, 2, 10},
	{"no IP header", 0, 2, 33},
	{"no TCP header", 0, 2, 53},
	{"options cut", 46, 0x60, 54},
	{"ARP", 13, 6, 0},
	{"IPv6", 12, 0x86, 0},
	{"tag in the frame", 12, 0x81, 0},
	{"IP version", 14, 0x65, 0},
	{"IP header 0", 14, 0x40, 0},
	{"IP header 16", 14, 0x44, 0},
	{"IP header 60", 14, 0x4f, 0},
	{"ICMP", 23, 1, 0},
	{"UDP", 23, 17, 0},
	{"total length 20", 17, 20, 0},
	{"total length 39", 17, 39, 0},
	{"total length beyond", 17, 141, 0},
	{"TCP header 0", 46, 0, 0},
	{"TCP header 16", 46, 0x40, 0},
	{"TCP header beyond", 46, 0xf0, 70},
};

/* Hand in a frame that must be the last one to come out, as it went in. */
static void
pass_untouched(struct pw_gro *gro, struct outputs *out, struct rte_mbuf *m)
{
	uint64_t flags = m->ol_flags;
	uint16_t len_bytes = m->data_len;
	uint8_t copy[200];

	assert_true(len_bytes <= sizeof(copy));
	memcpy(copy, rte_pktmbuf_mtod(m, void *), len_bytes);
	receive(gro, m);
	assert_in_range(out->n, 1, RTE_DIM(out->packets));
	assert_ptr_equal(out->packets[out->n - 1], m);
	assert_int_equal(m->data_len, len_bytes);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), copy, len_bytes);
	assert_int_equal(m->ol_flags, flags);
}

static void
malformed_frames_pass_untouched(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct outputs out;
	struct pw_gro *gro = new_gro(&out);
	struct pw_gro_stats stats;

	for (unsigned i = 0; i < RTE_DIM(malformed); i++) {
		struct rte_mbuf *m = segment(rig, 1, 0);

		print_message("%s\n", malformed[i].name);
		*rte_pktmbuf_mtod_offset(m, uint8_t *, malformed[i].offset) = malformed[i].value;
		if (malformed[i].len_bytes != 0)
			rte_pktmbuf_trim(m, m->pkt_len - malformed[i].len_bytes);
		pass_untouched(gro, &out, pw_packet_exact(rig->pool, m));
		assert_int_equal(out.n, i + 1);
	}
	pw_gro_get_stats(gro, &stats);
	assert_int_equal(stats.pass_protocol + stats.pass_fragment, RTE_DIM(malformed));
	free_outputs(rig, gro, &out);
}

/* With the rest of the frame still behind it, or in a buffer that ends where it does. */
static void
cut_frames_pass_untouched(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned i = 2; i < 2 * 154; i++) {
		struct rte_mbuf *m = segment(rig, 1, 1);
		struct outputs out;
		struct pw_gro *gro = new_gro(&out);

		receive(gro, segment(rig, 1, 0));
		rte_pktmbuf_trim(m, m->pkt_len - i / 2);
		if (i % 2 == 0)
			m = pw_packet_exact(rig->pool, m);
		pass_untouched(gro, &out, m);
		pw_gro_flush(gro);
		assert_int_equal(out.n, 2);
		assert_int_equal(out.packets[0]->pkt_len + out.packets[1]->pkt_len, 154 + i / 2);
		free_outputs(rig, gro, &out);
	}
}

/* The data offset says 60 bytes, the IP packet ends before: not read, and never held. */
static void
options_beyond_the_packet_are_not_read(void **state)
{
	struct pw_gro_rig *rig = *state;

	for (unsigned payload = 0; payload < 40; payload++) {
		struct pw_packet packet = plain;
		struct outputs out;
		struct pw_gro *gro = new_gro(&out);
		struct rte_mbuf *m;

		packet.payload_bytes = 100;
		packet.options_bytes = 40;
		memset(packet.options, 1, 40);
		receive(gro, pw_packet_frame(rig->pool, &packet));
		packet.seq += 100;
		packet.ip_id++;
		packet.payload_bytes = payload;
		packet.options_bytes = 0;
		m = pw_packet_frame(rig->pool, &packet);
		*rte_pktmbuf_mtod_offset(m, uint8_t *, 46) = 0xf0;
		pw_packet_fix_cksums(m);
		pass_untouched(gro, &out, pw_packet_exact(rig->pool, m));
		assert_int_equal(out.n, 2);
		assert_int_equal(out.packets[0]->pkt_len, 194);
		free_outputs(rig, gro, &out);
	}
}

static struct rte_mbuf *
other_packet(struct pw_gro_rig *rig, uint8_t ether_type_low, uint8_t proto)
{
	struct rte_mbuf *m = segment(rig, 1, 0);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, 13) = ether_type_low;
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 23) = proto;
	return m;
}

static void
mixed_burst_loses_nothing(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct outputs out;
	struct pw_gro *gro = new_gro(&out);
	struct rte_mbuf *burst[] = {other_packet(rig, 6, 6), segment(rig, 1, 0),
		other_packet(rig, 0, IPPROTO_ICMP), segment(rig, 1, 1),
		other_packet(rig, 0, IPPROTO_UDP)};

	for (unsigned i = 0; i < RTE_DIM(burst); i++)
		receive(gro, burst[i]);
	assert_int_equal(out.n, 3);
	pw_gro_flush(gro);
	assert_int_equal(out.n, 4);
	assert_ptr_equal(out.packets[0], burst[0]);
	assert_ptr_equal(out.packets[1], burst[2]);
	assert_ptr_equal(out.packets[2], burst[4]);
	assert_ptr_equal(out.packets[3], burst[1]);
	assert_int_equal(out.packets[3]->nb_segs, 2);
	assert_int_equal(out.packets[3]->pkt_len, 254);
	assert_int_equal(out.packets[3]->tso_segsz, 100);
	free_outputs(rig, gro, &out);
}

static void
flows_leave_in_the_order_they_came(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct outputs out;
	struct pw_gro *gro = new_gro(&out);

	for (unsigned i = 0; i < 2; i++)
		for (uint16_t port = 1; port <= 60; port++)
			receive(gro, segment(rig, port, i));
	assert_int_equal(out.n, 0);
	pw_gro_flush(gro);
	assert_int_equal(out.n, 60);
	for (uint16_t i = 0; i < 60; i++) {
		assert_int_equal(*rte_pktmbuf_mtod_offset(out.packets[i], rte_be16_t *, 34),
			rte_cpu_to_be_16(i + 1));
		assert_int_equal(out.packets[i]->pkt_len, 254);
	}
	free_outputs(rig, gro, &out);
}

static void
a_full_table_makes_room(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct outputs out;
	struct pw_gro *gro = new_gro(&out);
	struct pw_gro_stats stats;

	for (uint16_t port = 1; port <= 100; port++)
		receive(gro, segment(rig, port, 0));
	pw_gro_get_stats(gro, &stats);
	assert_int_equal(stats.held + out.n, 100);
	assert_true(stats.flush_table_full > 0);
	pw_gro_flush(gro);
	assert_int_equal(out.n, 100);
	for (uint16_t i = 0; i < 100; i++)
		assert_int_equal(*rte_pktmbuf_mtod_offset(out.packets[i], rte_be16_t *, 34),
			rte_cpu_to_be_16(i + 1));
	free_outputs(rig, gro, &out);
}

static void
destroy_frees_what_is_held(void **state)
{
	struct pw_gro_rig *rig = *state;
	size_t heap = pw_test_heap_bytes();
	struct outputs out;
	struct pw_gro *gro = new_gro(&out);

	for (unsigned i = 0; i < 10; i++)
		receive(gro, segment(rig, i % 3, i / 3));
	assert_int_equal(out.n, 0);
	free_outputs(rig, gro, &out);
	pw_gro_destroy(NULL);
	assert_int_equal(pw_test_heap_bytes(), heap);
}

static void
a_stripped_tag_is_kept_once(void **state)
{
	struct pw_gro_rig *rig = *state;
	struct outputs out;
	struct pw_gro *gro = new_gro(&out);

	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *m = segment(rig, 1, i);

		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = 10;
		receive(gro, m);
	}
	pw_gro_flush(gro);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.packets[0]->vlan_tci, 10);
	assert_true(out.packets[0]->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED);
	assert_int_equal(out.packets[0]->pkt_len, 254);
	free_outputs(rig, gro, &out);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, pw_gro_rig_set_up, pw_gro_rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(merge_cases),
		TEST(malformed_frames_pass_untouched),
		TEST(cut_frames_pass_untouched),
		TEST(options_beyond_the_packet_are_not_read),
		TEST(mixed_burst_loses_nothing),
		TEST(flows_leave_in_the_order_they_came),
		TEST(a_full_table_makes_room),
		TEST(failed_allocations_leak_nothing),
		TEST(destroy_frees_what_is_held),
		TEST(a_stripped_tag_is_kept_once),
	};

	return cmocka_run_group_tests_name("gro", tests, pw_test_eal, NULL);
}
