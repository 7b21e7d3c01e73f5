/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pw_tcp_pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_US 500
#define WRITE_BYTES 4096

__rte_format_printf(1, 2) static void pair_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

/* Byte of the stream that an end sends. */
static uint8_t
byte_at(unsigned sender, uint64_t place)
{
	return (uint8_t)((place + 1) * (sender == 0 ? 0x9e3779b97f4a7c15u : 0xc2b2ae3d27d4eb4fu) >>
		56);
}

static unsigned
index_of(const struct pw_tcp_pair_end *end)
{
	return end - end->pair->ends;
}

static void
output(void *ctx, struct rte_mbuf *segment, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_pair_end *end = ctx;
	struct pw_tcp_pair *pair = end->pair;

	(void)now_us;
	if (pair->nb_flight == PAIR_FLIGHT_MAX) {
		pair->lost_to_overflow++;
		rte_pktmbuf_free(segment);
		return;
	}
	pair->flight[pair->nb_flight++] = (struct pw_tcp_pair_packet){
		.segment = segment, .ip = *ip, .to = !index_of(end)};
}

static void
check(struct pw_tcp_pair_end *end, const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		for (uint16_t i = 0; i < m->data_len; i++, end->read++)
			if (*rte_pktmbuf_mtod_offset(m, uint8_t *, i) !=
					byte_at(!index_of(end), end->read) &&
				!end->pair->mangled)
				pair_fail("end %u: byte %" PRIu64 " of its stream is wrong",
					index_of(end), end->read);
}

static void
read_all(struct pw_tcp_pair_end *end, struct pw_tcp_conn *conn)
{
	struct rte_mbuf *m;

	while (!end->hold && (m = pw_tcp_recv(conn)) != NULL) {
		check(end, m);
		rte_pktmbuf_free(m);
	}
	end->at_end |= pw_tcp_at_end(conn);
}

static void
write_all(struct pw_tcp_pair_end *end, struct pw_tcp_conn *conn)
{
	while (end->to_send > 0) {
		uint8_t data[WRITE_BYTES];
		uint32_t n = RTE_MIN(end->to_send, sizeof(data)), taken;

		for (uint32_t i = 0; i < n; i++)
			data[i] = byte_at(index_of(end), end->written + i);
		taken = pw_tcp_send(conn, data, n);
		end->written += taken;
		end->to_send -= taken;
		if (taken < n)
			return;
	}
	if (end->close)
		pw_tcp_shutdown(conn);
}

static void
act(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_pair_end *end = app_ctx;

	read_all(end, conn);
	write_all(end, conn);
	if (end->abort)
		pw_tcp_abort(conn);
}

/* The application wakes now and then, so that what the caller changes takes effect. */
static void
wake(struct pw_tcp_conn *conn, void *app_ctx)
{
	act(conn, app_ctx);
	pw_tcp_set_timer(conn, pw_tcp_now(conn) + 10 * STEP_US);
}

static void
opened(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_pair_end *end = app_ctx;

	end->opened = true;
	wake(conn, app_ctx);
}

static void
closed(struct pw_tcp_conn *conn, void *app_ctx)
{
	struct pw_tcp_pair_end *end = app_ctx;

	end->closed = true;
	end->error = pw_tcp_get_error(conn);
}

static const struct pw_tcp_app app = {
	.name = "pair",
	.opened = opened,
	.readable = act,
	.writable = act,
	.timer = wake,
	.closed = closed,
};

static struct pw_addr
address(unsigned i, bool ipv6)
{
	static const struct pw_addr prefix = {.bytes = {0x20, 0x01, 0x0d, 0xb8}};
	struct pw_addr addr = prefix;

	if (!ipv6)
		return pw_addr_from_ipv4(rte_cpu_to_be_32(0xc6120001 + i));
	addr.bytes[15] = 1 + i;
	return addr;
}

void
pw_tcp_pair_open(struct pw_tcp_pair *pair, struct rte_mempool *pool, struct pw_frag_pool *frags,
	struct pw_tcp_params *params, bool ipv6)
{
	memset(pair, 0, sizeof(*pair));
	pair->pool = pool;
	pair->frags = frags;
	pair->now_us = 1000000;
	params->output = output;
	params->pool = pool;
	params->frags = frags;
	for (unsigned i = 0; i < 2; i++) {
		struct pw_tcp_pair_end *end = &pair->ends[i];

		end->pair = pair;
		end->addr = address(i, ipv6);
		params->ctx = end;
		params->secret[0] = i;
		end->tcp = pw_tcp_create(params);
		if (end->tcp == NULL)
			pair_fail("end %u cannot be made", i);
	}
	if (pw_tcp_listen(pair->ends[1].tcp, PAIR_PORT, &app, &pair->ends[1]) < 0 ||
		pw_tcp_connect(pair->ends[0].tcp, &pair->ends[0].addr, 0, &pair->ends[1].addr,
			PAIR_PORT, &app, &pair->ends[0], NULL, pair->now_us) < 0)
		pair_fail("no connection can be opened");
}

void
pw_tcp_pair_close(struct pw_tcp_pair *pair)
{
	for (unsigned i = 0; i < 2; i++)
		pw_tcp_destroy(pair->ends[i].tcp);
	while (pair->nb_flight > 0)
		pw_tcp_pair_drop(pair, 0);
}

static struct pw_tcp_pair_packet
take(struct pw_tcp_pair *pair, unsigned i)
{
	struct pw_tcp_pair_packet packet = pair->flight[i];

	pair->nb_flight--;
	memmove(&pair->flight[i], &pair->flight[i + 1],
		(pair->nb_flight - i) * sizeof(pair->flight[0]));
	return packet;
}

/* As a NIC receives: in a buffer of its own, the bytes one after the other. */
static struct rte_mbuf *
received(struct pw_tcp_pair *pair, const struct rte_mbuf *segment)
{
	struct rte_mbuf *m = rte_pktmbuf_copy(segment, pair->pool, 0, UINT32_MAX);

	if (m != NULL)
		m->ol_flags = 0;
	return m;
}

void
pw_tcp_pair_deliver(struct pw_tcp_pair *pair, unsigned i)
{
	struct pw_tcp_pair_packet packet = take(pair, i);
	struct rte_mbuf *m = received(pair, packet.segment);

	rte_pktmbuf_free(packet.segment);
	if (m != NULL)
		pw_tcp_input(pair->ends[packet.to].tcp, m, &packet.ip, pair->now_us);
}

void
pw_tcp_pair_drop(struct pw_tcp_pair *pair, unsigned i)
{
	struct pw_tcp_pair_packet packet = take(pair, i);

	rte_pktmbuf_free(packet.segment);
}

void
pw_tcp_pair_duplicate(struct pw_tcp_pair *pair, unsigned i)
{
	struct pw_tcp_pair_packet packet = pair->flight[i];

	packet.segment = received(pair, packet.segment);
	if (packet.segment == NULL)
		return;
	if (pair->nb_flight == PAIR_FLIGHT_MAX)
		rte_pktmbuf_free(packet.segment);
	else
		pair->flight[pair->nb_flight++] = packet;
}

void
pw_tcp_pair_mark_ce(struct pw_tcp_pair *pair, unsigned i)
{
	struct pw_tcp_pair_packet *packet = &pair->flight[i];

	if ((packet->ip.tos & PW_ECN_MASK) != PW_ECN_NOT_ECT)
		packet->ip.tos |= PW_ECN_CE;
}

void
pw_tcp_pair_mangle(struct pw_tcp_pair *pair, unsigned i, uint32_t offset, uint8_t value)
{
	struct rte_mbuf *m = pair->flight[i].segment;

	/* Data to send is shared with the sender, who did not change it. */
	offset %= m->data_len;
	*rte_pktmbuf_mtod_offset(m, uint8_t *, offset) ^= value;
	pair->mangled |= value != 0;
}

void
pw_tcp_pair_wait(struct pw_tcp_pair *pair, uint64_t us)
{
	pair->now_us += us;
	for (unsigned i = 0; i < 2; i++)
		pw_tcp_tick(pair->ends[i].tcp, pair->now_us);
}

static bool
is_over(const struct pw_tcp_pair *pair)
{
	struct pw_tcp_stats stats[2];

	for (unsigned i = 0; i < 2; i++)
		pw_tcp_get_stats(pair->ends[i].tcp, &stats[i]);
	return pair->nb_flight == 0 && stats[0].curr_conns + stats[1].curr_conns == 0;
}

/* The longer nothing happens, the longer are the steps: time-outs are up to a minute. */
void
pw_tcp_pair_settle(struct pw_tcp_pair *pair, uint64_t idle_us)
{
	uint64_t quiet_since = pair->now_us, quiet_us = 0;

	while (quiet_us < idle_us && !is_over(pair)) {
		unsigned n = pair->nb_flight;

		if (n > 0)
			quiet_since = pair->now_us;
		while (n-- > 0)
			pw_tcp_pair_deliver(pair, 0);
		quiet_us = pair->now_us - quiet_since;
		pw_tcp_pair_wait(pair,
			pair->nb_flight > 0 ? STEP_US
					    : 20 * STEP_US + RTE_MIN(quiet_us / 16, 2000000u));
	}
}
