/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_rig.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memory.h>
#include <rte_tcp.h>

#include "pw_soft_nic.h"

#define FRAGS_BYTES (2 << 20)
#define ECHO_ROOM 4096

const struct pw_ip_info pw_tcp_rig_ip = {
	.src = {.words = {0, 0, RTE_BE32(0xffff), RTE_BE32(PW_PACKET_PEER)}},
	.dst = {.words = {0, 0, RTE_BE32(0xffff), RTE_BE32(PW_PACKET_US)}},
};

static void
on_wire(void *ctx, struct rte_mbuf *segment)
{
	struct pw_tcp_rig *rig = ctx;
	struct pw_packet *packet = &rig->sent[rig->nb_sent];

	if (rig->nb_sent >= RIG_SENT_MAX)
		fail_msg("%u segments sent at once", RIG_SENT_MAX);
	packet->payload_base = rig->our_isn + 1;
	packet->dst_ip = rig->output_dst;
	packet->tos = rig->output_tos;
	pw_packet_read_segment(segment, packet);
	if (packet->flags & RTE_TCP_SYN_FLAG) {
		rig->our_isn = packet->seq;
		rig->our_port = packet->src_port;
	}
	rig->sent_us[rig->nb_sent++] = rig->now_us;
	rte_pktmbuf_free(segment);
}

static void
on_output(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_rig *rig = ctx;

	assert_int_equal(now_us, rig->now_us);
	assert_true(rte_pktmbuf_headroom(segment) >= 34);
	assert_int_equal(
		segment->l4_len, (*rte_pktmbuf_mtod_offset(segment, uint8_t *, 12) >> 4) * 4);
	assert_true(segment->pkt_len + 20 <=
		RTE_MAX(rig->params.tso_max_bytes, (uint32_t)rig->params.mtu_bytes));
	if (segment->ol_flags & RTE_MBUF_F_TX_TCP_SEG)
		assert_in_range(segment->nb_segs, 2, rig->params.tso_max_mbufs);
	rig->output_tos = ip->tos;
	rig->output_dst = rte_be_to_cpu_32(pw_addr_to_ipv4(&ip->dst));
	pw_soft_nic_cut(segment, on_wire, rig);
}

static uint32_t
copy_out(const struct rte_mbuf *m, uint8_t *data, uint32_t offset)
{
	uint32_t bytes = 0;

	for (; m != NULL; m = m->next)
		for (uint16_t i = 0; i < m->data_len; i++, bytes++) {
			data[bytes] = *rte_pktmbuf_mtod_offset(m, uint8_t *, i);
			if (data[bytes] != pw_packet_byte(offset + bytes))
				fail_msg("byte %u of the stream is wrong", offset + bytes);
		}
	return bytes;
}

static void
app_read(struct pw_tcp_rig *rig, struct pw_tcp_conn *conn)
{
	static uint8_t data[UINT16_MAX];

	while (!rig->hold && (!rig->echo || pw_tcp_send_room(conn) >= ECHO_ROOM)) {
		struct rte_mbuf *m = pw_tcp_recv(conn);
		uint32_t bytes;

		if (m == NULL)
			break;
		bytes = copy_out(m, data, rig->received);
		assert_int_equal(bytes, m->pkt_len);
		assert_true(bytes > 0);
		rte_pktmbuf_free(m);
		rig->received += bytes;
		if (rig->echo)
			rig->queued += pw_tcp_send(conn, data, bytes);
	}
}

static void
app_send(struct pw_tcp_rig *rig, struct pw_tcp_conn *conn)
{
	while (rig->send_bytes > 0) {
		uint8_t data[997];
		uint32_t n = RTE_MIN(rig->send_bytes, sizeof(data)), taken;

		for (uint32_t i = 0; i < n; i++)
			data[i] = pw_packet_byte(rig->queued + i);
		taken = pw_tcp_send(conn, data, n);
		rig->queued += taken;
		rig->send_bytes -= taken;
		if (taken < n)
			break;
	}
}

static void
app_act(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_rig *rig = app_ctx;

	app_read(rig, conn);
	app_send(rig, conn);
	if (pw_tcp_at_end(conn) && rig->at_end++ == 0)
		rig->close |= rig->close_at_end;
	if (rig->close)
		pw_tcp_shutdown(conn);
	if (rig->abort)
		pw_tcp_abort(conn);
	rig->close = rig->abort = false;
}

static void
on_opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_rig *rig = app_ctx;

	rig->opened++;
	pw_tcp_set_user(conn, rig);
	rig->received = rig->queued = rig->at_end = 0;
	app_act(conn, app_ctx);
}

static void
on_closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_rig *rig = app_ctx;

	if (pw_tcp_get_user(conn) == rig)
		rig->closed++;
	else
		rig->failed++;
	rig->error = pw_tcp_get_error(conn);
}

static void
start(struct pw_tcp_rig *rig)
{
	rig->tcp = pw_tcp_create(&rig->params);
	assert_non_null(rig->tcp);
	rig->app = (struct pw_tcp_app){.name = "rig",
		.opened = on_opened,
		.readable = app_act,
		.writable = app_act,
		.closed = on_closed};
	assert_int_equal(pw_tcp_listen(rig->tcp, RIG_PORT, &rig->app, rig), 0);
	rig->nb_sent = rig->nb_expected = 0;
	rig->our_port = RIG_PORT;
	rig->opened = rig->closed = rig->failed = rig->received = rig->queued = 0;
}

static void
stop(struct pw_tcp_rig *rig)
{
	pw_tcp_destroy(rig->tcp);
	rig->tcp = NULL;
	assert_int_equal(pw_frag_pool_in_flight(rig->frags), 0);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
	assert_int_equal(pw_packet_exact_count(), 0);
	assert_int_equal(rig->closed, rig->opened);
}

void
pw_tcp_rig_restart(struct pw_tcp_rig *rig)
{
	stop(rig);
	start(rig);
}

static struct pw_frag_pool *
new_frags(void)
{
	static unsigned count;
	char name[32];
	struct pw_frag_pool_params params = {
		.name = name, .socket_id = SOCKET_ID_ANY, .bytes = FRAGS_BYTES};
	struct pw_frag_pool *frags;

	assert_int_equal(pw_strategy_parse(NULL, &params.strategy), 0);
	snprintf(name, sizeof(name), "tcp_rig%u", count++);
	frags = pw_frag_pool_create(&params);
	assert_non_null(frags);
	return frags;
}

int
pw_tcp_rig_set_up(void **state)
{
	struct pw_tcp_rig *rig = calloc(1, sizeof(*rig));

	if (rig == NULL)
		return -1;
	rig->pool = pw_packet_pool(2047, 2048);
	rig->base = rte_mempool_avail_count(rig->pool);
	rig->frags = new_frags();
	rig->params = (struct pw_tcp_params){
		.output = on_output,
		.ctx = rig,
		.pool = rig->pool,
		.frags = rig->frags,
		.max_conns = 64,
		.rcvbuf_bytes = 10000,
		.sndbuf_bytes = 65536,
		.max_held_mbufs = 1200,
		.mtu_bytes = 1500,
		.secret = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01},
	};
	rig->now_us = 1000000;
	rig->peer_isn = UINT32_MAX - 2000; /* all tests wrap */
	rig->peer_port = 1000;
	*state = rig;
	start(rig);
	return 0;
}

int
pw_tcp_rig_set_up_tso(void **state)
{
	struct pw_tcp_rig *rig;

	if (pw_tcp_rig_set_up(state) < 0)
		return -1;
	rig = *state;
	rig->params.tso_max_bytes = UINT16_MAX;
	rig->params.tso_max_mbufs = SOFT_NIC_SEGS_MAX;
	pw_tcp_rig_restart(rig);
	return 0;
}

int
pw_tcp_rig_tear_down(void **state)
{
	struct pw_tcp_rig *rig = *state;

	stop(rig);
	assert_int_equal(pw_frag_pool_destroy(rig->frags), 0);
	rte_mempool_free(rig->pool);
	free(rig);
	return 0;
}

void
pw_tcp_rig_input(struct pw_tcp_rig *rig, struct pw_packet *packet)
{
	struct pw_ip_info ip = pw_tcp_rig_ip;
	struct rte_mbuf *m;

	ip.tos = packet->tos;
	packet->payload_base = rig->peer_isn + !(packet->flags & RTE_TCP_SYN_FLAG);
	packet->src_port = rig->peer_port;
	if (packet->dst_port == 0)
		packet->dst_port = rig->our_port;
	m = pw_packet_exact(rig->pool, pw_packet_segment(rig->pool, packet));
	pw_tcp_input(rig->tcp, m, &ip, rig->now_us);
}

void
pw_tcp_rig_tick(struct pw_tcp_rig *rig, uint64_t us)
{
	rig->now_us += us;
	pw_tcp_tick(rig->tcp, rig->now_us);
}

static const char flag_letters[] = "FSRP.UEW";

static uint8_t
parse_flags(const char *text)
{
	uint8_t flags = 0;

	for (; *text != '\0' && *text != '-'; text++) {
		const char *letter = strchr(flag_letters, *text);

		assert_non_null(letter);
		flags |= 1 << (letter - flag_letters);
	}
	return flags;
}

/* "raw 0102": option bytes as they are. */
static void
parse_raw_options(const char *hex, struct pw_packet *packet)
{
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1 && isxdigit(hex[0]); hex += 2)
		packet->options[packet->options_bytes++] = byte;
}

/* "1001:2001 3001:4001" */
static void
parse_sacks(const char *text, struct pw_packet *packet, uint32_t base)
{
	uint8_t *p = packet->options + packet->options_bytes, n = 0;
	unsigned start, end;

	for (int used; sscanf(text, " %u:%u%n", &start, &end, &used) == 2; text += used, n++) {
		pw_frame_put(p + 4 + 8 * n, base + start, 4);
		pw_frame_put(p + 8 + 8 * n, base + end, 4);
	}
	memcpy(p, (uint8_t[]){1, 1, 5, 2 + 8 * n}, 4);
	packet->options_bytes += 4 + 8 * n;
}

/* "mss 1460,ws 7,ts 1 2,sackOK,sack 1:2", padded with NOPs in front; blocks count from base. */
static void
parse_options(const char *text, struct pw_packet *packet, uint32_t base)
{
	char buf[128], *save = NULL;

	snprintf(buf, sizeof(buf), "%.*s", (int)strcspn(text, ">"), text);
	for (char *word = strtok_r(buf, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		uint8_t *p = packet->options + packet->options_bytes;
		unsigned a = 0, b = 0;

		if (strncmp(word, "raw ", 4) == 0) {
			parse_raw_options(word + 4, packet);
		} else if (sscanf(word, "mss %u", &a) == 1) {
			memcpy(p, (uint8_t[]){2, 4, a >> 8, a}, 4);
			packet->options_bytes += 4;
		} else if (sscanf(word, "ws %u", &a) == 1) {
			memcpy(p, (uint8_t[]){1, 3, 3, a}, 4);
			packet->options_bytes += 4;
		} else if (sscanf(word, "ts %u %u", &a, &b) == 2) {
			memcpy(p, (uint8_t[]){1, 1, 8, 10}, 4);
			pw_frame_put(p + 4, a, 4);
			pw_frame_put(p + 8, b, 4);
			packet->options_bytes += 12;
		} else if (strcmp(word, "sackOK") == 0) {
			memcpy(p, (uint8_t[]){1, 1, 4, 2}, 4);
			packet->options_bytes += 4;
		} else if (strncmp(word, "sack ", 5) == 0) {
			parse_sacks(word + 5, packet, base);
		} else {
			fail_msg("option \"%s\"?", word);
		}
	}
}

/* What a line says of a segment. */
struct line {
	struct pw_packet packet; /* numbers relative */
	bool has_ack, has_window, has_ecn;
	const char *options; /* or NULL */
};

/* "[ce] ", behind the direction */
static const char *
parse_ecn(const char *text, struct line *line)
{
	static const char *const names[] = {"[not-ect]", "[ect1]", "[ect0]", "[ce]"};

	text += 1 + strspn(text + 1, " ");
	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (strncmp(text, names[i], strlen(names[i])) == 0) {
			line->has_ecn = true;
			line->packet.tos = i;
			return text + strlen(names[i]);
		}
	return text;
}

static void
parse_line(const char *text, struct line *line)
{
	unsigned seq, end, len, number;
	const char *rest;
	char flags[8];
	int used = 0;

	*line = (struct line){0};
	text = parse_ecn(text, line);
	if (sscanf(text, "%7s %u:%u(%u)%n", flags, &seq, &end, &len, &used) != 4)
		fail_msg("cannot read \"%s\"", text);
	assert_int_equal(end - seq, len);
	line->packet.flags = parse_flags(flags);
	line->packet.seq = seq;
	line->packet.payload_bytes = len;
	rest = text + used;
	if (sscanf(rest, " ack %u%n", &number, &used) == 1) {
		line->has_ack = true;
		line->packet.ack = number;
		rest += used;
	}
	if (sscanf(rest, " win %u%n", &number, &used) == 1) {
		line->has_window = true;
		line->packet.window = number;
		rest += used;
	}
	if (strchr(rest, '<') != NULL)
		line->options = strchr(rest, '<') + 1;
}

static void
run_input(struct pw_tcp_rig *rig, const char *text)
{
	struct line line;

	parse_line(text, &line);
	if (line.options != NULL)
		parse_options(line.options, &line.packet, rig->our_isn);
	line.packet.seq += rig->peer_isn;
	line.packet.ack += rig->our_isn;
	pw_tcp_rig_input(rig, &line.packet);
}

/* "mss 1460", "ts ecr 7,sack 1:2": the options must be there, all, and right; our own time may be
 * any. "": there must be none.
 */
static void
expect_options(struct pw_tcp_rig *rig, const struct pw_packet *packet, const char *text)
{
	struct pw_packet want = {0};
	unsigned ecr, skip = 0;
	uint8_t echoed[4];

	if (sscanf(text, "ts ecr %u", &ecr) == 1) {
		pw_frame_put(echoed, ecr, 4);
		skip = 12;
		assert_true(packet->options_bytes >= skip);
		assert_memory_equal(packet->options, ((uint8_t[]){1, 1, 8, 10}), 4);
		assert_memory_equal(packet->options + 8, echoed, 4);
		text += strcspn(text, ",>");
		text += *text == ',';
	}
	parse_options(text, &want, rig->peer_isn);
	assert_int_equal(packet->options_bytes, skip + want.options_bytes);
	assert_memory_equal(packet->options + skip, want.options, want.options_bytes);
}

static void
print_sent(struct pw_tcp_rig *rig, const struct pw_packet *packet)
{
	char flags[9] = "", *p = flags;

	for (unsigned i = 0; i < 8; i++)
		if (packet->flags & (1 << i))
			*p++ = flag_letters[i];
	*p = '\0';
	print_message("sent: %s %u:%u ack %u win %u\n", flags, packet->seq - rig->our_isn,
		packet->seq - rig->our_isn + packet->payload_bytes, packet->ack - rig->peer_isn,
		packet->window);
}

static void
run_expect(struct pw_tcp_rig *rig, const char *text)
{
	const struct pw_packet *packet = &rig->sent[rig->nb_expected];
	struct line line;

	parse_line(text, &line);
	if (rig->nb_expected == rig->nb_sent)
		fail_msg("nothing was sent");
	print_sent(rig, packet);
	rig->nb_expected++;
	assert_int_equal(packet->flags & ~RTE_TCP_PSH_FLAG, line.packet.flags & ~RTE_TCP_PSH_FLAG);
	if ((line.packet.flags & RTE_TCP_PSH_FLAG) != 0)
		assert_true(packet->flags & RTE_TCP_PSH_FLAG);
	assert_int_equal(packet->seq, line.packet.seq + rig->our_isn);
	assert_int_equal(packet->payload_bytes, line.packet.payload_bytes);
	assert_int_equal(line.has_ack, (packet->flags & RTE_TCP_ACK_FLAG) != 0);
	if (line.has_ack)
		assert_int_equal(packet->ack, line.packet.ack + rig->peer_isn);
	if (line.has_window)
		assert_int_equal(packet->window, line.packet.window);
	if (line.options != NULL)
		expect_options(rig, packet, line.options);
	if (line.has_ecn)
		assert_int_equal(packet->tos & PW_ECN_MASK, line.packet.tos);
}

static void
expect_nothing_left(struct pw_tcp_rig *rig)
{
	if (rig->nb_expected != rig->nb_sent) {
		print_sent(rig, &rig->sent[rig->nb_expected]);
		fail_msg("sent, but not expected");
	}
	rig->nb_sent = rig->nb_expected = 0;
}

static void
run_wait(struct pw_tcp_rig *rig, const char *text)
{
	bool all = text[1] == '*';
	unsigned ms = strtoul(text + 1 + all, NULL, 10);

	while (ms-- > 0) {
		if (!all)
			expect_nothing_left(rig);
		pw_tcp_rig_tick(rig, 999);
		if (!all)
			expect_nothing_left(rig);
		pw_tcp_rig_tick(rig, 1);
	}
}

static void
run_line(struct pw_tcp_rig *rig, const char *text)
{
	if (text[0] == '<' || text[0] == '+')
		expect_nothing_left(rig);
	if (text[0] == '<')
		run_input(rig, text);
	else if (text[0] == '+')
		run_wait(rig, text);
	else if (strcmp(text, "> *") == 0)
		rig->nb_expected = rig->nb_sent;
	else if (text[0] == '>')
		run_expect(rig, text);
	else if (text[0] != '\0')
		fail_msg("cannot read \"%s\"", text);
}

static void
run_lines(struct pw_tcp_rig *rig, const char *script)
{
	while (*script != '\0') {
		int len = strcspn(script, "\n");
		char text[160];

		snprintf(text, sizeof(text), "%.*s", len, script);
		print_message("%s\n", text); /* cmocka shows it when the test fails */
		run_line(rig, text);
		script += len + (script[len] == '\n');
	}
}

void
pw_tcp_rig_run(struct pw_tcp_rig *rig, const char *script)
{
	run_lines(rig, script);
	expect_nothing_left(rig);
}

void
pw_tcp_rig_runf(struct pw_tcp_rig *rig, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pw_tcp_rig_run(rig, text);
}

void
pw_tcp_rig_connect(struct pw_tcp_rig *rig)
{
	run_lines(rig,
		"< S 0:0(0) win 65535 <mss 1460>\n"
		"> S. 0:0(0) ack 1\n"
		"< . 1:1(0) ack 1 win 65535");
}

void
pw_tcp_rig_open(struct pw_tcp_rig *rig)
{
	assert_int_equal(pw_tcp_connect(rig->tcp, &pw_tcp_rig_ip.dst, 0, &pw_tcp_rig_ip.src,
				 rig->peer_port, &rig->app, rig, NULL, rig->now_us),
		0);
}

void
pw_tcp_rig_set_isn(struct pw_tcp_rig *rig, uint32_t isn)
{
	pw_tcp_rig_run(rig,
		"< S 0:0(0) win 65535\n"
		"> S. 0:0(0) ack 1\n"
		"< R 1:1(0)");
	/* Initial numbers go on by one each 4 us. */
	rig->now_us += 4 * (uint64_t)(isn - rig->our_isn);
}

void
pw_tcp_rig_expect_all_home(struct pw_tcp_rig *rig)
{
	struct pw_tcp_stats stats = pw_tcp_rig_stats(rig);

	assert_int_equal(stats.curr_conns, 0);
	assert_int_equal(stats.curr_estab, 0);
	assert_int_equal(stats.held_mbufs, 0);
	assert_int_equal(rte_mempool_avail_count(rig->pool), rig->base);
	assert_int_equal(rig->closed, rig->opened);
}

struct pw_tcp_stats
pw_tcp_rig_stats(struct pw_tcp_rig *rig)
{
	struct pw_tcp_stats stats;

	pw_tcp_get_stats(rig->tcp, &stats);
	return stats;
}
