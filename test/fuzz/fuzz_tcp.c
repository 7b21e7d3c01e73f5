/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * A whole connection between two of our endpoints. The first bytes choose what they can do; then
 * each byte is something that happens: a packet arrives, is lost, overtakes, comes twice, is marked
 * or changed; time passes; an application sends, stops reading, ends, resets. In the end the
 * network heals. Then, unless a packet was changed, each stream is whole or its connection says why
 * not; and every buffer is back.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fuzz_pools.h"
#include "pw_tcp_pair.h"

#define MBUFS 4095
#define FRAGS_BYTES (4 << 20)
#define MINUTE_US 60000000u

struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t
next(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_pools_open(MBUFS, FRAGS_BYTES);
	return 0;
}

static void
packet_event(struct pw_tcp_pair *pair, struct input *in, uint8_t what)
{
	unsigned i;

	if (pair->nb_flight == 0)
		return;
	i = next(in) % pair->nb_flight;
	switch (what) {
	case 0:
	case 1:
		pw_tcp_pair_deliver(pair, i);
		break;
	case 2:
		pw_tcp_pair_drop(pair, i);
		break;
	case 3:
		pw_tcp_pair_duplicate(pair, i);
		break;
	case 4:
		pw_tcp_pair_mark_ce(pair, i);
		break;
	default:
		pw_tcp_pair_mangle(pair, i, next(in) % 64, next(in));
		break;
	}
}

static void
application_event(struct pw_tcp_pair_end *end, struct input *in, uint8_t what)
{
	switch (what) {
	case 0:
		end->to_send += end->close ? 0 : (uint64_t)next(in) * next(in);
		break;
	case 1:
		end->hold = !end->hold;
		break;
	case 2:
		end->close = true;
		break;
	default:
		end->abort |= next(in) == 0xff;
		break;
	}
}

static void
error_event(struct pw_tcp_pair *pair, struct input *in)
{
	const struct pw_tcp_pair_packet *packet;
	struct pw_inet_error error = {.proto = 6};

	if (pair->nb_flight == 0)
		return;
	packet = &pair->flight[next(in) % pair->nb_flight];
	error.kind = next(in) % 3;
	error.sent = packet->ip;
	error.mtu_bytes = next(in) * 8;
	memcpy(error.head, rte_pktmbuf_mtod(packet->segment, const void *), sizeof(error.head));
	pw_tcp_error(pair->ends[!packet->to].tcp, &error, pair->now_us);
}

/* Half of all events are that the next packet arrives. */
static void
event(struct pw_tcp_pair *pair, struct input *in)
{
	uint8_t op = next(in);

	if (op < 128) {
		if (pair->nb_flight > 0)
			pw_tcp_pair_deliver(pair, 0);
	} else if (op < 160) {
		packet_event(pair, in, op % 6);
	} else if (op < 192) {
		pw_tcp_pair_wait(pair, 1u << op % 24);
	} else if (op < 252) {
		application_event(&pair->ends[op % 2], in, op / 2 % 4);
	} else {
		error_event(pair, in);
	}
}

static void
expect_whole(const struct pw_tcp_pair *pair)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct pw_tcp_pair_end *from = &pair->ends[i], *to = &pair->ends[!i];
		bool broken = from->error != 0 || to->error != 0 || from->abort || to->abort;

		if (to->read > from->written || (!broken && to->read != from->written) ||
			(!broken && (from->to_send > 0 || !to->at_end || !from->closed)))
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pw_tcp_pair pair;
	struct input in = {data, size};
	uint8_t choice = next(&in);
	struct pw_tcp_params params = {
		.max_conns = 4,
		.rcvbuf_bytes = 4096u << choice % 4,
		.sndbuf_bytes = 16384,
		.max_held_mbufs = 1024,
		.mtu_bytes = 600 + 4 * next(&in),
		.congestion = choice & 16 ? PW_TCP_NEWRENO : PW_TCP_CUBIC,
		.ecn = choice & 32,
		.keepalive_s = choice & 64 ? 30 : 0,
	};

	if (choice & 128)
		params.mtu_bytes += 700; /* IPv6 wants 1280 */
	pw_tcp_pair_open(&pair, fuzz_mbufs, fuzz_frags, &params, choice & 128);
	while (in.size > 0)
		event(&pair, &in);

	for (unsigned i = 0; i < 2; i++) {
		pair.ends[i].hold = false;
		pair.ends[i].close = true;
	}
	pw_tcp_pair_settle(&pair, 4 * MINUTE_US);
	if (!pair.mangled)
		expect_whole(&pair);
	pw_tcp_pair_close(&pair);
	fuzz_pools_expect_home();
	return 0;
}
