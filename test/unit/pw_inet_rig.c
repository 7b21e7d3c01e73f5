/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_inet_rig.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_udp.h>

#define PIECE_BYTES 1777 /* of what is larger than an mbuf */

static void
take(struct pw_inet_rig *rig, struct pw_inet_rig_queue *queue, struct rte_mbuf *m,
	const struct pw_ip_info *ip, uint8_t proto)
{
	struct pw_inet_rig_taken *taken = &queue->items[queue->n];
	const uint8_t *data;

	if (rig->ignore) {
		rte_pktmbuf_free(m);
		return;
	}
	assert_true(queue->n < RIG_TAKEN_MAX);
	queue->n++;
	*taken = (struct pw_inet_rig_taken){.len = m->pkt_len, .proto = proto};
	taken->data = malloc(m->pkt_len + 1);
	assert_non_null(taken->data);
	data = rte_pktmbuf_read(m, 0, m->pkt_len, taken->data);
	assert_non_null(data);
	if (data != taken->data)
		memcpy(taken->data, data, m->pkt_len);
	if (ip != NULL)
		taken->ip = *ip;
	assert_int_equal(rte_mbuf_check(m, 1, &(const char *){NULL}), 0);
	rte_pktmbuf_free(m);
}

static void
on_output(void *ctx, struct rte_mbuf *frame)
{
	struct pw_inet_rig *rig = ctx;

	take(rig, &rig->frames, frame, NULL, 0);
}

static void
on_tcp(void *ctx, struct rte_mbuf *m, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_inet_rig *rig = ctx;

	assert_int_equal(now_us, rig->now_us);
	take(rig, &rig->packets, m, ip, IPPROTO_TCP);
}

static bool
on_udp(void *ctx, struct rte_mbuf *m, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_inet_rig *rig = ctx;

	assert_int_equal(now_us, rig->now_us);
	if (rte_pktmbuf_mtod(m, const struct rte_udp_hdr *)->dst_port == RTE_BE16(9))
		return false;
	take(rig, &rig->packets, m, ip, IPPROTO_UDP);
	return true;
}

static void
on_error(void *ctx, const struct pw_inet_error *error, uint64_t now_us)
{
	struct pw_inet_rig *rig = ctx;

	assert_int_equal(now_us, rig->now_us);
	if (rig->ignore)
		return;
	assert_true(rig->nb_errors < RIG_TAKEN_MAX);
	rig->errors[rig->nb_errors++] = *error;
}

static struct pw_addr
addr_of(const char *text)
{
	struct pw_addr addr = {0};

	assert_int_equal(pw_addr_parse(text, &addr), 0);
	return addr;
}

int
pw_inet_rig_open(void **state)
{
	struct pw_inet_rig *rig = calloc(1, sizeof(*rig));

	if (rig == NULL)
		return -1;
	rig->pool = pw_packet_pool(8191, 2048);
	rig->base = rte_mempool_avail_count(rig->pool);
	rig->now_us = 1000000;
	rig->params = (struct pw_inet_params){
		.mac = pw_packet_mac(PW_PACKET_US),
		.addresses = {{addr_of("10.0.0.1"), 24}, {addr_of("fd00::1"), 64}},
		.nb_addresses = 2,
		.gateway4 = addr_of("10.0.0.254"),
		.gateway6 = addr_of("fe80::fe"),
		.mtu_bytes = 1500,
		.pool = rig->pool,
		.secret = 0x123456789abcdef,
		.ops = {on_output, on_tcp, on_udp, on_error, NULL},
		.ctx = rig,
	};
	rig->inet = pw_inet_create(&rig->params);
	*state = rig;
	return rig->inet == NULL ? -1 : 0;
}

void
pw_inet_rig_reopen(struct pw_inet_rig *rig)
{
	pw_inet_destroy(rig->inet);
	assert_int_equal(pw_inet_rig_mbufs(rig), 0);
	rig->inet = pw_inet_create(&rig->params);
	assert_non_null(rig->inet);
}

static void
clear(struct pw_inet_rig_queue *queue)
{
	for (unsigned i = 0; i < queue->n; i++)
		free(queue->items[i].data);
	queue->n = queue->expected = 0;
}

void
pw_inet_rig_forget(struct pw_inet_rig *rig)
{
	clear(&rig->frames);
	clear(&rig->packets);
	rig->nb_errors = rig->nb_errors_expected = 0;
}

unsigned
pw_inet_rig_mbufs(const struct pw_inet_rig *rig)
{
	return rig->base - rte_mempool_avail_count(rig->pool);
}

int
pw_inet_rig_close(void **state)
{
	struct pw_inet_rig *rig = *state;
	unsigned left;

	pw_inet_rig_forget(rig);
	pw_inet_destroy(rig->inet);
	left = pw_inet_rig_mbufs(rig) + pw_packet_exact_count();
	rte_mempool_free(rig->pool);
	free(rig);
	return left == 0 ? 0 : -1;
}

uint64_t
pw_inet_rig_counter(struct pw_inet_rig *rig, const char *name)
{
	struct pw_inet_stats stats;
	const struct pw_stat *stat = pw_inet_stat_table;

	pw_inet_get_stats(rig->inet, &stats);
	while (stat->name != NULL && strcmp(stat->name, name) != 0)
		stat++;
	assert_non_null(stat->name);
	return pw_stat_value(stat, &stats);
}

uint64_t
pw_inet_rig_accounted(struct pw_inet_rig *rig)
{
	uint64_t sum = 0;
	struct pw_inet_stats stats;

	pw_inet_get_stats(rig->inet, &stats);
	for (const struct pw_stat *stat = pw_inet_stat_table; stat->name != NULL; stat++)
		if (strncmp(stat->name, "rx_", 3) == 0)
			sum += pw_stat_value(stat, &stats);
	return sum - stats.rx_frames - stats.rx_ipv6 - 2 * stats.rx_reassembled -
		stats.rx_reasm_fails;
}

/* Room for IP and Ethernet in front of the first piece. */
static struct rte_mbuf *
make_chain(struct pw_inet_rig *rig, const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *first = NULL;

	while (len > 0 || first == NULL) {
		uint32_t bytes = RTE_MIN(len, (uint32_t)PIECE_BYTES);
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig->pool);

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, bytes), data, bytes);
		if (first == NULL)
			first = m;
		else
			assert_int_equal(rte_pktmbuf_chain(first, m), 0);
		data += bytes;
		len -= bytes;
	}
	return first;
}

void
pw_inet_rig_input(struct pw_inet_rig *rig, const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *m = make_chain(rig, data, len);

	if (m->nb_segs == 1)
		m = pw_packet_exact(rig->pool, m);
	pw_inet_input(rig->inet, m, rig->now_us);
}

static void
expect_nothing(struct pw_inet_rig *rig, const char *before)
{
	if (rig->frames.expected != rig->frames.n)
		fail_msg("%u frames sent but not expected, before: %s",
			rig->frames.n - rig->frames.expected, before);
	if (rig->packets.expected != rig->packets.n)
		fail_msg("%u packets not expected, before: %s",
			rig->packets.n - rig->packets.expected, before);
	if (rig->nb_errors_expected != rig->nb_errors)
		fail_msg("%u errors not expected, before: %s",
			rig->nb_errors - rig->nb_errors_expected, before);
	pw_inet_rig_forget(rig);
}

static struct pw_spec spec; /* large */

static const struct pw_inet_rig_taken *
next_of(struct pw_inet_rig_queue *queue, const char *line)
{
	if (queue->expected == queue->n)
		fail_msg("nothing came: %s", line);
	return &queue->items[queue->expected++];
}

static void
compare(const uint8_t *data, uint32_t len, const uint8_t *wanted, uint32_t wanted_len,
	const char *line)
{
	if (len != wanted_len)
		fail_msg("%u bytes instead of %u: %s", len, wanted_len, line);
	for (uint32_t i = 0; i < len; i++)
		if (data[i] != wanted[i])
			fail_msg(
				"byte %u is %02x instead of %02x: %s", i, data[i], wanted[i], line);
}

static void
expect_frame(struct pw_inet_rig *rig, const char *text)
{
	const struct pw_inet_rig_taken *frame = next_of(&rig->frames, text);

	pw_spec_build(&spec, text, true);
	if (spec.nb_layers > 1 && spec.layers[1].kind == '4' && !spec.has_id && frame->len >= 34) {
		memcpy(spec.data + spec.layers[1].offset + 4, frame->data + 18, 2);
		pw_spec_finish(&spec);
	}
	compare(frame->data, frame->len, spec.data, spec.len, text);
}

/* Addresses and tos of the first IP header; returns its protocol. */
static uint8_t
read_ip(struct pw_ip_info *ip)
{
	const uint8_t *l3 = spec.data + spec.layers[1].offset;

	memset(ip, 0, sizeof(*ip));
	if (spec.layers[1].kind == '4') {
		uint32_t src, dst;

		memcpy(&src, l3 + 12, 4);
		memcpy(&dst, l3 + 16, 4);
		ip->src = pw_addr_from_ipv4(src);
		ip->dst = pw_addr_from_ipv4(dst);
		ip->tos = l3[1];
		return l3[9];
	}
	memcpy(ip->src.bytes, l3 + 8, 16);
	memcpy(ip->dst.bytes, l3 + 24, 16);
	ip->tos = pw_frame_get16(l3) >> 4;
	return l3[6];
}

static void
expect_packet(struct pw_inet_rig *rig, const char *text)
{
	const struct pw_inet_rig_taken *packet = next_of(&rig->packets, text);
	struct pw_ip_info ip;
	uint32_t l4;

	pw_spec_build(&spec, text, false);
	assert_int_equal(read_ip(&ip), packet->proto);
	assert_memory_equal(&ip, &packet->ip, sizeof(ip));
	l4 = pw_spec_find(&spec, packet->proto == IPPROTO_TCP ? 't' : 'u');
	compare(packet->data, packet->len, spec.data + l4, spec.len - l4, text);
}

static void
expect_error(struct pw_inet_rig *rig, const char *text)
{
	static const char *const kinds[] = {"unreachable", "refused", "too_big"};
	const struct pw_inet_error *error = &rig->errors[rig->nb_errors_expected++];
	struct pw_ip_info ip;
	char kind[16];
	unsigned mtu;
	int at = 0;

	if (rig->nb_errors_expected > rig->nb_errors)
		fail_msg("no error came: %s", text);
	assert_int_equal(sscanf(text, "%15s %u %n", kind, &mtu, &at), 2);
	assert_string_equal(kinds[error->kind], kind);
	assert_int_equal(error->mtu_bytes, mtu);
	pw_spec_build(&spec, text + at, true);
	assert_int_equal(read_ip(&ip), error->proto);
	assert_memory_equal(&ip, &error->sent, sizeof(ip));
	assert_memory_equal(spec.data + spec.layers[2].offset, error->head, 8);
}

/* Lengths and checksums are not there yet. */
static void
send_packet(struct pw_inet_rig *rig, const char *text, char kind)
{
	struct pw_ip_info ip;
	struct rte_mbuf *m;
	uint32_t l4;

	pw_spec_build(&spec, text, true);
	read_ip(&ip);
	l4 = pw_spec_find(&spec, kind);
	memset(spec.data + l4 + (kind == 't' ? 16 : 4), 0x55, kind == 't' ? 2 : 4);
	m = make_chain(rig, spec.data + l4, spec.len - l4);
	(kind == 't' ? pw_inet_output_tcp : pw_inet_output_udp)(rig->inet, m, &ip, rig->now_us);
}

void
pw_inet_rig_send(struct pw_inet_rig *rig, const char *step)
{
	send_packet(rig, step + 4, *step);
}

static void
pass_time(struct pw_inet_rig *rig, unsigned ms)
{
	/* In steps, as a host does. */
	while (ms > 0) {
		unsigned step = RTE_MIN(ms, 10U);

		rig->now_us += step * 1000;
		ms -= step;
		pw_inet_tick(rig->inet, rig->now_us);
	}
}

static void
check_counter(struct pw_inet_rig *rig, const char *text)
{
	char name[32];
	unsigned value;

	assert_int_equal(sscanf(text, "%31s %u", name, &value), 2);
	if (pw_inet_rig_counter(rig, name) != value)
		fail_msg("%s is %u instead of %u", name, (unsigned)pw_inet_rig_counter(rig, name),
			value);
}

static void
run_line(struct pw_inet_rig *rig, const char *line)
{
	if (strchr("<+ut", *line) != NULL)
		expect_nothing(rig, line);
	if (strncmp(line, "< ", 2) == 0) {
		pw_spec_build(&spec, line + 2, false);
		pw_inet_rig_input(rig, spec.data, spec.len);
	} else if (strncmp(line, "> ", 2) == 0) {
		expect_frame(rig, line + 2);
	} else if (strncmp(line, "^ ", 2) == 0) {
		expect_packet(rig, line + 2);
	} else if (strncmp(line, "! ", 2) == 0) {
		expect_error(rig, line + 2);
	} else if (strncmp(line, "= ", 2) == 0) {
		check_counter(rig, line + 2);
	} else if (strncmp(line, "udp ", 4) == 0 || strncmp(line, "tcp ", 4) == 0) {
		send_packet(rig, line + 4, *line);
	} else if (*line == '+') {
		pass_time(rig, atoi(line + 1));
	} else {
		fail_msg("no such step: %s", line);
	}
}

void
pw_inet_rig_run(struct pw_inet_rig *rig, const char *script)
{
	char line[1024];

	while (*script != '\0') {
		size_t len = strcspn(script, "\n");

		assert_true(len < sizeof(line));
		memcpy(line, script, len);
		line[len] = '\0';
		if (len > 0)
			run_line(rig, line);
		script += len + (script[len] == '\n');
	}
	expect_nothing(rig, "the end");
}

void
pw_inet_rig_runf(struct pw_inet_rig *rig, const char *format, ...)
{
	char script[2000];
	va_list args;

	va_start(args, format);
	vsnprintf(script, sizeof(script), format, args);
	va_end(args);
	pw_inet_rig_run(rig, script);
}
